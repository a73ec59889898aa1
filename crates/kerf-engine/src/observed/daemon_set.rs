//! Daemon sets: what every node they run on must also hold.

use std::sync::Arc;

use kerf_model::pod::PodShape;
use serde::{Deserialize, Serialize};

use super::{Meta, Name, NamespacedName, ObservedKind};

/// A daemon set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DaemonSet {
    /// What all objects have.
    pub meta: Meta,
    /// Its namespace.
    pub namespace: Name,
    /// What its next pod will be: as its newest pod is, or as its template says.
    pub shape: Arc<PodShape>,
}

impl ObservedKind for DaemonSet {
    type Key = NamespacedName;

    fn key(&self) -> NamespacedName {
        NamespacedName { namespace: self.namespace.clone(), name: self.meta.name.clone() }
    }
}
