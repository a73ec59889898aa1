//! Which pods are Kerf's to place.

mod printed;

use NotProvisionable::{Bound, Ended, Gated, Nominated, NotJudged, OfDaemonSet, OfNode};
use k8s_openapi::api::core::v1::Pod;
use kerf_kube::{NotProvisionable, provisionable};

/// Metadata, spec and status of a pod, and the verdict.
const PODS: &[(&str, &str, &str, Result<(), NotProvisionable>)] = &[
    ("", "", JUDGED, Ok(())),
    ("deletionTimestamp: '2026-01-01T00:00:00Z'", "schedulerName: x", JUDGED, Ok(())),
    ("", "", "", Err(NotJudged)),
    ("", "", "conditions: [{type: PodScheduled, status: 'True'}]", Err(NotJudged)),
    ("", "", "conditions: [{type: Ready, status: 'False', reason: Unschedulable}]", Err(NotJudged)),
    ("", "schedulingGates: [{name: g}]", "", Err(Gated)),
    ("", "schedulingGates: []", JUDGED, Ok(())),
    ("", "nodeName: n1", JUDGED, Err(Bound)),
    ("", "nodeName: ''", JUDGED, Ok(())),
    ("", "", "phase: Failed", Err(Ended)),
    ("", "", "nominatedNodeName: n1", Err(Nominated)),
    (
        "ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: a, uid: u}]",
        "",
        JUDGED,
        Err(OfDaemonSet),
    ),
    (
        "ownerReferences: [{apiVersion: example.com/v1, kind: DaemonSet, name: a, uid: u}]",
        "",
        JUDGED,
        Ok(()),
    ),
    ("ownerReferences: [{apiVersion: v1, kind: Node, name: a, uid: u}]", "", JUDGED, Err(OfNode)),
];

const JUDGED: &str = "conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]";

#[test]
fn a_pod_is_provisionable_when_it_waits_for_a_node_of_its_own() {
    for (metadata, spec, status, verdict) in PODS {
        let manifest = format!(
            "metadata: {{name: a, {metadata}}}\nspec: {{containers: [], {spec}}}\nstatus: \
             {{{status}}}"
        );
        let pod: Pod = printed::yaml(&manifest);
        assert_eq!(provisionable(&pod), *verdict, "{manifest}");
    }
}
