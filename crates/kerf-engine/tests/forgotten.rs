//! What is about objects that are gone is forgotten, answered or not.

#![allow(clippy::unwrap_used)]

mod cluster;

use cluster::{Cluster, claim, pod, pod_key, pool};
use kerf_engine::action::ActionKind;
use kerf_engine::event::{Event, Failure, Key, Object, Outcome};
use serde_json::Value;

/// A node whose pods are asked to leave.
fn draining(pods: usize) -> Cluster {
    let mut cluster = Cluster::new();
    cluster.store(Object::Pool(pool("pool")));
    cluster.store(Object::Claim(claim("one")));
    cluster.seconds(30);
    for number in 0..pods {
        cluster.store(Object::Pod(pod(&format!("pod-{number}"), "node-one")));
    }
    cluster.settle();
    cluster.delete(&Key::Claim("one".into()));
    cluster
}

fn let_pods_go(cluster: &mut Cluster, pods: usize) {
    for number in 0..pods {
        cluster.remove(&Key::Pod(pod_key(&format!("pod-{number}"))));
    }
}

/// What the engine keeps in one of its lists about pods and nodes.
fn kept(cluster: &Cluster, place: [&str; 2]) -> Vec<Value> {
    let engine = serde_json::to_value(&cluster.engine).unwrap();
    let list = place.iter().fold(&engine, |value, name| &value[name]);
    let list: Vec<Value> = match list {
        Value::Array(entries) => entries.clone(),
        Value::Object(entries) => entries.values().cloned().collect(),
        _ => panic!("no list at {place:?}"),
    };
    let names = ["pod-", "node-one"];
    list.into_iter().filter(|it| names.iter().any(|name| it.to_string().contains(name))).collect()
}

#[test]
fn waits_about_pods_and_nodes_end_with_them() {
    let mut cluster = draining(50);
    for number in 0..50 {
        cluster.unevictable.insert(format!("pod-{number}"));
    }
    cluster.seconds(20);
    assert_eq!(kept(&cluster, ["gate", "waiting"]).len(), 50, "each eviction was refused");
    let_pods_go(&mut cluster, 50);
    cluster.seconds(60);
    assert!(cluster.nodes().is_empty(), "{:?}", cluster.log());
    assert_eq!(kept(&cluster, ["gate", "waiting"]), Vec::<Value>::new());
}

#[test]
fn an_answer_about_a_pod_that_is_gone_is_not_waited_on_for_good() {
    let mut cluster = draining(1);
    cluster.ignores = |kind| matches!(kind, ActionKind::EvictPod { .. });
    cluster.seconds(5);
    let evicted = |kind: &ActionKind| matches!(kind, ActionKind::EvictPod { .. });
    let asked = cluster.actions.iter().find(|(_, action)| evicted(&action.kind)).unwrap().1.id;
    let_pods_go(&mut cluster, 1);
    cluster.settle();
    let message = "too late".to_owned();
    let outcome = Outcome::Failed(Failure::Unavailable { message });
    cluster.engine.handle(Event::Finished { action: asked, outcome }, cluster.now);
    assert_eq!(kept(&cluster, ["gate", "waiting"]).len(), 1);
    cluster.seconds(1_200);
    assert_eq!(kept(&cluster, ["gate", "waiting"]), Vec::<Value>::new());
}

#[test]
fn actions_that_are_never_answered_are_forgotten() {
    let mut cluster = draining(50);
    cluster.ignores = |kind| matches!(kind, ActionKind::EvictPod { .. });
    cluster.seconds(5);
    let_pods_go(&mut cluster, 50);
    cluster.seconds(60);
    let under_way = |cluster: &Cluster| {
        let engine = serde_json::to_value(&cluster.engine).unwrap();
        let own = engine["under_way"].to_string().matches("EvictPod").count();
        (own, kept(cluster, ["gate", "under_way"]).len())
    };
    assert_eq!(under_way(&cluster), (50, 50), "an answer may still come");
    cluster.seconds(7_200);
    assert_eq!(under_way(&cluster), (0, 0));
}
