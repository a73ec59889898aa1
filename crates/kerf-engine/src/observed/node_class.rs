//! A provider's settings for nodes. Only the provider understands what they say.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_model::node_spec::NodeClassRef;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Meta, ObservedKind, Pool};
use crate::action::Subject;
use crate::condition::{Condition, Conditions, READY, Status};
use crate::world::World;

/// A provider's settings object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeClass {
    /// What all objects have.
    pub meta: Meta,
    /// Group, kind and name.
    pub key: NodeClassRef,
    /// Its annotations, those in the provider's own domains only.
    pub annotations: BTreeMap<String, String>,
    /// The finalizers it waits for.
    pub finalizers: Vec<String>,
    /// The spec, as it is stored.
    pub spec: Arc<Value>,
    /// The provider's hash of the spec, where it has one: a claim made with another has drifted.
    pub hash: Option<String>,
    /// What was last written about it.
    pub status: NodeClassStatus,
}

/// What is known of a node class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeClassStatus {
    /// How it is.
    pub conditions: Conditions,
    /// What the provider found for it (subnets, images, …): the status without its conditions.
    pub resolved: Arc<Value>,
}

/// Whether nodes can be made with a node class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness<'a> {
    /// They can.
    Ready,
    /// They cannot.
    NotReady {
        /// The reason its controller gave, one word.
        reason: &'a str,
        /// And in a sentence.
        message: &'a str,
    },
    /// Its controller has not said.
    Unknown,
}

impl NodeClass {
    /// A class that says nothing and of which nothing is known.
    #[must_use]
    pub fn new(meta: Meta, key: NodeClassRef) -> Self {
        Self {
            meta,
            key,
            annotations: BTreeMap::new(),
            finalizers: Vec::new(),
            spec: Arc::default(),
            hash: None,
            status: NodeClassStatus::default(),
        }
    }

    /// The same, with this said about whether nodes can be made with it.
    #[must_use]
    pub fn with_ready(mut self, status: Status, reason: &str, message: &str) -> Self {
        self.status.conditions = Conditions(vec![Condition {
            kind: READY.to_owned(),
            status,
            reason: reason.to_owned(),
            message: message.to_owned(),
            changed_at: self.meta.created_at,
            observed_generation: self.meta.generation,
        }]);
        self
    }

    /// Whether nodes can be made with it.
    #[must_use]
    pub fn readiness(&self) -> Readiness<'_> {
        match self.status.conditions.get(READY) {
            Some(ready) if ready.status == Status::True => Readiness::Ready,
            Some(ready) if ready.status == Status::False => {
                Readiness::NotReady { reason: &ready.reason, message: &ready.message }
            }
            _ => Readiness::Unknown,
        }
    }
}

impl ObservedKind for NodeClass {
    type Key = NodeClassRef;

    fn key(&self) -> NodeClassRef {
        self.key.clone()
    }

    fn finalizers(&self) -> &[String] {
        &self.finalizers
    }

    fn subject(key: &NodeClassRef) -> Option<Subject> {
        Some(Subject::NodeClass(key.clone()))
    }

    fn dependents(&self, world: &World) -> Vec<Subject> {
        let uses = |pool: &&Arc<Pool>| pool.spec.template.spec.node_class == self.key;
        let pools = world.pools.values().filter(uses);
        let pools = pools.map(|pool| Subject::Pool(pool.meta.name.clone()));
        let own = [Subject::NodeClass(self.key.clone()), Subject::Provisioning];
        pools.chain(own).collect()
    }
}
