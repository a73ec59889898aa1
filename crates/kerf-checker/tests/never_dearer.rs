//! A fleet is never dearer than the one Karpenter would make, and of many more nodes only where
//! each of them pays. Told in plain words on pods without rules and one pool without requirements.

use std::sync::Arc;

use kerf_checker::{Size, random_problem};
use kerf_model::pool::Sizing;
use kerf_model::resources::ResourceList;
use kerf_scheduler::{Binder, PlacementProblem, solve};

mod seeds;

/// The problem with one pool that asks for nothing and pods that ask for resources only.
fn simple(seed: u64) -> PlacementProblem {
    let size = Size { pods: 200, replicas: 40, types: 25, ..Size::MEDIUM };
    let mut problem = random_problem(seed, &size);
    problem.pools.truncate(1);
    let pool = Arc::make_mut(&mut problem.pools[0].pool);
    pool.sizing = Sizing::Dynamic;
    pool.limits = ResourceList::new();
    pool.template.spec.requirements.clear();
    pool.template.spec.taints.clear();
    (problem.nodes, problem.daemons) = Default::default();
    problem.settings.binder = Binder::Planned;
    for pod in &mut problem.pods {
        let shape = Arc::make_mut(&mut pod.shape);
        (shape.spreads, shape.affinity, shape.anti_affinity) = Default::default();
        (shape.host_ports, shape.volumes, shape.placement) = Default::default();
        shape.has_resource_claims = false;
    }
    problem
}

/// What can be bought: what it leaves to pods, and its price.
fn market(problem: &PlacementProblem) -> Vec<(ResourceList, u64)> {
    let types = problem.pools[0].instance_types.iter();
    let sold = types.flat_map(|it| it.offerings.iter().map(move |offering| (it, offering)));
    let sold = sold.filter(|(_, offering)| offering.available && offering.reservation.is_none());
    sold.map(|(it, offering)| (it.allocatable_of(offering), offering.price.micros_per_hour()))
        .collect()
}

/// A node that may still be many things.
struct Claim {
    pods: usize,
    asked: ResourceList,
    options: Vec<usize>,
}

/// The price and the number of nodes of the fleet Karpenter makes, with the pods it holds: the
/// largest pods first, each onto the node with the fewest pods that can hold it.
fn karpenter(problem: &PlacementProblem) -> (u64, usize, usize) {
    let market = market(problem);
    let mut pods: Vec<&ResourceList> = problem.pods.iter().map(|it| &it.shape.requests).collect();
    pods.sort_by_key(|it| std::cmp::Reverse((it.quantity("cpu"), it.quantity("memory"))));
    let mut claims: Vec<Claim> = Vec::new();
    let mut placed = 0;
    for pod in pods {
        claims.sort_by_key(|claim| claim.pods);
        let with = |asked: &ResourceList, options: &[usize]| {
            let mut asked = asked.clone();
            asked.add(pod);
            let options = options.iter().copied().filter(|it| asked.fits(&market[*it].0));
            (options.collect::<Vec<usize>>(), asked)
        };
        let found = claims.iter_mut().find_map(|claim| {
            let (options, asked) = with(&claim.asked, &claim.options);
            (!options.is_empty()).then_some((claim, options, asked))
        });
        if let Some((claim, options, asked)) = found {
            *claim = Claim { pods: claim.pods + 1, asked, options };
            placed += 1;
            continue;
        }
        let all: Vec<usize> = (0..market.len()).collect();
        let (options, asked) = with(&ResourceList::new(), &all);
        if !options.is_empty() {
            claims.push(Claim { pods: 1, asked, options });
            placed += 1;
        }
    }
    let price = |claim: &Claim| claim.options.iter().map(|it| market[*it].1).min().unwrap_or(0);
    (claims.iter().map(price).sum(), claims.len(), placed)
}

#[test]
fn no_fleet_is_dearer_than_karpenters_or_has_nodes_that_do_not_pay() {
    seeds::for_every_seed(|seed| {
        let problem = simple(seed);
        let solution = solve(&problem);
        let (price, nodes, placed) = karpenter(&problem);
        let held: usize = solution.new_nodes.iter().map(|node| node.pods.len()).sum();
        if held < placed {
            return Some(format!("places {held} pods, Karpenter {placed}"));
        }
        let (own_price, own_nodes) = (solution.price.micros_per_hour(), solution.new_nodes.len());
        if own_price > price && held == placed {
            return Some(format!("costs {own_price} on {own_nodes}, Karpenter {price} on {nodes}"));
        }
        let more = own_nodes.saturating_sub(nodes) as u64;
        let overhead = problem.settings.node_overhead.micros_per_hour();
        let pays = price - own_price > overhead * more;
        (2 * own_nodes > 3 * nodes && !pays)
            .then(|| format!("{own_nodes} nodes at {own_price}, Karpenter {nodes} at {price}"))
    });
}
