//! Whether there is a place for a pod, by the rules of the independent checker: every node with room
//! is tried in turn, and new nodes of the smallest and the largest type of each pool, and the checker
//! says whether it would be legal. No solver is asked, so that what it overlooks does not go unseen.

use kerf_checker::check;
use kerf_model::instance_type::{InstanceType, Offering};
use kerf_model::labels::well_known::{HOSTNAME, INSTANCE_TYPE};
use kerf_model::node::Node;
use kerf_model::pod::PodShape;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::resources::CPU;
use kerf_scheduler::{ExistingPlacement, NewNode, PlacementProblem, Solution, TypeOption};

use crate::matching::{admits, tolerates};

/// The one pod of a problem.
const POD: usize = 0;

/// Where a pod could run.
pub(super) enum Place {
    /// On a node of the problem, by its number.
    Existing(usize),
    /// On a node that could be bought.
    New(Box<Node>),
}

/// A place for the one pod of a problem, if there is one.
pub(super) fn place_of(problem: &PlacementProblem) -> Option<Place> {
    let problem = &with_few_types(problem);
    let is_legal = |solution: &Solution| check(problem, solution).is_empty();
    let on_node = |node| Solution {
        existing: vec![ExistingPlacement { node, pods: vec![POD] }],
        ..Solution::default()
    };
    let shape = &problem.pods[POD].shape;
    let mut nodes = 0..problem.nodes.len();
    let has_room = |node: usize| has_room(&problem.nodes[node], shape);
    if let Some(node) = nodes.find(|node| has_room(*node) && is_legal(&on_node(*node))) {
        return Some(Place::Existing(node));
    }
    let bought = |node: &NewNode| {
        let price = node.options[0].price;
        let new_nodes = vec![node.clone()];
        Solution { new_nodes, price, ..Solution::default() }
    };
    let new = new_nodes(problem).find(|node| is_legal(&bought(node)))?;
    Some(Place::New(Box::new(node_of(problem, &new))))
}

/// Whether a node has room for a pod that tolerates its taints: quickly told, before all rules are
/// asked.
fn has_room(node: &Node, shape: &PodShape) -> bool {
    let mut asked = shape.requests.clone();
    node.pods.iter().for_each(|bound| asked.add(&bound.pod.shape.requests));
    tolerates(shape, &node.taints) && asked.fits(&node.allocatable)
}

/// A new node as it will be, still without pods.
fn node_of(problem: &PlacementProblem, new: &NewNode) -> Node {
    let with_types = &problem.pools[new.pool];
    let (pool, option) = (&with_types.pool, new.options[0]);
    let chosen = &with_types.instance_types[option.instance_type];
    let name = format!("new-{}", problem.nodes.len());
    let mut labels = pool.template.labels.clone();
    let entries = chosen.requirements.iter().chain(&new.requirements);
    for entry in entries.filter(|entry| entry.operator == Operator::In) {
        labels.extend(entry.values.first().map(|value| (entry.key.clone(), value.clone())));
    }
    labels.insert(HOSTNAME.to_owned(), name.clone());
    Node {
        name,
        pool: Some(pool.name.clone()),
        labels,
        taints: pool.template.spec.taints.clone(),
        initialized: true,
        capacity: (*chosen.capacity).clone(),
        allocatable: chosen.allocatable_of(&chosen.offerings[option.offering]),
        pods: Vec::new(),
        volume_limits: Default::default(),
    }
}

/// The same problem with few types for each pool: reading a hundred types for every try takes long.
fn with_few_types(problem: &PlacementProblem) -> PlacementProblem {
    let mut few = problem.clone();
    let mut requests = problem.pods[POD].shape.requests.clone();
    problem.daemons.iter().for_each(|daemon| requests.add(&daemon.requests));
    for pool in &mut few.pools {
        let asked = &pool.pool.template.spec.requirements;
        let mut types: Vec<&InstanceType> = pool.instance_types.iter().collect();
        types.retain(|it| requests.fits(&it.allocatable()) && is_allowed(asked, it));
        types.sort_by_cached_key(|it| (it.allocatable().quantity(CPU), it.name.clone()));
        pool.instance_types = few_of(asked, &types).into_iter().cloned().collect();
    }
    few
}

