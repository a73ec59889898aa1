use std::sync::Arc;

use kerf_checker::{Rule, check};
use kerf_model::host_port::HostPort;
use kerf_model::instance_type::Reservation;
use kerf_model::labels::{kwok, well_known};
use kerf_model::pod::{PodShape, PodVolume};
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::taint::{Taint, TaintEffect, Toleration};
use kerf_scheduler::{NewNode, PlacementProblem};

use crate::world::{
    LARGE, SMALL, amounts, answer, bites, change_pool, change_types, is_in, labels, new, pods,
    shape, world,
};

fn with_pods(shapes: impl IntoIterator<Item = PodShape>) -> PlacementProblem {
    PlacementProblem { pods: pods(shapes), ..world() }
}

#[track_caller]
fn bites_nodes(rule: Rule, problem: &PlacementProblem, legal: NewNode, illegal: NewNode) {
    bites(rule, problem, &answer(problem, [], [legal]), &answer(problem, [], [illegal]));
}

#[test]
fn taints_of_the_pool_are_tolerated_and_startup_taints_do_not_matter() {
    let mut tolerant = shape("web");
    tolerant.tolerations.push(Toleration::of_everything());
    let mut problem = with_pods([tolerant, shape("web")]);
    change_pool(&mut problem, |pool| {
        pool.template.spec.taints = vec![Taint::new("dedicated", "red", TaintEffect::NoSchedule)];
    });
    let node = |pods: &[usize]| new(&problem, &["a"], &[SMALL], pods);
    bites_nodes(Rule::Taints, &problem, node(&[0]), node(&[1]));
    let mut problem = with_pods([shape("web")]);
    change_pool(&mut problem, |pool| {
        let starting = Taint::new("starting", "", TaintEffect::NoSchedule);
        pool.template.spec.startup_taints = vec![starting];
    });
    let started = answer(&problem, [], [new(&problem, &["a"], &[SMALL], &[0])]);
    assert_eq!(check(&problem, &started), []);
}

#[test]
fn a_node_promises_its_pods_their_labels_not_just_a_chance_of_them() {
    let zonal = |zones: &[&str]| {
        let mut shape = shape("web");
        shape.placement.node_affinity.required = vec![vec![is_in(well_known::ZONE, zones)]];
        shape
    };
    let problem = with_pods([zonal(&["a", "b"]), zonal(&["b", "c"])]);
    let node = |zones: &[&str]| new(&problem, zones, &[SMALL], &[0, 1]);
    bites_nodes(Rule::NodeAffinity, &problem, node(&["b"]), node(&["b", "c"]));
    bites_nodes(Rule::NodeAffinity, &problem, node(&["b"]), node(&["a"]));
}

#[test]
fn labels_that_no_pool_defines_cannot_be_asked_for() {
    let with_team = |operator| {
        let mut shape = shape("web");
        let team = RequirementEntry::new("team", operator, []);
        shape.placement.node_affinity.required = vec![vec![team]];
        shape
    };
    let mut problem = with_pods([with_team(Operator::DoesNotExist), with_team(Operator::Exists)]);
    let node = |problem: &PlacementProblem, pods: &[usize]| new(problem, &["a"], &[SMALL], pods);
    bites_nodes(Rule::NodeAffinity, &problem, node(&problem, &[0]), node(&problem, &[1]));
    // Writing what the pod wants onto the node does not make the pool give it.
    let mut pretending = node(&problem, &[1]);
    pretending.requirements.insert(1, is_in("team", &["red"]));
    pretending.requirements.sort();
    bites_nodes(Rule::NodeAffinity, &problem, node(&problem, &[0]), pretending);
    change_pool(&mut problem, |pool| pool.template.labels = labels(&[("team", "red")]));
    bites_nodes(Rule::NodeAffinity, &problem, node(&problem, &[1]), node(&problem, &[0]));
}

#[test]
fn every_option_serves_the_pods_not_only_the_first() {
    let mut big = shape("web");
    let more_than_two = RequirementEntry::new(kwok::INSTANCE_CPU, Operator::Gt, ["2"]);
    big.placement.node_affinity.required = vec![vec![more_than_two]];
    let problem = with_pods([big]);
    let node = |types: &[usize]| new(&problem, &["a"], types, &[0]);
    bites_nodes(Rule::NodeAffinity, &problem, node(&[LARGE]), node(&[SMALL, LARGE]));
}

