//! The Kubernetes Events of a drain.

use crate::event::Key;
use crate::kubernetes_event::KubernetesEvent;
use crate::observed::{DoNotDisrupt, Node, Pod};
use crate::time::Time;
use crate::timestamp::rfc3339;

/// Pods are still there.
pub(super) fn waiting(node: &Node, pods: usize) -> KubernetesEvent {
    let text = format!("Failed to drain node, {pods} pods are waiting to be evicted");
    let about = Key::Node(node.meta.name.clone());
    let mut event = KubernetesEvent::warning(about, "FailedDraining", text);
    // The number falls all the time; that alone is not worth another Event.
    event.dedupe = "waiting".to_owned();
    event
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
            let until = pod.started_at.map(|start| rfc3339(start + span));
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
