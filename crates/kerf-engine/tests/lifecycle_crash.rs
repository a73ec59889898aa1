//! Whatever dies, is lost, comes late or comes twice: a claim gets one instance, and none is left
//! when it is gone.

#![allow(clippy::unwrap_used)]

mod cluster;

use cluster::{Cluster, claim, pod, pool};
use kerf_engine::action::{Action, ActionKind};
use kerf_engine::event::{Event, Failure, Key, Object, Outcome};
use kerf_engine::time::{Span, Time};
use proptest::prelude::*;

const DISRUPTED: &str = "karpenter_nodeclaims_disrupted_total";

/// What dies with the process: the call before it did anything, or only its answer.
#[derive(Clone, Copy, Debug)]
enum Lost {
    Call,
    Answer,
}

fn start() -> Cluster {
    let mut cluster = Cluster::new();
    cluster.store(Object::Pool(pool("pool")));
    let mut claim = claim("one");
    claim.finalizers.clear();
    cluster.store(Object::Claim(claim));
    cluster
}

/// Lets time pass as [`Cluster::wait`] does, but dies at the `deadly` action, counted over all.
fn live(cluster: &mut Cluster, span: Span, deadly: usize, lost: Lost) {
    let end = cluster.now + span;
    loop {
        cluster.hear();
        cluster.deliver();
        let before = cluster.actions.len();
        let actions = cluster.decide();
        let is_silent = actions.is_empty();
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
        if is_silent && cluster.undelivered.is_empty() {
            if cluster.now >= end {
                return;
            }
            pass_time(cluster, end);
        }
    }
}

fn pass_time(cluster: &mut Cluster, end: Time) {
    let soonest = cluster.now + Span::from_millis(1);
    let next = [cluster.engine.next_wake(), cluster.next_change()].into_iter().flatten().min();
    cluster.now = next.map_or(end, |next| next.max(soonest).min(end));
    cluster.pass_time();
}

fn assert_nothing_is_left(cluster: &Cluster, context: &str) {
    assert!(cluster.find_claim("one").is_none(), "{context}: {:#?}", cluster.find_claim("one"));
    assert!(cluster.instances.is_empty(), "{context}: an instance was leaked");
    assert!(cluster.nodes().is_empty(), "{context}: {:#?}", cluster.nodes());
    assert!(cluster.made.values().all(|made| *made <= 1), "{context}: launched twice");
}

#[test]
fn a_crash_at_any_step_ends_in_one_used_machine_and_then_in_none() {
    let mut reached = 0;
    for deadly in 0..60 {
        for lost in [Lost::Call, Lost::Answer] {
            let context = format!("crash at action {deadly}, {lost:?} lost");
            let mut cluster = start();
            live(&mut cluster, Span::from_seconds(120), deadly, lost);
            let claim = cluster.claim("one");
            assert!(claim.status.conditions.is_true("Ready"), "{context}: {claim:#?}");
            assert_eq!(cluster.instances.len(), 1, "{context}");
            assert_eq!(cluster.made["one-uid"], 1, "{context}");
            cluster.store(Object::Pod(pod("a", "node-one")));
            cluster.delete(&Key::Claim("one".into()));
            live(&mut cluster, Span::from_seconds(180), deadly, lost);
            assert_nothing_is_left(&cluster, &context);
            reached = reached.max(cluster.actions.len());
        }
    }
    assert!(reached > 25, "the crashes went past the end of the run: {reached}");
    assert!(reached < 60, "not every step was tried: {reached}");
}

#[test]
fn a_claim_deleted_while_nobody_watches_leaks_nothing() {
    for deadly in 0..12 {
        for lost in [Lost::Call, Lost::Answer] {
            let context = format!("crash at action {deadly}, {lost:?} lost");
            let mut cluster = start();
            cluster.boots = false;
            live(&mut cluster, Span::from_seconds(1), deadly, lost);
            cluster.delete(&Key::Claim("one".into()));
            cluster.crash();
            cluster.seconds(60);
            assert_nothing_is_left(&cluster, &context);
        }
    }
}

#[test]
fn a_machine_whose_claim_was_removed_by_force_is_found_and_ended() {
    let mut cluster = start();
    cluster.boots = false;
    cluster.seconds(5);
    cluster.remove(&Key::Claim("one".into()));
    cluster.seconds(110);
    assert_eq!(cluster.instances.len(), 1, "one list is not enough to judge");
    cluster.seconds(260);
    assert!(cluster.instances.is_empty());
}

#[test]
fn a_claim_whose_machine_vanished_is_collected_unless_its_node_is_ready() {
    let mut cluster = start();
    cluster.seconds(60);
    cluster.instances.clear();
    cluster.seconds(300);
    assert!(!cluster.claim("one").meta.is_deleting(), "a ready node is believed");
    cluster.edit_node(|node| node.is_ready = false);
    cluster.seconds(180);
    assert_nothing_is_left(&cluster, "vanished");
    let collected = cluster.counted(DISRUPTED, "garbage_collected");
    assert_eq!(collected, 1);
}

/// A source of choices.
struct Rng(u64);

