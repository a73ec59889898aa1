//! The table of errors, row by row.

use std::time::Duration;

use super::super::capacity_type::Purchase;
use super::super::fixtures::request;
use super::*;

fn error(code: &str, message: &str) -> FleetError {
    FleetError {
        code: code.to_owned(),
        message: message.to_owned(),
        instance_type: "m5.large".to_owned(),
        zone: "a".to_owned(),
        subnet: "subnet-a".to_owned(),
        reservation: None,
        placement: None,
    }
}

/// An error as EC2 would report it that has everything the row looks for.
fn error_of(row: &Row) -> FleetError {
    error(row.has[0], &row.has.join(" … "))
}

fn offering(instance_type: &str) -> Mark {
    Mark::Offering {
        instance_type: instance_type.to_owned(),
        zone: "a".to_owned(),
        placement: None,
    }
}

#[test]
fn every_row_of_the_table_has_its_consequence() {
    for row in ROWS {
        let error = error_of(row);
        let name = row.has.join(" + ");
        assert_eq!(row_of(&error.code, &error.message), Some(row), "{name} is met by its own row");
        let marked = marks(&request(Purchase::Spot), std::slice::from_ref(&error));
        let expected = match row.marks {
            Marks::Nothing => vec![],
            Marks::Offering | Marks::PlacementGroup => vec![offering("m5.large")],
            Marks::Subnet => vec![offering("m5.large"), Mark::Subnet("subnet-a".to_owned())],
            Marks::Spot => vec![Mark::Spot],
        };
        assert_eq!(marked, expected, "{name}");
        match failure_of_fleet(&[error]) {
            Failure::InsufficientCapacity { message } => {
                assert!(row.is_capacity, "{name}");
                assert!(message.contains(row.has[0]) && message.contains("m5.large in a"));
            }
            Failure::LaunchRefused { reason, message } => {
                assert!(!row.is_capacity, "{name}");
                assert_eq!(reason, row.reason, "{name}");
                assert!(message.ends_with(row.advice), "{message}");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
}

/// What EC2 says, and the reason that Karpenter's users know it by; where one answer says several of
/// these, the first counts.
const KNOWN_REASONS: [(&str, &str); 19] = [
    ("AuthFailure.ServiceLinkedRoleCreationNotPermitted", "SpotSLRCreationFailed"),
    ("UnauthorizedOperation: Not authorized for images: [ami-1]", "AMIAuthorizationFailure"),
    ("UnauthorizedOperation", "Unauthorized"),
    ("AccessDenied", "Unauthorized"),
    ("AuthFailure", "Unauthorized"),
    ("InvalidParameter: the two belong to different networks", "SecurityGroupSubnetVPCMismatch"),
    ("InvalidParameterValue: iamInstanceProfile.name is invalid", "InstanceProfileNameInvalid"),
    ("InvalidLaunchTemplateId.NotFound", "LaunchTemplateNotFound"),
    ("InvalidParameterValue: User data is limited to 16384", "UserDataSizeLimitExceeded"),
    ("InvalidAMIID.Malformed", "InvalidAMIID"),
    ("InvalidAMIID.NotFound", "AMINotFound"),
    ("RequestLimitExceeded", "RequestLimitExceeded"),
    ("InternalError", "InternalError"),
    ("InvalidParameter: the type is not eligible for Free Tier", "FreeTierIneligible"),
    ("MaxFleetCountExceeded", "FleetQuotaExceeded"),
    ("PendingVerification", "AccountPendingVerification"),
    ("MaxSpotInstanceCountExceeded", "SpotQuotaExceeded"),
    ("VcpuLimitExceeded", "VCPULimitExceeded"),
    ("InsufficientFreeAddressesInSubnet", "InsufficientFreeAddressesInSubnet"),
];

#[test]
fn what_ec2_says_has_the_reason_that_users_know_and_the_first_of_several_counts() {
    let said = |text: &str| {
        let (code, message) = text.split_once(": ").unwrap_or((text, ""));
        error(code, message)
    };
    // Only where one error is no lack of capacity is a reason told at all.
    let strange = error("SomethingNew", "whatever");
    let reason = |errors: &[FleetError]| match failure_of_fleet(errors) {
        Failure::LaunchRefused { reason, .. } => reason,
        other => panic!("{other:?}"),
    };
    for (place, (text, expected)) in KNOWN_REASONS.iter().enumerate() {
        assert_eq!(reason(&[strange.clone(), said(text)]), *expected, "{text}");
        for (later, _) in &KNOWN_REASONS[place..] {
            let told = reason(&[strange.clone(), said(later), said(text)]);
            assert_eq!(told, *expected, "{text} and {later}");
        }
    }
}

#[test]
fn the_codes_that_mean_no_capacity_are_these() {
    let capacity = ROWS.iter().filter(|row| row.is_capacity).map(|row| row.has[0]);
    let mut capacity: Vec<&str> = capacity.collect();
    capacity.sort_unstable();
    assert_eq!(
        capacity,
        [
            "AuthFailure.ServiceLinkedRoleCreationNotPermitted",
            "InsufficientFreeAddressesInSubnet",
            "InsufficientInstanceCapacity",
            "MaxFleetCountExceeded",
            "MaxSpotInstanceCountExceeded",
            "ReservationCapacityExceeded",
            "UnfulfillableCapacity",
            "Unsupported",
            "VcpuLimitExceeded",
            "limit of instances in this spread placement group",
        ]
    );
}

#[test]
fn an_error_that_is_no_lack_of_capacity_outweighs_those_that_are() {
    let lacking = error("InsufficientInstanceCapacity", "none left");
    let quota = error("VcpuLimitExceeded", "too many");
    let denied = error("UnauthorizedOperation", "you may not");
    let strange = error("SomethingNew", "whatever");
    for (name, errors, expected) in [
        ("only lack", vec![&lacking, &quota], None),
        ("lack and a denial", vec![&lacking, &denied], Some("Unauthorized")),
        ("the first of the table", vec![&strange, &quota, &denied], Some("Unauthorized")),
        ("a quota and a strange one", vec![&strange, &quota], Some("VCPULimitExceeded")),
        ("lack and a strange one", vec![&lacking, &strange], Some("LaunchFailed")),
        ("a strange one", vec![&strange], Some("LaunchFailed")),
        ("no error at all", vec![], Some("LaunchFailed")),
    ] {
        let errors: Vec<FleetError> = errors.into_iter().cloned().collect();
        let reason = match failure_of_fleet(&errors) {
            Failure::InsufficientCapacity { .. } => None,
            Failure::LaunchRefused { reason, .. } => Some(reason),
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(reason.as_deref(), expected, "{name}");
    }
}

#[test]
fn what_is_out_of_stock_in_a_group_or_reservation_is_so_there_only() {
    let scope = PlacementScope { group: "pg-1".to_owned(), partition: Some(2) };
    let lacking = error("InsufficientInstanceCapacity", "none left");
    let scoped = FleetError { placement: Some(scope.clone()), ..lacking.clone() };
    let marked = marks(&request(Purchase::OnDemand), &[scoped.clone(), scoped]);
    let Mark::Offering { placement, .. } = &marked[0] else { panic!("{marked:?}") };
    assert_eq!((placement.as_ref(), marked.len()), (Some(&scope), 1), "and told once");
    let full = FleetError { reservation: Some("cr-1".to_owned()), ..lacking };
    let marked = marks(&request(Purchase::OnDemand), &[full]);
    assert_eq!(marked, [Mark::Reservation("cr-1".to_owned())]);
    let text = "You have reached the limit of instances in this spread placement group";
    let spread = FleetError {
        placement: Some(scope),
        instance_type: "other.large".to_owned(),
        ..error("InstanceLimitExceeded", text)
    };
    let marked = marks(&request(Purchase::OnDemand), &[spread]);
    let Mark::Offering { instance_type, zone, .. } = &marked[0] else { panic!("{marked:?}") };
    assert_eq!((&**instance_type, &**zone, marked.len()), ("m5.large", "a", 1), "all of the zone");
}

#[test]
fn a_request_that_is_refused_as_a_whole_is_told_by_its_kind() {
    let (action, resource) = ("ec2:CreateFleet", "fleet/*".to_owned());
    let refused = |code: &str, why: &str| CallError::Refused {
        action,
        resource: resource.clone(),
        code: code.to_owned(),
        why: format!("{code}: {why}"),
    };
    let throttled =
        |retry_after| CallError::Throttled { action, resource: resource.clone(), retry_after };
    let why = String::new();
    for (error, expected) in [
        (throttled(None), "throttled for 2000"),
        (throttled(Some(Duration::from_secs(7))), "throttled for 7000"),
        (CallError::Denied { action, resource: resource.clone() }, "Unauthorized"),
        (
            CallError::Credentials { action, resource: resource.clone(), why: why.clone() },
            "unavailable",
        ),
        (CallError::Unavailable { action, resource: resource.clone(), why }, "unavailable"),
        (refused("InvalidAMIID.NotFound", "it is gone"), "AMINotFound"),
        (
            refused("InvalidParameterValue", "User data is limited to 16384"),
            "UserDataSizeLimitExceeded",
        ),
        (refused("MaxFleetCountExceeded", "too many"), "capacity"),
        (refused("Strange", "what"), "LaunchFailed"),
    ] {
        let told = match failure_of_call(&error) {
            Failure::Throttled { retry_after, .. } => {
                format!("throttled for {}", retry_after.millis())
            }
            Failure::LaunchRefused { reason, message } => {
                assert!(message.contains("ec2:CreateFleet"), "{message}");
                reason
            }
            Failure::Unavailable { .. } => "unavailable".to_owned(),
            Failure::InsufficientCapacity { .. } => "capacity".to_owned(),
            other => format!("{other:?}"),
        };
        assert_eq!(told, expected, "{error:?}");
    }
}

#[test]
fn a_storm_of_errors_is_told_in_a_few_words() {
    let mut errors: Vec<FleetError> = Vec::new();
    for n in 0..300 {
        errors.push(error("InsufficientInstanceCapacity", &format!("kind {}", n % 8)));
    }
    let Failure::InsufficientCapacity { message } = failure_of_fleet(&errors) else { panic!() };
    assert!(message.contains("kind 0 (m5.large in a and 37 more)"), "{message}");
    assert!(message.ends_with("and 3 other errors"), "{message}");
    assert!(message.len() < 1_000, "{}", message.len());
    errors.push(error(NO_SPOT_ROLE, "not permitted"));
    let Failure::InsufficientCapacity { message } = failure_of_fleet(&errors) else { panic!() };
    assert!(message.starts_with(NO_SPOT_ROLE), "what an Event tells too comes first: {message}");
}

#[test]
fn the_documentation_lists_every_error_with_its_reason() {
    let page = include_str!("../../../../../../docs/aws.md");
    for row in ROWS {
        let cells = |line: &str| line.split('|').map(str::to_owned).collect::<Vec<_>>();
        let is_told = |line: &str| match cells(line).as_slice() {
            [_, says, reason, elsewhere, advice, _] => {
                let words = format!("{says} {advice}");
                row.has.iter().all(|it| words.contains(it))
                    && reason.contains(row.reason)
                    && elsewhere.trim().starts_with("yes") == row.is_capacity
            }
            _ => false,
        };
        assert!(page.lines().any(is_told), "{row:?}");
    }
}
