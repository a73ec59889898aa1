//! What people are told about a node that is taken away.

use crate::event::Key;
use crate::kubernetes_event::KubernetesEvent;
use crate::observed::{DoNotDisrupt, Name, Node, Pod, ShiftedZone, VolumeAttachment};
use crate::time::Time;

/// Names shown at most.
const NAMES_MAX: usize = 5;

/// Pods are still there.
pub(super) fn waiting(node: &Node, pods: usize) -> KubernetesEvent {
    let text = format!("Failed to drain node, {pods} pods are waiting to be evicted");
    let mut news =
        KubernetesEvent::warning(Key::Node(node.meta.name.clone()), "FailedDraining", text);
    // The number falls all the time; that is no news.
    news.dedupe = "waiting".to_owned();
    news
}

/// Volumes are still attached.
pub(super) fn awaiting_volumes(node: &Node, volumes: &[&VolumeAttachment]) -> KubernetesEvent {
    let names = volumes.iter().take(NAMES_MAX).map(|volume| &*volume.meta.name);
    let mut text = names.collect::<Vec<_>>().join(", ");
    if volumes.len() > NAMES_MAX {
        text.push_str(&format!(" and {} more", volumes.len() - NAMES_MAX));
    }
    let about = Key::Node(node.meta.name.clone());
    let text = format!("Awaiting deletion of volume attachments: {text}");
    KubernetesEvent::normal(about, "AwaitingVolumeDetachment", text)
}

/// The instance is where no call is made now.
pub(super) fn awaiting_shift(claim: &Name, zone: &ShiftedZone) -> KubernetesEvent {
    let text = format!(
        "Awaiting the end of the zonal shift away from {} ({}) before the machine is terminated",
        zone.name, zone.id
    );
    KubernetesEvent::normal(Key::Claim(claim.clone()), "AwaitingZonalShift", text)
}

/// What a pod's do-not-disrupt annotation means now, where that may surprise.
pub(super) fn do_not_disrupt(pod: &Pod, now: Time) -> Option<KubernetesEvent> {
    let about = Key::Pod(pod.key.clone());
    match pod.do_not_disrupt {
        DoNotDisrupt::Absent | DoNotDisrupt::Always => None,
        DoNotDisrupt::Unreadable => {
            let text = "karpenter.sh/do-not-disrupt is neither \"true\" nor a positive duration \
                        such as 1h30m; it is ignored";
            Some(KubernetesEvent::warning(about, "InvalidDoNotDisruptAnnotation", text))
        }
        DoNotDisrupt::For(span) => {
            let until = pod.started_at.map(|start| super::rfc3339(start + span));
            let (reason, text) = match (pod.is_protected(now), until) {
                (true, Some(until)) => {
                    ("DoNotDisruptUntil", format!("Not disrupted until {until}"))
                }
                (true, None) => {
                    let text = format!("Not disrupted for {}s after it started", span.seconds());
                    ("DoNotDisruptUntil", text)
                }
                (false, until) => {
                    let until = until.unwrap_or_default();
                    let text = format!("Its protection from disruption ended at {until}");
                    ("DoNotDisruptGracePeriodElapsed", text)
                }
            };
            Some(KubernetesEvent::normal(about, reason, text))
        }
    }
}
