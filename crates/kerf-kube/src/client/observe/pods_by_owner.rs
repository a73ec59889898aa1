//! Which pods are of one kind, where that is asked: the selectors of Services and controllers, by
//! which pods that say nothing about it are spread.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1 as core;
use kerf_engine::observed::{Name, NamespacedName};
use kerf_model::pod::{PodShape, SpreadConstraint};

use super::listing::Source;
use crate::default_spread::{ControllerSelector, spread_by_default};
use crate::workload::{Owner, Workload, controller_of};

/// Default spreads and what is needed to deduce their selectors. Without defaults nothing is kept.
#[derive(Debug, Default)]
pub(super) struct PodsByOwner {
    spreads: Vec<SpreadConstraint>,
    /// By namespace, then by the watch it came by and its name.
    selectors: BTreeMap<Name, BTreeMap<(Source, Name), ControllerSelector>>,
}

impl PodsByOwner {
    /// Nobody selects anything yet.
    pub(super) fn new(spreads: Vec<SpreadConstraint>) -> Self {
        Self { spreads, selectors: BTreeMap::new() }
    }

    /// Whether a pod may depend on what is kept here.
    pub(super) fn concern(&self, pod: &core::Pod) -> bool {
        let own = pod.spec.as_ref().and_then(|spec| spec.topology_spread_constraints.as_ref());
        !self.spreads.is_empty() && own.is_none_or(Vec::is_empty)
    }

    /// Notes how an object finds its pods. Returns whether that is new.
    pub(super) fn note(
        &mut self,
        source: Source,
        NamespacedName { namespace, name }: NamespacedName,
        selector: Option<ControllerSelector>,
    ) -> bool {
        let known = self.selectors.entry(namespace).or_default();
        let former = match selector.clone() {
            Some(selector) => known.insert((source, name), selector),
            None => known.remove(&(source, name)),
        };
        former != selector
    }

    /// Forgets what came by a watch.
    pub(super) fn clear(&mut self, source: &Source) {
        for known in self.selectors.values_mut() {
            known.retain(|(own, _), _| own != source);
        }
        self.selectors.retain(|_, known| !known.is_empty());
    }

    /// Gives the defaults to a pod that has no spreads, if it is known which pods are its like.
    pub(super) fn spread(&self, shape: &mut PodShape, pod: &core::Pod) {
        if self.spreads.is_empty() {
            return;
        }
        let Some(known) = self.selectors.get(shape.namespace.as_str()) else { return };
        let services = known.iter().filter_map(|((source, _), selector)| match selector {
            ControllerSelector::Labels(labels) if *source == Source::Service => Some(labels),
            _ => None,
        });
        let controller = controller_of(&pod.metadata).and_then(|owner| {
            let source = source_of(&owner)?;
            known.get(&(source, Name::from(owner.name.as_str())))
        });
        spread_by_default(&self.spreads, shape, services, controller);
    }
}

/// How a Service finds its pods; one without a selector finds none.
pub(super) fn of_service(service: core::Service) -> Option<ControllerSelector> {
    let selector = service.spec?.selector.filter(|selector| !selector.is_empty())?;
    Some(ControllerSelector::Labels(selector))
}

/// How a controller finds its pods.
pub(super) fn of_controller(controller: impl Into<Workload>) -> Option<ControllerSelector> {
    controller.into().selector
}

fn source_of(owner: &Owner) -> Option<Source> {
    match owner.kind.as_str() {
        "ReplicationController" => Some(Source::ReplicationController),
        "ReplicaSet" => Some(Source::ReplicaSet),
        "StatefulSet" => Some(Source::StatefulSet),
        _ => None,
    }
}
