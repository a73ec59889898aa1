//! What a template says.

use aws_sdk_ec2::types::{
    LaunchTemplateCpuOptionsRequest, LaunchTemplateEnclaveOptionsRequest,
    LaunchTemplateHttpTokensState, LaunchTemplateIamInstanceProfileSpecificationRequest,
    LaunchTemplateInstanceMetadataEndpointState, LaunchTemplateInstanceMetadataOptionsRequest,
    LaunchTemplateInstanceMetadataProtocolIpv6, LaunchTemplateInstanceMetadataTagsState,
    LaunchTemplateTagSpecificationRequest, LaunchTemplatesMonitoringRequest,
    NestedVirtualizationSpecification, RequestLaunchTemplateData, ResourceType,
};
use aws_smithy_types::base64;
use kerf_api::ec2_node_class::{AmiFamily, HttpTokens, Toggle};
use kerf_model::labels::well_known::SPOT;

use super::variant::Variant;
use super::{TemplateError, TemplateRequest, block_devices, market, network_interfaces, placement};
use crate::provider::tags::{self, Tags};
use crate::provider::user_data::{self, Rendered, UserData};

/// A claim that asks for it gets an instance that can seal off a part of itself.
const NITRO_SANDBOX: &str = "eks.amazonaws.com/nitro-sandbox";

/// Regions whose EC2 does not know the field about IPv6 of the metadata service.
const WITHOUT_METADATA_IPV6: [&str; 6] = [
    "us-iso-east-1",
    "us-iso-west-1",
    "us-isob-east-1",
    "us-isob-west-1",
    "us-isof-south-1",
    "us-isof-east-1",
];
/// Of how many network hops a class without `metadataOptions` gets.
const HOP_LIMIT: i64 = 1;

/// The user data of nodes of a variant.
pub(super) fn user_data(
    request: &TemplateRequest<'_>,
    variant: &Variant,
) -> Result<Rendered, TemplateError> {
    let spec = &request.node_class.spec;
    let family = family(request)?;
    let images = request.status().and_then(|status| status.amis.as_deref()).unwrap_or_default();
    let rendered = user_data::render(&UserData {
        family,
        cluster: request.cluster,
        kubelet: &variant.kubelet(request),
        labels: &user_data::labels(request.labels, request.capacity_type),
        taints: &user_data::taints(request.taints, request.startup_taints),
        custom: spec.user_data.as_deref(),
        instance_store: spec.instance_store_policy,
        binds_storage_by_default: user_data::binds_storage_by_default(spec, images),
    })?;
    Ok(rendered)
}

/// The content of a template.
pub(super) fn data(
    request: &TemplateRequest<'_>,
    variant: &Variant,
    user_data: &str,
    tags: &Tags,
) -> Result<RequestLaunchTemplateData, TemplateError> {
    let spec = &request.node_class.spec;
    let profile = request.status().and_then(|status| status.instance_profile.clone());
    let profile = profile.map(|name| {
        LaunchTemplateIamInstanceProfileSpecificationRequest::builder().name(name).build()
    });
    let is_monitored = spec.detailed_monitoring == Some(true);
    let wants_enclave = request.requests.get(NITRO_SANDBOX).is_some_and(|amount| !amount.is_zero());
    let reservation = variant.reservation.as_deref();
    let devices = spec.block_device_mappings.as_deref();
    let data = RequestLaunchTemplateData::builder()
        .image_id(&variant.image_id)
        .set_user_data((!user_data.is_empty()).then(|| base64::encode(user_data)))
        .set_iam_instance_profile(profile)
        .monitoring(LaunchTemplatesMonitoringRequest::builder().enabled(is_monitored).build())
        .set_block_device_mappings(block_devices::mappings(family(request)?, devices))
        .metadata_options(metadata_options(request))
        .set_cpu_options(cpu_options(request))
        .set_enclave_options(
            wants_enclave
                .then(|| LaunchTemplateEnclaveOptionsRequest::builder().enabled(true).build()),
        )
        .placement(placement::request(request.tenancy, variant.placement.as_ref()))
        .set_network_interfaces(Some(network_interfaces::interfaces(request, variant)))
        .set_tag_specifications(Some(tag_specifications(request, tags)))
        .set_capacity_reservation_specification(market::reservation(request, reservation))
        .set_instance_market_options(market::options(request, reservation));
    Ok(data.build())
}

fn family(request: &TemplateRequest<'_>) -> Result<AmiFamily, TemplateError> {
    let unknown = || TemplateError::NoFamily { class: request.class_name().to_owned() };
    request.node_class.spec.resolved_ami_family().ok_or_else(unknown)
}

fn metadata_options(request: &TemplateRequest<'_>) -> LaunchTemplateInstanceMetadataOptionsRequest {
    let own = request.node_class.spec.metadata_options.clone().unwrap_or_default();
    let endpoint = match own.http_endpoint {
        Some(Toggle::Disabled) => LaunchTemplateInstanceMetadataEndpointState::Disabled,
        Some(Toggle::Enabled) | None => LaunchTemplateInstanceMetadataEndpointState::Enabled,
    };
    let tokens = match own.http_tokens {
        Some(HttpTokens::Optional) => LaunchTemplateHttpTokensState::Optional,
        Some(HttpTokens::Required) | None => LaunchTemplateHttpTokensState::Required,
    };
    let ipv6 = match own.http_protocol_ipv6 {
        Some(Toggle::Enabled) => LaunchTemplateInstanceMetadataProtocolIpv6::Enabled,
        Some(Toggle::Disabled) | None => LaunchTemplateInstanceMetadataProtocolIpv6::Disabled,
    };
    let knows_ipv6 = !WITHOUT_METADATA_IPV6.contains(&request.cluster.region.as_str());
    let hops = own.http_put_response_hop_limit.unwrap_or(HOP_LIMIT);
    LaunchTemplateInstanceMetadataOptionsRequest::builder()
        .http_endpoint(endpoint)
        .http_tokens(tokens)
        .set_http_protocol_ipv6(knows_ipv6.then_some(ipv6))
        .http_put_response_hop_limit(i32::try_from(hops).unwrap_or(i32::MAX))
        // Tags with a slash in their key, as ours, cannot be read there: launches would fail.
        .instance_metadata_tags(LaunchTemplateInstanceMetadataTagsState::Disabled)
        .build()
}

fn cpu_options(request: &TemplateRequest<'_>) -> Option<LaunchTemplateCpuOptionsRequest> {
    let own = request.node_class.spec.cpu_options.as_ref()?.nested_virtualization?;
    let nested = match own {
        Toggle::Enabled => NestedVirtualizationSpecification::Enabled,
        Toggle::Disabled => NestedVirtualizationSpecification::Disabled,
    };
    Some(LaunchTemplateCpuOptionsRequest::builder().nested_virtualization(nested).build())
}

/// The tags of what no other call tags.
fn tag_specifications(
    request: &TemplateRequest<'_>,
    tags: &Tags,
) -> Vec<LaunchTemplateTagSpecificationRequest> {
    let mut kinds = vec![ResourceType::NetworkInterface];
    if request.capacity_type == SPOT {
        kinds.push(ResourceType::SpotInstancesRequest);
    }
    kinds.into_iter().map(|kind| tags::template_specification(kind, tags)).collect()
}
