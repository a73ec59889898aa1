//! An engine that does not lead: it follows the cluster, stays as small as that, and repeats
//! nothing of what happened before once it leads.

#![allow(clippy::unwrap_used)]

mod cluster;

use cluster::{Cluster, booting_node, claim, pod, waiting_pod};
use kerf_engine::action::ActionKind;
use kerf_engine::event::{Key, Object};
use kerf_engine::time::Span;

/// Between two calls of the engine at least.
const STEP: Span = Span::from_seconds(1);

/// A node, its claim and its pods come, become ready, and go, all under the eyes of a standby.
fn churn(cluster: &mut Cluster, round: usize) {
    let mut claim = claim("churning");
    claim.meta.uid = format!("claim-{round}").into();
    claim.meta.deleting_since = Some(cluster.now);
    let provider_id = "instance".into();
    let mut node = booting_node(&claim, &provider_id, cluster.now);
    node.meta.uid = format!("node-{round}").into();
    node.meta.deleting_since = Some(cluster.now);
    let mut pending = waiting_pod("pending", "1", cluster.now);
    pending.meta.uid = format!("pending-{round}").into();
    let mut bound = pod("pending", "node");
    bound.meta.uid = pending.meta.uid.clone();
    bound.is_ready = true;
    let objects =
        [Object::Claim(claim), Object::Node(node), Object::Pod(pending), Object::Pod(bound)];
    let keys: Vec<Key> = objects.iter().map(Object::key).collect();
    for object in objects {
        cluster.store(object);
    }
    keys.iter().for_each(|key| cluster.remove(key));
    cluster.now = cluster.now + STEP;
    cluster.deliver();
    let settled = cluster.engine.stand_by(cluster.now);
    cluster.settled.extend(settled);
}

/// How large everything is that a standby keeps.
fn size(cluster: &Cluster) -> usize {
    serde_json::to_string(&cluster.engine).unwrap().len()
}

#[test]
fn a_standby_stays_small_and_repeats_no_event_and_no_sample_when_it_leads() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.settle();
    (cluster.kubernetes_events, cluster.samples) = Default::default();
    (0..100).for_each(|round| churn(&mut cluster, round));
    let small = size(&cluster);
    (100..4_000).for_each(|round| churn(&mut cluster, round));
    assert!(size(&cluster) < small + 1_000, "{small} bytes became {}", size(&cluster));
    let actions = cluster.decide();
    assert!(cluster.kubernetes_events.is_empty(), "{:?}", cluster.kubernetes_events);
    let old = ["karpenter_nodes_terminated_total", "karpenter_nodeclaims_terminated_total"];
    for metric in old {
        assert_eq!(cluster.counted(metric, ""), 0, "{metric}");
    }
    assert_eq!(cluster.counted("operator_status_condition_transitions_total", ""), 0);
    assert!(actions.iter().all(|action| !matches!(action.kind, ActionKind::Solve(_))));
}

#[test]
fn a_standby_that_takes_over_places_the_pods_that_wait() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.settle();
    cluster.pend("a", "1");
    cluster.deliver();
    cluster.engine.stand_by(cluster.now);
    cluster.seconds(5);
    assert!(cluster.target_of("a").is_some(), "nobody looked at the pod");
}

#[test]
fn a_standby_that_takes_over_goes_on_with_claims_and_nodes_that_go() {
    let mut cluster = Cluster::with_nodes(1, |_| {});
    let name = cluster.claims()[0].meta.name.clone();
    cluster.crash();
    cluster.deliver();
    cluster.engine.stand_by(cluster.now);
    cluster.delete(&Key::Claim(name));
    cluster.deliver();
    cluster.engine.stand_by(cluster.now);
    cluster.seconds(120);
    assert!(cluster.claims().is_empty() && cluster.nodes().is_empty());
    assert!(cluster.instances.is_empty());
}
