//! Nodes on their way: claims that have no node yet, as the scheduler sees them.
//!
//! An unlaunched claim may become any of its instance types, so pods count on the least of each
//! resource that any of them has, and limits on the most.

use std::collections::BTreeMap;

use kerf_model::claim::NodeClaim;
use kerf_model::instance_type::InstanceType;
use kerf_model::labels::well_known::{INSTANCE_TYPE, NODE_POOL};
use kerf_model::node::{BoundPod, Node as NodeView};
use kerf_model::requirement::Operator;
use kerf_model::resources::ResourceList;
use rustc_hash::FxHashMap;

use super::World;
use super::node_view::{labels_to_come, one_node};
use crate::action::NewClaim;
use crate::observed::{Claim, Name};

/// What is foreseen of nodes on their way; what an instance type has is read when a claim first
/// names it.
pub(crate) struct Arrivals<'a> {
    world: &'a World,
    pools: FxHashMap<String, PoolInstances<'a>>,
}

/// The instance types of a pool by name, and what those have that some claim named.
struct PoolInstances<'a> {
    by_name: FxHashMap<&'a str, &'a InstanceType>,
    read: FxHashMap<&'a str, Amounts>,
}

/// What an instance has, and what pods can surely use of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Amounts {
    pub(crate) capacity: ResourceList,
    pub(crate) allocatable: ResourceList,
}

impl<'a> Arrivals<'a> {
    pub(crate) fn new(world: &'a World) -> Self {
        Self { world, pools: FxHashMap::default() }
    }

    /// Claims that are stored and stay, and have no node yet.
    pub(crate) fn stored(world: &'a World) -> impl Iterator<Item = &'a Claim> {
        world.claims_without_node().filter(|claim| !world.is_leaving(claim))
    }

    /// Claims that are decided on and not stored yet. One that is stored is counted there.
    pub(crate) fn decided(world: &'a World) -> impl Iterator<Item = (&'a Name, &'a NewClaim)> {
        world.memory.creating.iter().filter(|(name, _)| !world.claims.contains_key(*name))
    }

    /// A stored claim without a node, with the pods meant for it.
    pub(crate) fn of_claim(&mut self, claim: &Claim, pods: Vec<BoundPod>) -> NodeView {
        let amounts = self.amounts_of_claim(claim);
        view(&claim.spec, amounts, pods)
    }

    /// A claim that is not stored yet, with the pods meant for it.
    pub(crate) fn of_decision(&mut self, claim: &NewClaim, pods: Vec<BoundPod>) -> NodeView {
        let amounts = self.amounts_of_spec(&claim.spec);
        view(&claim.spec, amounts, pods)
    }

    /// What a stored claim's instance has, as far as it is known.
    pub(crate) fn amounts_of_claim(&mut self, claim: &Claim) -> Amounts {
        let status = &claim.status;
        if !status.capacity.is_empty() {
            let (capacity, allocatable) = (status.capacity.clone(), status.allocatable.clone());
            return Amounts { capacity: one_node(capacity), allocatable };
        }
        if let Some(instance) = self.world.memory.launched.get(&claim.meta.uid) {
            let capacity = one_node(instance.capacity.clone());
            return Amounts { capacity, allocatable: instance.allocatable.clone() };
        }
        self.amounts_of_spec(&claim.spec)
    }

    /// What a claim's instance will have: the most that counts against limits, the least that pods
    /// can count on. Where nobody knows its instances, it has what it must at least offer.
    pub(crate) fn amounts_of_spec(&mut self, spec: &NodeClaim) -> Amounts {
        let is_type = |key: &str, operator| key == INSTANCE_TYPE && operator == Operator::In;
        let entries = &spec.node.requirements;
        let named = entries.iter().find(|entry| is_type(&entry.key, entry.operator));
        let pool = spec.labels.get(NODE_POOL).map_or("", String::as_str);
        let instances = self.instances(pool);
        let options = named.into_iter().flat_map(|entry| &entry.values);
        let mut amounts = None;
        for name in options {
            if let Some(option) = instances.amounts(name) {
                merge(&mut amounts, option);
            }
        }
        let mut amounts = amounts.unwrap_or_else(|| Amounts {
            capacity: spec.requests.clone(),
            allocatable: spec.requests.clone(),
        });
        amounts.capacity = one_node(amounts.capacity);
        amounts
    }

    fn instances(&mut self, pool: &str) -> &mut PoolInstances<'a> {
        if !self.pools.contains_key(pool) {
            let all = self.world.instance_types.get(pool).map_or(&[][..], |all| all);
            let by_name = all.iter().map(|instance| (instance.name.as_str(), instance)).collect();
            let instances = PoolInstances { by_name, read: FxHashMap::default() };
            self.pools.insert(pool.to_owned(), instances);
        }
        self.pools.get_mut(pool).expect("just put there")
    }
}

impl PoolInstances<'_> {
    /// What an instance type of the pool has.
    fn amounts(&mut self, name: &str) -> Option<&Amounts> {
        let instance = *self.by_name.get(name)?;
        Some(self.read.entry(&instance.name).or_insert_with(|| amounts(instance)))
    }
}

fn view(spec: &NodeClaim, amounts: Amounts, pods: Vec<BoundPod>) -> NodeView {
    let labels = labels_to_come(&spec.labels, &spec.node.requirements);
    NodeView {
        name: spec.name.clone(),
        pool: labels.get(NODE_POOL).cloned(),
        labels,
        taints: spec.node.taints.clone(),
        initialized: false,
        capacity: amounts.capacity,
        allocatable: amounts.allocatable,
        pods,
        volume_limits: BTreeMap::new(),
    }
}

/// What an instance has, whichever of its offerings is bought.
fn amounts(instance: &InstanceType) -> Amounts {
    let mut least = instance.allocatable();
    let mut most = ResourceList::clone(&instance.capacity);
    for offering in instance.offerings.iter().filter(|offering| offering.available) {
        if offering.capacity_override.is_empty() && offering.overhead_override.is_none() {
            continue;
        }
        most.raise_to(&offering.capacity_override);
        lower_to(&mut least, &instance.allocatable_of(offering));
    }
    Amounts { capacity: most, allocatable: least }
}

fn merge(merged: &mut Option<Amounts>, option: &Amounts) {
    match merged {
        None => *merged = Some(option.clone()),
        Some(merged) => {
            merged.capacity.raise_to(&option.capacity);
            lower_to(&mut merged.allocatable, &option.allocatable);
        }
    }
}

/// Lowers every quantity to that of another list; a name that is absent there stands for none.
fn lower_to(list: &mut ResourceList, other: &ResourceList) {
    let theirs = |(name, mine): (&str, _)| {
        let theirs = other.quantity(name);
        (theirs < mine).then(|| (name.to_owned(), theirs))
    };
    let lower: Vec<_> = list.iter().filter_map(theirs).collect();
    for (name, quantity) in lower {
        list.insert(name, quantity);
    }
}