#[test]
fn every_option_holds_the_pods_and_the_daemons_that_come_with_it() {
    let mut problem = with_pods([shape("web"), shape("web"), shape("web")]);
    let node = |problem: &PlacementProblem, types: &[usize], pods: &[usize]| {
        new(problem, &["a"], types, pods)
    };
    let (legal, illegal) =
        (node(&problem, &[LARGE], &[0, 1, 2]), node(&problem, &[SMALL, LARGE], &[0, 1, 2]));
    bites_nodes(Rule::Resources, &problem, legal, illegal);
    let mut daemon = PodShape { requests: amounts(1), ..shape("daemon") };
    daemon.placement.node_selector = labels(&[(well_known::ZONE, "a")]);
    problem.daemons = vec![Arc::new(daemon)];
    let (legal, illegal) = (node(&problem, &[SMALL], &[0]), node(&problem, &[SMALL], &[0, 1]));
    bites_nodes(Rule::Resources, &problem, legal.clone(), illegal);
    // In another zone the daemon does not run.
    bites_nodes(
        Rule::Resources,
        &problem,
        new(&problem, &["b"], &[SMALL], &[0, 1]),
        new(&problem, &["a", "b"], &[SMALL], &[0, 1]),
    );
}

#[test]
fn offerings_that_hold_less_count_with_what_they_hold() {
    let mut problem = with_pods([shape("web"), shape("web")]);
    change_types(&mut problem, |types| {
        Arc::make_mut(&mut types[SMALL].offerings)[1].capacity_override = amounts(1);
    });
    let node = |zone| new(&problem, &[zone], &[SMALL], &[0, 1]);
    bites_nodes(Rule::Resources, &problem, node("a"), node("b"));
}

#[test]
fn offerings_can_be_had() {
    let mut problem = with_pods([shape("web")]);
    change_types(&mut problem, |types| {
        Arc::make_mut(&mut types[SMALL].offerings)[1].available = false;
    });
    let node = |zone| new(&problem, &[zone], &[SMALL], &[0]);
    bites_nodes(Rule::InstanceTypes, &problem, node("a"), node("b"));
    let mut elsewhere = node("a");
    elsewhere.options[0].offering = 2;
    bites_nodes(Rule::InstanceTypes, &problem, node("a"), elsewhere);
}

#[test]
fn options_satisfy_the_requirements_of_the_node() {
    let problem = with_pods([shape("web")]);
    let legal = new(&problem, &["a"], &[SMALL, LARGE], &[0]);
    let mut illegal = legal.clone();
    for entry in &mut illegal.requirements {
        if entry.key == well_known::INSTANCE_TYPE {
            entry.values = vec!["small".to_owned()];
        }
    }
    bites_nodes(Rule::InstanceTypes, &problem, legal, illegal);
}

#[test]
fn options_are_some_distinct_and_not_too_many() {
    let mut problem = with_pods([shape("web")]);
    problem.settings.instance_type_options_max = 1;
    let node = |types: &[usize]| new(&problem, &["a"], types, &[0]);
    for illegal in [node(&[]), node(&[SMALL, LARGE])] {
        bites_nodes(Rule::InstanceTypes, &problem, node(&[SMALL]), illegal);
    }
    problem.settings.instance_type_options_max = 2;
    let twice = new(&problem, &["a"], &[SMALL, SMALL], &[0]);
    bites_nodes(Rule::InstanceTypes, &problem, new(&problem, &["a"], &[SMALL], &[0]), twice);
}

#[test]
fn host_ports_are_taken_once_and_daemons_have_theirs() {
    let ports = vec![HostPort::parse("", 80, "TCP").unwrap().unwrap()];
    let with = |app| PodShape { host_ports: ports.clone(), ..shape(app) };
    let mut problem = with_pods([with("web"), with("web"), shape("web")]);
    let node = |pods: &[usize]| new(&problem, &["a"], &[SMALL], pods);
    bites_nodes(Rule::HostPorts, &problem, node(&[0]), node(&[0, 1]));
    let (legal, illegal) = (node(&[2]), node(&[0]));
    problem.daemons = vec![Arc::new(with("daemon"))];
    bites_nodes(Rule::HostPorts, &problem, legal, illegal);
}

#[test]
fn volumes_are_surely_reached() {
    let volume = PodVolume {
        claim: "shop/disk".to_owned(),
        driver: None,
        reachable_from: vec![
            vec![is_in(well_known::ZONE, &["a"])],
            vec![is_in(well_known::ZONE, &["b"])],
        ],
    };
    let problem = with_pods([PodShape { volumes: vec![volume], ..shape("web") }]);
    let node = |zones: &[&str]| new(&problem, zones, &[SMALL], &[0]);
    bites_nodes(Rule::Volumes, &problem, node(&["b"]), node(&["c"]));
    bites_nodes(Rule::Volumes, &problem, node(&["b"]), node(&["a", "c"]));
}

#[test]
fn a_reservation_serves_as_many_nodes_as_are_left_in_it() {
    let mut problem = with_pods([shape("web"), shape("web")]);
    change_types(&mut problem, |types| {
        let reservation = Reservation { id: "r".to_owned(), remaining: 1 };
        Arc::make_mut(&mut types[SMALL].offerings)[0].reservation = Some(reservation);
    });
    let node = |zone, pod| new(&problem, &[zone], &[SMALL], &[pod]);
    let legal = answer(&problem, [], [node("a", 0), node("b", 1)]);
    let illegal = answer(&problem, [], [node("a", 0), node("a", 1)]);
    bites(Rule::Reservations, &problem, &legal, &illegal);
}
