//! Writes as clients ask for them: with preconditions, finalizers and graceful deletion.

use std::sync::Arc;

use kerf_engine::action::NewClaim;
use kerf_engine::event::{Failure, Key, Outcome};
use kerf_engine::observed::{Claim, ClaimStatus, Collected, Name, PodKey, PodPhase, Revision};
use kerf_engine::time::{Span, Time};
use kerf_model::labels::well_known::TERMINATION_FINALIZER;

use super::Store;

/// What must still hold of an object for a write to be carried out.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Precondition<'a> {
    /// It has not changed since.
    Revision(Revision),
    /// It is the same object, whatever changed.
    Uid(&'a str),
    /// None.
    Nothing,
}

impl Store {
    /// Stores a new claim with Kerf's finalizer; one that exists under the name is returned.
    pub(crate) fn create_claim(&mut self, new: &NewClaim) -> Outcome {
        let name: Name = Arc::from(new.spec.name.as_str());
        if !self.claims.contains_key(&name) {
            let claim = Claim {
                meta: self.new_meta(name.clone()),
                spec: new.spec.clone(),
                finalizers: vec![TERMINATION_FINALIZER.to_owned()],
                owner_pool: Some(new.pool.1.clone()),
                status: ClaimStatus::default(),
            };
            self.put(claim.into());
        }
        self.stored(&Key::Claim(name))
    }

    /// Changes an object. One that is being deleted goes with its last finalizer.
    pub(crate) fn change<K: Collected>(
        &mut self,
        key: &K::Key,
        precondition: Precondition<'_>,
        change: impl FnOnce(&mut K),
    ) -> Outcome {
        let known = match self.find::<K>(key, precondition) {
            Ok(known) => known,
            Err(outcome) => return outcome,
        };
        let mut object = known.clone();
        change(&mut object);
        let is_over = object.meta().is_deleting() && object.finalizers().is_empty();
        let object = object.into();
        let key = object.key();
        self.put(object);
        let outcome = self.stored(&key);
        if is_over {
            self.remove(key);
        }
        outcome
    }

    /// Asks for the deletion of an object, which stays while it has finalizers.
    pub(crate) fn delete<K: Collected>(
        &mut self,
        key: &K::Key,
        precondition: Precondition<'_>,
    ) -> Outcome {
        let known = match self.find::<K>(key, precondition) {
            Ok(known) => known,
            Err(outcome) => return outcome,
        };
        if known.meta().is_deleting() {
            return Outcome::Done;
        }
        let mut object = known.clone();
        if object.finalizers().is_empty() {
            self.remove(object.into().key());
        } else {
            object.meta_mut().deleting_since = Some(self.now_seconds());
            object.meta_mut().generation += 1;
            self.put(object.into());
        }
        Outcome::Done
    }

    /// Asks for the end of a pod within `grace`. A pod without a node is gone at once.
    pub(crate) fn delete_pod(
        &mut self,
        key: &PodKey,
        precondition: Precondition<'_>,
        grace: Span,
    ) -> Outcome {
        let pod: &kerf_engine::observed::Pod = match self.find(key, precondition) {
            Ok(pod) => pod,
            Err(outcome) => return outcome,
        };
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
        self.put(pod.into());
        Outcome::Done
    }

    fn find<K: Collected>(
        &self,
        key: &K::Key,
        precondition: Precondition<'_>,
    ) -> Result<&K, Outcome> {
        let Some(known) = K::all(&self.objects).get(key) else { return Err(Outcome::NotFound) };
        match precondition {
            Precondition::Revision(revision) if known.meta().revision != revision => {
                Err(Outcome::Failed(Failure::Conflict))
            }
            Precondition::Uid(uid) if *known.meta().uid != *uid => Err(Outcome::NotFound),
            _ => Ok(known),
        }
    }

    fn stored(&self, key: &Key) -> Outcome {
        let stored = self.objects.get(key).map(Box::new);
        stored.map_or(Outcome::NotFound, Outcome::Stored)
    }

    /// The API server keeps whole seconds.
    fn now_seconds(&self) -> Time {
        Time::from_seconds(self.now.seconds())
    }
}
