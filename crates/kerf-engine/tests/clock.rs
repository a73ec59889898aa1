//! A clock that steps ends nothing.

#![allow(clippy::unwrap_used)]

mod cluster;

use cluster::{Cluster, claim, grace, pod, pool};
use kerf_engine::action::ActionKind;
use kerf_engine::event::{Event, Key, Object};
use kerf_engine::observed::{Claim, DoNotDisrupt};
use kerf_engine::time::Span;
use kerf_model::duration::NillableDuration;

const DAY: Span = Span::from_minutes(24 * 60);

/// A claim that becomes a node if it may, and a day is set ahead on the clock for half a minute.
fn with_claim(boots: bool, change: impl FnOnce(&mut Claim)) -> Cluster {
    let mut cluster = Cluster::new();
    cluster.boots = boots;
    let mut claim = claim("one");
    change(&mut claim);
    cluster.store(Object::Pool(pool("pool")));
    cluster.store(Object::Claim(claim));
    cluster.seconds(60);
    cluster
}

fn step(cluster: &mut Cluster) {
    cluster.now = cluster.now + DAY;
    cluster.seconds(120);
    cluster.now = cluster.now - DAY;
    cluster.seconds(60);
}

fn expire_after(claim: &mut Claim, text: &str) {
    claim.spec.node.expire_after = NillableDuration::parse(text).unwrap();
}

fn deletions(cluster: &Cluster) -> usize {
    let by_force = |kind: &ActionKind| {
        matches!(kind, ActionKind::DeleteClaim { .. } | ActionKind::DeletePod { .. })
    };
    cluster.count(by_force)
}

#[test]
fn a_clock_that_steps_ahead_expires_no_claim() {
    let mut cluster = with_claim(true, |claim| expire_after(claim, "6h"));
    step(&mut cluster);
    assert_eq!(deletions(&cluster), 0, "{:?}", cluster.log());
    cluster.seconds(6 * 3_600);
    assert_eq!(deletions(&cluster), 1, "in its time it expires");
}

#[test]
fn a_clock_that_steps_ahead_fails_no_registration() {
    let mut cluster = with_claim(false, |_| ());
    step(&mut cluster);
    assert_eq!(deletions(&cluster), 0, "{:?}", cluster.log());
    cluster.seconds(1_200);
    assert_eq!(deletions(&cluster), 1, "in its time it is given up");
}

#[test]
fn a_clock_that_steps_ahead_deletes_no_pod_and_ends_no_node_under_one() {
    let mut cluster = with_claim(true, |claim| grace(claim, 3_600));
    let mut protected = pod("protected", "node-one");
    protected.do_not_disrupt = DoNotDisrupt::Always;
    cluster.store(Object::Pod(protected));
    let mut slow = pod("slow", "node-one");
    slow.termination_grace = Some(Span::from_minutes(30));
    cluster.store(Object::Pod(slow));
    cluster.delete(&Key::Claim("one".into()));
    cluster.seconds(60);
    let done = deletions(&cluster);
    step(&mut cluster);
    assert_eq!(deletions(&cluster), done, "{:?}", cluster.log());
    assert_eq!(cluster.instances.len(), 1);
    cluster.seconds(3_600);
    assert!(cluster.instances.is_empty(), "in its time it ends");
}

#[test]
fn a_clock_that_stays_ahead_is_believed_in_the_end() {
    let mut cluster = with_claim(true, |claim| expire_after(claim, "6h"));
    cluster.now = cluster.now + DAY;
    cluster.seconds(300);
    assert_eq!(deletions(&cluster), 0, "{:?}", cluster.log());
    cluster.seconds(600);
    assert_eq!(deletions(&cluster), 1);
}

/// A process starts anew with a clock that is a day ahead, and hears the API server's time.
fn restarted_ahead(cluster: &mut Cluster) {
    cluster.crash();
    cluster.now = cluster.now + DAY;
    tell_server_time(cluster);
}

/// What the API server says while this host's clock is a day ahead.
fn tell_server_time(cluster: &mut Cluster) {
    cluster.undelivered.push_back(Event::ServerTime(cluster.now - DAY));
    cluster.settle();
}

#[test]
fn a_process_that_starts_with_a_clock_ahead_of_the_servers_expires_no_claim() {
    let mut cluster = with_claim(true, |claim| expire_after(claim, "6h"));
    restarted_ahead(&mut cluster);
    for _ in 0..5 {
        cluster.seconds(3_600);
        tell_server_time(&mut cluster);
    }
    assert_eq!(deletions(&cluster), 0, "{:?}", cluster.log());
    cluster.seconds(3_600);
    assert_eq!(deletions(&cluster), 1, "in its time it expires");
}

#[test]
fn a_process_that_starts_with_a_clock_ahead_of_the_servers_fails_no_registration() {
    let mut cluster = with_claim(false, |_| ());
    restarted_ahead(&mut cluster);
    cluster.seconds(600);
    assert_eq!(deletions(&cluster), 0, "{:?}", cluster.log());
    cluster.seconds(600);
    assert_eq!(deletions(&cluster), 1, "in its time it is given up");
}

#[test]
fn a_step_that_the_server_confirms_is_believed_at_once_and_one_it_denies_never() {
    for (is_confirmed, expected) in [(true, 1), (false, 0)] {
        let mut cluster = with_claim(true, |claim| expire_after(claim, "6h"));
        cluster.now = cluster.now + DAY;
        cluster.seconds(60);
        assert_eq!(deletions(&cluster), 0, "nobody knows yet");
        let server = if is_confirmed { cluster.now } else { cluster.now - DAY };
        cluster.undelivered.push_back(Event::ServerTime(server));
        cluster.seconds(if is_confirmed { 60 } else { 3_600 });
        assert_eq!(deletions(&cluster), expected, "{:?}", cluster.log());
    }
}

#[test]
fn a_clock_ahead_of_the_servers_that_is_set_right_is_believed_again() {
    let mut cluster = with_claim(true, |claim| expire_after(claim, "6h"));
    restarted_ahead(&mut cluster);
    cluster.now = cluster.now - DAY;
    cluster.seconds(6 * 3_600);
    assert_eq!(deletions(&cluster), 1, "{:?}", cluster.log());
}
