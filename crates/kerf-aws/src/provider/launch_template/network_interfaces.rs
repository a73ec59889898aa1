//! The network interfaces of an instance.

use aws_sdk_ec2::types::{
    ConnectionTrackingSpecificationRequest as TrackingRequest,
    LaunchTemplateInstanceNetworkInterfaceSpecificationRequest as InterfaceRequest,
};
use kerf_api::ec2_node_class::{EC2NodeClassSpec, InterfaceType};

use super::TemplateRequest;
use super::variant::Variant;

const INTERFACE: &str = "interface";
const EFA: &str = "efa";
const EFA_ONLY: &str = "efa-only";

/// Where an interface is, and what it carries; EC2's default where nothing is said.
#[derive(Clone, Copy, Debug, Default)]
struct Interface {
    card: Option<i32>,
    device: i32,
    kind: Option<&'static str>,
}

/// The interfaces a class asks for; else a fabric adapter on each card if pods ask for any; else
/// one.
pub(super) fn interfaces(
    request: &TemplateRequest<'_>,
    variant: &Variant,
) -> Vec<InterfaceRequest> {
    let groups = request.status().and_then(|status| status.security_groups.as_ref());
    let groups: Vec<String> = groups.into_iter().flatten().map(|it| it.id.clone()).collect();
    let interface = |interface| described(request, interface, &groups);
    places(&request.node_class.spec, variant).into_iter().map(interface).collect()
}

fn places(spec: &EC2NodeClassSpec, variant: &Variant) -> Vec<Interface> {
    if let Some(own) = spec.network_interfaces.as_ref().filter(|own| !own.is_empty()) {
        let place = |own: &kerf_api::ec2_node_class::NetworkInterface| Interface {
            card: Some(own.network_card_index),
            device: own.device_index,
            kind: Some(match own.interface_type {
                InterfaceType::Interface => INTERFACE,
                InterfaceType::EfaOnly => EFA_ONLY,
            }),
        };
        return own.iter().map(place).collect();
    }
    let adapters = i32::try_from(variant.efa_interfaces).unwrap_or(0);
    let adapter = |card| Interface {
        card: Some(card),
        // Only the first is the instance's primary interface.
        device: i32::from(card > 0),
        kind: Some(EFA),
    };
    match adapters {
        0 => vec![Interface::default()],
        adapters => (0..adapters).map(adapter).collect(),
    }
}

fn described(
    request: &TemplateRequest<'_>,
    interface: Interface,
    groups: &[String],
) -> InterfaceRequest {
    let spec = &request.node_class.spec;
    let described = InterfaceRequest::builder()
        .set_network_card_index(interface.card)
        .device_index(interface.device)
        .set_interface_type(interface.kind.map(str::to_owned))
        .set_groups(Some(groups.to_vec()));
    if interface.kind == Some(EFA_ONLY) {
        // It carries no IP traffic, so nothing about addresses may be said.
        return described.build();
    }
    let described = described
        .set_associate_public_ip_address(spec.associate_public_ip_address)
        .set_connection_tracking_specification(tracking(spec));
    let described = match request.cluster.is_ipv6() {
        true => described
            .primary_ipv6(true)
            .ipv6_address_count(1)
            .set_ipv6_prefix_count(spec.ip_prefix_count),
        false => described.set_ipv4_prefix_count(spec.ip_prefix_count),
    };
    described.build()
}

fn tracking(spec: &EC2NodeClassSpec) -> Option<TrackingRequest> {
    let own = spec.connection_tracking.as_ref()?;
    let tracking = TrackingRequest::builder()
        .set_tcp_established_timeout(own.tcp_established_timeout)
        .set_udp_stream_timeout(own.udp_stream_timeout)
        .set_udp_timeout(own.udp_timeout);
    Some(tracking.build())
}
