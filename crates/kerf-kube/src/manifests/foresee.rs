//! Pods that controllers will make, and the objects that come with them.

use kerf_api::FieldError;
use kerf_engine::event::{Event, Object};
use kerf_engine::observed::{Name, Pod};

use super::observe::{GATED, Observing, judge_unschedulable};
use super::{FORESEEN_PODS_MAX, Sourced};
use crate::client::{Change, WatchUpdate};
use crate::pod::shape_from_template;
use crate::provisionable::is_gated;
use crate::workload::Workload;

impl Observing {
    /// Observes the pods that workloads lack.
    pub(super) fn foresee(&mut self, workloads: Vec<Sourced<Workload>>) {
        let mut left = FORESEEN_PODS_MAX;
        for Sourced { source, object: workload } in workloads {
            if self.present.is_controlled(&workload) {
                continue;
            }
            if let Some((why, count)) = workload.ended {
                self.pass_over(usize::try_from(count).unwrap_or(0), why);
            }
            let missing = workload.replicas - self.present.replicas(&workload);
            let message = match missing {
                _ if workload.replicas < 0 => format!("{} is less than none", workload.replicas),
                _ if missing > left => format!(
                    "{} would make more than {FORESEEN_PODS_MAX} pods in all",
                    workload.replicas
                ),
                _ => {
                    let missing = missing.max(0);
                    left -= missing;
                    self.foresee_pods(source, &workload, usize::try_from(missing).unwrap_or(0));
                    continue;
                }
            };
            self.refuse(source, vec![FieldError { field: "spec.replicas".to_owned(), message }]);
        }
    }

    fn foresee_pods(&mut self, source: usize, workload: &Workload, missing: usize) {
        // Said even where no pod is missing, and by its place in the workload.
        let read = shape_from_template(&workload.template, &workload.namespace, Vec::new());
        if let Err(problems) = read {
            return self.refuse(source, problems);
        }
        if workload.template.spec.as_ref().is_some_and(is_gated) {
            if missing > 0 {
                self.pass_over(missing, GATED);
            }
            return;
        }
        if let Some(set) = workload.replica_set() {
            self.update(source, WatchUpdate::ReplicaSet(Change::Is(Box::new(set))));
        }
        let mut like: Option<Pod> = None;
        let mut numbers = 0..;
        for _ in 0..missing {
            let mut names = numbers.by_ref().map(|number| workload.pod_name(number));
            let name = names.find(|name| !self.present.has_pod(&workload.namespace, name));
            let Some(name) = name else { return };
            let pod = match &like {
                Some(first) if !has_own_claims(workload) => self.copy(first, &name),
                _ => match self.first(source, workload, &name) {
                    Some(pod) => pod,
                    None => return,
                },
            };
            self.take_in(Event::Seen(Box::new(Object::Pod(pod.clone()))));
            like.get_or_insert(pod);
        }
    }

    /// The pod of that name, observed together with its volume claims.
    fn first(&mut self, source: usize, workload: &Workload, name: &str) -> Option<Pod> {
        for claim in workload.claims_of(name) {
            let claim_name = claim.metadata.name.as_deref().unwrap_or_default();
            if !self.present.has_volume_claim(&workload.namespace, claim_name) {
                self.update(source, WatchUpdate::VolumeClaim(Change::Is(Box::new(claim))));
            }
        }
        let mut pod = workload.pod(name);
        pod.metadata.uid = Some(self.next_uid());
        judge_unschedulable(&mut pod);
        self.note_storage(&pod);
        let events = self.events_of(source, WatchUpdate::Pod(Change::Is(Box::new(pod))));
        events.into_iter().find_map(|event| match event {
            Event::Seen(object) => match *object {
                Object::Pod(pod) => Some(pod),
                _ => None,
            },
            _ => None,
        })
    }

    /// Replicas differ in nothing but their names.
    fn copy(&mut self, first: &Pod, name: &str) -> Pod {
        let mut pod = first.clone();
        pod.key.name = Name::from(name);
        pod.meta.name = pod.key.name.clone();
        pod.meta.uid = self.next_uid().into();
        pod
    }
}

/// Whether each pod has volumes of its own.
fn has_own_claims(workload: &Workload) -> bool {
    let spec = workload.template.spec.as_ref();
    let mut volumes = spec.into_iter().flat_map(|spec| spec.volumes.iter().flatten());
    !workload.claim_templates.is_empty() || volumes.any(|volume| volume.ephemeral.is_some())
}
