use std::sync::Arc;

use kerf_checker::Rule;
use kerf_model::host_port::HostPort;
use kerf_model::labels::well_known;
use kerf_model::pod::{PodShape, PodVolume};
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::taint::{Taint, TaintEffect, Toleration};
use kerf_scheduler::PlacementProblem;

use crate::world::{amounts, answer, bites, is_in, labels, node, on, pods, runs, shape, world};

/// Two pods and two nodes, `good` in zone a and `bad` in zone b.
fn good_and_bad(first: PodShape, second: PodShape) -> PlacementProblem {
    let nodes = vec![node("good", "a"), node("bad", "b")];
    PlacementProblem {
        pods: pods([first, second]),
        nodes: nodes.into_iter().map(Arc::new).collect(),
        ..world()
    }
}

/// The first pod may stand on the first node, but not on the second.
#[track_caller]
fn keeps_off_the_bad_node(rule: Rule, problem: &PlacementProblem) {
    let legal = answer(problem, [on(0, &[0])], []);
    bites(rule, problem, &legal, &answer(problem, [on(1, &[0])], []));
}

/// Both pods may have a node each, but not the first one together.
#[track_caller]
fn do_not_share(rule: Rule, problem: &PlacementProblem) {
    let legal = answer(problem, [on(0, &[0]), on(1, &[1])], []);
    bites(rule, problem, &legal, &answer(problem, [on(0, &[0, 1])], []));
}

#[test]
fn taints_that_forbid_are_tolerated() {
    for effect in [TaintEffect::NoSchedule, TaintEffect::NoExecute] {
        let mut problem = good_and_bad(shape("web"), shape("web"));
        Arc::make_mut(&mut problem.nodes[1]).taints.push(Taint::new("dedicated", "red", effect));
        keeps_off_the_bad_node(Rule::Taints, &problem);
        let mut tolerant = shape("web");
        tolerant.tolerations.push(Toleration::of_effect(effect));
        problem.pods = pods([tolerant]);
        assert_eq!(kerf_checker::check(&problem, &answer(&problem, [on(1, &[0])], [])), []);
    }
}

#[test]
fn taints_that_only_discourage_are_preferences() {
    let mut problem = good_and_bad(shape("web"), shape("web"));
    Arc::make_mut(&mut problem.nodes[1]).taints.push(Taint::new(
        "slow",
        "",
        TaintEffect::PreferNoSchedule,
    ));
    assert_eq!(kerf_checker::check(&problem, &answer(&problem, [on(1, &[0])], [])), []);
}

#[test]
fn labels_satisfy_the_selector() {
    let mut picky = shape("web");
    picky.placement.node_selector = labels(&[(well_known::ZONE, "a")]);
    keeps_off_the_bad_node(Rule::NodeAffinity, &good_and_bad(picky, shape("web")));
}

#[test]
fn labels_satisfy_any_one_required_term_with_the_selector() {
    let mut picky = shape("web");
    let needs_team = RequirementEntry::new("team", Operator::Exists, []);
    picky.placement.node_affinity.required =
        vec![vec![needs_team], vec![is_in(well_known::ZONE, &["a", "c"])]];
    keeps_off_the_bad_node(Rule::NodeAffinity, &good_and_bad(picky, shape("web")));
}

#[test]
fn a_missing_label_is_not_assumed_even_if_it_is_well_known() {
    let mut picky = shape("web");
    picky.placement.node_selector = labels(&[(well_known::ZONE, "a")]);
    let mut problem = good_and_bad(picky, shape("web"));
    Arc::make_mut(&mut problem.nodes[1]).labels.remove(well_known::ZONE);
    keeps_off_the_bad_node(Rule::NodeAffinity, &problem);
}

#[test]
fn a_contradiction_is_satisfied_by_nobody_not_even_without_the_label() {
    let mut torn = shape("web");
    torn.placement.node_selector = labels(&[("team", "red")]);
    torn.placement.node_affinity.required = vec![
        vec![RequirementEntry::new("team", Operator::DoesNotExist, [])],
        vec![is_in("team", &["blue"])],
        vec![RequirementEntry::new("team", Operator::NotIn, ["red"])],
    ];
    let problem = good_and_bad(torn, shape("web"));
    let illegal = answer(&problem, [on(0, &[0])], []);
    bites(Rule::NodeAffinity, &problem, &answer(&problem, [], []), &illegal);
}

