//! Until when the pods of a node are waited for.

use kerf_model::labels::annotation::TERMINATION_TIMESTAMP;

use crate::event::Key;
use crate::kubernetes_event::KubernetesEvent;
use crate::observed::Claim;
use crate::time::{Span, Time};
use crate::timestamp::{parse_rfc3339, rfc3339};

/// Until when a claim's pods are waited for: as its annotation says, or as its grace period does
/// once its deletion was asked for.
pub(in crate::planners) fn deadline(claim: &Claim) -> Option<Time> {
    let written = claim.annotations().get(TERMINATION_TIMESTAMP);
    written.and_then(|text| parse_rfc3339(text)).or_else(|| {
        let grace = claim.spec.node.termination_grace?;
        Some(claim.meta.deleting_since? + Span::from(grace))
    })
}

/// The Event that announces the deadline.
pub(in crate::planners) fn deadline_event(about: Key, deadline: Time) -> KubernetesEvent {
    let text = format!("All pods will be deleted by {}", rfc3339(deadline));
    KubernetesEvent::warning(about, "TerminationGracePeriodExpiring", text)
}
