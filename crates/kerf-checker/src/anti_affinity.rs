//! Required anti-affinities have none of their pods near.

use kerf_model::pod::PodAffinityTerm;

use crate::domain::Domain;
use crate::facts::{Facts, PlacedPod};
use crate::selecting::Selection;
use crate::violation::{Rule, Violation};

/// Checks every required term of every pod that runs or is placed. Two pods that run already are
/// not the answer's fault.
pub(crate) fn check(facts: &Facts) -> Vec<Violation> {
    let mut found = Vec::new();
    for (position, carrier) in facts.placed.iter().enumerate() {
        for term in &carrier.shape.anti_affinity.required {
            for other in too_near(facts, position, term) {
                let sentence = format!(
                    "pod {} on {} must not share {} with pod {} on {}",
                    carrier.name,
                    facts.place_name(carrier.place),
                    term.topology_key,
                    other.name,
                    facts.place_name(other.place),
                );
                found.push(Violation::new(Rule::AntiAffinity, sentence));
            }
        }
    }
    found
}

/// The pods that match the term and are, or may come to be, in the carrier's domain.
fn too_near<'f, 'a>(
    facts: &'f Facts<'a>,
    position: usize,
    term: &PodAffinityTerm,
) -> Vec<&'f PlacedPod<'a>> {
    let carrier = &facts.placed[position];
    let meant = Selection::of_term(term, &carrier.shape.namespace, facts.problem);
    let key = &term.topology_key;
    let domain = Domain::of(facts, carrier.place, key);
    let mut near = Vec::new();
    for (other_position, other) in facts.placed.iter().enumerate() {
        let both_run = carrier.pod.is_none() && other.pod.is_none();
        if other_position == position || both_run || !meant.means(other.shape) {
            continue;
        }
        // One node has one domain, whichever it will be.
        let same_node = other.place == carrier.place && domain != Domain::Absent;
        if same_node || domain.may_equal(&Domain::of(facts, other.place, key), facts) {
            near.push(other);
        }
    }
    near
}
