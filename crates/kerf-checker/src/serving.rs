//! Whether a node surely, or possibly, has the labels that are asked for, and whether its taints
//! are tolerated.

use kerf_model::pod::PodShape;
use kerf_model::requirement::Requirement;
use kerf_model::requirements::Requirements;
use kerf_model::taint::{Taint, TaintEffect, untolerated};
use kerf_model::vocabulary::{KeySet, Vocabulary};

use crate::facts::{Alternatives, Facts};

/// The first taint that keeps the pod away. `PreferNoSchedule` is a preference and keeps nobody
/// away.
pub(crate) fn repelled_by<'a>(taints: &'a [Taint], shape: &PodShape) -> Option<&'a Taint> {
    let hard = taints.iter().filter(|taint| taint.effect != TaintEffect::PreferNoSchedule);
    untolerated(hard, &shape.tolerations).next()
}

/// Whether the labels of a node that exists satisfy one of the alternatives.
pub(crate) fn node_serves(facts: &Facts, labels: &Requirements, wanted: &Alternatives) -> bool {
    let all_defined = KeySet::new();
    wanted.iter().any(|term| labels.compatible(term, &all_defined, &facts.vocabulary))
}

/// What is known of a node to add, once it is settled which instance type it becomes.
pub(crate) struct Future<'a> {
    /// What its pool defines.
    pub(crate) template: &'a Requirements,
    /// What its labels will satisfy.
    pub(crate) labels: Requirements,
}

impl Future<'_> {
    /// Whether one of the alternatives holds whatever labels the node gets in the end.
    ///
    /// Being compatible is not enough: a node that may come up in zone a or b cannot promise a pod
    /// zone a.
    pub(crate) fn surely_serves(&self, facts: &Facts, wanted: &Alternatives) -> bool {
        wanted.iter().any(|term| term.iter().all(|each| self.surely_has(facts, each)))
    }

    fn surely_has(&self, facts: &Facts, wanted: &Requirement) -> bool {
        let key = wanted.key();
        let defined = self.template.contains(key) || facts.well_known.contains(key);
        (defined || wanted.is_negative())
            && implies(self.labels.find(key), wanted, &facts.vocabulary)
    }
}

/// Whether every value the node may have is one that is wanted.
fn implies(have: Option<&Requirement>, wanted: &Requirement, vocabulary: &Vocabulary) -> bool {
    let Some(have) = have.filter(|have| !have.is_empty()) else { return wanted.is_negative() };
    if !have.is_complement() {
        return have.values().iter().all(|value| wanted.has(value, vocabulary));
    }
    // The API writes a bound without the values forbidden within it, so those are not asked for
    // where the node side has a bound.
    let bounded = !have.bounds().is_open();
    let within = have.bounds().meet(wanted.bounds()) == Some(have.bounds());
    wanted.is_complement() && within && (bounded || wanted.values().is_subset(have.values()))
}
