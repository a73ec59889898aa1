use kerf_checker::{Rule, check};
use std::sync::Arc;

use kerf_model::labels::well_known;
use kerf_model::pod::PodShape;
use kerf_scheduler::PlacementProblem;

use crate::world::{LARGE, SMALL, answer, bites, new, node, on, pods, runs, shape, term, world};

fn apart(app: &str, key: &str, other: &str) -> PodShape {
    let mut shape = shape(app);
    shape.anti_affinity.required = vec![term(key, other)];
    shape
}

/// Pods, and a node in each zone.
fn problem(shapes: impl IntoIterator<Item = PodShape>) -> PlacementProblem {
    let nodes = vec![node("a", "a"), node("b", "b")];
    PlacementProblem {
        pods: pods(shapes),
        nodes: nodes.into_iter().map(Arc::new).collect(),
        ..world()
    }
}

#[test]
fn a_running_pod_that_is_shunned_is_not_near() {
    let mut problem = problem([apart("web", well_known::ZONE, "db")]);
    Arc::make_mut(&mut problem.nodes[1]).pods = vec![runs(shape("db"))];
    let legal = answer(&problem, [on(0, &[0])], []);
    bites(Rule::AntiAffinity, &problem, &legal, &answer(&problem, [on(1, &[0])], []));
}

#[test]
fn a_running_pod_that_shuns_is_not_near_either() {
    let mut problem = problem([shape("web")]);
    Arc::make_mut(&mut problem.nodes[1]).pods = vec![runs(apart("db", well_known::ZONE, "web"))];
    let legal = answer(&problem, [on(0, &[0])], []);
    bites(Rule::AntiAffinity, &problem, &legal, &answer(&problem, [on(1, &[0])], []));
    let illegal = answer(&problem, [], [new(&problem, &["a", "b"], &[SMALL], &[0])]);
    bites(Rule::AntiAffinity, &problem, &legal, &illegal);
}

#[test]
fn replicas_that_shun_each_other_have_a_domain_each() {
    for key in [well_known::ZONE, well_known::HOSTNAME] {
        let problem = problem([apart("web", key, "web"), apart("web", key, "web")]);
        let legal = answer(&problem, [on(0, &[0]), on(1, &[1])], []);
        bites(Rule::AntiAffinity, &problem, &legal, &answer(&problem, [on(0, &[0, 1])], []));
    }
}

#[test]
fn nodes_that_may_come_up_in_the_same_domain_are_too_near() {
    let problem = problem([apart("web", well_known::ZONE, "db"), shape("db")]);
    let nodes = |carriers: &[&str], others: &[&str]| {
        let carrier = new(&problem, carriers, &[SMALL], &[0]);
        answer(&problem, [], [carrier, new(&problem, others, &[SMALL], &[1])])
    };
    let legal = nodes(&["a"], &["b", "c"]);
    for illegal in [nodes(&["a"], &["a", "b"]), nodes(&["a", "b"], &["b", "c"])] {
        bites(Rule::AntiAffinity, &problem, &legal, &illegal);
    }
    let both = answer(&problem, [], [new(&problem, &["a", "b"], &[LARGE], &[0, 1])]);
    bites(Rule::AntiAffinity, &problem, &legal, &both);
}

#[test]
fn a_node_without_the_label_is_near_nobody() {
    let mut problem = problem([apart("web", "rack", "db"), shape("db")]);
    Arc::make_mut(&mut problem.nodes[1]).labels.insert("rack".to_owned(), "r".to_owned());
    let legal = answer(&problem, [on(0, &[0, 1])], []);
    bites(Rule::AntiAffinity, &problem, &legal, &answer(&problem, [on(1, &[0, 1])], []));
}

#[test]
fn a_pod_does_not_shun_itself_and_a_preference_binds_nobody() {
    let mut preferring = shape("db");
    preferring.anti_affinity.preferred = vec![(100, term(well_known::ZONE, "web"))];
    let problem = problem([apart("web", well_known::ZONE, "web"), preferring]);
    assert_eq!(check(&problem, &answer(&problem, [on(0, &[0, 1])], [])), []);
}

#[test]
fn running_pods_that_shun_each_other_are_not_the_answers_fault() {
    let mut problem = problem([shape("db")]);
    Arc::make_mut(&mut problem.nodes[0]).pods =
        vec![runs(apart("web", well_known::ZONE, "web")); 2];
    assert_eq!(check(&problem, &answer(&problem, [on(0, &[0])], [])), []);
}
