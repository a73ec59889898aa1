//! Every row of the table from AWSNodeTemplate to EC2NodeClass.

use kerf_api::legacy::{Options, convert};
use serde_json::{Value, json};

use super::manifest::{
    assert_refused, class_of, class_with, provisioner, template, with_role, yaml,
};

#[test]
fn a_family_without_a_selector_becomes_its_alias() {
    for (family, alias) in [
        (None, "al2@latest"),
        (Some("AL2"), "al2@latest"),
        (Some("Bottlerocket"), "bottlerocket@latest"),
        (Some("Windows2019"), "windows2019@latest"),
        (Some("Windows2022"), "windows2022@latest"),
    ] {
        let class = class_of(&family.map_or("{}".into(), |family| format!("amiFamily: {family}")));
        assert_eq!(class["amiSelectorTerms"], json!([{ "alias": alias }]), "{family:?}");
        assert_eq!(class["amiFamily"], Value::Null, "the alias says it: {family:?}");
    }
}

#[test]
fn a_family_with_a_selector_is_kept() {
    for (written, family) in [
        ("", "AL2"),
        ("amiFamily: AL2,", "AL2"),
        ("amiFamily: Bottlerocket,", "Bottlerocket"),
        ("amiFamily: Windows2019,", "Windows2019"),
        ("amiFamily: Windows2022,", "Windows2022"),
        ("amiFamily: Custom,", "Custom"),
    ] {
        let class = class_of(&format!("{{{written} amiSelector: {{aws-ids: ami-1}}}}"));
        assert_eq!(class["amiFamily"], family, "{written:?}");
        assert_eq!(class["amiSelectorTerms"], json!([{ "id": "ami-1" }]), "{written:?}");
    }
}

#[test]
fn ubuntu_with_a_selector_becomes_al2_with_ubuntus_root_disk() {
    let ubuntu = "{amiFamily: Ubuntu, amiSelector: {aws-ids: ami-1}";
    let rows = [
        (
            format!("{ubuntu}}}"),
            "amiFamily,blockDeviceMappings",
            "[{deviceName: /dev/sda1, rootVolume: true,
               ebs: {encrypted: true, volumeSize: 20Gi, volumeType: gp3}}]",
        ),
        (
            format!(
                "{ubuntu}, blockDeviceMappings: [{{deviceName: /dev/a, ebs: {{volumeSize: 9Gi}}}}]}}"
            ),
            "amiFamily",
            "[{deviceName: /dev/a, ebs: {volumeSize: 9Gi}}]",
        ),
    ];
    for (written, annotation, disks) in rows {
        let converted = convert(&[], &[template(&written)], &with_role());
        let class = serde_json::to_value(&converted.node_classes[0]).expect("a class encodes");
        let annotations = json!({ "compatibility.karpenter.k8s.aws/v1beta1-ubuntu": annotation });
        assert_eq!(class["metadata"]["annotations"], annotations);
        assert_eq!(class["spec"]["amiFamily"], "AL2");
        assert_eq!(class["spec"]["blockDeviceMappings"], yaml(disks));
    }
}

#[test]
fn what_has_no_successor_is_refused_with_advice() {
    let rows = [
        ("{amiFamily: Ubuntu}", "spec.amiFamily", "amiSelector"),
        ("{launchTemplate: mine}", "spec.launchTemplate", "no successor"),
        ("{tags: {karpenter.sh/nodepool: a}}", "spec.tags", "may not have this tag"),
        ("{tags: {eks:eks-cluster-name: a}}", "spec.tags", "may not have this tag"),
    ];
    for (written, field, words) in rows {
        let converted = convert(&[provisioner("{}")], &[template(written)], &with_role());
        assert_refused(&converted, field, words);
        assert!(converted.node_classes.is_empty(), "{written}");
        assert_eq!(converted.node_pools.len(), 1, "a class by hand completes the pool: {written}");
    }
}

#[test]
fn instances_keep_their_profile_or_get_the_default_or_the_role() {
    let profile = |name: &str| Some(name.to_owned());
    let both = Options { default_instance_profile: profile("default"), ..with_role() };
    let rows = [
        ("instanceProfile: mine", &both, json!("mine"), Value::Null),
        ("{}", &both, json!("default"), Value::Null),
        ("{}", &with_role(), Value::Null, json!("node-role")),
    ];
    for (written, options, instance_profile, role) in rows {
        let class = class_with(written, options);
        assert_eq!(class["instanceProfile"], instance_profile, "{written}");
        assert_eq!(class["role"], role, "{written}");
    }
    let converted = convert(&[], &[template("{}")], &Options::default());
    assert_refused(&converted, "spec.instanceProfile", "node role");
}

