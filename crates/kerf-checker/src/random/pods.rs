//! Pods that need a place, pods that run, and daemons.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_model::host_port::HostPort;
use kerf_model::labels::well_known;
use kerf_model::pod::{Pod, PodShape, PodVolume};
use kerf_model::quantity::Quantity;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::resources::{CPU, ResourceList};
use kerf_model::taint::Toleration;

use super::names::{APP, APPS, DRIVER, GPU, NAMESPACES, VERSION, VERSIONS, amounts};
use super::rng::Rng;
use super::{Size, affinity, placement};

/// Volumes there are to share.
const DISKS: u64 = 6;

/// More processors than any instance type has.
const IMPOSSIBLE_CPUS: i64 = 1000;

pub(super) fn pods(rng: &mut Rng, size: &Size, zones: &[&str]) -> Vec<Pod> {
    let disks: Vec<_> = (0..DISKS).map(|number| disk(rng, zones, number)).collect();
    let count = rng.between(1, size.pods.max(1) as u64) as usize;
    let mut pods = Vec::new();
    for group in 0.. {
        if pods.len() == count {
            break;
        }
        let shape = Arc::new(shape(rng, zones, &disks));
        let replicas = rng.between(1, size.replicas.max(1) as u64) as usize;
        for replica in 0..replicas.min(count - pods.len()) {
            let name = format!("{}-{group}-{replica}", shape.labels[APP]);
            pods.push(pod(name, pods.len() as i64, shape.clone()));
        }
    }
    pods
}

/// Takes the rules about other pods and all preferences off most shapes.
pub(super) fn drop_rules(rng: &mut Rng, pods: &mut [Pod]) {
    for alike in pods.chunk_by_mut(|a, b| Arc::ptr_eq(&a.shape, &b.shape)) {
        if rng.chance(25) {
            continue;
        }
        let mut shape = (*alike[0].shape).clone();
        shape.spreads.clear();
        (shape.affinity, shape.anti_affinity) = Default::default();
        shape.placement.node_affinity.preferred.clear();
        let shape = Arc::new(shape);
        alike.iter_mut().for_each(|pod| pod.shape = shape.clone());
    }
}

/// A pod of the given shape.
pub(super) fn pod(name: String, created_at: i64, shape: Arc<PodShape>) -> Pod {
    Pod { uid: format!("uid-{name}"), name, created_at, shape }
}

fn shape(rng: &mut Rng, zones: &[&str], disks: &[PodVolume]) -> PodShape {
    let app = rng.word(&APPS);
    PodShape {
        placement: placement::placement(rng, zones),
        tolerations: placement::tolerations(rng),
        spreads: affinity::spreads(rng, app),
        affinity: affinity::affinity(rng, app, 12),
        anti_affinity: affinity::affinity(rng, app, 15),
        host_ports: host_ports(rng, 8),
        volumes: volumes(rng, disks),
        has_resource_claims: rng.chance(3),
        ..plain_shape(rng, app)
    }
}

/// A pod of the app without any rules.
pub(super) fn plain_shape(rng: &mut Rng, app: &str) -> PodShape {
    let mut labels = BTreeMap::from([(APP.to_owned(), app.to_owned())]);
    if rng.chance(50) {
        labels.insert(VERSION.to_owned(), rng.word(&VERSIONS).to_owned());
    }
    let namespace = if rng.chance(70) { NAMESPACES[0].0 } else { rng.pick(&NAMESPACES).0 };
    PodShape {
        namespace: namespace.to_owned(),
        labels,
        requests: requests(rng),
        ..PodShape::default()
    }
}

fn requests(rng: &mut Rng) -> ResourceList {
    let cpu_milli = match rng.between(0, 9) {
        0 => 0,
        1..=6 => rng.between(1, 10) * 100,
        7 | 8 => rng.between(1, 8) * 500,
        _ => rng.between(4, 32) * 1000,
    };
    let mut requests = amounts(cpu_milli, rng.between(0, 24) * 128, 1);
    if rng.chance(6) {
        requests.insert(GPU, Quantity::from_int(rng.between(1, 2) as i64));
    }
    if rng.chance(2) {
        requests.insert(CPU, Quantity::from_int(IMPOSSIBLE_CPUS));
    }
    requests
}

fn host_ports(rng: &mut Rng, percent: u64) -> Vec<HostPort> {
    if !rng.chance(percent) {
        return Vec::new();
    }
    let ip = rng.word(&["", "10.0.0.1", "10.0.0.2"]);
    let port = *rng.pick(&[80, 443]);
    let protocol = if rng.chance(80) { "TCP" } else { "UDP" };
    let port = HostPort::parse(ip, port, protocol);
    vec![port.ok().flatten().expect("these addresses, ports and protocols exist")]
}

fn volumes(rng: &mut Rng, disks: &[PodVolume]) -> Vec<PodVolume> {
    if !rng.chance(10) {
        return Vec::new();
    }
    let count = rng.between(1, 2);
    (0..count).map(|_| rng.pick(disks).clone()).collect()
}

/// A volume that pods share.
fn disk(rng: &mut Rng, zones: &[&str], number: u64) -> PodVolume {
    let zonal = |zone: &str| vec![RequirementEntry::new(well_known::ZONE, Operator::In, [zone])];
    let reachable_from = match rng.between(0, 3) {
        0 => Vec::new(),
        1 => vec![zonal(rng.word(zones))],
        2 => rng.some(zones).into_iter().map(zonal).collect(),
        _ => vec![vec![RequirementEntry::new(well_known::ZONE, Operator::In, rng.some(zones))]],
    };
    PodVolume {
        claim: format!("shop/disk-{number}"),
        driver: rng.chance(80).then(|| DRIVER.to_owned()),
        reachable_from,
    }
}

pub(super) fn daemons(rng: &mut Rng, size: &Size, zones: &[&str]) -> Vec<Arc<PodShape>> {
    let count = rng.between(0, size.daemons as u64);
    (0..count).map(|number| Arc::new(daemon(rng, zones, number))).collect()
}

fn daemon(rng: &mut Rng, zones: &[&str], number: u64) -> PodShape {
    let mut daemon = PodShape {
        namespace: "ops".to_owned(),
        labels: BTreeMap::from([(APP.to_owned(), format!("daemon-{number}"))]),
        requests: amounts(rng.between(0, 3) * 100, rng.between(0, 2) * 128, 1),
        host_ports: host_ports(rng, 20),
        has_resource_claims: rng.chance(3),
        ..PodShape::default()
    };
    if rng.chance(60) {
        daemon.tolerations.push(Toleration::of_everything());
    }
    if rng.chance(30) {
        daemon.placement = placement::placement(rng, zones);
        daemon.placement.node_affinity.preferred.clear();
    }
    if rng.chance(10) {
        let (key, value) = (well_known::INITIALIZED.to_owned(), "true".to_owned());
        daemon.placement.node_selector.insert(key, value);
    }
    daemon
}
