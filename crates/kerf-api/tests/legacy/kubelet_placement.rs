//! Kubelet settings move from Provisioners to classes, of which there may then be more.

use kerf_api::legacy::{AWSNodeTemplate, Converted, Provisioner, convert};
use serde_json::{Value, json};

use super::manifest::{assert_refused, provisioner_named, template, template_named, with_role};

/// Class of each pool, and kubelet settings of each class.
fn placed(converted: &Converted) -> (Vec<&str>, Vec<(&str, Value)>) {
    let pools = &converted.node_pools;
    let of_pools = pools.iter().map(|it| it.spec.template.spec.node_class_ref.name.as_str());
    let of_classes = converted.node_classes.iter().map(|class| {
        let kubelet = serde_json::to_value(&class.spec.kubelet).expect("settings encode");
        (class.metadata.name.as_deref().unwrap_or_default(), kubelet)
    });
    (of_pools.collect(), of_classes.collect())
}

fn converted(provisioners: &[Provisioner], templates: &[AWSNodeTemplate]) -> Converted {
    let converted = convert(provisioners, templates, &with_role());
    assert!(converted.is_complete(), "{:?}", converted.problems);
    converted
}

const TEN: &str = "kubeletConfiguration: {maxPods: 10}";
const TWENTY: &str = "kubeletConfiguration: {maxPods: 20}";

#[test]
fn equal_settings_share_the_templates_class() {
    let both = [provisioner_named("a", TEN), provisioner_named("b", TEN)];
    let converted = converted(&both, &[template("{}")]);
    assert_eq!(placed(&converted), (vec!["t", "t"], vec![("t", json!({ "maxPods": 10 }))]));
}

#[test]
fn settings_that_say_nothing_are_no_settings() {
    let rows =
        ["{}", "kubeletConfiguration: {}", "kubeletConfiguration: {containerRuntime: containerd}"];
    let all: Vec<_> =
        rows.iter().enumerate().map(|(n, it)| provisioner_named(&format!("p{n}"), it)).collect();
    let converted = converted(&all, &[template("{}")]);
    assert_eq!(placed(&converted), (vec!["t"; 3], vec![("t", Value::Null)]));
}

#[test]
fn each_other_setting_gets_a_class_named_after_its_first_provisioner() {
    let all = [
        provisioner_named("a", TEN),
        provisioner_named("b", "{}"),
        provisioner_named("c", TWENTY),
        provisioner_named("d", TEN),
        provisioner_named("e", TWENTY),
    ];
    let converted = converted(&all, &[template("{}"), template_named("unused", "{}")]);
    let (pools, classes) = placed(&converted);
    assert_eq!(pools, ["t", "t-b", "t-c", "t", "t-c"]);
    let expected = [
        ("t", json!({ "maxPods": 10 })),
        ("unused", Value::Null),
        ("t-b", Value::Null),
        ("t-c", json!({ "maxPods": 20 })),
    ];
    assert_eq!(classes, expected);
}

#[test]
fn a_provisioner_added_later_does_not_rename_the_class_in_use() {
    let created = |name, spec, day: u8| {
        let mut provisioner = provisioner_named(name, spec);
        let metadata =
            json!({ "name": name, "creationTimestamp": format!("2023-01-{day:02}T00:00:00Z") });
        provisioner.metadata = serde_json::from_value(metadata).expect("metadata decodes");
        provisioner
    };
    let old = created("z", TEN, 1);
    let new = created("a", TWENTY, 2);
    let converted = converted(&[new, old], &[template("{}")]);
    assert_eq!(placed(&converted).0, ["t-a", "t"]);
}

