//! Draining: nobody is asked to leave needlessly, hurried, or left behind.

use std::sync::Arc;

use kerf_engine::condition::claim::REGISTERED;
use kerf_engine::observed::{Claim, Pod, PodKey, PodOwner};
use kerf_engine::time::{Span, Time};
use kerf_model::taint::disrupted;

use super::{Checker, Rule, STALENESS_CALM};
use crate::matching::tolerates;
use crate::store::Store;

/// A pod that should have ended so long ago is not waited for.
const STUCK_AFTER: Span = Span::from_minutes(1);
/// The API server keeps whole seconds; so much may be lost on either side.
const ROUNDING: Span = Span::from_seconds(2);

impl Checker {
    pub(super) fn check_eviction(&mut self, key: &PodKey, uid: &Arc<str>, store: &Store) {
        let Some(pod) = store.pods.get(key).filter(|pod| pod.meta.uid == *uid) else { return };
        if pod.meta.is_deleting() || pod.has_ended() {
            return;
        }
        let Some(node) = pod.node().and_then(|name| store.nodes.get(name)) else { return };
        if pod.is_protected(self.now) {
            let what = format!("{key} is evicted though it must not be disturbed");
            self.object(Rule::DoNotDisrupt, what);
        }
        let claim = store.claim_of(node);
        let is_going = node.meta.is_deleting() || claim.is_none_or(|it| it.meta.is_deleting());
        if !is_going {
            let what = format!("{key} is evicted from {}, which stays", node.meta.name);
            self.object(Rule::NeedlessEviction, what);
        }
    }

    pub(super) fn check_forced_end(&mut self, key: &PodKey, uid: &Arc<str>, store: &Store) {
        let Some(pod) = store.pods.get(key).filter(|pod| pod.meta.uid == *uid) else { return };
        let Some(node) = pod.node().and_then(|name| store.nodes.get(name)) else { return };
        let deadline = store.claim_of(node).and_then(deadline);
        let is_due = deadline.is_some_and(|deadline| {
            let own = pod.termination_grace.unwrap_or_default();
            let overruns = pod.meta.deleting_since.is_some_and(|ends| ends > deadline);
            overruns || self.now + own + ROUNDING >= deadline
        });
        if !is_due {
            self.object(Rule::Pdb, format!("{key} is deleted by force before its time"));
        }
    }

    pub(super) fn check_drained(&mut self, provider_id: &Arc<str>, store: &Store) {
        let claims = store.claims.values();
        let mut owners =
            claims.filter(|claim| claim.status.provider_id.as_ref() == Some(provider_id));
        let Some(claim) = owners.next() else { return };
        if !claim.status.conditions.is_true(REGISTERED) {
            return;
        }
        let Some(node) = store.node_of(claim) else { return };
        if deadline(claim).is_some_and(|deadline| self.now + ROUNDING >= deadline) {
            return;
        }
        let waited_for = |pod: &&Pod| {
            let bound = self.bound_at.get(&pod.key).map(|(_, at)| *at);
            // Whatever watches told: a node is closed before it is drained, and the API server is
            // asked for its pods before it is called drained.
            let is_settled = bound.is_some_and(|at| self.now.since(at) > STALENESS_CALM);
            is_settled
                && pod.owner != PodOwner::Node
                && !is_stuck(pod, self.now)
                && !tolerates(&pod.shape, &[disrupted()])
        };
        if let Some(pod) = store.pods_on(&node.meta.name).find(waited_for) {
            let what = format!("{} is ended while {} still runs on it", claim.meta.name, pod.key);
            self.object(Rule::Drain, what);
        }
    }
}

/// Whether a pod should have ended long ago.
pub(super) fn is_stuck(pod: &Pod, now: Time) -> bool {
    pod.meta.deleting_since.is_some_and(|ends| now > ends + STUCK_AFTER)
}

/// When the pods of a claim that is being deleted may be ended by force.
fn deadline(claim: &Claim) -> Option<Time> {
    let grace = claim.spec.node.termination_grace?;
    Some(claim.meta.deleting_since? + Span::from(grace))
}