#[test]
fn own_tags_lie_over_the_global_ones() {
    let global_tags = [("a", "global"), ("b", "global")];
    let global_tags = global_tags.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    let options = Options { global_tags, ..with_role() };
    let class = class_with("tags: {b: own, c: own}", &options);
    assert_eq!(class["tags"], json!({ "a": "global", "b": "own", "c": "own" }));
    assert_eq!(class_of("{}")["tags"], Value::Null);
}

#[test]
fn the_metadata_service_stays_reachable_from_pods() {
    let rows = [
        ("{}", json!(["enabled", "disabled", 2, "required"])),
        ("metadataOptions: {}", json!(["enabled", "disabled", 2, "required"])),
        (
            "metadataOptions: {httpTokens: optional, httpPutResponseHopLimit: 1}",
            json!(["enabled", "disabled", 1, "optional"]),
        ),
        (
            "metadataOptions: {httpEndpoint: disabled, httpProtocolIPv6: enabled}",
            json!(["disabled", "enabled", 2, "required"]),
        ),
    ];
    for (written, expected) in rows {
        let options = &class_of(written)["metadataOptions"];
        let names = ["httpEndpoint", "httpProtocolIPv6", "httpPutResponseHopLimit", "httpTokens"];
        assert_eq!(json!(names.map(|name| &options[name])), expected, "{written}");
    }
}

#[test]
fn the_rest_is_the_same() {
    let rest = "
        userData: '#!/bin/sh'
        detailedMonitoring: true
        context: my-context
        blockDeviceMappings:
        - deviceName: /dev/xvda
          ebs:
            deleteOnTermination: true
            encrypted: false
            iops: 1
            kmsKeyID: key
            snapshotID: snap
            throughput: 2
            volumeSize: 100Gi
            volumeType: io2
        ";
    let class = class_of(rest);
    for (name, value) in yaml(rest).as_object().expect("a mapping") {
        assert_eq!(&class[name], value, "{name}");
    }
}

#[test]
fn a_volume_size_is_kept_or_written_so_that_a_class_admits_it() {
    let rows = [
        ("20Gi", "20Gi"),
        ("59000Gi", "59000Gi"),
        ("1G", "1G"),
        ("64T", "64T"),
        ("8Ti", "8Ti"),
        ("58Ti", "58Ti"),
        ("17Ti", "17Ti"),
        ("18Ti", "18432Gi"),
        ("0.5Ti", "512Gi"),
        ("020Gi", "20Gi"),
        ("21474836480", "20Gi"),
        ("21474836481", "21Gi"),
        ("1500M", "2Gi"),
        ("63999000M", "63999G"),
        ("64e12", "64000G"),
    ];
    for (written, expected) in rows {
        let class = class_of(&format!(
            "blockDeviceMappings: [{{deviceName: /dev/a, ebs: {{volumeSize: '{written}'}}}}]"
        ));
        let size = &class["blockDeviceMappings"][0]["ebs"]["volumeSize"];
        assert_eq!(size, expected, "{written}");
    }
}

#[test]
fn an_inline_provider_becomes_a_class_named_like_its_provisioner() {
    let inline = provisioner(
        "provider:
          apiVersion: extensions.karpenter.sh/v1alpha1
          kind: AWS
          amiFamily: Bottlerocket
          instanceProfile: mine
          subnetSelector: {a: b}
          securityGroupSelector: {aws-ids: sg-1}
          tags: {c: d}
        ",
    );
    let converted = convert(&[inline], &[], &Options::default());
    assert!(converted.problems.is_empty(), "{:?}", converted.problems);
    let class = &converted.node_classes[0];
    assert_eq!(class.metadata.name.as_deref(), Some("p"));
    assert_eq!(class.spec.instance_profile.as_deref(), Some("mine"));
    let pool = &converted.node_pools[0].spec.template.spec;
    assert_eq!(pool.node_class_ref.name, "p");
    assert_eq!(pool.node_class_ref.kind, "EC2NodeClass");
}