#[test]
fn every_setting_moves_and_reserved_amounts_become_texts() {
    let all = "kubeletConfiguration:
        clusterDNS: [10.0.0.1]
        containerRuntime: containerd
        systemReserved: {cpu: 1, memory: 100Mi}
        kubeReserved: {pid: 10}
        evictionHard: {memory.available: 5%}
        evictionSoft: {memory.available: 10%}
        evictionSoftGracePeriod: {memory.available: 1m0s}
        evictionMaxPodGracePeriod: 60
        imageGCHighThresholdPercent: 85
        imageGCLowThresholdPercent: 80
        cpuCFSQuota: false
        maxPods: 20
        podsPerCore: 2";
    let converted = converted(&[provisioner_named("a", all)], &[template("{}")]);
    let expected = json!({
        "clusterDNS": ["10.0.0.1"],
        "systemReserved": { "cpu": "1", "memory": "100Mi" },
        "kubeReserved": { "pid": "10" },
        "evictionHard": { "memory.available": "5%" },
        "evictionSoft": { "memory.available": "10%" },
        "evictionSoftGracePeriod": { "memory.available": "1m0s" },
        "evictionMaxPodGracePeriod": 60,
        "imageGCHighThresholdPercent": 85,
        "imageGCLowThresholdPercent": 80,
        "cpuCFSQuota": false,
        "maxPods": 20,
        "podsPerCore": 2,
    });
    assert_eq!(placed(&converted).1, [("t", expected)]);
}

#[test]
fn settings_without_a_place_to_go_are_refused() {
    let converted = convert(&[provisioner_named("a", TEN)], &[], &with_role());
    assert_refused(&converted, "spec.kubeletConfiguration", "was not given");
    assert!(converted.node_pools.is_empty());

    let converted = convert(&[provisioner_named("a", "{}")], &[], &with_role());
    assert!(converted.is_complete(), "without settings the pool stands by itself");
    assert_eq!(placed(&converted), (vec!["t"], vec![]));
    assert_eq!(converted.problems[0].field, "spec.providerRef.name");
}

#[test]
fn settings_the_class_would_refuse_are_refused_where_they_were_written() {
    let same =
        "kubeletConfiguration: {imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 80}";
    let converted = convert(&[provisioner_named("a", same)], &[template("{}")], &with_role());
    assert_refused(&converted, "spec.kubeletConfiguration", "");
    assert!(converted.node_pools.is_empty());

    let cores = "kubeletConfiguration: {podsPerCore: 2}";
    let bottlerocket = template("amiFamily: Bottlerocket");
    let converted = convert(&[provisioner_named("a", cores)], &[bottlerocket], &with_role());
    assert_refused(&converted, "spec.kubeletConfiguration.podsPerCore", "");
}

#[test]
fn a_made_up_name_never_takes_a_templates_name() {
    let all = [provisioner_named("a", TEN), provisioner_named("b", TWENTY)];
    let templates = [template("{}"), template_named("t-b", "{}")];
    let converted = convert(&all, &templates, &with_role());
    assert_refused(&converted, "metadata.name", "\"t-b\"");
    assert_eq!(placed(&converted).0, ["t"]);
    assert_eq!(placed(&converted).1.len(), 2);

    let inline =
        provisioner_named("t", "provider: {subnetSelector: {a: b}, securityGroupSelector: {a: b}}");
    let converted = convert(&[inline], &[template("{}")], &with_role());
    assert_refused(&converted, "metadata.name", "\"t\"");
}

#[test]
fn thresholds_take_the_form_that_classes_have() {
    for (old, new) in [
        ("5%", "5%"),
        ("+5%", "5%"),
        ("007.50%", "7.50%"),
        ("7.125%", "7.13%"),
        ("100.000%", "100%"),
        ("100Mi", "100Mi"),
    ] {
        let settings =
            format!("kubeletConfiguration: {{evictionHard: {{memory.available: '{old}'}}}}");
        let converted = converted(&[provisioner_named("a", &settings)], &[template("{}")]);
        let (_, classes) = placed(&converted);
        assert_eq!(classes[0].1, json!({ "evictionHard": { "memory.available": new } }), "{old}");
    }
}
