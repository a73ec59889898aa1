use kerf_checker::{Rule, check};
use std::sync::Arc;

use kerf_model::labels::well_known;
use kerf_model::pod::{PodShape, SpreadConstraint};
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::taint::{Taint, TaintEffect};
use kerf_scheduler::{PlacementProblem, Solution};

use crate::world::{
    SMALL, answer, bites, change_pool, is_in, labels, new, node, on, pods, runs, shape, spread,
    world,
};

/// Pods with a spread, and a node in each of the zones with so many matching pods running.
fn problem(count: usize, carrier: PodShape, running: [usize; 3]) -> PlacementProblem {
    let mut nodes = vec![node("a", "a"), node("b", "b"), node("c", "c")];
    for (node, count) in nodes.iter_mut().zip(running) {
        node.pods = vec![runs(shape("web")); count];
    }
    PlacementProblem {
        pods: pods(vec![carrier; count]),
        nodes: nodes.into_iter().map(Arc::new).collect(),
        ..world()
    }
}

fn by_zone(change: impl FnOnce(&mut SpreadConstraint)) -> PodShape {
    let mut spread = spread(well_known::ZONE, "web");
    change(&mut spread);
    PodShape { spreads: vec![spread], ..shape("web") }
}

fn one_on(problem: &PlacementProblem, node: usize) -> Solution {
    answer(problem, [on(node, &[0])], [])
}

/// Which of the three nodes the pod may go to.
#[track_caller]
fn allows(problem: &PlacementProblem, expected: [bool; 3]) {
    let allowed = [0, 1, 2].map(|node| {
        let found = check(problem, &one_on(problem, node));
        assert!(found.iter().all(|each| each.rule == Rule::Spread), "{found:#?}");
        found.is_empty()
    });
    assert_eq!(allowed, expected);
}

#[test]
fn a_domain_is_at_most_max_skew_above_the_emptiest() {
    let problem = problem(1, by_zone(|_| {}), [2, 1, 0]);
    bites(Rule::Spread, &problem, &one_on(&problem, 2), &one_on(&problem, 1));
    allows(&problem, [false, false, true]);
}

#[test]
fn only_domains_that_the_pod_may_go_to_count_as_empty() {
    let mut carrier = by_zone(|_| {});
    carrier.placement.node_affinity.required = vec![vec![is_in(well_known::ZONE, &["a", "b"])]];
    let problem = problem(1, carrier, [2, 1, 0]);
    assert_eq!(check(&problem, &one_on(&problem, 1)), []);
    assert_eq!(check(&problem, &one_on(&problem, 0))[0].rule, Rule::Spread);
}

#[test]
fn too_few_domains_count_as_empty() {
    let carrier = |min| by_zone(|spread| spread.min_domains = Some(min));
    allows(&problem(1, carrier(3), [1, 1, 1]), [true, true, true]);
    allows(&problem(1, carrier(4), [1, 1, 1]), [false, false, false]);
}

#[test]
fn pods_placed_together_are_counted_together() {
    let problem = problem(3, by_zone(|_| {}), [0, 0, 0]);
    let legal = answer(&problem, [on(0, &[0]), on(1, &[1]), on(2, &[2])], []);
    let illegal = answer(&problem, [on(0, &[0, 1]), on(1, &[2])], []);
    bites(Rule::Spread, &problem, &legal, &illegal);
}

#[test]
fn placed_pods_without_the_spread_raise_the_emptiest_but_are_not_bound() {
    let mut problem = problem(3, shape("web"), [0, 0, 0]);
    problem.pods.extend(pods([by_zone(|_| {}), by_zone(|_| {})]));
    let legal = answer(&problem, [on(0, &[0, 3, 4]), on(1, &[1]), on(2, &[2])], []);
    let illegal = answer(&problem, [on(0, &[0, 1, 3, 4]), on(1, &[2])], []);
    bites(Rule::Spread, &problem, &legal, &illegal);
    let unbound = answer(&problem, [on(0, &[0, 1, 2])], []);
    assert_eq!(check(&problem, &unbound), []);
}

#[test]
fn a_pod_that_does_not_match_its_own_selector_only_looks() {
    let watcher = PodShape { labels: labels(&[("app", "watcher")]), ..by_zone(|_| {}) };
    let problem = problem(2, watcher, [2, 1, 0]);
    let legal = answer(&problem, [on(1, &[0, 1])], []);
    bites(Rule::Spread, &problem, &legal, &answer(&problem, [on(0, &[0])], []));
}

