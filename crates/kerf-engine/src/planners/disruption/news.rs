//! What people are told about removals.

use kerf_model::budget::DisruptionReason;

use super::candidates::Candidate;
use crate::announcement::Announcement;
use crate::event::Key;
use crate::observed::Name;
use crate::time::Span;

/// How long a pool is not told again that its budgets allow nothing.
const CLOSED_SILENCE: Span = Span::from_minutes(1);

const BLOCKED: &str = "DisruptionBlocked";

/// Something holds a node back.
pub(super) fn held_back(candidate: &Candidate<'_>, reason: &str) -> [Announcement; 2] {
    keys(candidate).map(|about| Announcement::normal(about, BLOCKED, reason))
}

/// The budgets of a pool allow nothing.
pub(super) fn pool_closed(pool: &Name, reason: DisruptionReason) -> Announcement {
    let message = format!("the disruption budgets allow no node to go for the reason {reason}");
    Announcement::normal(Key::Pool(pool.clone()), BLOCKED, message).silent_for(CLOSED_SILENCE)
}

/// A node goes now.
pub(super) fn terminating(
    candidate: &Candidate<'_>,
    reason: DisruptionReason,
) -> [Announcement; 2] {
    keys(candidate).map(|about| {
        let message = format!("the node is taken away: {reason}");
        Announcement::normal(about, "DisruptionTerminating", message)
    })
}

fn keys(candidate: &Candidate<'_>) -> [Key; 2] {
    let node = Key::Node(candidate.node.meta.name.clone());
    [node, Key::Claim(candidate.claim.meta.name.clone())]
}
