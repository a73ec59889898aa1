//! Claims as the engine sees them.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_model::claim::NodeClaim;
use kerf_model::labels::well_known::{NODE_POOL, TERMINATION_FINALIZER};
use kerf_model::resources::ResourceList;
use serde::{Deserialize, Serialize};

use super::{Index, Meta, Name, ObservedKind};
use crate::action::Subject;
use crate::condition::Conditions;
use crate::dependents::of_claim;
use crate::time::Time;
use crate::world::World;

/// A claim with what was observed of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// What all objects have.
    pub meta: Meta,
    /// The spec, labels and annotations included.
    pub spec: NodeClaim,
    /// The finalizers it waits for.
    pub finalizers: Vec<String>,
    /// The identity of the pool that owns it.
    pub owner_pool: Option<Arc<str>>,
    /// What is known of its instance and node.
    pub status: ClaimStatus,
}

/// What is known of a claim's instance and node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimStatus {
    /// Its node.
    pub node_name: Option<Name>,
    /// Its instance.
    pub provider_id: Option<Arc<str>>,
    /// The image the instance was started from.
    pub image_id: Option<String>,
    /// What the instance has in all.
    pub capacity: ResourceList,
    /// What pods can use of it.
    pub allocatable: ResourceList,
    /// How far it has come.
    pub conditions: Conditions,
    /// When a pod last came to or left its node.
    pub last_pod_event_at: Option<Time>,
}

impl Claim {
    /// Its pool's name.
    #[must_use]
    pub fn pool(&self) -> Option<&str> {
        self.spec.labels.get(NODE_POOL).map(String::as_str)
    }

    /// A label it carries.
    #[must_use]
    pub fn label(&self, key: &str) -> Option<&str> {
        self.spec.labels.get(key).map(String::as_str)
    }

    /// All annotations.
    #[must_use]
    pub fn annotations(&self) -> &BTreeMap<String, String> {
        &self.spec.annotations
    }

    /// Whether Kerf's finalizer is stored, so that nothing of it can be forgotten.
    #[must_use]
    pub fn has_finalizer(&self) -> bool {
        self.finalizers.iter().any(|finalizer| finalizer == TERMINATION_FINALIZER)
    }
}

impl ObservedKind for Claim {
    type Key = Name;

    fn key(&self) -> Name {
        self.meta.name.clone()
    }

    fn finalizers(&self) -> &[String] {
        &self.finalizers
    }

    fn add_to(claim: &Arc<Self>, index: &mut Index) {
        let id = claim.status.provider_id.as_ref();
        if !id.is_some_and(|id| index.nodes_on_instance.contains(id)) {
            index.claims_without_node.insert(claim.meta.name.clone(), claim.clone());
        }
        if let Some(id) = id {
            index.claim_of_instance.insert(id.clone(), claim.clone());
            index.note_claim_changed(id);
        }
        if let Some(pool) = claim.pool() {
            index.claims_of_pool.insert(&Arc::from(pool), &claim.meta.name, claim);
        }
    }

    fn remove_from(&self, index: &mut Index) {
        index.claims_without_node.remove(&self.meta.name);
        if let Some(id) = &self.status.provider_id {
            index.claim_of_instance.remove(id);
            index.note_claim_changed(id);
        }
        if let Some(pool) = self.pool() {
            index.claims_of_pool.remove(pool, &self.meta.name);
        }
    }

    fn subject(name: &Name) -> Option<Subject> {
        Some(Subject::Claim(name.clone()))
    }

    fn dependents(&self, world: &World) -> Vec<Subject> {
        let mut subjects = vec![Subject::Claim(self.meta.name.clone()), Subject::Disruption];
        // A notice may wait for the claim's deletion.
        subjects.extend((!world.memory.notices.is_empty()).then_some(Subject::Notices));
        subjects.extend(of_claim(world, self));
        subjects
    }
}
