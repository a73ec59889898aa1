//! Writes as clients ask for them: with preconditions, finalizers and graceful deletion.

use std::sync::Arc;

use kerf_engine::action::{MetadataPatch, NewClaim, NodePatch};
use kerf_engine::event::{Failure, Key, Object, Outcome};
use kerf_engine::observed::{Claim, ClaimStatus, Name, PodKey, PodPhase, PoolStatus, Revision};
use kerf_engine::time::Span;
use kerf_model::labels::well_known::TERMINATION_FINALIZER;

use super::Store;

impl Store {
    /// Stores a new claim with Kerf's finalizer; one that exists under the name is returned.
    pub(crate) fn create_claim(&mut self, new: NewClaim) -> Outcome {
        let name: Name = Arc::from(new.spec.name.as_str());
        if let Some(claim) = self.claims.get(&name) {
            return Outcome::Stored(Box::new(Object::Claim(claim.clone())));
        }
        let claim = Claim {
            meta: self.new_meta(name.clone()),
            spec: new.spec,
            finalizers: vec![TERMINATION_FINALIZER.to_owned()],
            owner_pool: Some(new.pool.1),
            status: ClaimStatus::default(),
        };
        self.put(Object::Claim(claim));
        self.stored_claim(&name)
    }

    pub(crate) fn patch_claim(
        &mut self,
        name: &Name,
        revision: Revision,
        patch: MetadataPatch,
    ) -> Outcome {
        let Some(claim) = self.claims.get(name) else { return Outcome::NotFound };
        if claim.meta.revision != revision {
            return Outcome::Failed(Failure::Conflict);
        }
        let mut claim = claim.clone();
        claim.spec.labels.extend(patch.labels);
        claim.spec.annotations.extend(patch.annotations);
        if let Some(finalizers) = patch.finalizers {
            claim.finalizers = finalizers;
        }
        let is_over = claim.meta.is_deleting() && claim.finalizers.is_empty();
        self.put(Object::Claim(claim.clone()));
        if is_over {
            let outcome = self.stored_claim(name);
            self.remove(Key::Claim(name.clone()));
            return outcome;
        }
        self.stored_claim(name)
    }

    pub(crate) fn write_claim_status(
        &mut self,
        name: &Name,
        revision: Revision,
        status: ClaimStatus,
    ) -> Outcome {
        let Some(claim) = self.claims.get(name) else { return Outcome::NotFound };
        if claim.meta.revision != revision {
            return Outcome::Failed(Failure::Conflict);
        }
        let claim = Claim { status, ..claim.clone() };
        self.put(Object::Claim(claim));
        self.stored_claim(name)
    }

    pub(crate) fn delete_claim(&mut self, name: &Name, uid: Option<&str>) -> Outcome {
        let Some(claim) = self.claims.get(name) else { return Outcome::NotFound };
        if uid.is_some_and(|uid| *claim.meta.uid != *uid) {
            return Outcome::NotFound;
        }
        if claim.meta.is_deleting() {
            return Outcome::Done;
        }
        if claim.finalizers.is_empty() {
            self.remove(Key::Claim(name.clone()));
            return Outcome::Done;
        }
        let mut claim = claim.clone();
        claim.meta.deleting_since = Some(self.now_seconds());
        claim.meta.generation += 1;
        self.put(Object::Claim(claim));
        Outcome::Done
    }

    pub(crate) fn patch_node(&mut self, name: &Name, uid: &str, patch: NodePatch) -> Outcome {
        let Some(node) = self.nodes.get(name) else { return Outcome::NotFound };
        if *node.meta.uid != *uid {
            return Outcome::NotFound;
        }
        let mut node = node.clone();
        node.finalizers = patch.finalizers(node.finalizers);
        node.taints = patch.taints(node.taints);
        node.labels.extend(patch.labels);
        node.annotations.extend(patch.annotations);
        if let Some((_, uid)) = patch.owner {
            node.owner_claim = Some(uid);
        }
        let is_over = node.meta.is_deleting() && node.finalizers.is_empty();
        self.put(Object::Node(node));
        let stored = self.nodes.get(name).cloned().map(Object::Node).map(Box::new);
        if is_over {
            self.remove(Key::Node(name.clone()));
        }
        stored.map_or(Outcome::NotFound, Outcome::Stored)
    }

    pub(crate) fn delete_node(&mut self, name: &Name, uid: Option<&str>) -> Outcome {
        let Some(node) = self.nodes.get(name) else { return Outcome::NotFound };
        if uid.is_some_and(|uid| *node.meta.uid != *uid) {
            return Outcome::NotFound;
        }
        if node.meta.is_deleting() {
            return Outcome::Done;
        }
        if node.finalizers.is_empty() {
            self.remove(Key::Node(name.clone()));
            return Outcome::Done;
        }
        let mut node = node.clone();
        node.meta.deleting_since = Some(self.now_seconds());
        self.put(Object::Node(node));
        Outcome::Done
    }

    /// Asks for the end of a pod within `grace`. A pod without a node is gone at once.
    pub(crate) fn delete_pod(&mut self, key: &PodKey, uid: Option<&str>, grace: Span) -> Outcome {
        let Some(pod) = self.pods.get(key) else { return Outcome::NotFound };
        if uid.is_some_and(|uid| *pod.meta.uid != *uid) {
            return Outcome::NotFound;
        }
        if !matches!(pod.phase, PodPhase::Bound { .. }) {
            self.remove(Key::Pod(key.clone()));
            return Outcome::Done;
        }
        let until = self.now_seconds() + grace;
        if pod.meta.deleting_since.is_some_and(|known| known <= until) {
            return Outcome::Done;
        }
        let mut pod = pod.clone();
        pod.meta.deleting_since = Some(until);
        self.put(Object::Pod(pod));
        Outcome::Done
    }

    pub(crate) fn patch_pool(
        &mut self,
        name: &Name,
        revision: Revision,
        annotations: std::collections::BTreeMap<String, String>,
    ) -> Outcome {
        let Some(pool) = self.pools.get(name) else { return Outcome::NotFound };
        if pool.meta.revision != revision {
            return Outcome::Failed(Failure::Conflict);
        }
        let mut pool = pool.clone();
        pool.annotations.extend(annotations);
        self.put(Object::Pool(pool));
        self.stored_pool(name)
    }

    pub(crate) fn write_pool_status(
        &mut self,
        name: &Name,
        revision: Revision,
        status: PoolStatus,
    ) -> Outcome {
        let Some(pool) = self.pools.get(name) else { return Outcome::NotFound };
        if pool.meta.revision != revision {
            return Outcome::Failed(Failure::Conflict);
        }
        let mut pool = pool.clone();
        pool.status = status;
        self.put(Object::Pool(pool));
        self.stored_pool(name)
    }

    fn stored_claim(&self, name: &Name) -> Outcome {
        let stored = self.claims.get(name).cloned().map(Object::Claim).map(Box::new);
        stored.map_or(Outcome::NotFound, Outcome::Stored)
    }

    fn stored_pool(&self, name: &Name) -> Outcome {
        let stored = self.pools.get(name).cloned().map(Object::Pool).map(Box::new);
        stored.map_or(Outcome::NotFound, Outcome::Stored)
    }

    /// The API server keeps whole seconds.
    fn now_seconds(&self) -> kerf_engine::time::Time {
        kerf_engine::time::Time::from_seconds(self.now.seconds())
    }
}