#[test]
fn requests_fit_beside_the_pods_that_run() {
    let mut problem = good_and_bad(shape("web"), shape("web"));
    Arc::make_mut(&mut problem.nodes[0]).pods =
        vec![runs(shape("db")), runs(shape("db")), runs(shape("db"))];
    do_not_share(Rule::Resources, &problem);
}

#[test]
fn headroom_is_kept_for_daemons_that_are_still_to_come() {
    let mut problem = good_and_bad(shape("web"), shape("web"));
    let daemon = Arc::new(PodShape { requests: amounts(3), ..shape("daemon") });
    problem.daemons = vec![daemon.clone()];
    do_not_share(Rule::Resources, &problem);
    // Once the daemon runs it is not counted again.
    let mut running = runs((*daemon).clone());
    running.is_daemon = true;
    Arc::make_mut(&mut problem.nodes[0]).pods = vec![running];
    do_not_share(Rule::Resources, &problem);
    // A daemon that does not tolerate the node never comes.
    Arc::make_mut(&mut problem.nodes[0]).pods.clear();
    Arc::make_mut(&mut problem.nodes[0]).taints =
        vec![Taint::new("t", "", TaintEffect::NoSchedule)];
    let mut tolerant = shape("web");
    tolerant.tolerations.push(Toleration::of_everything());
    problem.pods = pods([tolerant.clone(), tolerant]);
    assert_eq!(kerf_checker::check(&problem, &answer(&problem, [on(0, &[0, 1])], [])), []);
}

#[test]
fn nothing_goes_onto_an_overdrawn_node() {
    let mut nothing = shape("web");
    nothing.requests = Default::default();
    let mut problem = good_and_bad(nothing.clone(), nothing);
    Arc::make_mut(&mut problem.nodes[1]).pods =
        vec![runs(PodShape { requests: amounts(5), ..shape("db") })];
    keeps_off_the_bad_node(Rule::Resources, &problem);
}

#[test]
fn host_ports_are_taken_once() {
    let port = |ip| HostPort::parse(ip, 80, "TCP").unwrap().unwrap();
    let with = |ip| PodShape { host_ports: vec![port(ip)], ..shape("web") };
    do_not_share(Rule::HostPorts, &good_and_bad(with(""), with("10.0.0.1")));
    let mut problem = good_and_bad(with(""), shape("web"));
    Arc::make_mut(&mut problem.nodes[1]).pods = vec![runs(with("10.0.0.2"))];
    keeps_off_the_bad_node(Rule::HostPorts, &problem);
    let apart = good_and_bad(with("10.0.0.1"), with("10.0.0.2"));
    assert_eq!(kerf_checker::check(&apart, &answer(&apart, [on(0, &[0, 1])], [])), []);
}

fn with_volume(claim: &str, zones: &[&str]) -> PodShape {
    let volume = PodVolume {
        claim: claim.to_owned(),
        driver: Some("disks".to_owned()),
        reachable_from: zones.iter().map(|zone| vec![is_in(well_known::ZONE, &[zone])]).collect(),
    };
    PodShape { volumes: vec![volume], ..shape("web") }
}

#[test]
fn volumes_are_reached_by_one_of_their_alternatives() {
    let problem = good_and_bad(with_volume("shop/disk", &["c", "a"]), shape("web"));
    keeps_off_the_bad_node(Rule::Volumes, &problem);
}

#[test]
fn a_driver_attaches_no_more_volumes_than_it_can_and_a_shared_one_once() {
    let with = |claim| with_volume(claim, &[]);
    let mut problem = good_and_bad(with("shop/one"), with("shop/two"));
    Arc::make_mut(&mut problem.nodes[0]).volume_limits = [("disks".to_owned(), 2)].into();
    Arc::make_mut(&mut problem.nodes[0]).pods = vec![runs(with("shop/three"))];
    do_not_share(Rule::Volumes, &problem);
    Arc::make_mut(&mut problem.nodes[0]).pods = vec![runs(with("shop/two"))];
    assert_eq!(kerf_checker::check(&problem, &answer(&problem, [on(0, &[0, 1])], [])), []);
}
