//! Rules for AWSNodeTemplates that manifests from files meet only here. The corpus covers the rest.

use kerf_api::legacy::validate_aws_node_template;

use super::manifest::{errors, template};

#[test]
fn each_mistake_is_reported_at_its_field() {
    let rows = [
        ("subnetSelector: {a: ','}", "spec.subnetSelector[\"a\"]: the value must not be empty"),
        ("subnetSelector: {aws-ids: vpc-1}", "spec.subnetSelector[\"aws-ids\"]: \"vpc-1\" is not"),
        ("amiSelector: {aws-ids: ami-A}", "spec.amiSelector[\"aws-ids\"]: \"ami-A\" is not an id"),
        (
            "{launchTemplate: a, userData: b}",
            "spec.userData: cannot be combined with launchTemplate",
        ),
        ("tags: {kubernetes.io/cluster/a: b}", "spec.tags[\"kubernetes.io/cluster/a\"]: this tag"),
        (
            "blockDeviceMappings: [{deviceName: a, ebs: {volumeSize: 64001G}}]",
            "spec.blockDeviceMappings[0].ebs.volumeSize: must be from 1G to 64T",
        ),
        (
            "blockDeviceMappings: [{deviceName: a, ebs: {volumeSize: 1Gi, volumeType: b}}]",
            "spec.blockDeviceMappings[0].ebs.volumeType: \"b\" is not a volume type",
        ),
        ("amiFamily: Custom", "spec.amiSelector: family Custom needs an amiSelector"),
    ];
    for (written, expected) in rows {
        let errors = errors(&validate_aws_node_template(&template(written)));
        assert_eq!(errors.len(), 1, "{written}: {errors:?}");
        assert!(errors[0].starts_with(expected), "{written}: {errors:?}");
    }
}
