//! Whatever dies between two steps of a command: nothing is bought twice, nothing is left.

use proptest::prelude::*;

use super::cluster::Cluster;
use super::{disrupt, live};
use crate::command::record::{COMMAND, REPLACEMENT_FOR};
use crate::condition::claim::DISRUPTION_REASON;
use crate::event::{Failure, Key};
use crate::time::Span;

/// What dies with the process: the call before it did anything, or only its answer.
#[derive(Clone, Copy, Debug)]
enum Lost {
    Call,
    Answer,
}

/// Carries out one moment's actions, dying at the `deadly` one, counted over all.
fn step(cluster: &mut Cluster, deadly: usize, lost: Lost) -> bool {
    cluster.deliver();
    let before = cluster.actions.len();
    let actions = cluster.decide();
    let is_silent = actions.is_empty() && cluster.undelivered.is_empty();
    for (place, action) in actions.into_iter().enumerate() {
        if before + place == deadly {
            if let Lost::Answer = lost {
                cluster.effect(&action.kind);
            }
            cluster.crash();
            break;
        }
        cluster.carry_out(action);
    }
    is_silent
}

/// Lets time pass second by second with the cluster's controllers at work.
fn run(cluster: &mut Cluster, seconds: u64, deadly: usize, lost: Lost, context: &str) {
    for _ in 0..seconds {
        let end = cluster.now + Span::from_seconds(1);
        loop {
            while !step(cluster, deadly, lost) {}
            if cluster.now >= end {
                break;
            }
            let soonest = cluster.now + Span::from_millis(1);
            let next = [cluster.engine.next_wake(), cluster.next_change()];
            let next = next.into_iter().flatten().min();
            cluster.now = next.map_or(end, |next| next.max(soonest).min(end));
            cluster.pass_time();
        }
        super::controllers(cluster, "pod-0", "pod-0-again", "7");
        assert_bought_once(cluster, context);
    }
}

fn assert_bought_once(cluster: &Cluster, context: &str) {
    let running = cluster.instances.values().filter(|instance| !instance.is_ending).count();
    assert!(running <= 3, "{context}: two nodes and one replacement at most: {running}");
    assert!(cluster.made.values().all(|made| *made <= 1), "{context}: launched twice");
}

/// The candidate is gone, its pod runs elsewhere, and nothing of the command is left.
fn assert_replaced(cluster: &Cluster, candidate: &str, context: &str) {
    assert!(cluster.find_claim(candidate).is_none(), "{context}: {:?}", cluster.log());
    let pod = cluster.pods().into_iter().find(|pod| &*pod.key.name == "pod-0-again");
    assert!(pod.is_some_and(|pod| pod.node().is_some()), "{context}: {:?}", cluster.log());
    assert_nothing_is_left(cluster, context);
}

fn assert_nothing_is_left(cluster: &Cluster, context: &str) {
    assert_eq!(cluster.claims().len(), 2, "{context}: {:?}", cluster.log());
    assert_eq!(cluster.instances.len(), 2, "{context}: {:?}", cluster.log());
    for claim in cluster.claims() {
        let annotations = claim.annotations();
        assert!(!annotations.contains_key(COMMAND), "{context}: {claim:#?}");
        assert!(!annotations.contains_key(REPLACEMENT_FOR), "{context}: {claim:#?}");
        assert!(claim.status.conditions.get(DISRUPTION_REASON).is_none(), "{context}");
    }
    assert!(cluster.closed_nodes().is_empty(), "{context}: {:?}", cluster.log());
    assert!(cluster.engine.world().memory.commands.is_empty(), "{context}");
}

#[test]
fn a_crash_at_any_action_ends_in_one_replacement_and_no_candidate() {
    let mut reached = 0;
    let before = Cluster::with_nodes(2, |_| {}).actions.len();
    for deadly in before..before + 40 {
        for lost in [Lost::Call, Lost::Answer] {
            let context = format!("crash at action {deadly}, {lost:?} lost");
            let mut cluster = Cluster::with_nodes(2, |_| {});
            let candidate = disrupt(&mut cluster, "pod-0", "");
            run(&mut cluster, 240, deadly, lost, &context);
            assert_replaced(&cluster, &candidate, &context);
            reached = reached.max(cluster.actions.len() - before);
        }
    }
    assert!(reached > 20, "not much happened: {reached}");
}

#[test]
fn a_new_leader_goes_on_with_the_command_it_finds() {
    let mut cluster = Cluster::with_nodes(2, |_| {});
    let candidate = disrupt(&mut cluster, "pod-0", "");
    while cluster.claims().len() < 3 {
        cluster.seconds(1);
    }
    let bought = cluster.ordered_claims().len();
    cluster.crash();
    cluster.seconds(1);
    let commands = &cluster.engine.world().memory.commands;
    assert!(commands.is_disrupting(&candidate), "it was not resumed");
    live(&mut cluster, 120);
    assert_eq!(cluster.ordered_claims().len(), bought, "nothing was bought again");
    assert_replaced(&cluster, &candidate, "resumed");
}

#[test]
fn a_replacement_that_nobody_waits_for_is_ended_by_the_next_leader() {
    let mut cluster = Cluster::with_nodes(2, |_| {});
    let candidate = disrupt(&mut cluster, "pod-0", "");
    while cluster.claims().len() < 3 {
        cluster.seconds(1);
    }
    // Somebody takes everything off the candidate while nobody watches.
    cluster.edit(&Key::Claim(candidate), |object| {
        let crate::event::Object::Claim(claim) = object else { unreachable!("a claim's key") };
        claim.spec.annotations.clear();
        claim.status.conditions.0.retain(|condition| condition.kind != DISRUPTION_REASON);
    });
    cluster.crash();
    cluster.seconds(60);
    assert_nothing_is_left(&cluster, "orphaned");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Crashes, launches that fail and replacements that users delete, at any moment.
    #[test]
    fn disorder_never_buys_twice_and_leaves_nothing_behind(
        steps in prop::collection::vec((1u64..12, 0usize..6), 1..30),
    ) {
        let mut cluster = Cluster::with_nodes(2, |_| {});
        let candidate = disrupt(&mut cluster, "pod-0", "");
        for (seconds, what) in steps {
            match what {
                0 => cluster.crash(),
                1 => {
                    cluster.deliver();
                    let mut actions = cluster.decide();
                    actions.truncate(actions.len() / 2);
                    actions.into_iter().for_each(|action| cluster.carry_out(action));
                    cluster.crash();
                }
                2 => {
                    let message = "none left".to_owned();
                    let failure = Failure::InsufficientCapacity { message };
                    cluster.launch_fails = match cluster.launch_fails {
                        Some(_) => None,
                        None => Some(failure),
                    };
                }
                3 => {
                    let claims = cluster.claims();
                    let replacement = claims.iter().find(|it| it.meta.name.contains("-replacement-"));
                    let key = replacement.map(|it| Key::Claim(it.meta.name.clone()));
                    key.into_iter().for_each(|key| cluster.delete(&key));
                }
                _ => {}
            }
            live(&mut cluster, seconds);
            let made = cluster.made.values().all(|made| *made <= 1);
            prop_assert!(made, "launched twice");
        }
        cluster.launch_fails = None;
        live(&mut cluster, 600);
        assert_replaced(&cluster, &candidate, "in the end");
    }
}
