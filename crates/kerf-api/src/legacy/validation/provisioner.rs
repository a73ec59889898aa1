//! A Provisioner's own fields.

use kerf_model::labels::qualified_name::{check_label_value, check_qualified_name};
use kerf_model::quantity::Quantity;

use crate::legacy::finding::Findings;
use crate::legacy::labels::{self, PROVISIONER_NAME, RESTRICTED_MESSAGE};
use crate::legacy::provisioner::{
    ENTRIES_MAX, PROVIDER_REF_API_VERSION, PROVIDER_REF_KIND, ProviderRef, ProvisionerSpec,
};

pub(super) fn check(spec: &ProvisionerSpec, findings: &mut Findings) {
    check_provider(spec, findings);
    check_labels(spec, findings);
    check_ends(spec, findings);
    check_limits(spec, findings);
    check_counts(spec, findings);
    if spec.weight.is_some_and(|weight| !(1..=100).contains(&weight)) {
        findings.error("spec.weight", "weight must be from 1 to 100; leave it out for the lowest");
    }
}

fn check_provider(spec: &ProvisionerSpec, findings: &mut Findings) {
    match (&spec.provider, &spec.provider_ref) {
        (Some(_), None) => {}
        (None, Some(reference)) => check_provider_ref(reference, findings),
        (Some(_), Some(_)) => {
            findings.error("spec", "only one of provider and providerRef may be set");
        }
        (None, None) => {
            findings.error("spec", "providerRef is missing: name the AWSNodeTemplate to use");
        }
    }
}

/// The old controller looked at the name alone, so a strange kind is worth a word but no refusal.
fn check_provider_ref(reference: &ProviderRef, findings: &mut Findings) {
    if reference.name.is_empty() {
        findings.error("spec.providerRef.name", "the name of the AWSNodeTemplate is missing");
    }
    let others = [
        ("spec.providerRef.kind", &reference.kind, PROVIDER_REF_KIND),
        ("spec.providerRef.apiVersion", &reference.api_version, PROVIDER_REF_API_VERSION),
    ];
    for (field, written, expected) in others {
        if let Some(written) = written.as_deref().filter(|written| *written != expected) {
            findings.warning(field, format!("{written:?} is ignored: it is always {expected}"));
        }
    }
}

fn check_labels(spec: &ProvisionerSpec, findings: &mut Findings) {
    for (key, value) in spec.labels.iter().flatten() {
        let field = format!("spec.labels[{key:?}]");
        if key == PROVISIONER_NAME {
            findings.error(&field, "this label is restricted: it is set on every node anyway");
        } else if let Err(problem) = check_qualified_name(key) {
            findings.error(&field, format!("not a label key: {problem}"));
        } else if labels::is_restricted(key) {
            findings.error(&field, RESTRICTED_MESSAGE);
        }
        if let Err(problem) = check_label_value(value) {
            findings.error(&field, format!("{value:?} is not a label value: {problem}"));
        }
    }
}

fn check_ends(spec: &ProvisionerSpec, findings: &mut Findings) {
    let ends = [
        ("spec.ttlSecondsAfterEmpty", spec.ttl_seconds_after_empty),
        ("spec.ttlSecondsUntilExpired", spec.ttl_seconds_until_expired),
    ];
    for (field, seconds) in ends {
        if seconds.is_some_and(|seconds| seconds < 0) {
            findings.error(field, "must not be negative; leave it out for never");
        }
    }
    if spec.ttl_seconds_after_empty.is_some() && spec.consolidation_enabled() {
        findings.error(
            "spec.ttlSecondsAfterEmpty",
            "cannot be combined with consolidation.enabled: true, which removes empty nodes by \
             itself; keep one of the two",
        );
    }
}

fn check_limits(spec: &ProvisionerSpec, findings: &mut Findings) {
    let resources = spec.limits.iter().flat_map(|limits| &limits.resources).flatten();
    for (resource, quantity) in resources {
        if let Err(problem) = Quantity::parse(&quantity.text()) {
            findings.error(format!("spec.limits.resources[{resource:?}]"), problem.to_string());
        }
    }
}

/// A NodePool may have no more of each.
fn check_counts(spec: &ProvisionerSpec, findings: &mut Findings) {
    let counts = [
        ("spec.labels", spec.labels.as_ref().map(|labels| labels.len())),
        ("spec.requirements", spec.requirements.as_ref().map(Vec::len)),
        ("spec.taints", spec.taints.as_ref().map(Vec::len)),
        ("spec.startupTaints", spec.startup_taints.as_ref().map(Vec::len)),
    ];
    for (field, count) in counts {
        if count.is_some_and(|count| count > ENTRIES_MAX) {
            findings.error(field, format!("has more than {ENTRIES_MAX} entries"));
        }
    }
}
