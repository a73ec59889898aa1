//! Claims as the engine sees them.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_model::claim::NodeClaim;
use kerf_model::labels::well_known::{NODE_POOL, TERMINATION_FINALIZER};
use kerf_model::resources::ResourceList;
use serde::{Deserialize, Serialize};

use super::index::instance_id;
use super::{Index, Meta, Name, ObservedKind};
use crate::action::Subject;
use crate::command::record::{COMMAND, REPLACEMENT_FOR};
use crate::condition::Conditions;
use crate::condition::claim::{DISRUPTION_REASON, DRIFTED};
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

    /// Whether a command left something on it: its record, why it goes, or whom it replaces.
    fn is_marked(&self) -> bool {
        self.annotations().contains_key(COMMAND)
            || self.annotations().contains_key(REPLACEMENT_FOR)
            || self.status.conditions.get(DISRUPTION_REASON).is_some()
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
        let name = &claim.meta.name;
        match &claim.status.provider_id {
            Some(id) => {
                index.claims_on_instance.insert(instance_id(id), name, claim);
                index.note_arrivals(id);
                index.note_claim_changed(id);
            }
            None => drop(index.claims_without_node.insert(name.clone(), claim.clone())),
        }
        if let Some(pool) = claim.pool() {
            index.claims_of_pool.insert(pool, name, claim);
        }
        if claim.is_marked() {
            index.marked_claims.insert(name.clone(), claim.clone());
        }
        if claim.status.conditions.is_true(DRIFTED) {
            index.drifted_claims.insert(name.clone(), claim.clone());
        }
        index.tally(claim, 1);
    }

    fn remove_from(&self, index: &mut Index) {
        let name = &self.meta.name;
        index.tally(self, -1);
        index.claims_without_node.remove(name);
        index.marked_claims.remove(name);
        index.drifted_claims.remove(name);
        if let Some(id) = &self.status.provider_id {
            index.claims_on_instance.remove(instance_id(id), name);
            index.note_claim_changed(id);
        }
        if let Some(pool) = self.pool() {
            index.claims_of_pool.remove(pool, name);
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
