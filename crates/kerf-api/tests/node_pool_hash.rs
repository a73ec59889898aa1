//! The NodePool hash is bit for bit the public one.

use kerf_api::node_pool::Template;
use kerf_api::node_pool_hash;
use serde::Deserialize;

#[derive(Deserialize)]
struct Recording {
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    template: serde_json::Value,
    hash: String,
}

fn recording() -> Recording {
    let root = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it for tests");
    let path = format!("{root}/../../golden/recorded/nodepool_hash.json");
    let text = std::fs::read_to_string(path).expect("the recording is in the tree");
    serde_json::from_str(&text).expect("the recording is JSON")
}

#[test]
fn every_recorded_template_has_the_recorded_hash() {
    let (mut compared, mut refused) = (0, 0);
    for row in recording().rows {
        // The recording also holds templates without the fields the schema requires. An API server
        // never stores those, and they do not become a `Template`.
        match serde_json::from_value::<Template>(row.template) {
            Err(_) => refused += 1,
            Ok(template) => {
                assert_eq!(node_pool_hash(&template), row.hash, "{template:?}");
                compared += 1;
            }
        }
    }
    assert!(compared >= 228 && refused <= 15, "{compared} compared, {refused} refused");
}

/// The vectors of the specification, apart from any recording.
#[test]
fn the_published_vectors_hold() {
    let kwok =
        r#""nodeClassRef":{"kind":"KWOKNodeClass","name":"default","group":"karpenter.kwok.sh"}"#;
    let ec2 =
        r#""nodeClassRef":{"kind":"EC2NodeClass","name":"default","group":"karpenter.k8s.aws"}"#;
    let never = format!(r#"{{"spec":{{{kwok},"requirements":[],"expireAfter":"Never"}}}}"#);
    let month = |more: &str, metadata: &str, class: &str| {
        format!(r#"{{{metadata}"spec":{{{class},"requirements":[],"expireAfter":"720h"{more}}}}}"#)
    };
    let full = r#"{
        "metadata": {
            "labels": {"keyLabel": "valueLabel", "keyLabel2": "valueLabel2"},
            "annotations": {"keyAnnotation": "valueAnnotation", "keyAnnotation2": "valueAnnotation2"}
        },
        "spec": {
            "nodeClassRef": {"kind": "TestNodeClass", "name": "default", "group": "karpenter.test.sh"},
            "requirements": [],
            "taints": [{"key": "keyvalue1", "effect": "NoExecute"}],
            "startupTaints": [{"key": "startupkeyvalue1", "effect": "NoExecute"}],
            "terminationGracePeriod": "5m",
            "expireAfter": "5m"
        }
    }"#;
    let taints = r#","taints":[{"key":"a","value":"1","effect":"NoSchedule"},{"key":"b","effect":"NoExecute"}]"#;
    let vectors = [
        (never, "7428780003907761376"),
        (month("", "", kwok), "12745407319442031341"),
        (month("", "", ec2), "6821555240594823858"),
        (month("", r#""metadata":{"labels":{"team":"a"}},"#, kwok), "10172464548043488983"),
        (month("", r#""metadata":{"labels":{}},"#, kwok), "5327702334917744615"),
        (month(r#","taints":[]"#, "", kwok), "845502862369909111"),
        (month(r#","terminationGracePeriod":"0s""#, "", kwok), "16848824146983765585"),
        (month(taints, "", kwok), "18445414455740185427"),
        (full.to_owned(), "10188347701192299315"),
    ];
    for (template, hash) in vectors {
        let parsed: Template = serde_json::from_str(&template).expect("a template");
        assert_eq!(node_pool_hash(&parsed), hash, "{template}");
    }
}

#[test]
fn requirements_do_not_enter_the_hash() {
    let with = |requirements: &str| -> Template {
        serde_json::from_str(&format!(
            r#"{{"spec":{{"nodeClassRef":{{"group":"g","kind":"K","name":"n"}},"requirements":{requirements}}}}}"#
        ))
        .expect("a template")
    };
    let one = r#"[{"key":"a","operator":"Exists"}]"#;
    assert_eq!(node_pool_hash(&with("[]")), node_pool_hash(&with(one)));
}
