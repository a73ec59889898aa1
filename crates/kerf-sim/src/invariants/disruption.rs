//! Nodes given up of the engine's own accord: within budgets, empty, and with nobody to disturb.

use std::sync::Arc;

use kerf_engine::action::Action;
use kerf_engine::condition::claim::{INITIALIZED, INSTANCE_TERMINATING};
use kerf_engine::observed::{Claim, Name, Pod, PodOwner};
use kerf_engine::time::Span;
use kerf_model::budget::DisruptionReason;

use super::{Checker, Rule};
use crate::cloud::Cloud;
use crate::store::Store;

impl Checker {
    /// A claim that is in order, not expired and not deleted by somebody else can only be deleted
    /// because the engine would rather not have it.
    pub(super) fn check_disruption(
        &mut self,
        name: &Name,
        uid: &Arc<str>,
        action: &Action,
        store: &Store,
        cloud: &Cloud,
    ) {
        let Some(claim) = store.claims.get(name).filter(|claim| claim.meta.uid == *uid) else {
            return;
        };
        if claim.meta.is_deleting() || !self.is_in_order(claim, store, cloud) {
            return;
        }
        let Some(node) = store.node_of(claim) else { return };
        if node.meta.is_deleting() {
            return;
        }
        self.voluntary.insert(name.clone(), self.now);
        let settled = |pod: &&Pod| {
            let bound = self.bound_at.get(&pod.key).map(|(_, at)| *at);
            bound.is_some_and(|at| self.now.since(at) > self.staleness)
        };
        let pods: Vec<&Pod> = store.pods_on(&node.meta.name).filter(settled).collect();
        let is_mover = |pod: &&&Pod| {
            !matches!(pod.owner, PodOwner::DaemonSet | PodOwner::Node) && !pod.meta.is_deleting()
        };
        if let Some(pod) = pods.iter().find(is_mover) {
            let reason = &action.reason;
            let what = format!("{name} is given up ({reason}) while {} runs on it", pod.key);
            self.object(Rule::Empty, what);
        }
        let protected = |pod: &&&Pod| pod.is_protected(self.now) && !pod.meta.is_deleting();
        if let Some(pod) = pods.iter().find(protected) {
            let what = format!("{name} is given up; {} must not be disturbed", pod.key);
            self.object(Rule::DoNotDisrupt, what);
        }
        self.check_budget(claim, store);
    }

    fn is_in_order(&self, claim: &Claim, store: &Store, cloud: &Cloud) -> bool {
        let node = store.node_of(claim);
        let instance = claim.status.provider_id.as_ref().and_then(|id| cloud.instances.get(id));
        let lives_for = claim.spec.node.expire_after.duration().map(Span::from);
        let has_expired = lives_for.is_some_and(|lives| claim.meta.created_at + lives <= self.now);
        claim.status.conditions.is_true(INITIALIZED)
            && node.is_some_and(|node| node.is_ready)
            && instance.is_some_and(|instance| !instance.is_dead && !instance.is_announced)
            && !has_expired
    }

    fn check_budget(&mut self, claim: &Claim, store: &Store) {
        let Some(pool) = claim.pool().and_then(|pool| store.pools.get(pool)) else { return };
        if self.is_overlap() {
            return;
        }
        let name = &pool.meta.name;
        let mut total = self.gone_lately.iter().filter(|(_, of)| of == name).count();
        let mut disturbed = 0;
        for other in store.claims.values().filter(|other| other.pool() == Some(&**name)) {
            let conditions = &other.status.conditions;
            if !conditions.is_true(INITIALIZED) {
                continue;
            }
            let is_own = self.voluntary.contains_key(&other.meta.name);
            // What has no node any more cannot be disturbed, though its claim may still have to go.
            let has_ended =
                conditions.is_true(INSTANCE_TERMINATING) || store.node_of(other).is_none();
            // It counted as a node until its end could be known.
            total += 1;
            let long_gone = other
                .meta
                .deleting_since
                .is_some_and(|since| self.now.since(since) > self.staleness);
            if !has_ended && (is_own || long_gone) {
                disturbed += 1;
            }
        }
        let total = u32::try_from(total).unwrap_or(u32::MAX);
        let now = self.now.seconds();
        let budgets = &pool.spec.disruption.budgets;
        let allowed = budgets.allowed(total, DisruptionReason::Empty, now);
        if !allowed.admits(disturbed) {
            let what =
                format!("pool {name}: {disturbed} of {total} nodes disturbed, {allowed} allowed");
            self.object(Rule::Budget, what);
        }
    }
}
