use kerf_checker::{Rule, check};
use std::sync::Arc;

use kerf_model::labels::well_known;
use kerf_model::pod::PodShape;
use kerf_model::selector::{LabelSelector, TermNamespaces};
use kerf_scheduler::PlacementProblem;

use crate::world::{
    SMALL, answer, bites, is_in, labels, new, node, on, pods, runs, shape, term, world,
};

fn near(app: &str, key: &str, other: &str) -> PodShape {
    let mut shape = shape(app);
    shape.affinity.required = vec![term(key, other)];
    shape
}

/// Pods, and a node in each zone.
fn problem(shapes: impl IntoIterator<Item = PodShape>) -> PlacementProblem {
    let nodes = vec![node("a", "a"), node("b", "b"), node("c", "c")];
    PlacementProblem {
        pods: pods(shapes),
        nodes: nodes.into_iter().map(Arc::new).collect(),
        ..world()
    }
}

#[test]
fn the_pod_that_is_needed_is_near() {
    let mut problem = problem([near("web", well_known::ZONE, "db")]);
    Arc::make_mut(&mut problem.nodes[0]).pods = vec![runs(shape("db"))];
    let legal = answer(&problem, [on(0, &[0])], []);
    bites(Rule::Affinity, &problem, &legal, &answer(&problem, [on(1, &[0])], []));
}

#[test]
fn a_pod_placed_at_the_same_time_is_near_enough() {
    let problem = problem([near("web", well_known::ZONE, "db"), shape("db")]);
    let legal = answer(&problem, [on(0, &[0, 1])], []);
    bites(Rule::Affinity, &problem, &legal, &answer(&problem, [on(0, &[0]), on(1, &[1])], []));
}

#[test]
fn the_domain_must_be_settled() {
    let problem = problem([near("web", well_known::ZONE, "web")]);
    let node = |zones: &[&str]| answer(&problem, [], [new(&problem, zones, &[SMALL], &[0])]);
    bites(Rule::Affinity, &problem, &node(&["a"]), &node(&["a", "b"]));
}

#[test]
fn replicas_start_by_themselves_in_one_domain() {
    let replica = || near("web", well_known::ZONE, "web");
    let problem = problem([replica(), replica(), replica(), replica()]);
    let legal = answer(&problem, [on(0, &[0, 1, 2, 3])], []);
    // Each domain holds two that match each other, yet somebody started the second.
    let illegal = answer(&problem, [on(0, &[0, 1]), on(1, &[2, 3])], []);
    bites(Rule::Affinity, &problem, &legal, &illegal);
}

#[test]
fn nobody_starts_where_a_running_pod_could_be_joined() {
    let mut problem = problem([near("web", well_known::ZONE, "web")]);
    Arc::make_mut(&mut problem.nodes[0]).pods = vec![runs(shape("web"))];
    let legal = answer(&problem, [on(0, &[0])], []);
    bites(Rule::Affinity, &problem, &legal, &answer(&problem, [on(1, &[0])], []));
}

#[test]
fn a_pod_that_may_not_go_where_the_others_are_starts_again() {
    let mut elsewhere = near("web", well_known::ZONE, "web");
    elsewhere.placement.node_affinity.required = vec![vec![is_in(well_known::ZONE, &["b", "c"])]];
    let mut problem = problem([elsewhere, near("web", well_known::ZONE, "web")]);
    let apart = answer(&problem, [on(0, &[1]), on(1, &[0])], []);
    assert_eq!(check(&problem, &apart), []);
    Arc::make_mut(&mut problem.nodes[0]).pods = vec![runs(shape("web"))];
    assert_eq!(check(&problem, &apart), []);
}

#[test]
fn pods_that_only_have_each_other_cannot_have_been_placed() {
    let problem = problem([
        near("web", well_known::HOSTNAME, "db"),
        near("db", well_known::HOSTNAME, "web"),
        shape("db"),
    ]);
    let legal = answer(&problem, [on(0, &[0, 1, 2])], []);
    bites(Rule::Affinity, &problem, &legal, &answer(&problem, [on(0, &[0, 1])], []));
}

#[test]
fn terms_look_into_the_namespaces_they_name() {
    let stage = LabelSelector { match_labels: labels(&[("stage", "live")]), ..Default::default() };
    let cases = [
        (TermNamespaces::default(), false),
        (TermNamespaces { names: vec!["ops".to_owned()], selector: None }, true),
        (TermNamespaces { names: vec!["shop".to_owned()], selector: None }, false),
        (TermNamespaces { names: Vec::new(), selector: Some(LabelSelector::default()) }, true),
        (TermNamespaces { names: Vec::new(), selector: Some(stage) }, true),
    ];
    for (namespaces, expected) in cases {
        let mut carrier = near("web", well_known::ZONE, "db");
        carrier.affinity.required[0].namespaces = namespaces.clone();
        let mut problem = problem([carrier]);
        Arc::make_mut(&mut problem.namespaces)
            .insert("ops".to_owned(), labels(&[("stage", "live")]));
        let db = PodShape { namespace: "ops".to_owned(), ..shape("db") };
        Arc::make_mut(&mut problem.nodes[0]).pods = vec![runs(db)];
        let found = check(&problem, &answer(&problem, [on(0, &[0])], []));
        assert_eq!(found.is_empty(), expected, "{namespaces:?}: {found:?}");
    }
}

#[test]
fn preferred_affinity_binds_nobody() {
    let mut preferring = shape("web");
    preferring.affinity.preferred = vec![(100, term(well_known::ZONE, "db"))];
    let problem = problem([preferring]);
    assert_eq!(check(&problem, &answer(&problem, [on(0, &[0])], [])), []);
}
