//! What people are told about removals.

use kerf_model::budget::DisruptionReason;

use super::candidates::Candidate;
use crate::event::Key;
use crate::kubernetes_event::KubernetesEvent;
use crate::observed::Name;
use crate::reason::Blocked;
use crate::time::Span;

/// How long a pool is not told again that its budgets allow nothing.
const CLOSED_SILENCE: Span = Span::from_minutes(1);

const BLOCKED: &str = "DisruptionBlocked";

/// How long it is not repeated that too much of a pool is unhealthy.
const BRAKED_SILENCE: Span = Span::from_minutes(15);

/// A node may not go now.
pub(super) fn blocked(candidate: &Candidate<'_>, cause: &Blocked) -> Vec<KubernetesEvent> {
    if let Blocked::TooManyUnhealthy { pool, .. } = cause {
        let about = keys(candidate).into_iter().chain([Key::Pool(pool.clone())]);
        let event = |about| {
            let event = KubernetesEvent::warning(about, "NodeRepairBlocked", cause.to_string());
            event.silent_for(BRAKED_SILENCE)
        };
        return about.map(event).collect();
    }
    let event = |about| KubernetesEvent::normal(about, BLOCKED, cause.to_string());
    keys(candidate).map(event).into()
}

/// The budgets of a pool allow nothing.
pub(super) fn pool_closed(pool: &Name, reason: DisruptionReason) -> KubernetesEvent {
    let message = Blocked::Budget { reason }.to_string();
    KubernetesEvent::normal(Key::Pool(pool.clone()), BLOCKED, message).silent_for(CLOSED_SILENCE)
}

/// A node goes now.
pub(super) fn terminating(
    candidate: &Candidate<'_>,
    reason: DisruptionReason,
) -> [KubernetesEvent; 2] {
    keys(candidate).map(|about| {
        let message = format!("the node is taken away: {reason}");
        KubernetesEvent::normal(about, "DisruptionTerminating", message)
    })
}

fn keys(candidate: &Candidate<'_>) -> [Key; 2] {
    let node = Key::Node(candidate.node.meta.name.clone());
    [node, Key::Claim(candidate.claim.meta.name.clone())]
}
