//! Pods that wait get places: gathered, solved once, checked again, nominated.

#![allow(clippy::unwrap_used)]

mod cluster;

use cluster::objects::{booting_node, claim};
use cluster::{Cluster, allowed, amounts};
use kerf_engine::action::ActionKind;
use kerf_engine::event::Object;
use kerf_engine::time::Time;
use kerf_model::labels::annotation::{MIN_VALUES_RELAXED, NODE_POOL_HASH, NODE_POOL_HASH_VERSION};
use kerf_model::labels::well_known::{CAPACITY_TYPE, INSTANCE_TYPE, NODE_POOL};

#[test]
fn a_waiting_pod_gets_a_claim_with_everything_the_public_api_promises() {
    let mut cluster = Cluster::with_pool(|pool| {
        pool.template.labels.insert("team".to_owned(), "search".to_owned());
        pool.template.annotations.insert("example.com/note".to_owned(), "kept".to_owned());
    });
    cluster.pend("web", "3");
    cluster.seconds(2);
    let claims = cluster.ordered_claims();
    assert_eq!(claims.len(), 1, "{:?}", cluster.log());
    let spec = &claims[0].spec;
    assert!(spec.name.starts_with("pool-") && spec.name.len() == 10, "{}", spec.name);
    let label = |key: &str| spec.labels.get(key).map(String::as_str);
    assert_eq!(label(NODE_POOL), Some("pool"));
    assert_eq!(label("karpenter.kwok.sh/kwoknodeclass"), Some("default"));
    assert_eq!(label("team"), Some("search"));
    let annotation = |key: &str| spec.annotations.get(key).map(String::as_str);
    assert_eq!(annotation(NODE_POOL_HASH), Some("4711"));
    assert_eq!(annotation(NODE_POOL_HASH_VERSION), Some("v3"));
    assert_eq!(annotation(MIN_VALUES_RELAXED), Some("false"));
    assert_eq!(annotation("example.com/note"), Some("kept"));
    assert_eq!(allowed(claims[0], INSTANCE_TYPE), ["m-4x", "m-8x"]);
    assert_eq!(allowed(claims[0], CAPACITY_TYPE), ["on-demand"]);
    assert_eq!(spec.requests.quantity("cpu").to_string(), "3");
    assert_eq!(claims[0].pool, ("pool".into(), "pool-uid".into()));
    assert_eq!(cluster.messages("Nominated").len(), 1);
}

#[test]
fn a_waiting_pod_ends_up_on_a_node_and_nothing_more_is_asked_for() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.pend("web", "1");
    cluster.seconds(30);
    cluster.bind();
    cluster.seconds(60);
    assert_eq!(cluster.claims().len(), 1);
    assert_eq!(cluster.solves().len(), 1, "{:?}", cluster.log());
    assert!(cluster.engine.world().memory.nominations.is_empty());
    assert!(cluster.engine.world().memory.waits.is_empty());
    assert_eq!(cluster.count(|kind| matches!(kind, ActionKind::DeleteClaim { .. })), 0);
}

#[test]
fn a_node_that_came_up_after_its_claim_was_gone_is_nobodys_place() {
    let mut cluster = Cluster::with_pool(|_| {});
    let mut late = booting_node(&claim("gone"), &"fake:///gone".into(), Time::default());
    let labels = [(NODE_POOL, "pool"), (INSTANCE_TYPE, "m-4x")];
    late.labels = labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    (late.is_ready, late.allocatable) = (true, amounts(4));
    cluster.store(Object::Node(late));
    cluster.settle();
    cluster.pend("web", "1");
    cluster.seconds(2);
    assert_eq!(cluster.ordered_claims().len(), 1, "{:?}", cluster.messages("Nominated"));
}
