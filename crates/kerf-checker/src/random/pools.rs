//! Pools.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_model::budget::BudgetList;
use kerf_model::duration::NillableDuration;
use kerf_model::instance_type::InstanceType;
use kerf_model::labels::{kwok, well_known};
use kerf_model::node::Node;
use kerf_model::node_spec::{NodeClassRef, NodeSpec};
use kerf_model::pool::{ConsolidationPolicy, Disruption, NodePool, NodeTemplate, Sizing};
use kerf_model::quantity::Quantity;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::resources::{CPU, MEMORY, ResourceList};
use kerf_model::taint::{Taint, TaintEffect};
use kerf_scheduler::PoolWithTypes;

use super::Size;
use super::names::{FAMILIES, GPU, RACK, RACKS, TEAM, TEAMS};
use super::rng::Rng;

const POOL_NAMES: [&str; 6] = ["ash", "birch", "cedar", "elm", "fir", "oak"];

pub(super) fn pools(
    rng: &mut Rng,
    size: &Size,
    zones: &[&str],
    types: &[InstanceType],
) -> Vec<PoolWithTypes> {
    let least = if size.ranked_pools { 2 } else { 1 };
    let count =
        rng.between(least, size.pools.clamp(least as usize, POOL_NAMES.len()) as u64) as usize;
    let shared: Arc<[InstanceType]> = types.into();
    let mut pools = Vec::new();
    for name in &POOL_NAMES[..count] {
        let pool = Arc::new(pool(rng, name, zones));
        let instance_types = if rng.chance(80) {
            shared.clone()
        } else {
            types.iter().filter(|_| rng.chance(60)).cloned().collect()
        };
        pools.push(PoolWithTypes { pool, instance_types });
    }
    // The order in which pools are tried: the heaviest first, of equals the last name.
    pools.sort_by(|left, right| {
        let order = |pool: &PoolWithTypes| (pool.pool.weight, pool.pool.name.clone());
        order(right).cmp(&order(left))
    });
    pools
}

fn pool(rng: &mut Rng, name: &str, zones: &[&str]) -> NodePool {
    let fixed = rng.chance(8);
    let mut labels = BTreeMap::new();
    if rng.chance(30) {
        labels.insert(TEAM.to_owned(), rng.word(&TEAMS).to_owned());
    }
    NodePool {
        name: name.to_owned(),
        weight: rng.between(0, 2) as u32 * 10,
        sizing: if fixed { Sizing::Static { replicas: 1 } } else { Sizing::Dynamic },
        limits: limits(rng),
        disruption: Disruption {
            policy: ConsolidationPolicy::default(),
            consolidate_after: NillableDuration::default(),
            budgets: BudgetList::default(),
        },
        template: NodeTemplate {
            labels,
            annotations: BTreeMap::new(),
            spec: NodeSpec {
                requirements: requirements(rng, zones),
                taints: taints(rng),
                startup_taints: startup_taints(rng),
                node_class: NodeClassRef {
                    group: kwok::DOMAIN.to_owned(),
                    kind: "KWOKNodeClass".to_owned(),
                    name: "usual".to_owned(),
                },
                termination_grace: None,
                expire_after: NillableDuration::default(),
            },
        },
        hash: "0".to_owned(),
    }
}

fn limits(rng: &mut Rng) -> ResourceList {
    let mut limits = ResourceList::new();
    if rng.chance(25) {
        limits.insert(CPU, Quantity::from_int(rng.between(2, 80) as i64));
    }
    if rng.chance(10) {
        limits.insert(MEMORY, Quantity::from_bytes((rng.between(8, 200) << 30) as i64));
    }
    if rng.chance(15) {
        limits.insert("nodes", Quantity::from_int(rng.between(0, 4) as i64));
    }
    if rng.chance(8) {
        limits.insert(GPU, Quantity::from_int(rng.between(0, 3) as i64));
    }
    limits
}

/// Gives each pool a weight of its own, in the order they are tried, and most of them a limit.
pub(super) fn rank(rng: &mut Rng, pools: &mut [PoolWithTypes]) {
    let count = pools.len() as u32;
    for (place, pool) in (0..).zip(pools) {
        let pool = Arc::make_mut(&mut pool.pool);
        pool.weight = (count - place) * 10;
        if rng.chance(85) {
            pool.limits.insert(CPU, Quantity::from_int(rng.between(2, 24) as i64));
        }
        if rng.chance(20) {
            pool.limits.insert("nodes", Quantity::from_int(rng.between(1, 5) as i64));
        }
    }
}

