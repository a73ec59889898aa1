//! When solves are asked: pods that come together are placed together, nobody is forgotten.

#![allow(clippy::unwrap_used)]

mod cluster;

use cluster::{Cluster, START, pod_key, waiting_pod};
use kerf_engine::action::{Action, ActionKind};
use kerf_engine::event::{Failure, Key, Object};
use kerf_engine::observed::PodPhase;
use kerf_engine::time::Span;
use kerf_scheduler::Effort;

/// Larger than every instance.
const TOO_LARGE: &str = "64";

/// Milliseconds after the start, and how many pods, of every solve.
fn solves(cluster: &Cluster) -> Vec<(u64, usize)> {
    let asked = cluster.solves().into_iter();
    asked.map(|(at, problem)| (at.since(START).millis(), problem.pods.len())).collect()
}

fn millis(cluster: &mut Cluster, millis: u64) {
    cluster.wait(Span::from_millis(millis));
}

#[test]
fn pods_that_come_within_a_second_of_each_other_are_placed_together() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.pend("a", "1");
    millis(&mut cluster, 900);
    cluster.pend("b", "1");
    cluster.seconds(5);
    assert_eq!(solves(&cluster), [(1_900, 2)]);
}

/// A pod that asks for so much CPU and that the scheduler has not found unschedulable.
fn make(cluster: &mut Cluster, name: &str, cpu: &str, phase: PodPhase) {
    let mut pod = waiting_pod(name, cpu, cluster.now);
    pod.phase = phase;
    cluster.store(Object::Pod(pod));
}

#[test]
fn pods_the_scheduler_has_not_come_to_are_placed_along_with_their_like() {
    let mut cluster = Cluster::with_pool(|_| {});
    make(&mut cluster, "b", "1", PodPhase::Unjudged);
    make(&mut cluster, "other", "2", PodPhase::Unjudged);
    make(&mut cluster, "gated", "1", PodPhase::Waiting);
    cluster.pend("a", "1");
    cluster.seconds(5);
    assert_eq!(solves(&cluster), [(1_000, 2)]);
    assert_eq!(cluster.target_of("a"), cluster.target_of("b"));
    cluster.pend("b", "1");
    cluster.seconds(5);
    assert_eq!(solves(&cluster), [(1_000, 2)], "the verdict was foreseen");
}

#[test]
fn more_of_a_kind_that_waits_hold_the_window_open() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.pend("a", "1");
    millis(&mut cluster, 700);
    make(&mut cluster, "b", "1", PodPhase::Unjudged);
    millis(&mut cluster, 100);
    make(&mut cluster, "other", "2", PodPhase::Unjudged);
    cluster.seconds(5);
    assert_eq!(solves(&cluster), [(1_700, 2)]);
}

#[test]
fn pods_nobody_has_judged_get_no_nodes_by_themselves() {
    let mut cluster = Cluster::with_pool(|_| {});
    make(&mut cluster, "a", "1", PodPhase::Unjudged);
    cluster.seconds(90);
    assert_eq!(solves(&cluster), []);
    cluster.pend("b", "1");
    cluster.seconds(5);
    assert_eq!(solves(&cluster), [(91_000, 1)], "its scheduler is not there");
}

#[test]
fn looking_after_pods_that_are_on_their_way_cuts_no_window_short() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.pend("early", "1");
    cluster.seconds(23);
    for name in ["a", "b", "c"] {
        cluster.pend(name, "1");
        millis(&mut cluster, 700);
    }
    cluster.seconds(2);
    assert_eq!(solves(&cluster), [(1_000, 1), (25_400, 3)]);
}

#[test]
fn a_stream_of_pods_is_cut_after_ten_seconds() {
    let mut cluster = Cluster::with_pool(|_| {});
    for number in 0..15 {
        cluster.pend(&format!("pod-{number}"), "1");
        millis(&mut cluster, 900);
    }
    cluster.seconds(5);
    assert_eq!(solves(&cluster)[0], (10_000, 12));
}

#[test]
fn a_pod_that_only_changes_does_not_hold_the_window_open() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.pend("a", "1");
    millis(&mut cluster, 900);
    cluster.edit(&Key::Pod(pod_key("a")), |object| {
        let Object::Pod(pod) = object else { unreachable!("a pod's key") };
        pod.priority = 7;
    });
    cluster.seconds(5);
    assert_eq!(solves(&cluster), [(1_000, 1)]);
}

#[test]
fn those_without_a_place_are_asked_about_again_every_ten_seconds() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.pend("a", TOO_LARGE);
    cluster.seconds(25);
    assert_eq!(solves(&cluster), [(1_000, 1), (11_000, 1), (21_000, 1)]);
}

#[test]
fn one_solve_runs_at_a_time_and_the_next_right_after_its_answer() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.ignores = |kind| matches!(kind, ActionKind::Solve(_));
    cluster.pend("a", "1");
    cluster.seconds(5);
    cluster.pend("b", "1");
    cluster.seconds(5);
    assert_eq!(solves(&cluster), [(1_000, 1)]);
    cluster.answer_last_solve();
    cluster.settle();
    assert_eq!(solves(&cluster), [(1_000, 1), (10_000, 1)]);
}

