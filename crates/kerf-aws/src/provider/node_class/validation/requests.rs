//! The requests a class is tried with.

use std::collections::BTreeMap;

use aws_sdk_ec2::types::{
    FleetLaunchTemplateConfigRequest, FleetLaunchTemplateOverridesRequest,
    FleetLaunchTemplateSpecificationRequest, FleetOnDemandAllocationStrategy,
    InstanceNetworkInterfaceSpecification,
    LaunchTemplateInstanceNetworkInterfaceSpecificationRequest as TemplateInterface,
    LaunchTemplateSpecification, OnDemandOptionsRequest, ResourceType, TagSpecification,
};
use kerf_api::ec2_node_class::Subnet;

use crate::provider::launch_template::LaunchTemplate;
use crate::provider::tags;

/// The version of a template that is used.
const LATEST: &str = "$Latest";

/// A template with an override for each zone.
pub(super) fn fleet_config(
    template: &LaunchTemplate<'_>,
    instance_type: &str,
    subnets: &[Subnet],
) -> FleetLaunchTemplateConfigRequest {
    let by_zone: BTreeMap<&str, &Subnet> =
        subnets.iter().rev().map(|subnet| (subnet.zone.as_str(), subnet)).collect();
    let overrides = by_zone.into_iter().map(|(zone, subnet)| {
        FleetLaunchTemplateOverridesRequest::builder()
            .instance_type(instance_type.into())
            .subnet_id(&subnet.id)
            .image_id(&template.image_id)
            .availability_zone(zone)
            .build()
    });
    let used = FleetLaunchTemplateSpecificationRequest::builder()
        .launch_template_name(&template.name)
        .version(LATEST)
        .build();
    FleetLaunchTemplateConfigRequest::builder()
        .launch_template_specification(used)
        .set_overrides(Some(overrides.collect()))
        .build()
}

/// The cheapest on demand, as real launches ask for.
pub(super) fn on_demand() -> OnDemandOptionsRequest {
    let strategy = FleetOnDemandAllocationStrategy::LowestPrice;
    OnDemandOptionsRequest::builder().allocation_strategy(strategy).build()
}

/// The template, as RunInstances names it.
pub(super) fn used(template: &LaunchTemplate<'_>) -> LaunchTemplateSpecification {
    let used = LaunchTemplateSpecification::builder().launch_template_name(&template.name);
    used.version(LATEST).build()
}

/// The interfaces of a template in a subnet: beside interfaces a subnet cannot be named by itself.
pub(super) fn interfaces(
    template: &LaunchTemplate<'_>,
    subnet: &Subnet,
) -> Vec<InstanceNetworkInterfaceSpecification> {
    let interface = |it: &TemplateInterface| {
        InstanceNetworkInterfaceSpecification::builder()
            .set_device_index(it.device_index())
            .set_network_card_index(it.network_card_index())
            .set_interface_type(it.interface_type().map(str::to_owned))
            .set_groups(Some(it.groups().to_vec()))
            .set_associate_public_ip_address(it.associate_public_ip_address())
            .subnet_id(&subnet.id)
            .build()
    };
    template.data.network_interfaces().iter().map(interface).collect()
}

/// The tags of what a try would make.
pub(super) fn tagged(
    template: &LaunchTemplate<'_>,
    kinds: &[ResourceType],
) -> Vec<TagSpecification> {
    let tagged = |kind: &ResourceType| tags::specification(kind.clone(), &template.tags);
    kinds.iter().map(tagged).collect()
}