/// Whether a pool admits what a type is (operating system, architecture) wherever it is sold.
fn is_allowed(asked: &[RequirementEntry], it: &InstanceType) -> bool {
    let mut given = it.requirements.iter().filter(|entry| entry.operator == Operator::In);
    given.all(|entry| {
        let mut own = asked.iter().filter(|asked| asked.key == entry.key);
        own.all(|asked| entry.values.iter().any(|value| admits(asked, Some(value))))
    })
}

/// Of types by size, the smallest that is sold in each way (zone and capacity type), since any may be
/// sold out in one zone, and the largest.
fn few_of<'a>(asked: &[RequirementEntry], types: &[&'a InstanceType]) -> Vec<&'a InstanceType> {
    let mut ways: Vec<&[RequirementEntry]> = Vec::new();
    let mut few: Vec<&InstanceType> = Vec::new();
    let mut largest = None;
    for it in types {
        let sold = it.offerings.iter().filter(|offering| offering.available);
        let sold = sold.filter(|offering| pinned(asked, &it.name, offering).is_some());
        let sold: Vec<&[RequirementEntry]> = sold.map(|it| &*it.requirements).collect();
        if sold.iter().any(|way| !ways.contains(way)) {
            few.push(it);
        }
        largest = if sold.is_empty() { largest } else { Some(*it) };
        ways.extend(sold);
    }
    few.extend(largest);
    few.dedup_by_key(|it| &it.name);
    few
}

/// A new node of every offering that each pool may buy, for the one pod.
fn new_nodes(problem: &PlacementProblem) -> impl Iterator<Item = NewNode> {
    let pools = problem.pools.iter().enumerate();
    pools.flat_map(move |(pool, with_types)| {
        let types = with_types.instance_types.iter().enumerate();
        types.flat_map(move |(instance_type, it)| {
            let offerings = it.offerings.iter().enumerate().filter(|(_, each)| each.available);
            offerings.filter_map(move |(offering, each)| {
                let asked = &with_types.pool.template.spec.requirements;
                let requirements = pinned(asked, &it.name, each)?;
                let mut requests = problem.pods[POD].shape.requests.clone();
                problem.daemons.iter().for_each(|daemon| requests.add(&daemon.requests));
                let option = TypeOption { instance_type, offering, price: each.price };
                Some(NewNode {
                    pool,
                    requirements,
                    options: vec![option],
                    pods: vec![POD],
                    requests,
                    min_values_relaxed: false,
                })
            })
        })
    })
}

/// What a pool asks for, narrowed to one offering of one type; nothing where the pool does not allow
/// it.
fn pinned(
    asked: &[RequirementEntry],
    instance_type: &str,
    offering: &Offering,
) -> Option<Vec<RequirementEntry>> {
    let of_type = (INSTANCE_TYPE.to_owned(), instance_type.to_owned());
    let of_offering = offering.requirements.iter().filter(|it| it.operator == Operator::In);
    let of_offering =
        of_offering.filter_map(|it| Some((it.key.clone(), it.values.first()?.clone())));
    let mut pinned = asked.to_vec();
    for (key, value) in std::iter::once(of_type).chain(of_offering) {
        let mut own = asked.iter().filter(|entry| entry.key == key);
        if !own.all(|entry| admits(entry, Some(&value))) {
            return None;
        }
        pinned.retain(|entry| entry.key != key);
        pinned.push(RequirementEntry {
            key,
            operator: Operator::In,
            values: vec![value],
            min_values: None,
        });
    }
    pinned.sort_by(|left, right| left.key.cmp(&right.key));
    Some(pinned)
}
