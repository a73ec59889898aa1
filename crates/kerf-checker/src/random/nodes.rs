//! Nodes that exist, about half full.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_model::instance_type::InstanceType;
use kerf_model::labels::{kwok, well_known};
use kerf_model::node::{BoundPod, Node};
use kerf_model::pod::PodShape;
use kerf_model::pool::NodePool;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::taint::{Taint, TaintEffect};
use kerf_scheduler::PoolWithTypes;

use super::names::{APPS, DRIVER, RACK, RACKS, TEAM, TEAMS};
use super::rng::Rng;
use super::{Size, affinity, pods};

pub(super) fn nodes(
    rng: &mut Rng,
    size: &Size,
    pools: &[PoolWithTypes],
    daemons: &[Arc<PodShape>],
) -> Vec<Node> {
    let count = rng.between(0, size.nodes as u64);
    (0..count).filter_map(|number| node(rng, pools, daemons, number)).collect()
}

/// A node of a pool, or an unmanaged node with the labels of one. None where the pool has no
/// instance types.
fn node(
    rng: &mut Rng,
    pools: &[PoolWithTypes],
    daemons: &[Arc<PodShape>],
    number: u64,
) -> Option<Node> {
    let PoolWithTypes { pool, instance_types } = rng.pick(pools);
    if instance_types.is_empty() {
        return None;
    }
    let instance_type = rng.pick(instance_types);
    let name = format!("node-{number}");
    let managed = rng.chance(85);
    let mut labels = labels(rng, instance_type);
    if rng.chance(90) {
        labels.insert(well_known::HOSTNAME.to_owned(), name.clone());
    }
    let mut taints = Vec::new();
    if managed {
        labels.extend(pool_labels(rng, pool));
        taints.clone_from(&pool.template.spec.taints);
    } else if rng.chance(20) {
        taints.push(Taint::new("dedicated", rng.word(&TEAMS), TaintEffect::NoSchedule));
    }
    let limited = rng.chance(30);
    let volume_limits = if limited {
        BTreeMap::from([(DRIVER.to_owned(), rng.between(0, 3) as u32)])
    } else {
        BTreeMap::new()
    };
    Some(Node {
        pods: bound(rng, instance_type, daemons, &name),
        name,
        pool: managed.then(|| pool.name.clone()),
        labels,
        taints,
        initialized: rng.chance(80),
        capacity: (*instance_type.capacity).clone(),
        allocatable: instance_type.allocatable(),
        volume_limits,
    })
}

fn labels(rng: &mut Rng, instance_type: &InstanceType) -> BTreeMap<String, String> {
    let offering = rng.pick(&instance_type.offerings);
    let entries = instance_type.requirements.iter().chain(&*offering.requirements);
    let value = |entry: &RequirementEntry| Some((entry.key.clone(), entry.values.first()?.clone()));
    let mut labels: BTreeMap<String, String> = entries.filter_map(value).collect();
    if rng.chance(5) {
        labels.remove(well_known::ZONE);
    }
    labels
}

/// What Kerf puts on a node of the pool, a value chosen where the pool leaves one open.
fn pool_labels(rng: &mut Rng, pool: &NodePool) -> Vec<(String, String)> {
    let mut labels = vec![
        (well_known::NODE_POOL.to_owned(), pool.name.clone()),
        (kwok::NODE_CLASS.to_owned(), pool.template.spec.node_class.name.clone()),
        (well_known::REGISTERED.to_owned(), "true".to_owned()),
        (well_known::INITIALIZED.to_owned(), "true".to_owned()),
    ];
    labels.extend(pool.template.labels.clone());
    for entry in pool.template.spec.requirements.iter().filter(|entry| entry.key == RACK) {
        let allowed = |rack: &&&str| match entry.operator {
            Operator::In => entry.values.iter().any(|value| value == **rack),
            Operator::NotIn => !entry.values.iter().any(|value| value == **rack),
            _ => true,
        };
        let racks: Vec<_> = RACKS.iter().filter(allowed).collect();
        labels.push((RACK.to_owned(), (**rng.pick(&racks)).to_owned()));
    }
    if rng.chance(5) {
        labels.push((TEAM.to_owned(), rng.word(&TEAMS).to_owned()));
    }
    labels
}

/// Pods until about half of the node is taken, now and then more than all of it.
fn bound(
    rng: &mut Rng,
    instance_type: &InstanceType,
    daemons: &[Arc<PodShape>],
    node: &str,
) -> Vec<BoundPod> {
    let mut bound = Vec::new();
    for daemon in daemons.iter().filter(|_| rng.chance(60)) {
        let name = format!("{node}-daemon-{}", bound.len());
        let pod = pods::pod(name, 0, daemon.clone());
        bound.push(BoundPod { pod, is_daemon: true, is_leaving: false });
    }
    let mut left = instance_type.allocatable();
    let overdrawn = rng.chance(3);
    for number in 0..rng.between(0, 4) {
        let app = rng.word(&APPS);
        let mut shape = pods::plain_shape(rng, app);
        if rng.chance(15) {
            shape.anti_affinity = affinity::affinity(rng, app, 100);
        }
        if shape.requests.fits(&left) || overdrawn {
            left.subtract(&shape.requests);
            let pod = pods::pod(format!("{node}-pod-{number}"), 0, Arc::new(shape));
            bound.push(BoundPod { pod, is_daemon: false, is_leaving: rng.chance(10) });
        }
    }
    bound
}
