//! Before anything ends because another thing is not there, the API server itself is asked.

#![allow(clippy::unwrap_used)]

mod cluster;

use cluster::{Cluster, claim, pod, pool, quick};
use kerf_engine::action::ActionKind;
use kerf_engine::event::{Event, Key, Kind, Object};

fn ready() -> Cluster {
    let mut cluster = Cluster::new();
    cluster.store(Object::Pool(pool("pool")));
    cluster.store(Object::Claim(claim("one")));
    cluster.seconds(30);
    assert_eq!(cluster.nodes().len(), 1);
    cluster
}

fn terminations(cluster: &Cluster) -> usize {
    cluster.count(|kind| matches!(kind, ActionKind::Terminate { .. }))
}

fn reads(cluster: &Cluster) -> usize {
    let is_read = |kind: &ActionKind| {
        matches!(
            kind,
            ActionKind::ConfirmDrained { .. }
                | ActionKind::ConfirmNodeGone { .. }
                | ActionKind::ConfirmOrphan { .. }
        )
    };
    cluster.count(is_read)
}

/// The watch of a kind goes on saying that it lives, and swallows what happens.
fn lie_about(cluster: &mut Cluster, kind: Kind) {
    cluster.deliver();
    cluster.silent.insert(kind);
    cluster.lies = true;
}

#[test]
fn a_node_with_a_pod_that_no_watch_told_of_is_not_drained() {
    let mut cluster = ready();
    lie_about(&mut cluster, Kind::Pod);
    cluster.store(Object::Pod(pod("untold", "node-one")));
    cluster.delete(&Key::Claim("one".into()));
    cluster.seconds(300);
    assert!(!cluster.claim("one").status.conditions.is_true("Drained"), "{:?}", cluster.log());
    assert_eq!(terminations(&cluster), 0);
    cluster.speak();
    cluster.seconds(60);
    assert_eq!(cluster.count(|kind| matches!(kind, ActionKind::EvictPod { .. })), 1);
    assert!(cluster.find_claim("one").is_none());
}

#[test]
fn the_end_of_a_node_takes_one_read() {
    let mut cluster = ready();
    cluster.store(Object::Pod(pod("a", "node-one")));
    cluster.settle();
    cluster.delete(&Key::Claim("one".into()));
    cluster.seconds(120);
    assert!(cluster.find_claim("one").is_none(), "{:?}", cluster.log());
    assert_eq!(reads(&cluster), 1, "{:?}", cluster.log());
}

#[test]
fn a_claim_whose_node_no_watch_told_of_is_not_ended_undrained() {
    let mut cluster = ready();
    cluster.store(Object::Pod(pod("a", "node-one")));
    cluster.settle();
    let node = cluster.objects[&Key::Node("node-one".into())].clone();
    cluster.crash();
    cluster.undelivered.retain(|event| match event {
        Event::Seen(object) => object.key() != node.key(),
        _ => true,
    });
    cluster.delete(&Key::Claim("one".into()));
    cluster.seconds(120);
    assert!(cluster.find_claim("one").is_none(), "{:?}", cluster.log());
    let evictions = cluster.count(|kind| matches!(kind, ActionKind::EvictPod { .. }));
    assert_eq!(evictions, 1, "the answer told of the node, and it was drained");
}

#[test]
fn the_instance_of_a_claim_that_no_watch_told_of_is_no_orphan() {
    let mut cluster = ready();
    cluster.crash();
    cluster.undelivered.retain(|event| match event {
        Event::Seen(object) => !matches!(**object, Object::Claim(_)),
        _ => true,
    });
    cluster.seconds(1_200);
    assert_eq!(terminations(&cluster), 0, "{:?}", cluster.log());
    assert_eq!(reads(&cluster), 1, "the answer told of the claim");
}

#[test]
fn a_claim_that_a_list_left_out_after_its_launch_keeps_its_instance() {
    let mut cluster = Cluster::new();
    cluster.boots = false;
    cluster.store(Object::Pool(pool("pool")));
    cluster.store(Object::Claim(claim("one")));
    // The launch is known, and not yet stored.
    cluster.ignores = |kind| matches!(kind, ActionKind::WriteClaimStatus { .. });
    cluster.settle();
    assert_eq!(cluster.instances.len(), 1);
    let key = Key::Claim("one".into());
    let revision = cluster.objects[&key].meta().revision;
    cluster.undelivered.push_back(Event::Gone { key, revision });
    cluster.seconds(600);
    assert_eq!(terminations(&cluster), 0, "{:?}", cluster.log());
}

#[test]
fn a_node_that_only_looks_empty_is_not_given_up() {
    let mut cluster = Cluster::with_nodes(1, quick);
    let node = cluster.node().meta.name.clone();
    cluster.empty_nodes(1);
    cluster.settle();
    lie_about(&mut cluster, Kind::Pod);
    cluster.store(Object::Pod(pod("untold", &node)));
    cluster.seconds(300);
    let given_up = |kind: &ActionKind| matches!(kind, ActionKind::DeleteClaim { .. });
    assert!(reads(&cluster) > 0, "{:?}", cluster.log());
    assert_eq!(cluster.count(given_up), 0, "{:?}", cluster.log());
    cluster.speak();
    cluster.seconds(120);
    assert_eq!(cluster.count(given_up), 0, "it is not empty");
    assert!(cluster.closed_nodes().is_empty(), "and pods may come again");
}
