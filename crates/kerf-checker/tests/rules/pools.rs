use std::sync::Arc;

use kerf_checker::{Rule, check};
use kerf_model::labels::{kwok, well_known};
use kerf_model::pool::Sizing;
use kerf_model::quantity::Quantity;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_scheduler::{MinValuesPolicy, PlacementProblem};

use crate::world::{
    LARGE, SMALL, answer, bites, change_pool, is_in, new, node, pods, pool, shape, spread, world,
};

fn two_pods() -> PlacementProblem {
    PlacementProblem { pods: pods([shape("web"), shape("web")]), ..world() }
}

#[test]
fn only_dynamic_pools_get_nodes() {
    let mut problem = two_pods();
    let mut fixed = pool("birch");
    Arc::make_mut(&mut fixed.pool).sizing = Sizing::Static { replicas: 3 };
    problem.pools.push(fixed);
    let legal = new(&problem, &["a"], &[SMALL], &[0]);
    let mut illegal = legal.clone();
    illegal.pool = 1;
    let (legal, illegal) = (answer(&problem, [], [legal]), answer(&problem, [], [illegal]));
    bites(Rule::PoolWithTypes, &problem, &legal, &illegal);
}

#[test]
fn nodes_repeat_what_their_pool_requires_and_do_not_widen_it() {
    let mut problem = two_pods();
    change_pool(&mut problem, |pool| {
        pool.template.spec.requirements = vec![
            is_in(well_known::ZONE, &["a", "b"]),
            RequirementEntry::new(kwok::INSTANCE_CPU, Operator::Gt, ["1"]),
        ];
    });
    let legal = new(&problem, &["a"], &[SMALL], &[0]);
    let mut wider = legal.clone();
    wider.requirements.retain(|entry| entry.key != well_known::ZONE);
    wider.requirements.push(is_in(well_known::ZONE, &["a", "c"]));
    let mut silent = legal.clone();
    silent.requirements.retain(|entry| entry.key != kwok::INSTANCE_CPU);
    for illegal in [wider, silent] {
        let legal = answer(&problem, [], [legal.clone()]);
        bites(Rule::PoolWithTypes, &problem, &legal, &answer(&problem, [], [illegal]));
    }
}

#[test]
fn limits_count_nodes_that_exist_and_the_largest_each_new_one_may_be() {
    let mut problem = two_pods();
    change_pool(&mut problem, |pool| {
        pool.limits.insert("cpu", Quantity::from_int(8));
    });
    let mut existing = node("n", "a");
    existing.pool = Some("ash".to_owned());
    problem.nodes = vec![Arc::new(existing)];
    let node = |types: &[usize], pod| new(&problem, &["a"], types, &[pod]);
    let legal = answer(&problem, [], [node(&[SMALL], 0), node(&[SMALL], 1)]);
    let illegal = answer(&problem, [], [node(&[SMALL, LARGE], 0)]);
    bites(Rule::Limits, &problem, &legal, &illegal);
}

#[test]
fn a_limit_of_nodes_counts_each() {
    let mut problem = two_pods();
    change_pool(&mut problem, |pool| {
        pool.limits.insert("nodes", Quantity::from_int(1));
    });
    let node = |pods: &[usize]| new(&problem, &["a"], &[SMALL], pods);
    let legal = answer(&problem, [], [node(&[0, 1])]);
    let illegal = answer(&problem, [], [node(&[0]), node(&[1])]);
    bites(Rule::Limits, &problem, &legal, &illegal);
}

#[test]
fn a_pool_beyond_its_limit_is_nobodys_fault_until_it_gets_a_node() {
    let mut problem = two_pods();
    change_pool(&mut problem, |pool| {
        pool.limits.insert("example.com/gpu", Quantity::from_int(1));
    });
    let mut existing = node("n", "a");
    existing.pool = Some("ash".to_owned());
    existing.capacity.insert("example.com/gpu", Quantity::from_int(2));
    problem.nodes = vec![Arc::new(existing)];
    let illegal = answer(&problem, [], [new(&problem, &["a"], &[SMALL], &[0])]);
    bites(Rule::Limits, &problem, &answer(&problem, [], []), &illegal);
}

/// Two pools of the same types, of which the first is heavier and has a limit of processors.
fn ranked(limit_cpus: i64) -> PlacementProblem {
    let mut problem = two_pods();
    let light = pool("birch");
    change_pool(&mut problem, |pool| {
        pool.weight = 10;
        pool.limits.insert("cpu", Quantity::from_int(limit_cpus));
    });
    problem.pools.push(light);
    problem
}

#[test]
fn a_lighter_pool_gets_no_pod_while_the_limits_of_a_heavier_one_leave_a_node_for_it() {
    let on = |problem: &PlacementProblem, pool: usize, pods: &[usize]| {
        let node = new(problem, &["a"], &[SMALL], pods);
        kerf_scheduler::NewNode { pool, ..node }
    };
    let problem = ranked(2);
    let legal = answer(&problem, [], [on(&problem, 0, &[0, 1])]);
    let illegal = answer(&problem, [], [on(&problem, 1, &[0, 1])]);
    bites(Rule::Weights, &problem, &legal, &illegal);
    let problem = ranked(1);
    assert_eq!(check(&problem, &answer(&problem, [], [on(&problem, 1, &[0, 1])])), []);
}

#[test]
fn a_lighter_pool_gets_no_pod_that_a_new_node_of_a_heavier_one_has_headroom_for() {
    let problem = ranked(2);
    let heavy = |pods: &[usize]| new(&problem, &["a"], &[SMALL], pods);
    let light = kerf_scheduler::NewNode { pool: 1, ..heavy(&[1]) };
    let legal = answer(&problem, [], [heavy(&[0, 1])]);
    let illegal = answer(&problem, [], [heavy(&[0]), light]);
    bites(Rule::Weights, &problem, &legal, &illegal);
}

#[test]
fn a_preference_or_a_rule_about_other_pods_may_lead_to_a_lighter_pool() {
    let mut problem = ranked(2);
    let mut web = shape("web");
    web.spreads = vec![spread(well_known::ZONE, "web")];
    problem.pods = pods([web, shape("web")]);
    let light = kerf_scheduler::NewNode { pool: 1, ..new(&problem, &["a"], &[SMALL], &[0]) };
    assert_eq!(check(&problem, &answer(&problem, [], [light])), []);
}

#[test]
fn enough_distinct_values_stay_possible_unless_that_may_be_lowered() {
    let mut problem = two_pods();
    change_pool(&mut problem, |pool| {
        let exists = RequirementEntry::new(well_known::INSTANCE_TYPE, Operator::Exists, []);
        pool.template.spec.requirements = vec![RequirementEntry { min_values: Some(2), ..exists }];
    });
    let node = |types: &[usize]| new(&problem, &["a"], types, &[0]);
    let legal = answer(&problem, [], [node(&[SMALL, LARGE])]);
    let illegal = answer(&problem, [], [node(&[SMALL])]);
    bites(Rule::MinValues, &problem, &legal, &illegal);
    let mut lowered = illegal.clone();
    lowered.new_nodes[0].min_values_relaxed = true;
    bites(Rule::MinValues, &problem, &legal, &lowered);
    problem.settings.min_values = MinValuesPolicy::BestEffort;
    assert_eq!(check(&problem, &lowered), []);
    bites(Rule::MinValues, &problem, &lowered, &illegal);
}
