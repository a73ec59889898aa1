//! What happens to nodes that live: pods come and go, quiet nodes, old nodes, odd nodes.

#![allow(clippy::unwrap_used)]

mod cluster;

use std::sync::Arc;

use cluster::{Cluster, claim, pod, pod_key, pool};
use kerf_engine::action::ActionKind;
use kerf_engine::condition::Status;
use kerf_engine::condition::claim::{CONSISTENT_STATE_FOUND, CONSOLIDATABLE};
use kerf_engine::event::{Key, Object};
use kerf_engine::observed::{Pod, PodOwner, PodPhase};
use kerf_engine::time::{Span, Time};
use kerf_model::duration::NillableDuration;
use kerf_model::quantity::Quantity;

/// A ready node in a pool that consolidates after so long.
fn ready(consolidate_after: &str) -> Cluster {
    let mut cluster = Cluster::new();
    let mut pool = pool("pool");
    Arc::make_mut(&mut pool.spec).disruption.consolidate_after =
        NillableDuration::parse(consolidate_after).unwrap();
    cluster.store(Object::Pool(pool));
    cluster.store(Object::Claim(claim("one")));
    cluster.seconds(30);
    cluster
}

fn last_event(cluster: &Cluster) -> Option<Time> {
    cluster.claim("one").status.last_pod_event_at
}

fn is_quiet(cluster: &Cluster) -> bool {
    cluster.claim("one").status.conditions.is_true(CONSOLIDATABLE)
}

fn store(cluster: &mut Cluster, name: &str, change: impl FnOnce(&mut Pod)) {
    let mut pod = pod(name, "node-one");
    change(&mut pod);
    cluster.store(Object::Pod(pod));
    cluster.settle();
}

#[test]
fn a_pod_that_comes_ends_or_leaves_is_noted_with_its_time() {
    let mut cluster = ready("Never");
    assert_eq!(last_event(&cluster), None);
    store(&mut cluster, "a", |_| ());
    let came = cluster.now;
    assert_eq!(last_event(&cluster), Some(came));
    cluster.seconds(20);
    store(&mut cluster, "a", |pod| pod.is_ready = false);
    assert_eq!(last_event(&cluster), Some(came), "only coming and going counts");
    store(&mut cluster, "a", |pod| {
        pod.phase = PodPhase::Ended { node: Some("node-one".into()), has_failed: false };
    });
    assert_eq!(last_event(&cluster), Some(cluster.now));
    store(&mut cluster, "b", |_| ());
    cluster.seconds(20);
    cluster.delete(&Key::Pod(pod_key("b")));
    let left = cluster.now;
    cluster.settle();
    assert_eq!(last_event(&cluster), Some(left));
    cluster.seconds(60);
    assert!(cluster.pods().iter().all(|pod| &*pod.key.name != "b"));
    assert_eq!(last_event(&cluster), Some(left), "it had left when it began to");
}

#[test]
fn daemons_and_repeats_do_not_count() {
    let mut cluster = ready("Never");
    store(&mut cluster, "d", |pod| pod.owner = PodOwner::DaemonSet);
    assert_eq!(last_event(&cluster), None);
    store(&mut cluster, "a", |_| ());
    let came = cluster.now;
    cluster.seconds(60);
    store(&mut cluster, "a", |_| ());
    assert_eq!(last_event(&cluster), Some(came));
}

#[test]
fn many_pods_in_a_row_are_written_down_once_in_ten_seconds() {
    let mut cluster = ready("Never");
    let before = cluster.actions.len();
    for number in 0..50 {
        store(&mut cluster, &format!("p{number}"), |_| ());
        cluster.wait(Span::from_millis(500));
    }
    let last = cluster.now;
    cluster.seconds(30);
    let writes = cluster.actions[before..]
        .iter()
        .filter(|(_, action)| matches!(action.kind, ActionKind::WriteClaimStatus { .. }))
        .count();
    assert!((3..=4).contains(&writes), "{writes} writes in 25 s");
    let noted = last_event(&cluster).unwrap();
    assert!(last.since(noted) <= Span::from_seconds(1), "the last one is not lost");
}

