//! KWOKNodeClass: ready from the start, and nothing has to be said.

use kerf_api::crds;
use kerf_api::kwok_node_class::{KWOKNodeClass, KWOKNodeClassStatus};
use serde_json::{Value, json};

fn definition() -> Value {
    let crds = crds();
    let crd = crds.iter().find(|crd| crd.spec.names.kind == "KWOKNodeClass").expect("served");
    serde_json::to_value(crd).expect("a definition is plain data")
}

fn schema(definition: &Value) -> &Value {
    &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
}

#[test]
fn the_names_and_subresource_are_those_of_the_public_api() {
    let definition = definition();
    let spec = &definition["spec"];
    assert_eq!(definition["metadata"]["name"], "kwoknodeclasses.karpenter.kwok.sh");
    assert_eq!(spec["scope"], "Cluster");
    assert_eq!(spec["names"]["shortNames"], json!(["kwoknc", "kwokncs"]));
    assert_eq!(spec["names"]["categories"], json!(["karpenter"]));
    assert_eq!(spec["versions"][0]["name"], "v1alpha1");
    assert_eq!(spec["versions"][0]["subresources"], json!({ "status": {} }));
}

#[test]
fn the_registration_delay_has_the_form_of_every_other_duration() {
    let definition = definition();
    let delay = &schema(&definition)["spec"]["properties"]["nodeRegistrationDelay"];
    assert_eq!(delay["type"], "string");
    assert_eq!(delay["pattern"], "^([0-9]+(s|m|h))+$");
}

#[test]
fn a_class_without_a_spec_gets_an_empty_one() {
    let definition = definition();
    assert_eq!(schema(&definition)["spec"]["default"], json!({}));
    let whole = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    assert_eq!(whole["required"], Value::Null);
}

#[test]
fn a_class_without_a_status_is_ready_by_default() {
    let definition = definition();
    let status = &schema(&definition)["status"];
    assert_eq!(status["default"]["conditions"], status["properties"]["conditions"]["default"]);
    let read: KWOKNodeClassStatus =
        serde_json::from_value(status["default"].clone()).expect("the default is itself valid");
    let conditions = read.conditions.expect("conditions are given");
    assert_eq!(conditions.len(), 1);
    assert_eq!((conditions[0].type_.as_str(), conditions[0].status.as_str()), ("Ready", "True"));
}

#[test]
fn the_default_condition_has_every_field_the_schema_requires() {
    let definition = definition();
    let conditions = &schema(&definition)["status"]["properties"]["conditions"];
    let required = conditions["items"]["required"].as_array().expect("a list");
    assert!(!required.is_empty());
    for field in required {
        let field = field.as_str().expect("a name");
        assert!(conditions["default"][0][field].is_string(), "{field} is missing");
    }
}

#[test]
fn a_class_comes_back_as_it_went_in() {
    let class = json!({
        "apiVersion": "karpenter.kwok.sh/v1alpha1",
        "kind": "KWOKNodeClass",
        "metadata": { "name": "default" },
        "spec": { "nodeRegistrationDelay": "10s" },
        "status": { "conditions": [{
            "lastTransitionTime": "2030-01-01T00:00:00Z",
            "message": "",
            "reason": "Ready",
            "status": "True",
            "type": "Ready",
        }] },
    });
    let read: KWOKNodeClass = serde_json::from_value(class.clone()).expect("a valid class");
    assert_eq!(serde_json::to_value(&read).expect("plain data"), class);
}
