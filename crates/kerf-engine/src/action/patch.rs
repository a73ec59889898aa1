//! What is written: new claims, and changes that name only what changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kerf_model::claim::NodeClaim;
use kerf_model::labels::well_known::TERMINATION_FINALIZER;
use kerf_model::taint::{Taint, unschedulable};
use serde::{Deserialize, Serialize};

use crate::observed::{Name, Revision};

/// A claim to be stored. It carries Kerf's finalizer from the first moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewClaim {
    /// The spec: name, labels, annotations, spec, requests.
    pub spec: NodeClaim,
    /// The pool that owns it: name and identity.
    pub pool: (Name, Arc<str>),
}

/// Changes to the metadata of an object. What is not named stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetadataPatch {
    /// Labels to set.
    pub labels: BTreeMap<String, String>,
    /// Keys of labels to remove.
    #[serde(default)]
    pub labels_removed: BTreeSet<String>,
    /// Annotations to set.
    pub annotations: BTreeMap<String, String>,
    /// Keys of annotations to remove.
    pub annotations_removed: BTreeSet<String>,
    /// All finalizers there shall be, if they change.
    pub finalizers: Option<Vec<String>>,
}

/// Changes to a node. What is not named stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodePatch {
    /// Labels to set.
    pub labels: BTreeMap<String, String>,
    /// Keys of labels to remove.
    #[serde(default)]
    pub labels_removed: BTreeSet<String>,
    /// Annotations to set.
    pub annotations: BTreeMap<String, String>,
    /// Keys of annotations to remove.
    pub annotations_removed: BTreeSet<String>,
    /// What becomes of Kerf's finalizer.
    pub finalizer: FinalizerChange,
    /// Taints to take away: all with the same key and effect.
    pub taints_removed: Vec<Taint>,
    /// Taints to add, once those are away.
    pub taints_added: Vec<Taint>,
    /// What becomes of `spec.unschedulable`.
    pub cordon: CordonChange,
    /// The claim that shall own it: name and identity.
    pub owner: Option<(Name, Arc<str>)>,
    /// The state the change was decided on, where it holds for no other.
    pub revision: Option<Revision>,
}

/// What becomes of `spec.unschedulable`, which `kubectl cordon` sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum CordonChange {
    /// It is set or not, as before.
    #[default]
    None,
    /// It shall be set.
    Cordon,
    /// It shall not be set.
    Uncordon,
}

/// What becomes of Kerf's finalizer on a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FinalizerChange {
    /// It is there or not, as before.
    #[default]
    None,
    /// It shall be there.
    Add,
    /// It shall not be there.
    Remove,
}

impl MetadataPatch {
    /// Changes labels, annotations and finalizers as the API server does.
    pub fn apply(
        &self,
        labels: &mut BTreeMap<String, String>,
        annotations: &mut BTreeMap<String, String>,
        finalizers: &mut Vec<String>,
    ) {
        change(labels, &self.labels, &self.labels_removed);
        self.apply_to_unlabelled(annotations, finalizers);
    }

    /// The same for an object whose labels nobody reads.
    pub fn apply_to_unlabelled(
        &self,
        annotations: &mut BTreeMap<String, String>,
        finalizers: &mut Vec<String>,
    ) {
        change(annotations, &self.annotations, &self.annotations_removed);
        if let Some(all) = &self.finalizers {
            finalizers.clone_from(all);
        }
    }
}

fn change(
    values: &mut BTreeMap<String, String>,
    set: &BTreeMap<String, String>,
    removed: &BTreeSet<String>,
) {
    values.retain(|key, _| !removed.contains(key));
    values.extend(set.clone());
}

impl NodePatch {
    /// Whether it keeps new pods away.
    #[must_use]
    pub fn closes(&self) -> bool {
        !self.taints_added.is_empty() || self.cordon == CordonChange::Cordon
    }

    /// The labels of a node after the change.
    #[must_use]
    pub fn labels(&self, mut before: BTreeMap<String, String>) -> BTreeMap<String, String> {
        change(&mut before, &self.labels, &self.labels_removed);
        before
    }

    /// The annotations of a node after the change.
    #[must_use]
    pub fn annotations(&self, mut before: BTreeMap<String, String>) -> BTreeMap<String, String> {
        change(&mut before, &self.annotations, &self.annotations_removed);
        before
    }

    /// The finalizers of a node after the change.
    #[must_use]
    pub fn finalizers(&self, mut before: Vec<String>) -> Vec<String> {
        if self.finalizer != FinalizerChange::None {
            before.retain(|finalizer| finalizer != TERMINATION_FINALIZER);
        }
        if self.finalizer == FinalizerChange::Add {
            before.push(TERMINATION_FINALIZER.to_owned());
        }
        before
    }

    /// The taints of a node after the change.
    #[must_use]
    pub fn taints(&self, mut before: Vec<Taint>) -> Vec<Taint> {
        before.retain(|taint| !self.removes(&taint.key, taint.effect.as_str()));
        before.extend(self.taints_added.iter().cloned());
        // Kubernetes keeps this taint in step with `spec.unschedulable`.
        match self.cordon {
            CordonChange::Cordon if !before.contains(&unschedulable()) => {
                before.push(unschedulable());
            }
            CordonChange::Uncordon => before.retain(|taint| *taint != unschedulable()),
            CordonChange::Cordon | CordonChange::None => {}
        }
        before
    }

    /// Whether a taint goes, be it for good or in favour of a new one.
    #[must_use]
    pub fn removes(&self, key: &str, effect: &str) -> bool {
        let mut going = self.taints_removed.iter().chain(&self.taints_added);
        going.any(|taint| taint.key == key && taint.effect.as_str() == effect)
    }
}
