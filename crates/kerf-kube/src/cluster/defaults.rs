//! The default spreads of a cluster's pods.

use std::collections::BTreeMap;

use kerf_model::pod::{PodShape, SpreadConstraint};

use super::Cluster;
use crate::default_spread::{ControllerSelector, spread_by_default};
use crate::workload::Owner;

/// What pods without spreads of their own are given.
pub(super) struct Defaults<'a> {
    spreads: &'a [SpreadConstraint],
    services: &'a BTreeMap<String, Vec<BTreeMap<String, String>>>,
    controllers: BTreeMap<(&'a str, &'a Owner), &'a ControllerSelector>,
}

impl<'a> Defaults<'a> {
    pub(super) fn of(cluster: &'a Cluster) -> Self {
        let workloads = cluster.workloads.iter().map(|workload| &workload.object);
        let controllers = workloads.filter_map(|workload| {
            Some(((&*workload.namespace, &workload.owner), workload.selector.as_ref()?))
        });
        Self {
            spreads: &cluster.scheduler_config.default_spreads,
            services: &cluster.services,
            controllers: controllers.collect(),
        }
    }

    /// Gives the defaults to a pod that has no spreads, if it is known which pods are its like.
    pub(super) fn apply(&self, shape: &mut PodShape, controller: Option<&Owner>) {
        let services = self.services.get(&shape.namespace).into_iter().flatten();
        let controller =
            controller.and_then(|owner| self.controllers.get(&(&*shape.namespace, owner)));
        spread_by_default(self.spreads, shape, services, controller.copied());
    }
}
