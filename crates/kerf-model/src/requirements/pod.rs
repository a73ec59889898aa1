//! Where a pod wants to run, as requirements.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Requirements;
use crate::labels::well_known::NODE_POOL;
use crate::labels::{LabelRules, Normalization};
use crate::requirement::{BadBound, EntryProblem, Operator, RequirementEntry};
use crate::vocabulary::Vocabulary;

/// A pod's node selector and node affinity, as text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PodPlacement {
    /// Labels the node must carry.
    pub node_selector: BTreeMap<String, String>,
    /// Terms the node must or should satisfy.
    pub node_affinity: NodeAffinity,
}

/// Node affinity. A term is its match expressions; nothing else of a term counts here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeAffinity {
    /// Alternatives of which one must hold. Only the first is read: whoever relaxes the pod drops
    /// it to try the next.
    pub required: Vec<Vec<RequirementEntry>>,
    /// Terms that should hold. Only the heaviest is read, as if it were required, until it is
    /// relaxed away.
    pub preferred: Vec<PreferredTerm>,
    /// Whether a required term also selects by field. Fields name nodes that exist, so such a pod
    /// cannot be given a new one.
    pub required_by_field: bool,
}

/// A term that should hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreferredTerm {
    /// How much it matters, 1 to 100.
    pub weight: i32,
    /// Its match expressions.
    pub expressions: Vec<RequirementEntry>,
}

/// Why a pod's placement cannot be served. The pod must change; retrying does not help.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlacementRuleProblem {
    /// A required term selects by field.
    #[error("node affinity with matchFields names nodes that exist; use labels instead")]
    ByField,
    /// The node selector or a required term holds a requirement that cannot be used.
    #[error(transparent)]
    Entry(#[from] EntryProblem),
}

/// Whether preferences count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preferences {
    /// The heaviest preference is treated as required.
    Heaviest,
    /// Only what must hold: the "strict" requirements of a pod.
    Ignored,
}

impl PodPlacement {
    /// Whether only a node outside any pool will do. Alternatives are tried one by one, so all of
    /// them must say so.
    #[must_use]
    pub fn excludes_node_pools(&self) -> bool {
        let terms = &self.node_affinity.required;
        let excludes = |entry: &RequirementEntry| {
            entry.key == NODE_POOL && entry.operator == Operator::DoesNotExist
        };
        !terms.is_empty() && terms.iter().all(|term| term.iter().any(excludes))
    }

    /// The requirements of the pod: its node selector, the heaviest preferred term unless ignored,
    /// and the first required term.
    ///
    /// # Errors
    /// The required term has a bound that is not an integer.
    pub fn requirements(
        &self,
        preferences: Preferences,
        normalization: &Normalization,
        vocabulary: &mut Vocabulary,
    ) -> Result<Requirements, BadBound> {
        let selector = self.node_selector.iter().map(|(key, value)| (&**key, &**value));
        let mut requirements = Requirements::from_labels(selector, normalization, vocabulary);
        let mut read = |term| Requirements::from_entries(term, normalization, vocabulary);
        let preferred = match preferences {
            Preferences::Heaviest => self.node_affinity.heaviest(),
            Preferences::Ignored => None,
        };
        // A preference that means nothing cannot be honoured, which is no reason to refuse the pod.
        let preferred = preferred.and_then(|term| read(&term.expressions).ok());
        let required = self.node_affinity.required.first().map(read).transpose()?;
        for term in preferred.into_iter().chain(required) {
            requirements.narrow(&term, vocabulary);
        }
        Ok(requirements)
    }
}

impl PodPlacement {
    /// Checks the node selector and every required term the way a pool's requirements are checked.
    /// Preferences are not checked: they can be given up.
    #[must_use]
    pub fn check(&self, rules: &LabelRules) -> Vec<PlacementRuleProblem> {
        let by_field =
            self.node_affinity.required_by_field.then_some(PlacementRuleProblem::ByField);
        let label = |(key, value): (&String, &String)| {
            RequirementEntry::new(key, Operator::In, [value.as_str()]).check(rules).problems
        };
        let selector = self.node_selector.iter().flat_map(label);
        let terms = self.node_affinity.required.iter().flatten();
        let required = terms.flat_map(|entry| entry.check(rules).problems);
        by_field.into_iter().chain(selector.chain(required).map(Into::into)).collect()
    }
}

impl NodeAffinity {
    /// The heaviest preferred term; of equal ones the first.
    #[must_use]
    pub fn heaviest(&self) -> Option<&PreferredTerm> {
        // `max_by_key` keeps the last of equals, so the walk goes backwards.
        self.preferred.iter().rev().max_by_key(|term| term.weight)
    }
}
