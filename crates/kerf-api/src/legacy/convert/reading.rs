//! Legacy objects, checked, with what they ask for in today's terms.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::ResourceExt;

use super::{Options, kubelet, node_class};
use crate::ec2_node_class::{EC2NodeClassSpec, Kubelet};
use crate::legacy::aws_node_template::AWSNodeTemplate;
use crate::legacy::finding::{Findings, Kind};
use crate::legacy::inline_provider;
use crate::legacy::provisioner::Provisioner;
use crate::legacy::validation::{check_provisioner, check_template};

/// The settings of a class without the kubelet's, and the annotations it needs.
#[derive(Clone, Debug, Default)]
pub(super) struct ClassDraft {
    pub(super) spec: EC2NodeClassSpec,
    pub(super) metadata: ObjectMeta,
}

/// A Provisioner and what was found about it.
pub(super) struct ProvisionerReading<'a> {
    pub(super) provisioner: &'a Provisioner,
    pub(super) findings: Findings,
    /// Its kubelet settings, `None` if it has none that matter.
    pub(super) kubelet: Option<Kubelet>,
    /// The class of its inline provider.
    pub(super) inline: Option<ClassDraft>,
}

/// An AWSNodeTemplate and what was found about it.
pub(super) struct TemplateReading<'a> {
    pub(super) template: &'a AWSNodeTemplate,
    pub(super) findings: Findings,
    pub(super) draft: Option<ClassDraft>,
}

impl<'a> ProvisionerReading<'a> {
    pub(super) fn of(provisioner: &'a Provisioner, options: &Options) -> Self {
        let mut findings = Findings::about(Kind::Provisioner, &provisioner.name_any());
        check_provisioner(&provisioner.spec, &mut findings);
        let provider = provisioner.spec.provider.as_ref();
        let inline = provider
            .and_then(|provider| {
                inline_provider::read(provider, options.cluster_name.as_deref(), &mut findings)
            })
            .filter(|_| findings.allow_conversion())
            .and_then(|spec| node_class::draft(&spec, "spec.provider", options, &mut findings));
        let kubelet = provisioner.spec.kubelet_configuration.as_ref().and_then(kubelet::convert);
        Self { provisioner, findings, kubelet, inline }
    }
}

impl<'a> TemplateReading<'a> {
    pub(super) fn of(template: &'a AWSNodeTemplate, options: &Options) -> Self {
        let mut findings = Findings::about(Kind::AWSNodeTemplate, &template.name_any());
        check_template(&template.spec, "spec", &mut findings);
        let draft = if findings.allow_conversion() {
            node_class::draft(&template.spec, "spec", options, &mut findings)
        } else {
            None
        };
        let draft = draft.map(|mut draft| {
            super::object_meta::carry_over(&template.metadata, &mut draft.metadata);
            draft
        });
        Self { template, findings, draft }
    }
}
