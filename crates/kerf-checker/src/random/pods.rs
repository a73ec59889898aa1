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

use super::dice::Dice;
use super::words::{APP, APPS, DRIVER, GPU, NAMESPACES, VERSION, VERSIONS, amounts};
use super::{Size, nearness, placement};

/// Volumes there are to share.
const DISKS: u64 = 6;

/// More processors than any machine has.
const IMPOSSIBLE_CPUS: i64 = 1000;

pub(super) fn pods(dice: &mut Dice, size: &Size, zones: &[&str]) -> Vec<Pod> {
    let disks: Vec<_> = (0..DISKS).map(|number| disk(dice, zones, number)).collect();
    let count = dice.between(1, size.pods.max(1) as u64) as usize;
    let mut pods = Vec::new();
    for group in 0.. {
        if pods.len() == count {
            break;
        }
        let shape = Arc::new(shape(dice, zones, &disks));
        let replicas = dice.between(1, size.replicas.max(1) as u64) as usize;
        for replica in 0..replicas.min(count - pods.len()) {
            let name = format!("{}-{group}-{replica}", shape.labels[APP]);
            pods.push(pod(name, pods.len() as i64, shape.clone()));
        }
    }
    pods
}

/// A pod of the given shape.
pub(super) fn pod(name: String, created_at: i64, shape: Arc<PodShape>) -> Pod {
    Pod { uid: format!("uid-{name}"), name, created_at, shape }
}

fn shape(dice: &mut Dice, zones: &[&str], disks: &[PodVolume]) -> PodShape {
    let app = dice.word(&APPS);
    PodShape {
        placement: placement::placement(dice, zones),
        tolerations: placement::tolerations(dice),
        spreads: nearness::spreads(dice, app),
        affinity: nearness::affinity(dice, app, 12),
        anti_affinity: nearness::affinity(dice, app, 15),
        host_ports: host_ports(dice, 8),
        volumes: volumes(dice, disks),
        has_resource_claims: dice.chance(3),
        ..plain_shape(dice, app)
    }
}

/// A pod of the app without any rules.
pub(super) fn plain_shape(dice: &mut Dice, app: &str) -> PodShape {
    let mut labels = BTreeMap::from([(APP.to_owned(), app.to_owned())]);
    if dice.chance(50) {
        labels.insert(VERSION.to_owned(), dice.word(&VERSIONS).to_owned());
    }
    let namespace = if dice.chance(70) { NAMESPACES[0].0 } else { dice.pick(&NAMESPACES).0 };
    PodShape {
        namespace: namespace.to_owned(),
        labels,
        requests: requests(dice),
        ..PodShape::default()
    }
}

fn requests(dice: &mut Dice) -> ResourceList {
    let cpu_milli = match dice.between(0, 9) {
        0 => 0,
        1..=6 => dice.between(1, 10) * 100,
        7 | 8 => dice.between(1, 8) * 500,
        _ => dice.between(4, 32) * 1000,
    };
    let mut requests = amounts(cpu_milli, dice.between(0, 24) * 128, 1);
    if dice.chance(6) {
        requests.insert(GPU, Quantity::from_int(dice.between(1, 2) as i64));
    }
    if dice.chance(2) {
        requests.insert(CPU, Quantity::from_int(IMPOSSIBLE_CPUS));
    }
    requests
}

fn host_ports(dice: &mut Dice, percent: u64) -> Vec<HostPort> {
    if !dice.chance(percent) {
        return Vec::new();
    }
    let ip = dice.word(&["", "10.0.0.1", "10.0.0.2"]);
    let port = *dice.pick(&[80, 443]);
    let protocol = if dice.chance(80) { "TCP" } else { "UDP" };
    let port = HostPort::parse(ip, port, protocol);
    vec![port.ok().flatten().expect("these addresses, ports and protocols exist")]
}

fn volumes(dice: &mut Dice, disks: &[PodVolume]) -> Vec<PodVolume> {
    if !dice.chance(10) {
        return Vec::new();
    }
    let count = dice.between(1, 2);
    (0..count).map(|_| dice.pick(disks).clone()).collect()
}

/// A volume that pods share.
fn disk(dice: &mut Dice, zones: &[&str], number: u64) -> PodVolume {
    let zonal = |zone: &str| vec![RequirementEntry::new(well_known::ZONE, Operator::In, [zone])];
    let reachable_from = match dice.between(0, 3) {
        0 => Vec::new(),
        1 => vec![zonal(dice.word(zones))],
        2 => dice.some(zones).into_iter().map(zonal).collect(),
        _ => vec![vec![RequirementEntry::new(well_known::ZONE, Operator::In, dice.some(zones))]],
    };
    PodVolume {
        claim: format!("shop/disk-{number}"),
        driver: dice.chance(80).then(|| DRIVER.to_owned()),
        reachable_from,
    }
}

pub(super) fn daemons(dice: &mut Dice, size: &Size, zones: &[&str]) -> Vec<Arc<PodShape>> {
    let count = dice.between(0, size.daemons as u64);
    (0..count).map(|number| Arc::new(daemon(dice, zones, number))).collect()
}

fn daemon(dice: &mut Dice, zones: &[&str], number: u64) -> PodShape {
    let mut daemon = PodShape {
        namespace: "ops".to_owned(),
        labels: BTreeMap::from([(APP.to_owned(), format!("daemon-{number}"))]),
        requests: amounts(dice.between(0, 3) * 100, dice.between(0, 2) * 128, 1),
        host_ports: host_ports(dice, 20),
        has_resource_claims: dice.chance(3),
        ..PodShape::default()
    };
    if dice.chance(60) {
        daemon.tolerations.push(Toleration::of_everything());
    }
    if dice.chance(30) {
        daemon.placement = placement::placement(dice, zones);
        daemon.placement.node_affinity.preferred.clear();
    }
    if dice.chance(10) {
        let (key, value) = (well_known::INITIALIZED.to_owned(), "true".to_owned());
        daemon.placement.node_selector.insert(key, value);
    }
    daemon
}
