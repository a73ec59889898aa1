//! In which namespaces a pod affinity term looks for pods.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{LabelSelector, LabelSet, Selector};
use crate::vocabulary::Vocabulary;

/// The namespaces part of a pod affinity term.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TermNamespaces {
    /// Namespaces by name.
    pub names: Vec<String>,
    /// Namespaces by label; an empty selector means all of them.
    pub selector: Option<LabelSelector>,
}

/// A namespace that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// Its name.
    pub name: String,
    /// Its labels.
    pub labels: LabelSet,
}

impl TermNamespaces {
    /// The names of the namespaces meant: the pod's own if nothing is said, else those listed and
    /// those that the selector matches.
    pub fn resolve(
        &self,
        own_namespace: &str,
        namespaces: &[Namespace],
        vocabulary: &mut Vocabulary,
    ) -> BTreeSet<String> {
        if self.names.is_empty() && self.selector.is_none() {
            return [own_namespace.to_owned()].into();
        }
        let selector = Selector::compile(self.selector.as_ref(), vocabulary);
        let matching = namespaces.iter().filter(|namespace| selector.matches(&namespace.labels));
        let listed = self.names.iter().cloned();
        listed.chain(matching.map(|namespace| namespace.name.clone())).collect()
    }
}
