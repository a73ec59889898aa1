//! An object that cannot be read is not absent.

#![allow(clippy::unwrap_used)]

mod cluster;

use cluster::{Cluster, claim, pod, pool};
use kerf_engine::action::ActionKind;
use kerf_engine::event::{Event, Key, Object};
use kerf_engine::observed::Revision;

fn ready() -> Cluster {
    let mut cluster = Cluster::new();
    cluster.store(Object::Pool(pool("pool")));
    cluster.store(Object::Claim(claim("one")));
    cluster.seconds(30);
    cluster.store(Object::Pod(pod("a", "node-one")));
    cluster.settle();
    cluster
}

/// A new process that can read everything but this object.
fn restart_without(cluster: &mut Cluster, key: &Key) -> Object {
    let object = cluster.objects.remove(key).unwrap();
    cluster.crash();
    let revision = object.meta().revision;
    cluster.undelivered.push_front(Event::Unreadable { key: key.clone(), revision });
    object
}

fn terminations(cluster: &Cluster) -> usize {
    cluster.count(|kind| matches!(kind, ActionKind::Terminate { .. }))
}

#[test]
fn the_instance_of_a_claim_that_cannot_be_read_is_no_orphan() {
    let mut cluster = ready();
    let key = Key::Claim("one".into());
    restart_without(&mut cluster, &key);
    cluster.seconds(1_200);
    assert_eq!(terminations(&cluster), 0, "{:?}", cluster.log());
    let said = cluster.kubernetes_events.iter().find(|event| event.reason == "Unreadable");
    assert_eq!(said.map(|event| &event.about), Some(&key), "it is said at the object");
    let revision = Revision(cluster.revision + 1);
    cluster.undelivered.push_back(Event::Gone { key, revision });
    cluster.seconds(1_200);
    assert!(terminations(&cluster) > 0, "once the claim is gone it is one");
}

#[test]
fn a_claim_whose_node_cannot_be_read_is_not_drained_until_it_can() {
    let mut cluster = ready();
    let key = Key::Node("node-one".into());
    let node = restart_without(&mut cluster, &key);
    cluster.settle();
    cluster.delete(&Key::Claim("one".into()));
    cluster.seconds(1_200);
    assert_eq!(terminations(&cluster), 0, "{:?}", cluster.log());
    assert!(cluster.has_said("NodeUnreadable"));
    cluster.store(node);
    cluster.seconds(120);
    assert!(cluster.find_claim("one").is_none(), "{:?}", cluster.log());
    assert_eq!(cluster.count(|kind| matches!(kind, ActionKind::EvictPod { .. })), 1);
}
