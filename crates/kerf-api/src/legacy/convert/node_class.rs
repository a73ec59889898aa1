//! An AWSNodeTemplate to an EC2NodeClass.

use super::placement::{ClassPlan, Origin};
use super::reading::{ClassDraft, ProvisionerReading, TemplateReading};
use super::{Options, block_devices, images, tags, terms};
use crate::ec2_node_class::{
    EC2NodeClass, EC2NodeClassSpec, HttpTokens, MetadataOptions, Toggle, validate_kubelet,
};
use crate::legacy::aws_node_template::AWSNodeTemplateSpec;
use crate::legacy::block_device as old;
use crate::legacy::finding::Findings;

/// The hop limit of that era. Today's default is 1, which pods with their own address cannot pass.
const HOP_LIMIT: i64 = 2;

/// The class a plan asks for, unless the template or all who would use it were refused.
pub(super) fn build(
    plan: &ClassPlan,
    provisioners: &mut [ProvisionerReading<'_>],
    templates: &[TemplateReading<'_>],
) -> Option<EC2NodeClass> {
    let mut draft = match plan.origin {
        Origin::Template(position) => {
            let reading = &templates[position];
            reading.draft.clone().filter(|_| reading.findings.allow_conversion())?
        }
        Origin::Inline(position) => {
            let reading = &provisioners[position];
            reading.inline.clone().filter(|_| reading.findings.allow_conversion())?
        }
    };
    draft.spec.kubelet = plan.users.first().and_then(|user| provisioners[*user].kubelet.clone());
    for problem in validate_kubelet(&draft.spec) {
        let field = problem.field.replacen("spec.kubelet", "spec.kubeletConfiguration", 1);
        for user in &plan.users {
            provisioners[*user].findings.error(&field, &problem.message);
        }
    }
    let is_wanted = |user: &usize| provisioners[*user].findings.allow_conversion();
    if !plan.users.is_empty() && !plan.users.iter().any(is_wanted) {
        return None;
    }
    draft.metadata.name = Some(plan.name.clone());
    Some(EC2NodeClass { metadata: draft.metadata, spec: draft.spec, status: None })
}

/// Everything of a class but its name and kubelet settings; `None` if it cannot be had.
pub(super) fn draft(
    template: &AWSNodeTemplateSpec,
    path: &str,
    options: &Options,
    findings: &mut Findings,
) -> Option<ClassDraft> {
    if template.launch_template.is_some() {
        findings.error(
            format!("{path}.launchTemplate"),
            "launch templates made by hand have no successor; write an EC2NodeClass with the \
             settings of the launch template instead",
        );
        return None;
    }
    let mut draft =
        ClassDraft { spec: spec(template, path, options, findings), ..Default::default() };
    images::convert(template, path, options, &mut draft, findings);
    Some(draft).filter(|_| findings.allow_conversion())
}

fn spec(
    template: &AWSNodeTemplateSpec,
    path: &str,
    options: &Options,
    findings: &mut Findings,
) -> EC2NodeClassSpec {
    let subnets = template.subnet_selector.clone().unwrap_or_default();
    let groups = template.security_group_selector.clone().unwrap_or_default();
    let (role, instance_profile) = identity(template, path, options, findings);
    EC2NodeClassSpec {
        block_device_mappings: template
            .block_device_mappings
            .as_deref()
            .map(block_devices::convert),
        context: template.context.clone(),
        detailed_monitoring: template.detailed_monitoring,
        instance_profile,
        metadata_options: Some(metadata_options(template.metadata_options.as_ref())),
        role,
        security_group_selector_terms: terms::security_groups(
            &groups,
            &format!("{path}.securityGroupSelector"),
            findings,
        ),
        subnet_selector_terms: terms::subnets(
            &subnets,
            &format!("{path}.subnetSelector"),
            findings,
        ),
        tags: tags::convert(template.tags.as_ref(), path, options, findings),
        user_data: template.user_data.clone(),
        ..EC2NodeClassSpec::default()
    }
}

/// Role and instance profile, of which a class has exactly one.
fn identity(
    template: &AWSNodeTemplateSpec,
    path: &str,
    options: &Options,
    findings: &mut Findings,
) -> (Option<String>, Option<String>) {
    let profile = template.instance_profile.clone().or(options.default_instance_profile.clone());
    let profile = profile.filter(|profile| !profile.is_empty());
    let role = options.role.clone().filter(|role| !role.is_empty() && profile.is_none());
    if profile.is_none() && role.is_none() {
        findings.error(
            format!("{path}.instanceProfile"),
            "is not set and there is no default; give the converter the node role or the old \
             default instance profile",
        );
    }
    (role, profile)
}

/// All four settings in full, so that today's defaults change nothing.
fn metadata_options(options: Option<&old::MetadataOptions>) -> MetadataOptions {
    let options = options.cloned().unwrap_or_default();
    let toggle = |text: Option<String>, default| match text.as_deref() {
        Some("enabled") => Some(Toggle::Enabled),
        Some("disabled") => Some(Toggle::Disabled),
        _ => Some(default),
    };
    let tokens = match options.http_tokens.as_deref() {
        Some("optional") => HttpTokens::Optional,
        _ => HttpTokens::Required,
    };
    MetadataOptions {
        http_endpoint: toggle(options.http_endpoint, Toggle::Enabled),
        http_protocol_ipv6: toggle(options.http_protocol_ipv6, Toggle::Disabled),
        http_put_response_hop_limit: options.http_put_response_hop_limit.or(Some(HOP_LIMIT)),
        http_tokens: Some(tokens),
    }
}
