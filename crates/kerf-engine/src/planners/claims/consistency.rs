//! Whether a node offers what was paid for.

use kerf_model::quantity::Quantity;

use super::work::Work;
use crate::condition::claim::{CONSISTENT_STATE_FOUND, INITIALIZED};
use crate::event::Key;
use crate::kubernetes_event::KubernetesEvent;
use crate::observed::Node;
use crate::time::Span;

/// How often it is looked at when nothing happens.
const EVERY: Span = Span::from_minutes(10);
/// A node may have so many percent less than expected: firmware and kernel take their share.
const PERCENT_MIN: i128 = 90;

/// Compares the node's capacity with the instance's.
pub(super) fn judge(work: &mut Work<'_>) {
    if !work.conditions.is_true(INITIALIZED) {
        return;
    }
    let Some(node) = work.world.node_of(work.claim) else { return };
    work.decision.wake(work.now + EVERY);
    match shortfall(work, node) {
        None => {
            work.conditions.set_true(CONSISTENT_STATE_FOUND);
        }
        Some(message) => {
            let about = Key::Claim(work.claim.meta.name.clone());
            let news = KubernetesEvent::warning(about, "FailedConsistencyCheck", message.clone());
            work.decision.record(news.silent_for(EVERY));
            let reason = "ConsistencyCheckFailed";
            work.conditions.set_false(CONSISTENT_STATE_FOUND, reason, &message);
        }
    }
}

fn shortfall(work: &Work<'_>, node: &Node) -> Option<String> {
    let requested = work.claim.spec.requests.iter().filter(|(_, quantity)| !quantity.is_zero());
    for (resource, _) in requested {
        let expected = work.status.capacity.quantity(resource);
        let found = node.capacity.quantity(resource);
        if expected.is_zero() || percent(found, expected) >= PERCENT_MIN {
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