impl Rng {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}

/// What is on its way between the engine and the world.
#[derive(Default)]
struct Wires {
    /// Watches deliver in order, and sometimes again.
    watch: std::collections::VecDeque<Event>,
    delivered: Vec<Event>,
    /// Answers come in any order, and sometimes twice.
    answers: Vec<Event>,
    /// Calls are made in any order.
    calls: Vec<Action>,
}

impl Wires {
    fn collect(&mut self, cluster: &mut Cluster) {
        for event in std::mem::take(&mut cluster.undelivered) {
            match event {
                Event::Finished { .. } => self.answers.push(event),
                _ => self.watch.push_back(event),
            }
        }
    }

    fn step(&mut self, cluster: &mut Cluster, rng: &mut Rng) {
        match rng.roll(12) {
            0..4 => {
                if let Some(event) = self.watch.pop_front() {
                    self.delivered.push(event.clone());
                    cluster.engine.handle(event, cluster.now);
                }
            }
            4..7 if !self.answers.is_empty() => {
                let place = rng.roll(self.answers.len());
                let event = self.answers[place].clone();
                if rng.roll(4) > 0 {
                    self.answers.swap_remove(place);
                }
                cluster.engine.handle(event, cluster.now);
            }
            7..10 if !self.calls.is_empty() => {
                let place = rng.roll(self.calls.len());
                let call = self.calls.swap_remove(place);
                self.make(call, cluster, rng);
            }
            10 if !self.delivered.is_empty() => {
                let late = self.delivered[rng.roll(self.delivered.len())].clone();
                cluster.engine.handle(late, cluster.now);
            }
            _ => {
                let end = cluster.now + Span::from_millis(200 + rng.roll(3_000) as u64);
                pass_time(cluster, end);
            }
        }
        self.calls.extend(cluster.decide());
        self.collect(cluster);
    }

    /// Most calls succeed; some fail, and of some nobody knows whether they did.
    fn make(&mut self, call: Action, cluster: &mut Cluster, rng: &mut Rng) {
        let fate = rng.roll(10);
        if fate > 1 {
            return cluster.carry_out(call);
        }
        if fate == 1 {
            cluster.effect(&call.kind);
        }
        let failure = Failure::Unavailable { message: "time-out".to_owned() };
        let outcome = Outcome::Failed(failure);
        self.answers.push(Event::Finished { action: call.id, outcome });
    }

    /// The process dies: calls are made or not, answers reach nobody.
    fn crash(&mut self, cluster: &mut Cluster, rng: &mut Rng) {
        for call in std::mem::take(&mut self.calls) {
            if rng.roll(2) == 0 {
                cluster.effect(&call.kind);
            }
        }
        *self = Self::default();
        cluster.crash();
        self.collect(cluster);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The cloud of the test cluster refuses to launch for a claim without its finalizer, so that
    /// order is checked with every launch.
    #[test]
    fn disorder_never_launches_twice_and_never_leaks(
        seed in any::<u64>(),
        steps in 10usize..400,
        delete_at in 0usize..500,
        crash_at in proptest::collection::vec(0usize..400, 0..4),
    ) {
        let mut rng = Rng(seed);
        let mut cluster = start();
        let mut wires = Wires::default();
        wires.collect(&mut cluster);
        for step in 0..steps {
            if step == delete_at {
                cluster.store(Object::Pod(pod("a", "node-one")));
                cluster.delete(&Key::Claim("one".into()));
                wires.collect(&mut cluster);
            }
            if crash_at.contains(&step) {
                wires.crash(&mut cluster, &mut rng);
            }
            wires.step(&mut cluster, &mut rng);
        }
        for call in std::mem::take(&mut wires.calls) {
            cluster.carry_out(call);
        }
        let late = wires.watch.into_iter().chain(wires.answers);
        cluster.undelivered = late.chain(std::mem::take(&mut cluster.undelivered)).collect();
        cluster.seconds(1_200);
        prop_assert!(cluster.made.values().all(|made| *made <= 1), "launched twice");
        // Who cannot launch for five minutes is given up by itself.
        if delete_at < steps || cluster.find_claim("one").is_none() {
            prop_assert!(delete_at < steps || cluster.counted(DISRUPTED, "launch_timeout") > 0);
            assert_nothing_is_left(&cluster, "in the end");
        } else {
            let claim = cluster.claim("one");
            prop_assert!(claim.status.conditions.is_true("Ready"), "{:#?}", claim);
            prop_assert_eq!(cluster.instances.len(), 1);
        }
        let memory = &cluster.engine.world().memory;
        prop_assert!(memory.launched.is_empty(), "nothing is left half remembered");
    }
}

#[test]
fn no_deed_is_repeated_once_everything_is_as_it_should_be() {
    let mut cluster = start();
    cluster.seconds(60);
    cluster.crash();
    let before = cluster.actions.len();
    cluster.seconds(60);
    let later = &cluster.actions[before..];
    let is_quiet = |action: &Action| matches!(action.kind, ActionKind::ListInstances);
    assert!(later.iter().all(|(_, action)| is_quiet(action)), "{later:#?}");
}
