//! Pods start, run, end and are cleared away.

use std::sync::Arc;

use kerf_engine::event::{Key, Object};
use kerf_engine::observed::{Name, Pod, PodKey, PodPhase, VolumeAttachment};
use kerf_engine::time::Span;
use kerf_model::labels::well_known::ZONE;

use super::Simulation;
use crate::scenario::WorkloadKind;
use crate::sim_event::SimEvent;

/// How long a pod that ended is kept to look at.
const ENDED_KEPT_FOR: Span = Span::from_minutes(1);
/// From the end of a pod to the detachment of its volume.
const DETACH_AFTER: Span = Span::from_seconds(3);

impl Simulation {
    pub(super) fn pod_starts(&mut self, key: &PodKey, uid: &Arc<str>) {
        let Some(mut pod) = self.pod(key, uid) else { return };
        let Some(node) = pod.node().cloned() else { return };
        if !self.is_alive(&node) || pod.meta.is_deleting() {
            return;
        }
        pod.started_at = Some(self.store.now);
        pod.is_ready = true;
        self.attach_volumes(&pod, &node);
        let workload = self.workloads.workload_of(key);
        if let Some(WorkloadKind::Job { runs_for, .. }) = workload.map(|workload| workload.kind) {
            let end = SimEvent::PodEnds(key.clone(), uid.clone());
            self.queue.at(self.store.now + runs_for, end);
        }
        self.store.put(Object::Pod(pod));
    }

    pub(super) fn pod_ends(&mut self, key: &PodKey, uid: &Arc<str>) {
        let Some(mut pod) = self.pod(key, uid) else { return };
        let Some(node) = pod.node().cloned() else { return };
        if !self.is_alive(&node) || pod.meta.is_deleting() {
            return;
        }
        pod.is_ready = false;
        pod.phase = PodPhase::Ended { node: Some(node), has_failed: false };
        self.store.put(Object::Pod(pod));
        let sweep = SimEvent::PodSwept(key.clone(), uid.clone());
        self.queue.at(self.store.now + ENDED_KEPT_FOR, sweep);
    }

    pub(super) fn pod_gone(&mut self, key: &PodKey, uid: &Arc<str>) {
        let Some(pod) = self.pod(key, uid) else { return };
        // A dead instance or kubelet ends nothing; its pods stay until somebody gives them up.
        if pod.node().is_some_and(|node| self.is_alive(node)) {
            self.pod_swept(key, uid);
        }
    }

    pub(super) fn pod_swept(&mut self, key: &PodKey, uid: &Arc<str>) {
        let Some(pod) = self.pod(key, uid) else { return };
        for volume in &pod.shape.volumes {
            let name = attachment_name(&volume.claim);
            if self.store.attachments.contains_key(&name) {
                self.queue.at(self.store.now + DETACH_AFTER, SimEvent::VolumeDetached(name));
            }
        }
        self.store.remove(Key::Pod(key.clone()));
    }

    /// Whether a node's instance runs, and its kubelet.
    pub(super) fn is_alive(&self, node: &Name) -> bool {
        let node = self.store.nodes.get(node);
        let instance = node
            .and_then(|node| node.provider_id.as_ref())
            .and_then(|id| self.cloud.instances.get(id));
        instance.is_some_and(|instance| !instance.is_dead && !instance.has_dead_kubelet)
    }

    fn pod(&self, key: &PodKey, uid: &Arc<str>) -> Option<Pod> {
        let pod = self.store.pods.get(key).filter(|pod| pod.meta.uid == *uid);
        pod.map(|pod| Pod::clone(pod))
    }

    fn attach_volumes(&mut self, pod: &Pod, node: &Name) {
        let zone = self.store.nodes.get(node).and_then(|node| node.labels.get(ZONE)).cloned();
        for volume in &pod.shape.volumes {
            if let Some(zone) = &zone {
                self.workloads.settle_volume(&pod.key, zone);
            }
            let meta = self.store.new_meta(attachment_name(&volume.claim));
            let volume_claim = Some(Arc::from(volume.claim.as_str()));
            let attachment = VolumeAttachment { meta, node: node.clone(), volume_claim };
            self.store.put(Object::VolumeAttachment(attachment));
        }
    }
}

fn attachment_name(claim: &str) -> Name {
    Arc::from(format!("csi-{}", claim.replace('/', "-")))
}
