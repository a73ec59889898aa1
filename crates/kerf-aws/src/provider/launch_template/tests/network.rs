//! The network interfaces of a template.

use aws_sdk_ec2::types::LaunchTemplateInstanceNetworkInterfaceSpecificationRequest as Interface;

use super::*;

/// An interface in one line: card, device, type, and what is said about addresses.
fn line(interface: &Interface) -> String {
    let number = |number: Option<i32>| number.map_or("-".to_owned(), |number| number.to_string());
    let tracking = interface.connection_tracking_specification();
    let said = [
        ("public", interface.associate_public_ip_address().map(|it| it.to_string())),
        ("ipv4-prefixes", interface.ipv4_prefix_count().map(|it| it.to_string())),
        ("ipv6-prefixes", interface.ipv6_prefix_count().map(|it| it.to_string())),
        ("ipv6", interface.ipv6_address_count().map(|it| it.to_string())),
        ("primary-ipv6", interface.primary_ipv6().map(|it| it.to_string())),
        ("udp", tracking.and_then(|it| it.udp_timeout()).map(|it| it.to_string())),
        ("tcp", tracking.and_then(|it| it.tcp_established_timeout()).map(|it| it.to_string())),
    ];
    let said = said.into_iter().filter_map(|(name, value)| Some(format!(" {name}={}", value?)));
    format!(
        "card {} device {} {} {}{}",
        number(interface.network_card_index()),
        number(interface.device_index()),
        interface.interface_type().unwrap_or("-"),
        interface.groups().join(","),
        said.collect::<String>()
    )
}

fn lines(scene: &Scene, instance_type: InstanceType) -> Vec<String> {
    scene.only(&[instance_type], |it| it.data.network_interfaces().iter().map(line).collect())
}

#[test]
fn there_is_one_interface_with_all_groups() {
    assert_eq!(lines(&Scene::new(), m5()), ["card - device 0 - sg-1,sg-2"]);
}

#[test]
fn addresses_follow_the_class_and_the_family_of_the_cluster() {
    let mut scene = Scene::new()
        .with("/spec/associatePublicIPAddress", json!(false))
        .with("/spec/ipPrefixCount", json!(2))
        .with(
            "/spec/connectionTracking",
            json!({ "udpTimeout": 45, "tcpEstablishedTimeout": 3600 }),
        );
    assert_eq!(
        lines(&scene, m5()),
        ["card - device 0 - sg-1,sg-2 public=false ipv4-prefixes=2 udp=45 tcp=3600"]
    );
    scene.cluster.dns_ip = "fd1a::a".parse().ok();
    assert_eq!(
        lines(&scene, m5()),
        [
            "card - device 0 - sg-1,sg-2 public=false ipv6-prefixes=2 ipv6=1 primary-ipv6=true udp=45 \
          tcp=3600"
        ]
    );
}

#[test]
fn pods_that_ask_for_fabric_get_an_adapter_on_each_card() {
    let mut instance_type = m5();
    Arc::make_mut(&mut instance_type.capacity)
        .insert("vpc.amazonaws.com/efa", Quantity::from_int(3));
    let mut scene = Scene::new();
    assert_eq!(lines(&scene, instance_type.clone()).len(), 1);
    scene.requests.insert("vpc.amazonaws.com/efa", Quantity::from_int(1));
    assert_eq!(
        lines(&scene, instance_type),
        [
            "card 0 device 0 efa sg-1,sg-2",
            "card 1 device 1 efa sg-1,sg-2",
            "card 2 device 1 efa sg-1,sg-2",
        ]
    );
}

#[test]
fn interfaces_of_the_class_come_first_and_fabric_alone_has_no_addresses() {
    let own = json!([
        { "networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface" },
        { "networkCardIndex": 1, "deviceIndex": 1, "interfaceType": "efa-only" },
    ]);
    let mut scene = Scene::new()
        .with("/spec/networkInterfaces", own)
        .with("/spec/associatePublicIPAddress", json!(true))
        .with("/spec/ipPrefixCount", json!(1))
        .with("/spec/connectionTracking", json!({ "udpTimeout": 45 }));
    scene.cluster.dns_ip = "fd1a::a".parse().ok();
    scene.requests.insert("vpc.amazonaws.com/efa", Quantity::from_int(1));
    assert_eq!(
        lines(&scene, m5()),
        [
            "card 0 device 0 interface sg-1,sg-2 public=true ipv6-prefixes=1 ipv6=1 \
             primary-ipv6=true udp=45",
            "card 1 device 1 efa-only sg-1,sg-2",
        ]
    );
}