#[test]
fn a_node_is_quiet_after_consolidate_after_without_pod_events() {
    let mut cluster = ready("60s");
    assert!(!is_quiet(&cluster));
    cluster.seconds(45);
    assert!(!is_quiet(&cluster));
    store(&mut cluster, "a", |_| ());
    cluster.seconds(59);
    assert!(!is_quiet(&cluster), "the pod began it anew");
    cluster.seconds(2);
    assert!(is_quiet(&cluster));
    store(&mut cluster, "b", |_| ());
    assert!(!is_quiet(&cluster), "another pod ends it at once");
    let known = cluster.claim("one").status.conditions.get(CONSOLIDATABLE);
    assert_eq!(known, None, "it is there and true, or not there");
}

#[test]
fn never_is_never_quiet_and_zero_is_quiet_at_once() {
    let mut cluster = ready("Never");
    cluster.seconds(86_400);
    assert!(!is_quiet(&cluster));
    let mut cluster = ready("0s");
    store(&mut cluster, "keeps-the-node", |_| ());
    assert!(is_quiet(&cluster));
}

#[test]
fn a_restart_does_not_start_the_clock_anew() {
    let mut cluster = ready("60s");
    store(&mut cluster, "a", |_| ());
    let came = cluster.now;
    cluster.seconds(50);
    cluster.crash();
    cluster.seconds(11);
    assert_eq!(last_event(&cluster), Some(came));
    assert!(is_quiet(&cluster));
}

#[test]
fn old_nodes_go_all_at_once_when_their_time_has_come() {
    let mut cluster = Cluster::new();
    cluster.store(Object::Pool(pool("pool")));
    for number in 0..20 {
        let mut claim = claim(&format!("c{number}"));
        claim.spec.node.expire_after = NillableDuration::parse("1h").unwrap();
        cluster.store(Object::Claim(claim));
    }
    cluster.seconds(3_599);
    assert_eq!(cluster.count(|kind| matches!(kind, ActionKind::DeleteClaim { .. })), 0);
    cluster.seconds(1);
    assert_eq!(cluster.count(|kind| matches!(kind, ActionKind::DeleteClaim { .. })), 20);
    assert_eq!(cluster.counted("karpenter_nodeclaims_disrupted_total", "expired"), 20);
    cluster.seconds(60);
    assert!(cluster.instances.is_empty());
    assert!(cluster.nodes().is_empty());
}

fn shrink(cluster: &mut Cluster, millicores: i64) {
    cluster.edit_node(|node| {
        node.capacity.insert("cpu", Quantity::from_milli(millicores));
    });
    cluster.settle();
}

#[test]
fn a_node_smaller_than_paid_for_is_reported() {
    let mut cluster = ready("Never");
    let state = |cluster: &Cluster| {
        cluster.claim("one").status.conditions.get(CONSISTENT_STATE_FOUND).unwrap().clone()
    };
    assert_eq!(state(&cluster).status, Status::True);
    shrink(&mut cluster, 3_600);
    assert_eq!(state(&cluster).status, Status::True, "90 % is enough");
    shrink(&mut cluster, 3_599);
    assert_eq!(state(&cluster).status, Status::False);
    assert_eq!(state(&cluster).reason, "ConsistencyCheckFailed");
    assert!(cluster.has_said("FailedConsistencyCheck"));
}

#[test]
fn a_deletion_whose_news_never_comes_is_asked_for_less_and_less_often() {
    let mut cluster = Cluster::new();
    let mut old = claim("old");
    old.spec.node.expire_after = NillableDuration::parse("1m").unwrap();
    cluster.store(Object::Claim(old));
    cluster.seconds(59);
    cluster.is_deaf = true;
    cluster.seconds(61);
    // After 0, 2, 6, 14, 30 seconds; a watch that is away for long is not helped by more.
    assert_eq!(cluster.count(|kind| matches!(kind, ActionKind::DeleteClaim { .. })), 5);
}
