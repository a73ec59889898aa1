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

/// A node may not go now.
pub(super) fn blocked(candidate: &Candidate<'_>, cause: &Blocked) -> [KubernetesEvent; 2] {
    keys(candidate).map(|about| KubernetesEvent::normal(about, BLOCKED, cause.to_string()))
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