/// Makes headroom for the nodes that are there already in most pools; the others are full.
pub(super) fn raise_limits(rng: &mut Rng, pools: &mut [PoolWithTypes], nodes: &[Node]) {
    for pool in pools.iter_mut().filter(|_| rng.chance(80)) {
        let pool = Arc::make_mut(&mut pool.pool);
        for node in nodes.iter().filter(|node| node.pool.as_ref() == Some(&pool.name)) {
            let mut there = node.capacity.clone();
            there.insert("nodes", Quantity::from_int(1));
            let limited = pool.limits.clone();
            let there = there.iter().filter(|(name, _)| limited.get(name).is_some());
            pool.limits.add(&there.collect());
        }
    }
}

/// What some pools count besides their nodes.
pub(super) fn held(rng: &mut Rng, pools: &[PoolWithTypes]) -> BTreeMap<String, ResourceList> {
    let mut held = BTreeMap::new();
    for pool in pools {
        if !rng.chance(10) {
            continue;
        }
        let cpus = Quantity::from_int(rng.between(1, 8) as i64);
        let list = [(CPU, cpus), ("nodes", Quantity::from_int(1))].into_iter().collect();
        held.insert(pool.pool.name.clone(), list);
    }
    held
}

fn requirements(rng: &mut Rng, zones: &[&str]) -> Vec<RequirementEntry> {
    let mut entries = Vec::new();
    let mut add = |key: &str, operator, values: Vec<&str>, min_values| {
        let entry = RequirementEntry::new(key, operator, values);
        entries.push(RequirementEntry { min_values, ..entry });
    };
    if rng.chance(30) {
        add(well_known::ZONE, Operator::In, rng.some(zones), None);
    } else if rng.chance(10) {
        add(well_known::ZONE, Operator::NotIn, vec![rng.word(zones)], None);
    }
    if rng.chance(30) {
        let both = [well_known::ON_DEMAND, well_known::SPOT];
        add(well_known::CAPACITY_TYPE, Operator::In, rng.some(&both), None);
    }
    if rng.chance(20) {
        let both = [well_known::ARCH_AMD64, well_known::ARCH_ARM64];
        add(well_known::ARCH, Operator::In, rng.some(&both), None);
    }
    if rng.chance(20) {
        let bound = rng.between(0, 8).to_string();
        add(kwok::INSTANCE_CPU, Operator::Gt, vec![&bound], None);
    }
    if rng.chance(10) {
        let bound = rng.between(8, 65).to_string();
        add(kwok::INSTANCE_CPU, Operator::Lt, vec![&bound], None);
    }
    if rng.chance(15) {
        add(kwok::INSTANCE_FAMILY, Operator::NotIn, vec![rng.word(&FAMILIES)], None);
    }
    if rng.chance(15) {
        let wanted = rng.between(1, 3) as u32;
        add(well_known::INSTANCE_TYPE, Operator::Exists, vec![], Some(wanted));
    }
    if rng.chance(8) {
        add(kwok::INSTANCE_FAMILY, Operator::Exists, vec![], Some(2));
    }
    match rng.between(0, 9) {
        0 | 1 => add(RACK, Operator::In, rng.some(&RACKS), None),
        2 => add(RACK, Operator::NotIn, vec![rng.word(&RACKS)], None),
        3 => add(RACK, Operator::Exists, vec![], None),
        _ => {}
    }
    entries
}

fn taints(rng: &mut Rng) -> Vec<Taint> {
    let mut taints = Vec::new();
    if rng.chance(18) {
        let effect = if rng.chance(70) { TaintEffect::NoSchedule } else { TaintEffect::NoExecute };
        taints.push(Taint::new("dedicated", rng.word(&TEAMS), effect));
    }
    if rng.chance(10) {
        taints.push(Taint::new("slow", "", TaintEffect::PreferNoSchedule));
    }
    taints
}

fn startup_taints(rng: &mut Rng) -> Vec<Taint> {
    let starting = Taint::new("starting", "", TaintEffect::NoSchedule);
    if rng.chance(10) { vec![starting] } else { Vec::new() }
}
