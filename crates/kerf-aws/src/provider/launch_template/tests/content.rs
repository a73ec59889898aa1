//! What a template says, row by row of the launch template's fields, without interfaces.

use aws_sdk_ec2::types::{
    CapacityReservationPreference, LaunchTemplateHttpTokensState,
    LaunchTemplateInstanceMetadataEndpointState, LaunchTemplateInstanceMetadataProtocolIpv6,
    LaunchTemplateInstanceMetadataTagsState, MarketType, NestedVirtualizationSpecification,
    ResourceType, Tenancy, VolumeType,
};
use kerf_model::labels::aws::{PLACEMENT_GROUP_ID, PLACEMENT_GROUP_PARTITION};
use kerf_model::labels::well_known::SPOT;
use kerf_model::requirement::Operator::{Gt, NotIn};

use super::*;

#[test]
fn image_profile_and_monitoring_are_those_of_the_class() {
    let data = Scene::new().data();
    assert_eq!(data.image_id(), Some("ami-x86"));
    assert_eq!(data.iam_instance_profile().unwrap().name(), Some("profile-1"));
    assert_eq!(data.monitoring().unwrap().enabled(), Some(false));
    assert!(data.security_group_ids().is_empty(), "they are on the interfaces");
    assert!(data.enclave_options().is_none() && data.cpu_options().is_none());
    let data = Scene::new().with("/spec/detailedMonitoring", json!(true)).data();
    assert_eq!(data.monitoring().unwrap().enabled(), Some(true));
}

#[test]
fn images_of_ones_own_get_the_user_data_as_it_is_or_none() {
    let mut scene = Scene::new().with("/spec/amiFamily", json!("Custom"));
    assert_eq!(scene.data().user_data(), None);
    scene = scene.with("/spec/userData", json!("as\r\nit is"));
    assert_eq!(scene.user_data(), "as\r\nit is");
}

#[test]
fn each_family_has_its_disks() {
    for (family, expected) in [
        ("AL2", "/dev/xvda 20"),
        ("AL2023", "/dev/xvda 20"),
        ("Bottlerocket", "/dev/xvda 4, /dev/xvdb 20"),
        ("Windows2019", "/dev/sda1 50"),
        ("Windows2022", "/dev/sda1 50"),
        ("Windows2025", "/dev/sda1 50"),
        ("Custom", ""),
    ] {
        let data = Scene::new().with("/spec/amiFamily", json!(family)).data();
        let disk = |it: &aws_sdk_ec2::types::LaunchTemplateBlockDeviceMappingRequest| {
            let ebs = it.ebs().unwrap();
            assert_eq!((ebs.encrypted(), ebs.volume_type()), (Some(true), Some(&VolumeType::Gp3)));
            format!("{} {}", it.device_name().unwrap(), ebs.volume_size().unwrap())
        };
        let disks: Vec<String> = data.block_device_mappings().iter().map(disk).collect();
        assert_eq!(disks.join(", "), expected, "{family}");
        assert_eq!(data.block_device_mappings.is_none(), expected.is_empty(), "{family}");
    }
}

#[test]
fn disks_of_the_class_are_taken_as_they_are() {
    let own = json!([
        { "deviceName": "/dev/xvda", "rootVolume": true, "ebs": {
            "volumeSize": "100G", "volumeType": "io2", "iops": 4000, "throughput": 0,
            "encrypted": false, "deleteOnTermination": true, "kmsKeyID": "key",
            "snapshotID": "snap-1", "volumeInitializationRate": 200 } },
        { "deviceName": "/dev/xvdb", "ebs": { "snapshotID": "snap-2" } },
    ]);
    let data = Scene::new().with("/spec/blockDeviceMappings", own).data();
    let [first, second] = data.block_device_mappings() else { panic!("{data:?}") };
    let ebs = first.ebs().unwrap();
    assert_eq!((ebs.volume_size(), ebs.iops(), ebs.throughput()), (Some(94), Some(4000), None));
    assert_eq!((ebs.encrypted(), ebs.delete_on_termination()), (Some(false), Some(true)));
    assert_eq!((ebs.kms_key_id(), ebs.snapshot_id()), (Some("key"), Some("snap-1")));
    assert_eq!(ebs.volume_type(), Some(&VolumeType::Io2));
    assert_eq!(ebs.volume_initialization_rate(), Some(200));
    let ebs = second.ebs().unwrap();
    assert_eq!((ebs.volume_size(), ebs.volume_type(), ebs.encrypted()), (None, None, None));
}

