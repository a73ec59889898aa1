//! What problems made up by chance are like.

use std::collections::BTreeSet;

use kerf_checker::{Rule, Size, check, random_problem};
use kerf_model::pod::PodShape;
use kerf_model::pool::Sizing;
use kerf_model::price::Price;
use kerf_model::requirement::Operator;
use kerf_scheduler::{ExistingPlacement, NewNode, PlacementProblem, Solution, TypeOption};

const SEEDS: u64 = 300;

fn problems() -> impl Iterator<Item = PlacementProblem> {
    let size = Size { reservations: true, ..Size::MEDIUM };
    (0..SEEDS).map(move |seed| random_problem(seed, &size))
}

#[test]
fn a_seed_always_gives_the_same_problem_and_another_seed_another() {
    let text = |seed| format!("{:?}", random_problem(seed, &Size::MEDIUM));
    let texts: BTreeSet<String> = (0..50).map(text).collect();
    assert_eq!(texts.len(), 50);
    assert!((0..50).all(|seed| texts.contains(&text(seed))));
}

#[test]
fn problems_are_no_larger_than_asked_for() {
    for seed in 0..SEEDS {
        let size = Size::SMALL;
        let problem = random_problem(seed, &size);
        assert!((1..=size.pods).contains(&problem.pods.len()));
        assert!((1..=size.pools).contains(&problem.pools.len()));
        assert!(problem.nodes.len() <= size.nodes && problem.daemons.len() <= size.daemons);
        assert!(problem.pools.iter().all(|pool| pool.instance_types.len() <= size.types));
    }
}

#[test]
fn ranked_pools_have_weights_of_their_own_and_limits_that_bind() {
    let mut filled = 0;
    for seed in 0..SEEDS {
        let problem = random_problem(seed, &Size::RANKED);
        let weights: BTreeSet<u32> = problem.pools.iter().map(|each| each.pool.weight).collect();
        assert_eq!(weights.len(), problem.pools.len());
        let solution = kerf_scheduler::solve(&problem);
        let pools: BTreeSet<usize> = solution.new_nodes.iter().map(|node| node.pool).collect();
        filled += usize::from(pools.len() > 1);
    }
    assert!(filled >= 100, "only {filled} of {SEEDS} problems use several pools");
}

#[test]
fn pools_come_in_the_order_in_which_they_are_tried() {
    for problem in problems() {
        let order =
            |pool: &kerf_scheduler::PoolWithTypes| (pool.pool.weight, pool.pool.name.clone());
        assert!(problem.pools.is_sorted_by(|left, right| order(left) > order(right)));
    }
}

/// A thing a problem may have, and how to see it.
type Trait = (&'static str, fn(&PlacementProblem) -> bool);

#[test]
fn everything_nasty_occurs() {
    fn any_pod(problem: &PlacementProblem, has: fn(&PodShape) -> bool) -> bool {
        problem.pods.iter().any(|pod| has(&pod.shape))
    }
    let traits: [Trait; 16] = [
        ("replicas that share a shape", |p| {
            p.pods.len() > 1
                && p.pods.windows(2).any(|two| std::sync::Arc::ptr_eq(&two[0].shape, &two[1].shape))
        }),
        ("several required terms", |p| {
            any_pod(p, |s| s.placement.node_affinity.required.len() > 1)
        }),
        ("required spreads", |p| any_pod(p, |s| s.spreads.iter().any(|each| each.required))),
        ("minDomains", |p| any_pod(p, |s| s.spreads.iter().any(|e| e.min_domains.is_some()))),
        ("required affinity", |p| any_pod(p, |s| !s.affinity.required.is_empty())),
        ("required anti-affinity", |p| any_pod(p, |s| !s.anti_affinity.required.is_empty())),
        ("preferences", |p| any_pod(p, |s| !s.placement.node_affinity.preferred.is_empty())),
        ("host ports", |p| any_pod(p, |s| !s.host_ports.is_empty())),
        ("volumes", |p| any_pod(p, |s| !s.volumes.is_empty())),
        ("resource claims", |p| any_pod(p, |s| s.has_resource_claims)),
        ("tainted pools", |p| p.pools.iter().any(|e| !e.pool.template.spec.taints.is_empty())),
        ("limits", |p| p.pools.iter().any(|each| !each.pool.limits.is_empty())),
        ("fixed pools", |p| p.pools.iter().any(|each| each.pool.sizing != Sizing::Dynamic)),
        ("bounds", |p| {
            p.pools.iter().any(|each| {
                each.pool.template.spec.requirements.iter().any(|e| e.operator == Operator::Gt)
            })
        }),
        ("running pods that shun", |p| {
            p.nodes.iter().any(|node| {
                node.pods.iter().any(|bound| !bound.pod.shape.anti_affinity.required.is_empty())
            })
        }),
        ("daemons with ports", |p| p.daemons.iter().any(|each| !each.host_ports.is_empty())),
    ];
    let problems: Vec<_> = problems().collect();
    for (name, has) in traits {
        let count = problems.iter().filter(|problem| has(problem)).count();
        assert!(count >= 10, "{name}: in {count} of {SEEDS} problems");
    }
}

/// Deals the pods out in turn, looking at nothing.
fn blind(problem: &PlacementProblem) -> Solution {
    let mut solution = Solution::default();
    let places = problem.nodes.len() + problem.pools.len();
    for place in 0..places {
        let pods: Vec<usize> =
            (0..problem.pods.len()).filter(|pod| pod % places == place).collect();
        if pods.is_empty() {
            continue;
        }
        match place.checked_sub(problem.nodes.len()) {
            None => solution.existing.push(ExistingPlacement { node: place, pods }),
            Some(pool) => solution.new_nodes.push(NewNode {
                pool,
                requirements: Vec::new(),
                options: options(problem, pool),
                pods,
                requests: Default::default(),
                min_values_relaxed: pool == 1,
            }),
        }
    }
    solution.lower_bound = Price::from_micros_per_hour(1);
    solution
}

fn options(problem: &PlacementProblem, pool: usize) -> Vec<TypeOption> {
    let types = problem.pools[pool].instance_types.iter().enumerate();
    let option = |(instance_type, each): (usize, &kerf_model::instance_type::InstanceType)| {
        let last = each.offerings.len() - 1;
        TypeOption { instance_type, offering: last, price: each.offerings[last].price }
    };
    types.map(option).collect()
}

#[test]
fn pods_dealt_out_blindly_break_every_rule() {
    let broken: BTreeSet<Rule> = problems()
        .take(100)
        .flat_map(|problem| check(&problem, &blind(&problem)))
        .map(|violation| violation.rule)
        .collect();
    let rules = [
        Rule::Bookkeeping,
        Rule::Price,
        Rule::ResourceClaims,
        Rule::Taints,
        Rule::NodeAffinity,
        Rule::Resources,
        Rule::HostPorts,
        Rule::Volumes,
        Rule::PoolWithTypes,
        Rule::InstanceTypes,
        Rule::MinValues,
        Rule::Limits,
        Rule::Weights,
        Rule::Spread,
        Rule::Affinity,
        Rule::AntiAffinity,
    ];
    for rule in rules {
        assert!(broken.contains(&rule), "{rule:?} is never broken");
    }
}
