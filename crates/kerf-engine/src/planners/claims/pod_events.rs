//! When a pod last came to or left a claim's node.

use super::work::Work;
use crate::memory::Update;
use crate::time::{Span, Time};

/// Busy nodes would otherwise be written about with every pod.
const APART: Span = Span::from_seconds(10);

/// Stores the last pod event, at most once in ten seconds.
pub(super) fn store(work: &mut Work<'_>) {
    let name = &work.claim.meta.name;
    let Some(seen) = work.world.memory.pod_events.get(name) else { return };
    let seen = Time::from_seconds(seen.seconds());
    match work.status.last_pod_event_at {
        Some(stored) if stored >= seen => {
            work.decision.remember(Update::PodEventStored(name.clone()));
        }
        Some(stored) if work.now < stored + APART => work.decision.wake(stored + APART),
        _ => work.status.to_mut().last_pod_event_at = Some(seen),
    }
}