#[test]
fn the_metadata_service_is_strict_unless_the_class_says_otherwise() {
    let data = Scene::new().data();
    let options = data.metadata_options().unwrap();
    assert_eq!(options.http_tokens(), Some(&LaunchTemplateHttpTokensState::Required));
    assert_eq!(options.http_put_response_hop_limit(), Some(1));
    let ipv6 = LaunchTemplateInstanceMetadataProtocolIpv6::Disabled;
    assert_eq!(options.http_protocol_ipv6(), Some(&ipv6));
    let tags = LaunchTemplateInstanceMetadataTagsState::Disabled;
    assert_eq!(options.instance_metadata_tags(), Some(&tags));

    let own = json!({ "httpEndpoint": "disabled", "httpProtocolIPv6": "enabled",
        "httpPutResponseHopLimit": 3, "httpTokens": "optional" });
    let mut scene = Scene::new().with("/spec/metadataOptions", own);
    let data = scene.data();
    let options = data.metadata_options().unwrap();
    let endpoint = LaunchTemplateInstanceMetadataEndpointState::Disabled;
    assert_eq!(options.http_endpoint(), Some(&endpoint));
    assert_eq!(options.http_tokens(), Some(&LaunchTemplateHttpTokensState::Optional));
    assert_eq!(options.http_put_response_hop_limit(), Some(3));
    let ipv6 = LaunchTemplateInstanceMetadataProtocolIpv6::Enabled;
    assert_eq!(options.http_protocol_ipv6(), Some(&ipv6));

    scene.cluster.region = "us-isob-east-1".to_owned();
    assert_eq!(scene.data().metadata_options().unwrap().http_protocol_ipv6(), None);
}

#[test]
fn enclaves_and_nested_machines_come_when_asked_for() {
    let nested = json!({ "nestedVirtualization": "enabled" });
    let mut scene = Scene::new().with("/spec/cpuOptions", nested);
    scene.requests.insert("eks.amazonaws.com/nitro-sandbox", Quantity::from_int(1));
    let data = scene.data();
    assert_eq!(data.enclave_options().unwrap().enabled(), Some(true));
    let nested = NestedVirtualizationSpecification::Enabled;
    assert_eq!(data.cpu_options().unwrap().nested_virtualization(), Some(&nested));
}

#[test]
fn what_no_other_call_tags_is_tagged_by_the_template() {
    let tagged = |scene: &Scene| {
        let data = scene.data();
        let specifications = data.tag_specifications().iter();
        specifications
            .map(|it| (it.resource_type().unwrap().clone(), it.tags().to_vec()))
            .collect::<Vec<_>>()
    };
    let mut scene = Scene::new().with("/spec/tags", json!({ "team": "green" }));
    let tags = scene.only(&[m5()], |template| template.tags.clone());
    assert_eq!(tags["team"], "green");
    assert_eq!(tags[NODE_POOL], "general");
    let tags = tags::for_ec2(&tags);
    assert_eq!(tagged(&scene), [(ResourceType::NetworkInterface, tags.clone())]);
    scene.capacity_type = SPOT;
    let spot = (ResourceType::SpotInstancesRequest, tags.clone());
    assert_eq!(tagged(&scene), [(ResourceType::NetworkInterface, tags), spot]);
}

