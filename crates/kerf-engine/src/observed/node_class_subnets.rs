//! The subnets of node classes, by which the zones of their nodes are known.

use std::sync::Arc;

use kerf_model::node_spec::NodeClassRef;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Meta, ObservedKind};
use crate::action::Subject;
use crate::world::World;

/// The subnets of a node class, of whatever kind and version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeClassSubnets {
    /// What all objects have.
    pub meta: Meta,
    /// Group, kind and name.
    pub key: NodeClassRef,
    /// Nothing but `status.subnets` of the object.
    pub object: Arc<Value>,
}

impl ObservedKind for NodeClassSubnets {
    type Key = NodeClassRef;

    fn key(&self) -> NodeClassRef {
        self.key.clone()
    }

    fn dependents(&self, _world: &World) -> Vec<Subject> {
        vec![Subject::ZonalShift]
    }
}
