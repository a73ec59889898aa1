//! Rules for Provisioners that only the controller can check, or that it must repeat for manifests
//! that never met an API server. The corpus covers the rest.

use kerf_api::legacy::{Severity, validate_provisioner};

use super::manifest::{errors, provisioner};

#[test]
fn each_mistake_is_reported_at_its_field() {
    let rows = [
        ("labels: {a b: c}", "spec.labels[\"a b\"]: not a label key"),
        ("limits: {resources: {cpu: many}}", "spec.limits.resources[\"cpu\"]: quantity"),
        (
            "requirements: [{key: a, operator: Gt, values: ['99999999999999999999']}]",
            "spec.requirements[0].values: operator Gt needs a single non-negative integer",
        ),
        ("taints: [{key: a, effect: NoSchedule, value: 'b c'}]", "spec.taints[0].value: \"b c\""),
        (
            "{taints: [{key: a, effect: NoSchedule}], startupTaints: [{key: b, effect: NoSchedule},
              {key: a, effect: NoSchedule}]}",
            "spec.startupTaints[1]: another taint has key \"a\"",
        ),
        (
            "{providerRef: {name: t},
              provider: {subnetSelector: {a: b}, securityGroupSelector: {a: b}}}",
            "spec: only one of provider and providerRef",
        ),
        (
            "provider: {subnetSelector: {a: b}, securityGroupSelector: {a: b}, userData: x}",
            "spec.provider.userData: not a field of an inline provider",
        ),
        (
            "provider: {subnetSelector: {a: b}, securityGroupSelector: {a: b}, amiSelector: {a: b}}",
            "spec.provider.amiSelector: not a field of an inline provider",
        ),
        (
            "provider: {subnetSelector: [a], securityGroupSelector: {a: b}}",
            "spec.provider.subnetSelector: invalid type",
        ),
        (
            "provider: {subnetSelector: {a: b}, securityGroupSelector: {a: b},
               metadataOptions: {httpTokens: required, hops: 1}}",
            "spec.provider.metadataOptions.hops: unknown field",
        ),
        (
            "provider: {subnetSelector: {a: b}, securityGroupSelector: {a: b},
               blockDeviceMappings: [{deviceName: a, ebs: {volumeSize: 1Gi, size: 1}}]}",
            "spec.provider.blockDeviceMappings[0].ebs.size: unknown field",
        ),
        ("provider: {subnetSelector: {a: b}}", "spec.provider.securityGroupSelector: the selector"),
    ];
    for (written, expected) in rows {
        let errors = errors(&validate_provisioner(&provisioner(written)));
        assert_eq!(errors.len(), 1, "{written}: {errors:?}");
        assert!(errors[0].starts_with(expected), "{written}: {errors:?}");
    }
}

#[test]
fn what_the_old_controller_overlooked_is_a_warning() {
    let rows = [
        ("providerRef: {name: t, kind: Template}", "spec.providerRef.kind"),
        ("providerRef: {name: t, apiVersion: v1}", "spec.providerRef.apiVersion"),
        (
            "kubeletConfiguration: {containerRuntime: dockerd}",
            "spec.kubeletConfiguration.containerRuntime",
        ),
        (
            "provider: {kind: Cloud, subnetSelector: {a: b}, securityGroupSelector: {a: b}}",
            "spec.provider.kind",
        ),
    ];
    for (written, field) in rows {
        let problems = validate_provisioner(&provisioner(written));
        let found: Vec<_> = problems.iter().map(|it| (it.severity, it.field.as_str())).collect();
        assert_eq!(found, [(Severity::Warning, field)], "{written}");
    }
}

#[test]
fn a_problem_reads_as_a_sentence_with_the_object_and_the_field() {
    let problems = validate_provisioner(&provisioner("weight: 0"));
    assert_eq!(
        problems[0].to_string(),
        "Provisioner \"p\": spec.weight: weight must be from 1 to 100; leave it out for the lowest"
    );
}
