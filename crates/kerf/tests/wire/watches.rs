//! Watches that break.

use std::time::Instant;

use k8s_openapi::api::core::v1::Pod;
use kerf_testbed::{ApiCall, ApiFault, ApiRule, Calls};
use kube::ResourceExt;
use serde_json::{Value, json};

use crate::cluster::{Cluster, SOON};
use crate::controller::Controller;
use crate::objects::{alone, budget, pool, shrinking_pool, together};

/// `KERF_PODS=5000` is the large run.
fn pod_count() -> u32 {
    std::env::var("KERF_PODS").map_or(300, |count| count.parse().unwrap())
}

#[test]
fn a_history_that_the_server_has_forgotten_is_read_anew_and_nothing_is_taken_for_gone() {
    let pods = pod_count();
    let cluster = Cluster::with(&[
        shrinking_pool("many", 10),
        together("many", pods),
        shrinking_pool("few", 10),
        alone("few", 3),
    ]);
    let proxy = cluster.proxy();
    let _controller = Controller::start(proxy.kubeconfig());
    let at_most = SOON * (1 + pods / 500);
    cluster.wait_for(at_most, "all pods run", || cluster.unrest("many", pods as usize));
    cluster.wait_for(at_most, "all pods run", || cluster.unrest("few", 3));
    let (many, few) = (cluster.ledger.made("many"), cluster.ledger.made("few"));

    // Pods come and go while nobody may look; then every watch starts from nothing.
    proxy.set_rules(vec![ApiRule::each(Calls::Watches, ApiFault::code(410))]);
    cluster.scale("few", 5);
    cluster.wait("the pods wait", || cluster.pods("few").len() == 5);
    proxy.set_rules(vec![]);
    cluster.wait_for(at_most, "the new pods run", || cluster.unrest("few", 5));
    cluster.wait_for(at_most, "the others still do", || cluster.unrest("many", pods as usize));
    assert_eq!(cluster.ledger.made("few"), few + 2, "a node for each pod that is new");
    assert_eq!(cluster.ledger.made("many"), many);
    assert_eq!((cluster.ledger.going_most("many"), cluster.ledger.going_most("few")), (0, 0));
    let evictions = proxy.writes().iter().filter(|call| call.path.ends_with("/eviction")).count();
    assert_eq!(evictions, 0);
}

/// A pool whose nodes go once they have been empty for a while.
fn patient_pool(name: &str) -> Value {
    let disruption = json!({"consolidationPolicy": "WhenEmpty", "consolidateAfter": "20s",
        "budgets": [{"nodes": "100%"}]});
    pool(name, disruption, json!({}))
}

#[test]
fn a_node_that_only_looks_empty_because_the_pod_watch_is_silent_does_not_end_under_its_pods() {
    let mut never = budget("quiet");
    never["spec"]["maxUnavailable"] = json!(0);
    let cluster = Cluster::with(&[patient_pool("quiet"), alone("quiet", 1), never]);
    let proxy = cluster.proxy();
    let controller = Controller::start(proxy.kubeconfig());
    cluster.wait_for(SOON, "its pod runs", || cluster.unrest("quiet", 1));
    let node = cluster.nodes("quiet")[0].name_any();

    // The controller hears that the node is empty, and nothing of pods after that.
    let moment = Instant::now();
    cluster.scale("quiet", 0);
    cluster.wait("the controller has heard", || {
        let writes = proxy.writes();
        let is_new = |call: &ApiCall| call.at > moment && call.resource == "nodeclaims";
        cluster.pods("quiet").is_empty() && writes.iter().any(is_new)
    });
    proxy.set_rules(vec![ApiRule::each(Calls::Watches, ApiFault::Silence).of("pods")]);
    cluster.scale("quiet", 1);
    let runs_there = || {
        let pods = cluster.pods("quiet");
        let nodes = cluster.nodes("quiet");
        let is_there = |pod: &Pod| pod.spec.as_ref().unwrap().node_name.as_ref() == Some(&node);
        cluster.ready("quiet") == 1
            && pods.iter().all(is_there)
            && nodes.iter().any(|it| it.name_any() == node)
    };
    cluster.wait("a pod runs there that the controller has not heard of", runs_there);
    cluster.wait("the controller says what it does not hear", || {
        assert!(runs_there(), "the node ended under its pod");
        controller.answers("/readyz", "pods") && controller.answers("/readyz", "503")
    });
    assert!(controller.answers("/healthz", "200 OK"), "a new start would not help");

    proxy.set_rules(vec![]);
    cluster.control_plane.kubectl(&["delete", "poddisruptionbudget", "quiet"]).unwrap();
    cluster.wait("it hears again", || controller.answers("/readyz", "200 OK"));
    cluster.wait_for(SOON, "the pod runs, there or elsewhere", || cluster.unrest("quiet", 1));
    assert_eq!(cluster.ledger.launched_twice(), [""; 0]);
}
