//! Daemon sets: what the next pod of each will be.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::apps::v1::DaemonSet as ApiDaemonSet;
use k8s_openapi::api::core::v1 as core;
use kerf_api::FieldError;
use kerf_engine::observed::{DaemonSet, Meta, NamespacedName, Pod, PodKey};
use kerf_engine::time::Time;
use kerf_model::pod::PodShape;

use super::meta::{meta, name_of};
use crate::pod::{namespace_of, shape_from_template};
use crate::workload::controller_of;

/// The daemon sets, and the newest pod seen of each.
#[derive(Debug, Default)]
pub(super) struct DaemonSets {
    sets: BTreeMap<NamespacedName, Known>,
    /// The newest pods of daemon sets that are not known yet: watches come in any order.
    early: BTreeMap<NamespacedName, EarlyPod>,
}

#[derive(Debug)]
struct EarlyPod {
    pod: PodKey,
    created: Time,
    shape: Arc<PodShape>,
}

#[derive(Debug)]
struct Known {
    meta: Meta,
    template: PodShape,
    newest: Option<(Time, Arc<PodShape>)>,
}

impl DaemonSets {
    /// Takes a daemon set in.
    pub(super) fn read(&mut self, set: &ApiDaemonSet) -> Result<DaemonSet, Vec<FieldError>> {
        let namespace = namespace_of(&set.metadata);
        let none = core::PodTemplateSpec::default();
        let template = set.spec.as_ref().map_or(&none, |spec| &spec.template);
        let template = shape_from_template(template, &namespace, Vec::new())?;
        let meta = meta(&set.metadata);
        let name = name_of(&set.metadata);
        let key = NamespacedName { namespace: Arc::from(namespace), name };
        let former = self.sets.remove(&key);
        // A pod of an older template says nothing about the next.
        let newest = former.filter(|it| it.meta.generation == meta.generation);
        let early = self.early.remove(&key).map(|pod| (pod.created, pod.shape));
        let newest = newest.and_then(|it| it.newest).or(early);
        let known = Known { meta, template, newest };
        let read = known.as_object(&key);
        self.sets.insert(key, known);
        Ok(read)
    }

    /// Forgets a daemon set.
    pub(super) fn forget(&mut self, key: &NamespacedName) {
        self.sets.remove(key);
    }

    /// Forgets a pod that is gone.
    pub(super) fn forget_pod(&mut self, pod: &PodKey) {
        self.early.retain(|_, early| early.pod != *pod);
    }

    /// Forgets the pods of unknown daemon sets: all pods will be listed anew.
    pub(super) fn forget_early_pods(&mut self) {
        self.early.clear();
    }

    /// Takes a pod in. What admission made of it counts more than the template: the daemon set if
    /// it changed.
    pub(super) fn note(&mut self, pod: &core::Pod, read: &Pod) -> Option<DaemonSet> {
        let owner = controller_of(&pod.metadata).filter(|owner| owner.kind == "DaemonSet")?;
        let namespace = read.key.namespace.clone();
        let key = NamespacedName { namespace, name: Arc::from(owner.name) };
        let Some(known) = self.sets.get_mut(&key) else {
            self.note_early(key, read);
            return None;
        };
        let (created, shape) = (read.meta.created_at, &read.shape);
        if known.newest.as_ref().is_some_and(|(newest, _)| *newest > created) {
            return None;
        }
        let changed = known.newest.as_ref().is_none_or(|(_, former)| former != shape);
        known.newest = Some((created, shape.clone()));
        changed.then(|| known.as_object(&key))
    }

    fn note_early(&mut self, key: NamespacedName, read: &Pod) {
        let created = read.meta.created_at;
        if self.early.get(&key).is_none_or(|known| known.created <= created) {
            let (pod, shape) = (read.key.clone(), read.shape.clone());
            self.early.insert(key, EarlyPod { pod, created, shape });
        }
    }
}

impl Known {
    /// The newest pod, with the template's affinity: a pod's own names its node.
    fn as_object(&self, key: &NamespacedName) -> DaemonSet {
        let mut shape = self.newest.as_ref().map_or(&self.template, |(_, newest)| newest).clone();
        shape.placement.node_affinity = self.template.placement.node_affinity.clone();
        DaemonSet {
            meta: self.meta.clone(),
            namespace: key.namespace.clone(),
            shape: Arc::new(shape),
        }
    }
}
