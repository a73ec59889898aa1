//! Which objects the manifests hold already, so that none is foreseen twice.

use std::collections::{BTreeMap, BTreeSet};

use crate::client::{Change, WatchUpdate};
use crate::pod::namespace_of;
use crate::provisionable::has_ended;
use crate::workload::{Owner, Workload, controller_of};

use super::Manifests;

/// Namespace and name.
type Key = (String, String);

/// What the manifests hold.
#[derive(Debug, Default)]
pub(super) struct Present {
    workloads: BTreeSet<(String, Owner)>,
    pods: BTreeSet<Key>,
    /// Pods that have not ended, by what controls them; those of ReplicaSets count for their
    /// Deployments.
    replicas: BTreeMap<(String, Owner), i64>,
    volume_claims: BTreeSet<Key>,
    namespaces: BTreeSet<String>,
}

impl Present {
    pub(super) fn of(manifests: &Manifests) -> Self {
        let mut present = Self::default();
        let workloads = manifests.workloads.iter().map(|workload| &workload.object);
        let controllers: BTreeMap<(&str, &Owner), &Owner> = workloads
            .clone()
            .filter_map(|it| Some(((&*it.namespace, &it.owner), it.controller.as_ref()?)))
            .collect();
        present.workloads = workloads.map(|it| (it.namespace.clone(), it.owner.clone())).collect();
        for metadata in manifests.pods.iter().map(|pod| &pod.object.metadata) {
            if let Some(name) = &metadata.name {
                present.pods.insert((namespace_of(metadata), name.clone()));
            }
        }
        for pod in manifests.pods.iter().map(|pod| &pod.object).filter(|pod| !has_ended(pod)) {
            if let Some(owner) = controller_of(&pod.metadata) {
                let namespace = namespace_of(&pod.metadata);
                let above = controllers.get(&(&*namespace, &owner)).map(|above| (*above).clone());
                *present.replicas.entry((namespace, above.unwrap_or(owner))).or_default() += 1;
            }
        }
        for update in manifests.others.iter().map(|other| &other.object) {
            present.note(update);
        }
        present
    }

    fn note(&mut self, update: &WatchUpdate) {
        match update {
            WatchUpdate::VolumeClaim(Change::Is(claim)) => {
                let name = claim.metadata.name.clone().unwrap_or_default();
                self.volume_claims.insert((namespace_of(&claim.metadata), name));
            }
            WatchUpdate::Namespace(Change::Is(namespace)) => {
                self.namespaces.extend(namespace.metadata.name.clone());
            }
            _ => {}
        }
    }

    /// Whether the pods of a workload are those of another that the manifests hold as well.
    pub(super) fn is_controlled(&self, workload: &Workload) -> bool {
        let controller = workload.controller.clone();
        controller.is_some_and(|it| self.workloads.contains(&(workload.namespace.clone(), it)))
    }

    /// How many of its pods there are.
    pub(super) fn replicas(&self, workload: &Workload) -> i64 {
        let key = (workload.namespace.clone(), workload.owner.clone());
        self.replicas.get(&key).copied().unwrap_or(0)
    }

    /// Takes the name of a pod, if no other has it.
    pub(super) fn take_pod_name(&mut self, namespace: &str, name: &str) -> bool {
        self.pods.insert((namespace.to_owned(), name.to_owned()))
    }

    /// Whether there is a pod of that name.
    pub(super) fn has_pod(&self, namespace: &str, name: &str) -> bool {
        !self.pods.is_empty() && self.pods.contains(&(namespace.to_owned(), name.to_owned()))
    }

    /// Whether there is a PersistentVolumeClaim of that name.
    pub(super) fn has_volume_claim(&self, namespace: &str, name: &str) -> bool {
        self.volume_claims.contains(&(namespace.to_owned(), name.to_owned()))
    }

    /// The namespaces that hold pods or workloads and were not given themselves.
    pub(super) fn missing_namespaces(&self, manifests: &Manifests) -> BTreeSet<String> {
        let pods = manifests.pods.iter().map(|pod| namespace_of(&pod.object.metadata));
        let workloads = manifests.workloads.iter().map(|it| it.object.namespace.clone());
        pods.chain(workloads).filter(|name| !self.namespaces.contains(name)).collect()
    }
}
