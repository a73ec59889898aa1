//! The request as EC2 reads it, and the answer as we do.

use aws_sdk_ec2::operation::create_fleet::CreateFleetOutput;
use aws_sdk_ec2::types::{
    CreateFleetError, CreateFleetInstance, FleetLaunchTemplateOverrides,
    LaunchTemplateAndOverridesResponse,
};

use super::super::answer;
use super::super::fixtures::{launched, order, request};
use super::*;

const KINDS: [Purchase; 5] = [
    Purchase::Spot,
    Purchase::OnDemand,
    Purchase::Reserved(ReservationKind::Default),
    Purchase::Reserved(ReservationKind::CapacityBlock),
    Purchase::Reserved(ReservationKind::Interruptible),
];

/// Default type, spot strategy, on-demand strategy, reservation types.
fn bought(request: FleetRequest) -> [String; 4] {
    let input = input(&order(request, &["uid-1"])).build().unwrap();
    let target = input.target_capacity_specification().unwrap();
    let text = |text: Option<&str>| text.unwrap_or("-").to_owned();
    let spot = input.spot_options().and_then(|it| it.allocation_strategy());
    let on_demand = input.on_demand_options().and_then(|it| it.allocation_strategy());
    let reserved = input.reserved_capacity_options().map(|it| it.reservation_types());
    [
        text(target.default_target_capacity_type().map(|it| it.as_str())),
        text(spot.map(|it| it.as_str())),
        text(on_demand.map(|it| it.as_str())),
        text(reserved.and_then(|it| it.first()).map(|it| it.as_str())),
    ]
}

#[test]
fn each_way_to_buy_has_its_options() {
    let expected = [
        ["spot", "price-capacity-optimized", "-", "-"],
        ["on-demand", "-", "lowest-price", "-"],
        ["on-demand", "-", "lowest-price", "-"],
        ["capacity-block", "-", "-", "-"],
        ["reserved-capacity", "-", "-", "interruptible-capacity-reservation"],
    ];
    for (purchase, expected) in KINDS.into_iter().zip(expected) {
        assert_eq!(bought(request(purchase)), expected, "{purchase:?}");
    }
    let own = |purchase| FleetRequest { has_own_prices: true, ..request(purchase) };
    assert_eq!(bought(own(Purchase::Spot))[1], "capacity-optimized-prioritized");
    assert_eq!(bought(own(Purchase::OnDemand))[2], "prioritized");
}

#[test]
fn a_fleet_is_asked_for_all_members_at_once_and_tagged() {
    let mut request = request(Purchase::Spot);
    request.context = Some("ctx".to_owned());
    let input = input(&order(request, &["uid-1", "uid-2", "uid-3"])).build().unwrap();
    let target = input.target_capacity_specification().unwrap();
    assert_eq!(target.total_target_capacity(), Some(3));
    assert_eq!(input.r#type(), Some(&FleetType::Instant));
    assert_eq!(input.client_token(), Some("token-1"));
    assert_eq!(input.context(), Some("ctx"));
    let tagged = input.tag_specifications().iter();
    let tagged: Vec<&str> =
        tagged.clone().filter_map(|it| it.resource_type()).map(|it| it.as_str()).collect();
    assert_eq!(tagged, ["instance", "volume", "fleet"]);
    assert!(input.tag_specifications().iter().all(|it| it.tags()[0].key() == Some("team")));
}

#[test]
fn overrides_name_type_zone_subnet_image_and_price() {
    let mut order = order(request(Purchase::Spot), &["uid-1"]);
    let lines = |order: &FleetOrder| -> Vec<String> {
        let input = input(order).build().unwrap();
        let configs = input.launch_template_configs().iter();
        let line = |it: &FleetLaunchTemplateOverridesRequest| {
            let text = |text: Option<&str>| text.unwrap_or("-").to_owned();
            let kind = it.instance_type().map(InstanceType::as_str);
            let parts = [kind, it.availability_zone(), it.subnet_id(), it.image_id()].map(text);
            format!("{} {}", parts.join(" "), it.priority().unwrap())
        };
        configs.flat_map(|it| it.overrides().iter().map(line)).collect()
    };
    assert_eq!(
        lines(&order),
        ["m5.large a subnet-a ami-1 0.096", "m5.large b subnet-b ami-1 0.096"]
    );
    order.subnets.remove("a");
    assert_eq!(lines(&order), ["m5.large b subnet-b ami-1 0.096"]);
    order.subnets.clear();
    let input = input(&order).build().unwrap();
    assert!(input.launch_template_configs().is_empty(), "a template without a place is left out");
}

#[test]
fn equal_requests_are_equal_whatever_their_templates_hold() {
    let (one, mut other) = (request(Purchase::Spot), request(Purchase::Spot));
    assert_eq!(one, other);
    other.context = Some("other".to_owned());
    assert_ne!(one, other);
    let mut renamed = request(Purchase::Spot);
    let template = Template { name: "other".to_owned(), ..(*one.configs[0].template).clone() };
    renamed.configs[0].template = Arc::new(template);
    assert_ne!(one, renamed);
}

fn response(instance_type: &str, subnet: &str) -> LaunchTemplateAndOverridesResponse {
    let overrides = FleetLaunchTemplateOverrides::builder()
        .instance_type(InstanceType::from(instance_type))
        .subnet_id(subnet)
        .build();
    LaunchTemplateAndOverridesResponse::builder().overrides(overrides).build()
}

#[test]
fn an_answer_tells_what_was_launched_where_even_if_it_is_short_of_words() {
    let order = order(request(Purchase::OnDemand), &["uid-1", "uid-2"]);
    let instances = CreateFleetInstance::builder()
        .launch_template_and_overrides(response("m5.large", "subnet-a"))
        .instance_ids("i-2")
        .instance_ids("i-1")
        .build();
    let failed = CreateFleetError::builder()
        .launch_template_and_overrides(response("m5.large", "subnet-b"))
        .error_code("InsufficientInstanceCapacity")
        .error_message("none")
        .build();
    let output = CreateFleetOutput::builder().instances(instances).errors(failed).build();
    let answer = answer::read(&order, &output);
    assert_eq!(answer.instances, [launched("i-1"), launched("i-2")], "by id; zone by its subnet");
    let error = &answer.errors[0];
    assert_eq!((&*error.code, &*error.zone), ("InsufficientInstanceCapacity", "b"));
    assert_eq!((&*error.instance_type, &*error.subnet), ("m5.large", "subnet-b"));
}

#[test]
fn an_answer_for_a_reservation_names_it() {
    let mut request = request(Purchase::Reserved(ReservationKind::Default));
    request.configs[0].reservation = Some("cr-1".to_owned());
    let order = order(request, &["uid-1"]);
    let instances = CreateFleetInstance::builder()
        .launch_template_and_overrides(response("m5.large", "subnet-a"))
        .instance_ids("i-1")
        .build();
    let output = CreateFleetOutput::builder().instances(instances).build();
    assert_eq!(answer::read(&order, &output).instances[0].reservation.as_deref(), Some("cr-1"));
}