#[test]
fn each_host_stands_for_itself() {
    let mut carrier = shape("web");
    carrier.spreads = vec![spread(well_known::HOSTNAME, "web")];
    let mut problem = problem(2, carrier, [1, 0, 0]);
    allows(&problem, [false, true, true]);
    // A node without the label goes by its name.
    Arc::make_mut(&mut problem.nodes[0]).labels.remove(well_known::HOSTNAME);
    allows(&problem, [false, true, true]);
    let node = |pods: &[usize]| new(&problem, &["a", "b"], &[SMALL], pods);
    let legal = answer(&problem, [], [node(&[0]), node(&[1])]);
    bites(Rule::Spread, &problem, &legal, &answer(&problem, [], [node(&[0, 1])]));
}

#[test]
fn a_new_node_says_which_domain_it_will_be_in() {
    let problem = problem(1, by_zone(|_| {}), [0, 0, 0]);
    let node = |zones: &[&str]| answer(&problem, [], [new(&problem, zones, &[SMALL], &[0])]);
    bites(Rule::Spread, &problem, &node(&["a"]), &node(&["a", "b"]));
}

#[test]
fn a_node_without_the_label_has_no_place_in_a_spread() {
    let mut carrier = shape("web");
    carrier.spreads = vec![spread("rack", "web")];
    let mut problem = problem(1, carrier, [0, 0, 0]);
    Arc::make_mut(&mut problem.nodes[0]).labels.insert("rack".to_owned(), "r".to_owned());
    allows(&problem, [true, false, false]);
    // A pool that does not define the label cannot give it either.
    let mut pretending = new(&problem, &["a"], &[SMALL], &[0]);
    pretending.requirements.insert(0, is_in("rack", &["r"]));
    pretending.requirements.sort();
    let legal = one_on(&problem, 0);
    bites(Rule::Spread, &problem, &legal, &answer(&problem, [], [pretending]));
}

#[test]
fn zones_that_only_pools_reach_are_domains_too() {
    let mut problem = problem(1, by_zone(|_| {}), [1, 1, 0]);
    problem.nodes.pop();
    assert_eq!(check(&problem, &one_on(&problem, 0))[0].rule, Rule::Spread);
    change_pool(&mut problem, |pool| {
        let not_c = RequirementEntry::new(well_known::ZONE, Operator::NotIn, ["c"]);
        pool.template.spec.requirements = vec![not_c];
    });
    assert_eq!(check(&problem, &one_on(&problem, 0)), []);
}

#[test]
fn nodes_the_pod_may_not_use_count_unless_the_spread_honours_that() {
    let carrier = |honours| {
        let mut carrier = by_zone(|spread| spread.honours_affinity = honours);
        carrier.placement.node_selector = labels(&[("disk", "fast")]);
        carrier
    };
    for (honours, expected) in [(true, true), (false, false)] {
        let mut problem = problem(1, carrier(honours), [0, 0, 0]);
        Arc::make_mut(&mut problem.nodes[0]).labels.insert("disk".to_owned(), "fast".to_owned());
        let mut slow = node("slow", "a");
        slow.pods = vec![runs(shape("web"))];
        problem.nodes.push(Arc::new(slow));
        assert_eq!(check(&problem, &one_on(&problem, 0)).is_empty(), expected);
    }
}

#[test]
fn tainted_nodes_and_pools_count_unless_the_spread_honours_that() {
    for (honours, expected) in [(true, true), (false, false)] {
        let carrier = by_zone(|spread| spread.honours_taints = honours);
        let mut problem = problem(1, carrier, [1, 1, 0]);
        let taints = vec![Taint::new("t", "", TaintEffect::NoSchedule)];
        Arc::make_mut(&mut problem.nodes[2]).taints.clone_from(&taints);
        change_pool(&mut problem, |pool| pool.template.spec.taints = taints);
        assert_eq!(check(&problem, &one_on(&problem, 0)).is_empty(), expected);
    }
}

#[test]
fn match_label_keys_make_revisions_strangers() {
    let revision = |revision: &str| {
        let mut carrier = by_zone(|spread| spread.match_label_keys = vec!["revision".to_owned()]);
        carrier.labels.insert("revision".to_owned(), revision.to_owned());
        carrier
    };
    let mut problem = problem(0, shape("web"), [0, 0, 0]);
    problem.pods = pods([revision("1"), revision("2"), revision("2")]);
    let legal = answer(&problem, [on(0, &[0, 1])], []);
    bites(Rule::Spread, &problem, &legal, &answer(&problem, [on(0, &[1, 2])], []));
}

#[test]
fn a_spread_that_is_only_preferred_binds_nobody() {
    let problem = problem(1, by_zone(|spread| spread.required = false), [2, 1, 0]);
    allows(&problem, [true, true, true]);
}

#[test]
fn pods_of_other_namespaces_do_not_count() {
    let mut problem = problem(1, by_zone(|_| {}), [0, 0, 0]);
    Arc::make_mut(&mut problem.nodes[0]).pods =
        vec![runs(PodShape { namespace: "ops".to_owned(), ..shape("web") })];
    allows(&problem, [true, true, true]);
}
