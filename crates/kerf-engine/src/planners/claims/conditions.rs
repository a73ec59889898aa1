//! What is kept on a claim while its node runs: the last pod event, whether the node may be
//! consolidated, whether it has the capacity that was paid for, and whether it has drifted.

use kerf_model::pool::Sizing;
use kerf_model::quantity::Quantity;

use super::Reconcile;
use crate::condition::claim::{CONSISTENT_STATE_FOUND, CONSOLIDATABLE, DRIFTED, INITIALIZED};
use crate::event::Key;
use crate::kubernetes_event::KubernetesEvent;
use crate::memory::Update;
use crate::observed::Node;
use crate::planners::drift::{self, Verdict};
use crate::time::{Span, Time};

/// Busy nodes would otherwise be written about with every pod.
const POD_EVENTS_APART: Span = Span::from_seconds(10);
/// How often capacity is compared when nothing happens.
const CONSISTENCY_EVERY: Span = Span::from_minutes(10);
/// A node may have so many percent less than expected: firmware and kernel take their share.
const CAPACITY_PERCENT_MIN: i128 = 90;

/// Stores the last pod event, at most once in ten seconds.
pub(super) fn store_pod_event(reconcile: &mut Reconcile<'_>) {
    let name = &reconcile.claim.meta.name;
    let Some(seen) = reconcile.world.memory.pod_events.get(name) else { return };
    let seen = Time::from_seconds(seen.seconds());
    match reconcile.status.last_pod_event_at {
        Some(stored) if stored >= seen => {
            reconcile.decision.remember(Update::PodEventStored(name.clone()));
        }
        Some(stored) if reconcile.now < stored + POD_EVENTS_APART => {
            reconcile.decision.wake(stored + POD_EVENTS_APART)
        }
        _ => reconcile.status.to_mut().last_pod_event_at = Some(seen),
    }
}

/// Whether the node was without pod events for its pool's `consolidateAfter`. The condition is
/// there and true, or not there at all.
pub(super) fn judge_consolidatable(reconcile: &mut Reconcile<'_>) {
    let Some(pool) = reconcile.claim.pool().and_then(|pool| reconcile.world.pools.get(pool)) else {
        return;
    };
    if matches!(pool.spec.sizing, Sizing::Static { .. }) {
        return;
    }
    let after = pool.spec.disruption.consolidate_after.duration().map(Span::from);
    let quiet_at = after.zip(quiet_since(reconcile)).map(|(after, since)| since + after);
    match quiet_at {
        Some(at) if at <= reconcile.now => {
            reconcile.conditions.set_true(CONSOLIDATABLE);
        }
        waiting => {
            if let Some(at) = waiting {
                reconcile.decision.wake(at);
            }
            reconcile.conditions.clear(CONSOLIDATABLE).expect("readiness does not depend on it");
        }
    }
}

/// The last pod event; nothing before the node was ready for pods.
fn quiet_since(reconcile: &Reconcile<'_>) -> Option<Time> {
    if !reconcile.conditions.is_true(INITIALIZED) {
        return None;
    }
    let seen = reconcile.world.memory.pod_events.get(&reconcile.claim.meta.name).copied();
    let last_event_at = reconcile.status.last_pod_event_at.max(seen);
    last_event_at.or_else(|| Some(reconcile.conditions.get(INITIALIZED)?.changed_at))
}

/// Whether the claim no longer is what its pool and node class ask for. The condition is there and
/// true, or not there at all.
pub(super) fn judge_drift(reconcile: &mut Reconcile<'_>) {
    let Reconcile { world, claim, now, .. } = *reconcile;
    match drift::judge(world, claim, now, &mut reconcile.decision) {
        Verdict::Drifted(reason) => {
            reconcile.conditions.set_true_because(DRIFTED, reason, reason);
        }
        Verdict::Unknown if !is_drifted_from_pool(reconcile) => {}
        Verdict::Current | Verdict::Unknown => {
            reconcile.conditions.clear(DRIFTED).expect("readiness does not depend on it");
        }
    }
}

/// Whether a claim says that it has drifted for a reason that is known not to hold.
fn is_drifted_from_pool(reconcile: &Reconcile<'_>) -> bool {
    let drifted = reconcile.conditions.get(DRIFTED);
    drifted.is_some_and(|drifted| drift::is_about_pool(&drifted.reason))
}

/// Compares the node's capacity with the instance's.
pub(super) fn judge_consistency(reconcile: &mut Reconcile<'_>) {
    if !reconcile.conditions.is_true(INITIALIZED) {
        return;
    }
    let Some(node) = reconcile.world.node_of(reconcile.claim) else { return };
    reconcile.decision.wake(reconcile.now + CONSISTENCY_EVERY);
    match shortfall(reconcile, node) {
        None => {
            reconcile.conditions.set_true(CONSISTENT_STATE_FOUND);
        }
        Some(message) => {
            let about = Key::Claim(reconcile.claim.meta.name.clone());
            let event = KubernetesEvent::warning(about, "FailedConsistencyCheck", message.clone());
            reconcile.decision.record(event.silent_for(CONSISTENCY_EVERY));
            let reason = "ConsistencyCheckFailed";
            reconcile.conditions.set_false(CONSISTENT_STATE_FOUND, reason, &message);
        }
    }
}

fn shortfall(reconcile: &Reconcile<'_>, node: &Node) -> Option<String> {
    let requested =
        reconcile.claim.spec.requests.iter().filter(|(_, quantity)| !quantity.is_zero());
    for (resource, _) in requested {
        let expected = reconcile.status.capacity.quantity(resource);
        let found = node.capacity.quantity(resource);
        if expected.is_zero() || percent(found, expected) >= CAPACITY_PERCENT_MIN {
            continue;
        }
        return Some(format!(
            "expected {expected} of resource {resource}, but found {found} ({}% of expected)",
            percent(found, expected)
        ));
    }
    None
}

fn percent(found: Quantity, expected: Quantity) -> i128 {
    found.nanos().saturating_mul(100) / expected.nanos()
}
