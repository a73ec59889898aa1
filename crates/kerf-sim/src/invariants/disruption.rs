//! Nodes given up of the engine's own accord: within budgets, empty or replaced, and with nobody to
//! disturb.

use std::sync::Arc;

use kerf_engine::action::Action;
use kerf_engine::command::record::Record;
use kerf_engine::condition::claim::{INITIALIZED, INSTANCE_TERMINATING};
use kerf_engine::observed::{Claim, Name, Node, Pod};
use kerf_engine::reason::{DeletionCause, Reason};
use kerf_engine::time::{Span, Time};
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
        if is_surplus(action) {
            return self.check_surplus(name, store);
        }
        let Some((claim, node)) = staying(name, uid, store) else { return };
        if !is_in_order(claim, store, cloud, self.now) {
            return;
        }
        self.voluntary.insert(name.clone(), self.now);
        let pods: Vec<&Pod> =
            store.pods_on(&node.meta.name).filter(|pod| self.is_settled(pod)).collect();
        let reason = reason(action).unwrap_or(DisruptionReason::Empty);
        let mut movers = pods.iter().filter(|pod| self.has_to_move(pod));
        if let Some(pod) = movers.next().filter(|_| reason == DisruptionReason::Empty) {
            let reason = &action.reason;
            let what = format!("{name} is given up ({reason}) while {} runs on it", pod.key);
            self.object(Rule::Empty, what);
        }
        let protected = |pod: &&&Pod| pod.is_protected(self.now) && !pod.meta.is_deleting();
        let is_bounded = may_be_forced(reason) && claim.spec.node.termination_grace.is_some();
        if let Some(pod) = pods.iter().find(protected).filter(|_| !is_bounded) {
            let what = format!("{name} is given up; {} must not be disturbed", pod.key);
            self.object(Rule::DoNotDisrupt, what);
        }
        if reason == DisruptionReason::Underutilized {
            self.consolidated.insert(name.clone());
        }
        self.check_price(claim, reason, store, cloud);
        self.check_replaced(claim, reason, store);
        self.check_budget(claim, reason, store);
    }

    /// What comes in the place of a claim is up before the claim goes. One that goes for another
    /// reason may still carry the record of a command that was given up.
    fn check_replaced(&mut self, claim: &Claim, reason: DisruptionReason, store: &Store) {
        let record = Record::on(claim).filter(|it| it.disruption_reason() == Some(reason));
        let Some(record) = record else { return };
        let is_up = |name: &&Name| {
            let replacement = store.claims.get(*name);
            replacement.is_some_and(|it| it.status.conditions.is_true(INITIALIZED))
        };
        // Two that both lead do not know of each other's commands.
        if self.is_overlap() {
            return;
        }
        if let Some(missing) = record.replacements.iter().find(|name| !is_up(name)) {
            let what = format!("{} is given up before {missing} is up", claim.meta.name);
            self.object(Rule::ReplacedFirst, what);
        }
    }

    /// Whether a pod has been on its node for longer than a watch event takes.
    pub(super) fn is_settled(&self, pod: &Pod) -> bool {
        let bound = self.bound_at.get(&pod.key).map(|(_, at)| *at);
        bound.is_some_and(|at| self.now.since(at) > self.staleness)
    }

    fn check_budget(&mut self, claim: &Claim, reason: DisruptionReason, store: &Store) {
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
            let is_away = is_own || long_gone || self.is_silent(other, reason, store);
            if !has_ended && is_away {
                disturbed += 1;
            }
        }
        let total = u32::try_from(total).unwrap_or(u32::MAX);
        let now = self.now.seconds();
        let budgets = &pool.spec.disruption.budgets;
        let allowed = budgets.allowed(total, reason, now);
        if !allowed.admits(disturbed) {
            let what =
                format!("pool {name}: {disturbed} of {total} nodes disturbed, {allowed} allowed");
            self.object(Rule::Budget, what);
        }
    }
}

impl Checker {
    /// Whether a claim's node has not been ready for longer than a watch event takes. Repair is
    /// there for such nodes, so for it they are not away.
    fn is_silent(&self, claim: &Claim, reason: DisruptionReason, store: &Store) -> bool {
        let node = store.node_of(claim).map(|node| &node.meta.name);
        let since = node.and_then(|node| self.unready_since.get(node));
        reason != DisruptionReason::Unhealthy
            && since.is_some_and(|since| self.now.since(*since) > self.staleness)
    }
}

/// A claim and its node, unless one of them is gone or on its way out already.
pub(super) fn staying<'a>(
    name: &Name,
    uid: &Arc<str>,
    store: &'a Store,
) -> Option<(&'a Claim, &'a Node)> {
    let claim: &Claim = store.claims.get(name).filter(|claim| claim.meta.uid == *uid)?;
    let node = store.node_of(claim)?;
    (!claim.meta.is_deleting() && !node.meta.is_deleting()).then_some((claim, node))
}

/// Why an action gives a node up by choice, where it says so.
pub(super) fn reason(action: &Action) -> Option<DisruptionReason> {
    match action.reason {
        Reason::Disruption { reason, .. } => Some(reason),
        _ => None,
    }
}

/// Whether a claim is given up because its static pool has too many: budgets do not pace that, and
/// nobody is asked where its pods go.
pub(super) fn is_surplus(action: &Action) -> bool {
    action.reason == Reason::Deletion(DeletionCause::Overprovisioned)
}

/// Whether nodes that go for a reason may take pods along that must not be disturbed, once the grace
/// period of their claim has run out.
fn may_be_forced(reason: DisruptionReason) -> bool {
    matches!(reason, DisruptionReason::Drifted | DisruptionReason::Unhealthy)
}

/// Whether nothing but a choice ends a claim: its node is up, its instance lives, its time has not
/// come.
pub(super) fn is_in_order(claim: &Claim, store: &Store, cloud: &Cloud, now: Time) -> bool {
    let node = store.node_of(claim);
    let instance = claim.status.provider_id.as_ref().and_then(|id| cloud.instances.get(id));
    let lives_for = claim.spec.node.expire_after.duration().map(Span::from);
    let has_expired = lives_for.is_some_and(|lives| claim.meta.created_at + lives <= now);
    claim.status.conditions.is_true(INITIALIZED)
        && node.is_some_and(|node| node.is_ready)
        && instance.is_some_and(|instance| !instance.is_dead && !instance.is_announced)
        && !has_expired
}
