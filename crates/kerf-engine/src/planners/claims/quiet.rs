//! Whether a node has been quiet long enough to be taken away for money's sake.

use kerf_model::pool::Sizing;

use super::work::Work;
use crate::condition::claim::{CONSOLIDATABLE, INITIALIZED};
use crate::time::{Span, Time};

/// Keeps the condition: there and true, or not there at all.
pub(super) fn judge(work: &mut Work<'_>) {
    let Some(pool) = work.claim.pool().and_then(|pool| work.world.pools.get(pool)) else { return };
    if matches!(pool.spec.sizing, Sizing::Static { .. }) {
        return;
    }
    let after = pool.spec.disruption.consolidate_after.duration().map(Span::from);
    let quiet_at = after.zip(quiet_since(work)).map(|(after, since)| since + after);
    match quiet_at {
        Some(at) if at <= work.now => {
            work.conditions.set_true(CONSOLIDATABLE);
        }
        waiting => {
            if let Some(at) = waiting {
                work.decision.wake(at);
            }
            work.conditions.clear(CONSOLIDATABLE).expect("readiness does not depend on it");
        }
    }
}

/// Since when; nothing before the node was ready for pods.
fn quiet_since(work: &Work<'_>) -> Option<Time> {
    if !work.conditions.is_true(INITIALIZED) {
        return None;
    }
    let seen = work.world.memory.pod_events.get(&work.claim.meta.name).copied();
    let last_event_at = work.status.last_pod_event_at.max(seen);
    last_event_at.or_else(|| Some(work.conditions.get(INITIALIZED)?.changed_at))
}
