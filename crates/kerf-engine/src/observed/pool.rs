//! Pools as the engine sees them.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_model::pool::NodePool;
use kerf_model::resources::ResourceList;
use serde::{Deserialize, Serialize};

use super::{Meta, Name, ObservedKind};
use crate::action::Subject;
use crate::condition::Conditions;
use crate::world::World;

/// A pool with what was observed of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pool {
    /// What all objects have.
    pub meta: Meta,
    /// The spec. Its hash is the one the template has now.
    pub spec: Arc<NodePool>,
    /// Its annotations, those in the `karpenter.sh` domains only.
    pub annotations: BTreeMap<String, String>,
    /// What is wrong with the spec as text; empty when nothing is (§1.6 of the rules).
    pub faults: Vec<String>,
    /// What was last written about it.
    pub status: PoolStatus,
}

/// What was last written about a pool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolStatus {
    /// What its nodes have together.
    pub resources: ResourceList,
    /// How many nodes it has.
    pub nodes: u64,
    /// The generation of its node class when its health was last judged.
    pub node_class_observed_generation: Option<i64>,
    /// How it is.
    pub conditions: Conditions,
}

impl ObservedKind for Pool {
    type Key = Name;

    fn key(&self) -> Name {
        self.meta.name.clone()
    }

    fn subject(name: &Name) -> Option<Subject> {
        Some(Subject::Pool(name.clone()))
    }

    fn dependents(&self, world: &World) -> Vec<Subject> {
        let name = &self.meta.name;
        let claims = world.claims_of(name).map(|claim| Subject::Claim(claim.meta.name.clone()));
        let own = [Subject::Pool(name.clone()), Subject::Provisioning, Subject::Disruption];
        own.into_iter().chain([Subject::ZonalShift]).chain(claims).collect()
    }
}
