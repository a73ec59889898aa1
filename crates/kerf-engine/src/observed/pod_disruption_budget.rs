//! PodDisruptionBudgets: which pods may leave now.

use kerf_model::selector::LabelSelector;
use serde::{Deserialize, Serialize};

use super::{Meta, Name, NamespacedName, ObservedKind};
use crate::action::Subject;
use crate::world::World;

/// A PodDisruptionBudget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PodDisruptionBudget {
    /// What all objects have.
    pub meta: Meta,
    /// Its namespace, and that of its pods.
    pub namespace: Name,
    /// Which pods it covers.
    pub selector: LabelSelector,
    /// How many of them may leave now.
    pub disruptions_allowed: u32,
    /// Whether it can never let a pod go: at most 0 unavailable or all available.
    pub is_absolute: bool,
    /// Whether pods that are not ready may always leave.
    pub frees_unready: bool,
}

impl ObservedKind for PodDisruptionBudget {
    type Key = NamespacedName;

    fn key(&self) -> NamespacedName {
        NamespacedName { namespace: self.namespace.clone(), name: self.meta.name.clone() }
    }

    fn dependents(&self, _world: &World) -> Vec<Subject> {
        vec![Subject::Disruption]
    }
}