/// Preference, target and market of a launch into a reservation, or into none.
fn market(scene: &Scene, instance_type: InstanceType) -> (String, Option<String>, Option<String>) {
    let data = scene.only(&[instance_type], |template| template.data.clone());
    let reservation = data.capacity_reservation_specification();
    let target = reservation.and_then(|it| it.capacity_reservation_target());
    let market = data.instance_market_options().and_then(|it| it.market_type());
    (
        reservation
            .and_then(|it| it.capacity_reservation_preference())
            .map_or("", CapacityReservationPreference::as_str)
            .to_owned(),
        target.and_then(|it| it.capacity_reservation_id()).map(str::to_owned),
        market.map(|it: &MarketType| it.as_str().to_owned()),
    )
}

#[test]
fn only_selected_reservations_are_used() {
    let reservation = |id: &str, kind: &str, interruptible: bool| {
        json!({ "id": id, "availabilityZone": "eu-west-1a", "instanceMatchCriteria": "open",
            "instanceType": "m5.large", "ownerID": "123456789012", "reservationType": kind,
            "interruptible": interruptible, "state": "active" })
    };
    let mut scene = Scene::new().with(
        "/status/capacityReservations",
        json!([
            reservation("cr-1", "default", false),
            reservation("cr-2", "capacity-block", false),
            reservation("cr-3", "default", true),
        ]),
    );
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(market(&scene, m5()), ("none".to_owned(), None, None));
    scene.capacity_type = "reserved";
    for (id, expected) in [
        ("cr-1", None),
        ("cr-2", text("capacity-block")),
        ("cr-3", text("interruptible-capacity-reservation")),
    ] {
        let mut instance_type = m5();
        instance_type.offerings = [reserved(id)].into();
        let only = "capacity-reservations-only".to_owned();
        assert_eq!(market(&scene, instance_type), (only, text(id), expected));
    }
    scene.settings.uses_reserved_capacity = false;
    assert_eq!(market(&scene, m5()), (String::new(), None, None));
}

#[test]
fn instances_go_into_the_lowest_partition_that_is_allowed_and_can_be_had() {
    let partitioned = || {
        let mut instance_type = m5();
        let group = RequirementEntry::new(PLACEMENT_GROUP_ID, In, ["pg-1"]);
        instance_type.add_requirement(group);
        let in_partition = |partition| offering(&[(PLACEMENT_GROUP_PARTITION, partition)]);
        instance_type.offerings = ["10", "2", "1"].map(in_partition).into();
        instance_type
    };
    let placement = |wanted: &[RequirementEntry], instance_type: InstanceType| {
        let scene = Scene { requirements: wanted.to_vec(), ..Scene::new() };
        let data = scene.only(&[instance_type], |template| template.data.clone());
        let placement = data.placement().unwrap();
        (placement.group_id().map(str::to_owned), placement.partition_number())
    };
    let group = || Some("pg-1".to_owned());
    let wanted = |operator, values: &[&str]| {
        [RequirementEntry::new(PLACEMENT_GROUP_PARTITION, operator, values.iter().copied())]
    };
    assert_eq!(placement(&[], m5()), (None, None));
    assert_eq!(placement(&[], partitioned()), (group(), None), "EC2 chooses");
    assert_eq!(placement(&wanted(In, &["10", "2"]), partitioned()), (group(), Some(2)));
    assert_eq!(placement(&wanted(NotIn, &["1"]), partitioned()), (group(), Some(2)));
    assert_eq!(placement(&wanted(Gt, &["2"]), partitioned()), (group(), Some(10)));
    let mut without_two = partitioned();
    Arc::make_mut(&mut without_two.offerings)[1].available = false;
    assert_eq!(placement(&wanted(In, &["10", "2"]), without_two), (group(), Some(10)));
}

#[test]
fn the_tenancy_is_what_is_asked_for() {
    let mut scene = Scene::new();
    assert_eq!(scene.data().placement().unwrap().tenancy(), Some(&Tenancy::Default));
    scene.tenancy = "dedicated";
    assert_eq!(scene.data().placement().unwrap().tenancy(), Some(&Tenancy::Dedicated));
}
