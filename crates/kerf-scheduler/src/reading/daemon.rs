//! Daemon sets: what every node they run on must also hold.

use std::sync::Arc;

use kerf_model::host_port::HostPort;
use kerf_model::pod::PodShape;
use kerf_model::requirements::Requirements;
use kerf_model::taint::{Taint, TaintEffect, untolerated};

use crate::reading::instance_type::InstanceTypeReader;
use crate::reading::placement::PlacementReader;
use crate::units::{self, Amounts};

/// A daemon set, ready to be compared.
pub(crate) struct Daemon<'p> {
    shape: &'p PodShape,
    /// A node must meet one of these; `None` runs everywhere.
    alternatives: Option<Vec<Requirements>>,
    requests: Amounts,
}

/// What daemons take on a node.
#[derive(Clone, Debug, Default)]
pub(crate) struct DaemonLoad {
    pub(crate) requests: Amounts,
    pub(crate) ports: Vec<HostPort>,
}

/// Reads the daemons of a problem. Those that ask for devices by claims are not counted, because no
/// node made for pods has them.
pub(crate) fn read_daemons<'p>(
    daemons: &'p [Arc<PodShape>],
    reader: &mut InstanceTypeReader<'_>,
) -> Vec<Daemon<'p>> {
    let counted = daemons.iter().filter(|daemon| !daemon.has_resource_claims);
    let mut read = Vec::new();
    for shape in counted {
        let mut placement =
            PlacementReader { normalization: reader.normalization, vocabulary: reader.vocabulary };
        let alternatives = placement.alternatives(shape);
        let requests = reader.units.asked(&shape.requests);
        read.push(Daemon { shape, alternatives, requests });
    }
    read
}

impl Daemon<'_> {
    /// Whether taints let it run. One that pods should merely rather avoid does.
    pub(crate) fn tolerates(&self, taints: &[Taint]) -> bool {
        let hard = taints.iter().filter(|taint| taint.effect != TaintEffect::PreferNoSchedule);
        untolerated(hard, &self.shape.tolerations).next().is_none()
    }

    /// Whether one of its alternatives, or asking for nothing, meets a condition.
    pub(crate) fn any_alternative(&self, meets: impl Fn(&Requirements) -> bool) -> bool {
        self.alternatives.as_ref().is_none_or(|alternatives| alternatives.iter().any(meets))
    }
}

impl DaemonLoad {
    /// Adds a daemon.
    pub(crate) fn add(&mut self, daemon: &Daemon<'_>) {
        units::add(&mut self.requests, &daemon.requests, 1);
        self.ports.extend(daemon.shape.host_ports.iter().copied());
    }
}
