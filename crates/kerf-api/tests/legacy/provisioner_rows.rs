//! Every row of the table from Provisioner to NodePool.

use kerf_api::legacy::{Options, convert};
use serde_json::{Value, json};

use super::manifest::{
    assert_refused, pool_of, provisioner, provisioner_named, template, with_role, yaml,
};

#[test]
fn every_field_of_a_provisioner_lands_in_its_place() {
    let rows = [
        ("annotations: {a: b}", "/template/metadata", "annotations: {a: b}"),
        ("labels: {a: b}", "/template/metadata", "labels: {a: b}"),
        (
            "taints: [{key: a, effect: NoSchedule, value: ''}]",
            "/template/spec/taints",
            "[{key: a, effect: NoSchedule}]",
        ),
        (
            "startupTaints: [{key: a, effect: NoExecute, value: b}]",
            "/template/spec/startupTaints",
            "[{key: a, effect: NoExecute, value: b}]",
        ),
        (
            "requirements: [{key: beta.kubernetes.io/arch, operator: In, values: [arm64]}]",
            "/template/spec/requirements/0",
            "{key: kubernetes.io/arch, operator: In, values: [arm64]}",
        ),
        (
            "providerRef: {name: t}",
            "/template/spec/nodeClassRef",
            "{group: karpenter.k8s.aws, kind: EC2NodeClass, name: t}",
        ),
        (
            "limits: {resources: {cpu: '1000', memory: 1Ti}}",
            "/limits",
            "{cpu: '1000', memory: 1Ti}",
        ),
        ("weight: 7", "/weight", "7"),
        ("ttlSecondsUntilExpired: 2592000", "/template/spec/expireAfter", "720h0m0s"),
        ("ttlSecondsUntilExpired: 90", "/template/spec/expireAfter", "1m30s"),
        ("weight: 1", "/template/spec/expireAfter", "Never"),
        (
            "consolidation: {enabled: true}",
            "/disruption",
            "{consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 0s}",
        ),
        (
            "ttlSecondsAfterEmpty: 30",
            "/disruption",
            "{consolidationPolicy: WhenEmpty, consolidateAfter: 30s}",
        ),
        (
            "{ttlSecondsAfterEmpty: 0, consolidation: {enabled: false}}",
            "/disruption",
            "{consolidationPolicy: WhenEmpty, consolidateAfter: 0s}",
        ),
        (
            "consolidation: {enabled: false}",
            "/disruption",
            "{consolidationPolicy: WhenEmpty, consolidateAfter: Never}",
        ),
        ("weight: 1", "/disruption", "{consolidationPolicy: WhenEmpty, consolidateAfter: Never}"),
    ];
    for (written, pointer, expected) in rows {
        let pool = pool_of(written);
        assert_eq!(pool.pointer(pointer), Some(&yaml(expected)), "{written} at {pointer}");
    }
}

#[test]
fn nothing_else_is_written_into_the_pool() {
    let pool = pool_of("{}");
    let keys =
        |value: &Value| value.as_object().expect("a map").keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&pool), ["disruption", "template"]);
    assert_eq!(keys(&pool["template"]), ["spec"]);
    assert_eq!(keys(&pool["template"]["spec"]), ["expireAfter", "nodeClassRef", "requirements"]);
}

#[test]
fn strict_conversion_writes_a_budget_that_bounds_nothing() {
    let options = Options { strict_budgets: true, ..with_role() };
    let converted = convert(&[provisioner("{}")], &[template("{}")], &options);
    let pool = serde_json::to_value(&converted.node_pools[0]).expect("a NodePool encodes");
    assert_eq!(pool["spec"]["disruption"]["budgets"], json!([{ "nodes": "100%" }]));
}

