//! What the old webhooks checked, in full: the schemas refuse most of it already, but manifests
//! also come from files, and some rules are beyond what a schema can say.

mod aws_node_template;
mod kubelet;
mod provisioner;
mod requirements;
mod taints;

use kube::ResourceExt;

use super::aws_node_template::{AWSNodeTemplate, AWSNodeTemplateSpec};
use super::finding::{Findings, Kind, LegacyFinding};
use super::provisioner::{Provisioner, ProvisionerSpec};

/// Everything wrong with a Provisioner, its inline provider included.
#[must_use]
pub fn validate_provisioner(provisioner: &Provisioner) -> Vec<LegacyFinding> {
    let mut findings = Findings::about(Kind::Provisioner, &provisioner.name_any());
    check_provisioner(&provisioner.spec, &mut findings);
    if let Some(provider) = &provisioner.spec.provider {
        super::inline_provider::read(provider, None, &mut findings);
    }
    findings.into_problems()
}

/// Everything wrong with an AWSNodeTemplate.
#[must_use]
pub fn validate_aws_node_template(template: &AWSNodeTemplate) -> Vec<LegacyFinding> {
    let mut findings = Findings::about(Kind::AWSNodeTemplate, &template.name_any());
    check_template(&template.spec, "spec", &mut findings);
    findings.into_problems()
}

/// The checks of a Provisioner, apart from its inline provider.
pub(crate) fn check_provisioner(spec: &ProvisionerSpec, findings: &mut Findings) {
    provisioner::check(spec, findings);
    taints::check(spec, findings);
    requirements::check(spec, findings);
    if let Some(kubelet) = &spec.kubelet_configuration {
        kubelet::check(kubelet, findings);
    }
}

/// The checks of a template that stands at `path`.
pub(crate) fn check_template(spec: &AWSNodeTemplateSpec, path: &str, findings: &mut Findings) {
    aws_node_template::check(spec, path, findings);
}