#[test]
fn an_answer_that_never_comes_is_given_up_after_five_minutes() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.ignores = |kind| matches!(kind, ActionKind::Solve(_));
    cluster.pend("a", "1");
    cluster.seconds(2);
    cluster.ignores = |_| false;
    cluster.seconds(298);
    assert_eq!(solves(&cluster), [(1_000, 1)]);
    cluster.seconds(2);
    assert_eq!(solves(&cluster), [(1_000, 1), (301_000, 1)]);
    assert_eq!(cluster.claims().len(), 1);
    let is_solve = |action: &&Action| matches!(action.kind, ActionKind::Solve(_));
    let first = cluster.actions.iter().map(|(_, action)| action).find(is_solve);
    assert_eq!(cluster.withdrawn, [first.expect("it was asked").id], "its solve may stop");
}

#[test]
fn a_solve_that_fails_is_tried_again_after_a_second_and_then_less_and_less_often() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.refuses = |kind| matches!(kind, ActionKind::Solve(_)).then(stopped);
    cluster.pend("a", "1");
    cluster.seconds(17);
    let asked = [(1_000, 1), (2_000, 1), (4_000, 1), (8_000, 1), (16_000, 1)];
    assert_eq!(solves(&cluster), asked);
    assert!(cluster.messages("FailedScheduling").iter().any(|text| text.contains("stopped")));
    cluster.refuses = |_| None;
    cluster.seconds(16);
    assert_eq!(cluster.claims().len(), 1);
}

#[test]
fn what_a_solve_did_not_come_to_before_its_end_continues_in_the_next() {
    let mut cluster = Cluster::with_pool(|_| {});
    // Enough for a node or two at a time.
    cluster.effort = Effort(2);
    let sizes = ["1", "2", "3", "4", "5", "6", "7", "8"];
    for (number, size) in sizes.iter().enumerate() {
        cluster.pend(&format!("pod-{number}"), size);
    }
    cluster.seconds(5);
    assert!(solves(&cluster).len() > 1);
    let placed =
        (0..sizes.len()).filter(|number| cluster.target_of(&format!("pod-{number}")).is_some());
    assert_eq!(placed.count(), sizes.len());
    assert!(cluster.messages("FailedScheduling").is_empty(), "nobody was refused");
}

#[test]
fn a_solve_that_comes_to_nothing_before_its_end_is_cut_into_smaller_ones() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.effort = Effort(0);
    for number in 0..16 {
        cluster.pend(&format!("pod-{number}"), "1");
    }
    cluster.seconds(4);
    let pods: Vec<usize> = solves(&cluster).into_iter().map(|(_, pods)| pods).collect();
    assert_eq!(pods[..3], [16, 4, 1]);
    cluster.effort = Effort::UNLIMITED;
    cluster.seconds(30);
    let placed = (0..16).filter(|number| cluster.target_of(&format!("pod-{number}")).is_some());
    assert_eq!(placed.count(), 16);
}

#[test]
fn a_pod_nobody_can_think_about_does_not_keep_the_others_waiting() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.refuses = |kind| match kind {
        ActionKind::Solve(request) if request.problem.pods.iter().any(|pod| pod.name == "odd") => {
            Some(stopped())
        }
        _ => None,
    };
    cluster.pend("odd", "1");
    for number in 0..40 {
        cluster.pend(&format!("pod-{number}"), "1");
    }
    cluster.seconds(15);
    let placed = (0..40).filter(|number| cluster.target_of(&format!("pod-{number}")).is_some());
    assert_eq!(placed.count(), 40);
    assert_eq!(cluster.target_of("odd"), None);
}

fn stopped() -> Failure {
    Failure::Unavailable { message: "the solver stopped".to_owned() }
}

#[test]
fn nobody_asks_while_nobody_waits() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.seconds(600);
    assert_eq!(solves(&cluster), []);
    cluster.pend("a", TOO_LARGE);
    cluster.seconds(5);
    cluster.remove(&Key::Pod(pod_key("a")));
    cluster.seconds(600);
    assert_eq!(solves(&cluster), [(601_000, 1)]);
}

#[test]
fn a_pool_that_becomes_usable_is_used_without_waiting_for_the_next_round() {
    let mut cluster = Cluster::new();
    cluster.pend("a", "1");
    cluster.seconds(12);
    assert_eq!(solves(&cluster), []);
    cluster.add_pool(cluster::ready_pool("pool", |_| {}));
    cluster.seconds(2);
    assert_eq!(solves(&cluster), [(13_000, 1)]);
}

#[test]
fn more_pods_than_fit_one_solve_are_solved_one_after_the_other() {
    let mut cluster = Cluster::with_pool(|_| {});
    for number in 0..20_010 {
        cluster.pend(&format!("pod-{number}"), TOO_LARGE);
    }
    cluster.seconds(9);
    assert_eq!(solves(&cluster), [(1_000, 20_000), (1_000, 10)]);
    let first: std::collections::BTreeSet<_> =
        cluster.solves()[0].1.pods.iter().map(|pod| pod.uid.clone()).collect();
    let second = &cluster.solves()[1].1.pods;
    assert!(second.iter().all(|pod| !first.contains(&pod.uid)), "the same pods again");
}
