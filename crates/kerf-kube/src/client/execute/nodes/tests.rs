//! What a change makes of a node that others write to as well.

use kerf_engine::action::{CordonChange, FinalizerChange, NodePatch};
use kerf_engine::observed::Revision;
use kerf_model::taint::{disrupted, unregistered};
use serde_json::{Value, json};

use super::steps;

/// The node after the change, unless a condition does not hold. (That a field is still missing is a
/// condition that the API server can judge and this crate cannot; nodes without owners are in the
/// end-to-end tests.)
fn changed(seen: &Value, now: &Value, patch: &NodePatch) -> Option<Value> {
    let before = serde_json::from_value(seen.clone()).unwrap();
    let steps: json_patch::Patch =
        serde_json::from_value(Value::Array(steps(&before, "one", patch))).unwrap();
    let mut after = now.clone();
    json_patch::patch(&mut after, &steps).ok()?;
    Some(after)
}

fn node() -> Value {
    json!({
        "metadata": {
            "name": "n", "uid": "one", "labels": { "a/b": "1" }, "annotations": { "a": "b" },
            "finalizers": ["other"],
            "ownerReferences": [{ "apiVersion": "v1", "kind": "Rack", "name": "r", "uid": "r" }],
        },
        "spec": { "taints": [
            { "key": "karpenter.sh/unregistered", "effect": "NoExecute" },
            {
                "key": "node.kubernetes.io/not-ready", "effect": "NoExecute",
                "timeAdded": "2026-01-02T03:04:05Z",
            },
        ]},
    })
}

#[test]
fn what_others_wrote_stays() {
    let patch = NodePatch {
        labels: [("x.y/z~".to_owned(), "2".to_owned())].into(),
        annotations: [("k".to_owned(), "v".to_owned())].into(),
        finalizer: FinalizerChange::Add,
        taints_removed: vec![unregistered()],
        taints_added: vec![disrupted()],
        owner: Some(("claim".into(), "uid".into())),
        ..NodePatch::default()
    };
    let after = changed(&node(), &node(), &patch).unwrap();
    assert_eq!(after["metadata"]["labels"], json!({ "a/b": "1", "x.y/z~": "2" }));
    assert_eq!(after["metadata"]["annotations"], json!({ "a": "b", "k": "v" }));
    assert_eq!(after["metadata"]["finalizers"], json!(["other", "karpenter.sh/termination"]));
    let owners = after["metadata"]["ownerReferences"].as_array().unwrap();
    assert_eq!(owners.iter().map(|it| &it["kind"]).collect::<Vec<_>>(), ["Rack", "NodeClaim"]);
    let taints = after["spec"]["taints"].as_array().unwrap();
    assert_eq!(taints[0], node()["spec"]["taints"][1], "with the time it was added");
    assert_eq!(taints[1]["key"], "karpenter.sh/disrupted");
    assert_eq!(taints.len(), 2);
}

#[test]
fn a_change_depends_on_the_lists_it_replaces_and_on_nothing_else() {
    let patch = NodePatch { taints_removed: vec![unregistered()], ..NodePatch::default() };
    let mut later = node();
    later["metadata"]["labels"]["new"] = json!("label");
    later["metadata"]["finalizers"] = json!([]);
    assert!(changed(&node(), &later, &patch).is_some());
    later["spec"]["taints"] = json!([]);
    assert!(changed(&node(), &later, &patch).is_none(), "its taints have changed");
    let mut another = node();
    another["metadata"]["uid"] = json!("two");
    assert!(changed(&node(), &another, &patch).is_none(), "it is another node of the name");
}

#[test]
fn a_finalizer_goes_alone() {
    let mut guarded = node();
    guarded["metadata"]["finalizers"] = json!(["karpenter.sh/termination", "other"]);
    let patch = NodePatch { finalizer: FinalizerChange::Remove, ..NodePatch::default() };
    let after = changed(&guarded, &guarded, &patch).unwrap();
    assert_eq!(after["metadata"]["finalizers"], json!(["other"]));
    assert_eq!(after["spec"], guarded["spec"]);
}

#[test]
fn a_node_is_cordoned_once_and_keeps_its_taints() {
    let patch = NodePatch { cordon: CordonChange::Cordon, ..NodePatch::default() };
    let once = changed(&node(), &node(), &patch).unwrap();
    assert_eq!(once["spec"]["unschedulable"], json!(true));
    assert_eq!(once["spec"]["taints"], node()["spec"]["taints"]);
    assert_eq!(changed(&once, &once, &patch), Some(once.clone()));
}

#[test]
fn what_was_set_goes_again_and_a_node_is_uncordoned() {
    let key = "zonal-autoshift.eks.amazonaws.com/protected".to_owned();
    let mut protected = node();
    protected["metadata"]["annotations"][&key] = json!("cordon");
    protected["metadata"]["labels"]["example.com/a"] = json!("b");
    protected["spec"]["unschedulable"] = json!(true);
    let patch = NodePatch {
        annotations_removed: [key, "never-there".to_owned()].into(),
        labels_removed: ["example.com/a".to_owned(), "never-there".to_owned()].into(),
        cordon: CordonChange::Uncordon,
        ..NodePatch::default()
    };
    let after = changed(&protected, &protected, &patch).unwrap();
    assert_eq!(after, node());
    assert_eq!(changed(&node(), &node(), &patch), Some(node()), "nothing is left to do");
}

#[test]
fn a_change_decided_on_one_state_holds_for_no_other() {
    let mut seen = node();
    seen["metadata"]["resourceVersion"] = json!("7");
    let patch = NodePatch {
        annotations: [("k".to_owned(), "v".to_owned())].into(),
        revision: Some(Revision(7)),
        ..NodePatch::default()
    };
    assert!(changed(&seen, &seen, &patch).is_some());
    let mut later = seen.clone();
    later["metadata"]["resourceVersion"] = json!("8");
    assert!(changed(&seen, &later, &patch).is_none());
}
