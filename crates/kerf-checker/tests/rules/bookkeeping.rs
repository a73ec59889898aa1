use kerf_checker::{Rule, check};
use std::sync::Arc;

use kerf_model::price::Price;
use kerf_scheduler::{PlacementProblem, Solution};

use crate::world::{LARGE, SMALL, answer, bites, new, node, on, pods, shape, world};

fn two_pods() -> PlacementProblem {
    PlacementProblem {
        pods: pods([shape("web"), shape("web")]),
        nodes: [node("n", "a"), node("m", "a")].map(Arc::new).into(),
        ..world()
    }
}

fn changed(solution: &Solution, change: impl FnOnce(&mut Solution)) -> Solution {
    let mut solution = solution.clone();
    change(&mut solution);
    solution
}

#[test]
fn every_pod_is_named_exactly_once() {
    let problem = two_pods();
    let legal = answer(&problem, [on(0, &[0])], []);
    let forgotten = changed(&legal, |answer| answer.unplaced.clear());
    bites(Rule::Bookkeeping, &problem, &legal, &forgotten);
    let twice = answer(&problem, [on(0, &[0, 1]), on(1, &[1])], []);
    bites(Rule::Bookkeeping, &problem, &legal, &twice);
}

#[test]
fn lists_are_in_order_and_not_empty() {
    let problem = two_pods();
    let legal = answer(&problem, [on(0, &[0]), on(1, &[1])], []);
    let wrong = [
        answer(&problem, [on(1, &[1]), on(0, &[0])], []),
        answer(&problem, [on(0, &[1, 0])], []),
        answer(&problem, [on(0, &[0, 1]), on(1, &[])], []),
        changed(&answer(&problem, [], []), |answer| answer.unplaced.reverse()),
        changed(&answer(&problem, [], []), |answer| answer.unplaced[0].reason.clear()),
    ];
    for illegal in &wrong {
        bites(Rule::Bookkeeping, &problem, &legal, illegal);
    }
}

#[test]
fn an_answer_that_names_what_is_not_there_is_judged_by_that_alone() {
    let problem = two_pods();
    let legal = answer(&problem, [], [new(&problem, &["a"], &[SMALL], &[0])]);
    let wrong = [
        answer(&problem, [on(2, &[0])], []),
        changed(&legal, |answer| answer.new_nodes[0].pods = vec![7]),
        changed(&legal, |answer| answer.new_nodes[0].pool = 1),
        changed(&legal, |answer| answer.new_nodes[0].options[0].instance_type = 2),
        changed(&legal, |answer| answer.new_nodes[0].options[0].offering = 3),
    ];
    for illegal in &wrong {
        bites(Rule::Bookkeeping, &problem, &legal, illegal);
        assert_eq!(check(&problem, illegal).len(), 1);
    }
}

#[test]
fn new_nodes_are_written_down_in_full() {
    let problem = two_pods();
    let legal = answer(&problem, [], [new(&problem, &["a"], &[SMALL], &[0, 1])]);
    let unsorted = changed(&legal, |answer| answer.new_nodes[0].requirements.reverse());
    bites(Rule::Bookkeeping, &problem, &legal, &unsorted);
    let without_requests = changed(&legal, |answer| {
        answer.new_nodes[0].requests = shape("web").requests;
    });
    bites(Rule::Bookkeeping, &problem, &legal, &without_requests);
}

#[test]
fn prices_are_those_of_the_offerings_and_add_up() {
    let mut problem = two_pods();
    crate::world::change_types(&mut problem, |types| {
        Arc::make_mut(&mut types[SMALL].offerings)[1].price = Price::from_micros_per_hour(1);
    });
    let legal = answer(&problem, [], [new(&problem, &["a"], &[SMALL, LARGE], &[0])]);
    let price = Price::from_micros_per_hour;
    let wrong = [
        changed(&legal, |answer| answer.price = price(7)),
        changed(&legal, |answer| answer.lower_bound = price(100_001)),
        changed(&legal, |answer| answer.new_nodes[0].options[1].price = price(500_000)),
        answer(&problem, [], [new(&problem, &["a"], &[LARGE, SMALL], &[0])]),
        // Zone b is open too and cheaper.
        answer(&problem, [], [new(&problem, &["a", "b"], &[SMALL], &[0])]),
    ];
    for illegal in &wrong {
        bites(Rule::Price, &problem, &legal, illegal);
    }
}

#[test]
fn pods_that_ask_for_devices_are_not_placed() {
    let mut with_claim = shape("web");
    with_claim.has_resource_claims = true;
    let problem = PlacementProblem {
        pods: pods([with_claim]),
        nodes: vec![Arc::new(node("n", "a"))],
        ..world()
    };
    let illegal = answer(&problem, [on(0, &[0])], []);
    bites(Rule::ResourceClaims, &problem, &answer(&problem, [], []), &illegal);
}
