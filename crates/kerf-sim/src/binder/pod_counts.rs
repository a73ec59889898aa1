//! How many pods that a rule speaks of are on each node.

use std::collections::BTreeMap;

use kerf_engine::observed::Name;
use kerf_model::pod::{PodAffinityTerm, PodShape};
use kerf_model::selector::LabelSelector;
use rustc_hash::FxHashMap;

use crate::matching::{Labels, selects};

/// The number of a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct CountId(usize);

/// Which pods are counted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Counted {
    /// Those a spread's selector means; pods on their way out do not count.
    Alike { namespace: String, selector: Option<LabelSelector> },
    /// Those an affinity term means.
    Meant { namespace: String, term: PodAffinityTerm },
    /// Those that have this anti-affinity term themselves.
    Holders { namespace: String, term: PodAffinityTerm },
}

/// All counts.
#[derive(Clone, Debug, Default)]
pub(super) struct PodCounts {
    ids: BTreeMap<Counted, CountId>,
    by_node: Vec<FxHashMap<Name, u32>>,
}

impl Counted {
    /// Whether pods of a shape are counted.
    pub(super) fn counts(&self, shape: &PodShape, namespaces: &BTreeMap<String, Labels>) -> bool {
        match self {
            Self::Alike { namespace, selector } => {
                shape.namespace == *namespace && selects(selector.as_ref(), &shape.labels)
            }
            Self::Meant { namespace, term } => means(term, namespace, shape, namespaces),
            Self::Holders { namespace, term } => {
                shape.namespace == *namespace && shape.anti_affinity.required.contains(term)
            }
        }
    }

    /// Whether pods that are on their way out count.
    pub(super) fn counts_leaving(&self) -> bool {
        !matches!(self, Self::Alike { .. })
    }
}

/// Whether a term of a pod in `own` means pods of a shape.
pub(super) fn means(
    term: &PodAffinityTerm,
    own: &str,
    shape: &PodShape,
    namespaces: &BTreeMap<String, Labels>,
) -> bool {
    let chosen = &term.namespaces;
    let in_namespace = if chosen.names.is_empty() && chosen.selector.is_none() {
        shape.namespace == own
    } else {
        let labels = namespaces.get(&shape.namespace);
        chosen.names.contains(&shape.namespace)
            || labels.is_some_and(|labels| selects(chosen.selector.as_ref(), labels))
    };
    in_namespace && selects(term.selector.as_ref(), &shape.labels)
}

impl PodCounts {
    /// The count of these pods, and whether it is new and has counted nothing yet.
    pub(super) fn find(&mut self, counted: Counted) -> (CountId, bool) {
        if let Some(id) = self.ids.get(&counted) {
            return (*id, false);
        }
        let id = CountId(self.by_node.len());
        self.ids.insert(counted, id);
        self.by_node.push(FxHashMap::default());
        (id, true)
    }

    /// All pod_counts.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Counted, CountId)> {
        self.ids.iter().map(|(counted, id)| (counted, *id))
    }

    pub(super) fn add(&mut self, id: CountId, node: &Name) {
        *self.by_node[id.0].entry(node.clone()).or_default() += 1;
    }

    pub(super) fn subtract(&mut self, id: CountId, node: &Name) {
        if let Some(count) = self.by_node[id.0].get_mut(node) {
            *count -= 1;
            if *count == 0 {
                self.by_node[id.0].remove(node);
            }
        }
    }

    pub(super) fn on(&self, id: CountId, node: &Name) -> u32 {
        self.by_node[id.0].get(node).copied().unwrap_or_default()
    }
}
