//! Whether there is a place for a pod, by the rules of the independent checker: every node is tried
//! in turn, and new nodes of the smallest and the largest type of each pool, and the checker says
//! whether it would be legal. No solver is asked, so that what it overlooks does not go unseen.

use kerf_checker::check;
use kerf_model::instance_type::{InstanceType, Offering};
use kerf_model::labels::well_known::INSTANCE_TYPE;
use kerf_model::price::Price;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::resources::CPU;
use kerf_scheduler::{ExistingPlacement, NewNode, PlacementProblem, Solution, TypeOption};

use crate::matching::admits;

/// The one pod of a problem.
const POD: usize = 0;

/// Whether the one pod of a problem could run on a node that exists, or on a new one.
pub(super) fn has_place(problem: &PlacementProblem) -> bool {
    let problem = &with_few_types(problem);
    let is_legal = |solution: &Solution| check(problem, solution).is_empty();
    let on_node = |node| Solution {
        existing: vec![ExistingPlacement { node, pods: vec![POD] }],
        ..Solution::default()
    };
    (0..problem.nodes.len()).any(|node| is_legal(&on_node(node)))
        || new_nodes(problem).any(|node| {
            let price = node.options[0].price;
            let lower_bound = Price::ZERO;
            let new_nodes = vec![node];
            is_legal(&Solution { new_nodes, price, lower_bound, ..Solution::default() })
        })
}

/// The same problem with two types for each pool, the smallest that has room for the pod and the
/// largest: reading a hundred types for every try takes long, and zones stay as they are.
fn with_few_types(problem: &PlacementProblem) -> PlacementProblem {
    let mut few = problem.clone();
    let mut requests = problem.pods[POD].shape.requests.clone();
    problem.daemons.iter().for_each(|daemon| requests.add(&daemon.requests));
    for pool in &mut few.pools {
        let asked = &pool.pool.template.spec.requirements;
        let is_allowed = |it: &&InstanceType| {
            let mut sold = it.offerings.iter().filter(|offering| offering.available);
            let has_room =
                requests.iter().all(|(name, quantity)| it.allocatable().quantity(name) >= quantity);
            has_room && sold.any(|offering| pinned(asked, &it.name, offering).is_some())
        };
        let allowed = pool.instance_types.iter().filter(is_allowed);
        let mut allowed: Vec<&InstanceType> = allowed.collect();
        allowed.sort_by_key(|it| (it.allocatable().quantity(CPU), it.name.clone()));
        let mut chosen = vec![allowed.first(), allowed.last()];
        chosen.dedup();
        pool.instance_types = chosen.into_iter().flatten().map(|it| (**it).clone()).collect();
    }
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