#[test]
fn metadata_carries_over_except_what_describes_the_old_object() {
    let mut old = provisioner("{}");
    old.metadata = serde_json::from_value(json!({
        "name": "p",
        "labels": { "a": "b" },
        "annotations": {
            "c": "d",
            "karpenter.sh/provisioner-hash": "123",
            "kubectl.kubernetes.io/last-applied-configuration": "{}",
        },
        "finalizers": ["example.com/f"],
        "uid": "1-2-3",
        "resourceVersion": "4",
        "generation": 5,
        "ownerReferences": [{ "apiVersion": "v1", "kind": "A", "name": "a", "uid": "6" }],
    }))
    .expect("metadata decodes");
    let converted = convert(&[old], &[template("{}")], &with_role());
    let pool = serde_json::to_value(&converted.node_pools[0]).expect("a NodePool encodes");
    let expected = json!({
        "name": "p",
        "labels": { "a": "b" },
        "annotations": { "c": "d" },
        "finalizers": ["example.com/f"],
    });
    assert_eq!(pool["metadata"], expected);
}

#[test]
fn a_node_annotation_of_that_era_gets_its_new_name_and_a_warning() {
    let old = provisioner("annotations: {karpenter.sh/do-not-consolidate: 'true'}");
    let converted = convert(&[old], &[template("{}")], &with_role());
    let pool = serde_json::to_value(&converted.node_pools[0]).expect("a NodePool encodes");
    let expected = json!({ "karpenter.sh/do-not-disrupt": "true" });
    assert_eq!(pool["spec"]["template"]["metadata"]["annotations"], expected);
    let fields: Vec<_> = converted.problems.iter().map(|it| it.field.as_str()).collect();
    assert!(fields.contains(&"spec.annotations[\"karpenter.sh/do-not-consolidate\"]"));
}

#[test]
fn what_a_node_pool_cannot_say_is_refused() {
    let rows = [
        ("taints: [{key: a, effect: ''}]", "spec.taints[0].effect", "needs an effect"),
        (
            "labels: {karpenter.k8s.aws/instance-pods: '10'}",
            "spec.labels[\"karpenter.k8s.aws/instance-pods\"]",
            "no successor",
        ),
        (
            "requirements: [{key: karpenter.k8s.aws/instance-ami-id, operator: Exists}]",
            "spec.requirements[0].key",
            "no successor",
        ),
        ("ttlSecondsUntilExpired: 9223372037", "spec.ttlSecondsUntilExpired", "292 years"),
        ("ttlSecondsAfterEmpty: 9223372037", "spec.ttlSecondsAfterEmpty", "292 years"),
    ];
    for (written, field, words) in rows {
        let converted = convert(&[provisioner(written)], &[template("{}")], &with_role());
        assert_refused(&converted, field, words);
        assert!(converted.node_pools.is_empty(), "{written}");
        assert_eq!(converted.node_classes.len(), 1, "the template is not to blame: {written}");
    }
}

#[test]
fn a_refused_provisioner_does_not_keep_others_from_being_converted() {
    let bad = provisioner_named("bad", "weight: 0");
    let good = provisioner_named("good", "weight: 1");
    let converted = convert(&[bad, good], &[template("{}")], &with_role());
    let names: Vec<_> = converted.node_pools.iter().map(|it| it.metadata.name.as_deref()).collect();
    assert_eq!(names, [Some("good")]);
    assert_refused(&converted, "spec.weight", "from 1 to 100");
}

#[test]
fn a_name_given_twice_is_converted_once() {
    let twice = [provisioner("weight: 1"), provisioner("weight: 2")];
    let converted = convert(&twice, &[template("{}"), template("{}")], &with_role());
    assert_eq!(converted.node_pools.len(), 1);
    assert_eq!(converted.node_pools[0].spec.weight, Some(1));
    assert_eq!(converted.node_classes.len(), 1);
    let fields: Vec<_> =
        converted.problems.iter().filter(|it| it.is_error()).map(|it| &it.field).collect();
    assert_eq!(fields, ["metadata.name", "metadata.name"]);
}
