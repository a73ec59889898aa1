//! Instances that never become nodes.

use serde_json::json;

use crate::cluster::{Cluster, names};
use crate::manifest::{pod, pool};

#[test]
fn a_claim_whose_machine_never_joins_is_given_up_and_its_pods_are_served_by_another() {
    let cluster = Cluster::of("never-joins");
    let class = |delay: &str| {
        json!({
            "apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass",
            "metadata": { "name": "slow" }, "spec": { "nodeRegistrationDelay": delay },
        })
    };
    let slow = json!({ "template": { "spec": { "nodeClassRef": { "name": "slow" } } } });
    cluster.apply(&[
        class("1h"),
        pool(cluster.name, slow),
        pod(cluster.name, "patient", json!({})),
    ]);
    cluster.wait("a claim is launched", || {
        cluster
            .claims()
            .iter()
            .any(|claim| claim.status.as_ref().is_some_and(|status| status.provider_id.is_some()))
    });
    let first = names(&cluster.claims());
    assert_eq!(first.len(), 1);
    cluster.apply(&[class("0s")]);
    cluster.wait("the pod is ready", || cluster.ready_pods() == 1);
    let now = names(&cluster.claims());
    assert!(!now.contains(&first[0]), "{first:?} was given up: {now:?}");
    let metrics = cluster.controller.metrics();
    let counted = metrics.lines().any(|line| {
        line.starts_with("karpenter_nodeclaims_disrupted_total")
            && line.contains(r#"nodepool="never-joins""#)
            && line.contains(r#"reason="registration_timeout""#)
    });
    assert!(counted, "{metrics}");
}
