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
use kerf_scheduler::Pool;

use super::Size;
use super::dice::Dice;
use super::words::{FAMILIES, GPU, RACK, RACKS, TEAM, TEAMS};

const POOL_NAMES: [&str; 6] = ["ash", "birch", "cedar", "elm", "fir", "oak"];

pub(super) fn pools(
    dice: &mut Dice,
    size: &Size,
    zones: &[&str],
    types: &[InstanceType],
) -> Vec<Pool> {
    let count = dice.between(1, size.pools.clamp(1, POOL_NAMES.len()) as u64) as usize;
    let shared: Arc<[InstanceType]> = types.into();
    let mut pools = Vec::new();
    for name in &POOL_NAMES[..count] {
        let pool = Arc::new(pool(dice, name, zones));
        let instance_types = if dice.chance(80) {
            shared.clone()
        } else {
            types.iter().filter(|_| dice.chance(60)).cloned().collect()
        };
        pools.push(Pool { pool, instance_types });
    }
    // The order in which pools are tried: the heaviest first, of equals the last name.
    pools.sort_by(|left, right| {
        let order = |pool: &Pool| (pool.pool.weight, pool.pool.name.clone());
        order(right).cmp(&order(left))
    });
    pools
}

fn pool(dice: &mut Dice, name: &str, zones: &[&str]) -> NodePool {
    let fixed = dice.chance(8);
    let mut labels = BTreeMap::new();
    if dice.chance(30) {
        labels.insert(TEAM.to_owned(), dice.word(&TEAMS).to_owned());
    }
    NodePool {
        name: name.to_owned(),
        weight: dice.between(0, 2) as u32 * 10,
        sizing: if fixed { Sizing::Static { replicas: 1 } } else { Sizing::Dynamic },
        limits: limits(dice),
        disruption: Disruption {
            policy: ConsolidationPolicy::default(),
            consolidate_after: NillableDuration::default(),
            budgets: BudgetList::default(),
        },
        template: NodeTemplate {
            labels,
            annotations: BTreeMap::new(),
            spec: NodeSpec {
                requirements: requirements(dice, zones),
                taints: taints(dice),
                startup_taints: startup_taints(dice),
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

fn limits(dice: &mut Dice) -> ResourceList {
    let mut limits = ResourceList::new();
    if dice.chance(25) {
        limits.insert(CPU, Quantity::from_int(dice.between(2, 80) as i64));
    }
    if dice.chance(10) {
        limits.insert(MEMORY, Quantity::from_bytes((dice.between(8, 200) << 30) as i64));
    }
    if dice.chance(15) {
        limits.insert("nodes", Quantity::from_int(dice.between(0, 4) as i64));
    }
    if dice.chance(8) {
        limits.insert(GPU, Quantity::from_int(dice.between(0, 3) as i64));
    }
    limits
}

/// Makes room for the nodes that are there already in most pools; the others are full.
pub(super) fn raise_limits(dice: &mut Dice, pools: &mut [Pool], nodes: &[Node]) {
    for pool in pools.iter_mut().filter(|_| dice.chance(80)) {
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

fn requirements(dice: &mut Dice, zones: &[&str]) -> Vec<RequirementEntry> {
    let mut entries = Vec::new();
    let mut add = |key: &str, operator, values: Vec<&str>, min_values| {
        let entry = RequirementEntry::new(key, operator, values);
        entries.push(RequirementEntry { min_values, ..entry });
    };
    if dice.chance(30) {
        add(well_known::ZONE, Operator::In, dice.some(zones), None);
    } else if dice.chance(10) {
        add(well_known::ZONE, Operator::NotIn, vec![dice.word(zones)], None);
    }
    if dice.chance(30) {
        let both = [well_known::ON_DEMAND, well_known::SPOT];
        add(well_known::CAPACITY_TYPE, Operator::In, dice.some(&both), None);
    }
    if dice.chance(20) {
        let both = [well_known::ARCH_AMD64, well_known::ARCH_ARM64];
        add(well_known::ARCH, Operator::In, dice.some(&both), None);
    }
    if dice.chance(20) {
        let bound = dice.between(0, 8).to_string();
        add(kwok::INSTANCE_CPU, Operator::Gt, vec![&bound], None);
    }
    if dice.chance(10) {
        let bound = dice.between(8, 65).to_string();
        add(kwok::INSTANCE_CPU, Operator::Lt, vec![&bound], None);
    }
    if dice.chance(15) {
        add(kwok::INSTANCE_FAMILY, Operator::NotIn, vec![dice.word(&FAMILIES)], None);
    }
    if dice.chance(15) {
        let wanted = dice.between(1, 3) as u32;
        add(well_known::INSTANCE_TYPE, Operator::Exists, vec![], Some(wanted));
    }
    if dice.chance(8) {
        add(kwok::INSTANCE_FAMILY, Operator::Exists, vec![], Some(2));
    }
    match dice.between(0, 9) {
        0 | 1 => add(RACK, Operator::In, dice.some(&RACKS), None),
        2 => add(RACK, Operator::NotIn, vec![dice.word(&RACKS)], None),
        3 => add(RACK, Operator::Exists, vec![], None),
        _ => {}
    }
    entries
}

fn taints(dice: &mut Dice) -> Vec<Taint> {
    let mut taints = Vec::new();
    if dice.chance(18) {
        let effect = if dice.chance(70) { TaintEffect::NoSchedule } else { TaintEffect::NoExecute };
        taints.push(Taint::new("dedicated", dice.word(&TEAMS), effect));
    }
    if dice.chance(10) {
        taints.push(Taint::new("slow", "", TaintEffect::PreferNoSchedule));
    }
    taints
}

fn startup_taints(dice: &mut Dice) -> Vec<Taint> {
    let starting = Taint::new("starting", "", TaintEffect::NoSchedule);
    if dice.chance(10) { vec![starting] } else { Vec::new() }
}
