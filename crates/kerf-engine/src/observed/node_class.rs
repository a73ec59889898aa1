//! A provider's settings for nodes, as far as the engine cares.

use std::sync::Arc;

use kerf_model::node_spec::NodeClassRef;
use serde::{Deserialize, Serialize};

use super::{Meta, ObservedKind, Pool};
use crate::action::Subject;
use crate::world::World;

/// A provider's settings object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeClass {
    /// What all objects have.
    pub meta: Meta,
    /// Group, kind and name.
    pub key: NodeClassRef,
    /// Whether nodes can be made with it.
    pub readiness: Readiness,
}

/// Whether nodes can be made with a node class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Readiness {
    /// They can.
    Ready,
    /// They cannot.
    NotReady {
        /// The reason its controller gave, one word.
        reason: String,
        /// And in a sentence.
        message: String,
    },
    /// Its controller has not said.
    Unknown,
}

impl ObservedKind for NodeClass {
    type Key = NodeClassRef;

    fn key(&self) -> NodeClassRef {
        self.key.clone()
    }

    fn dependents(&self, world: &World) -> Vec<Subject> {
        let uses = |pool: &&Arc<Pool>| pool.spec.template.spec.node_class == self.key;
        let pools = world.pools.values().filter(uses);
        let pools = pools.map(|pool| Subject::Pool(pool.meta.name.clone()));
        pools.chain([Subject::Provisioning]).collect()
    }
}
