//! What the errors of a launch mean: one table of EC2's codes and texts, and what follows from each.

use kerf_engine::event::Failure;
use kerf_engine::time::Span;

use super::answer::FleetError;
use super::fleet::FleetRequest;
use crate::CallError;
use crate::provider::offers::PlacementScope;

/// How long to wait where EC2 throttles without saying how long.
const THROTTLED_FOR: Span = Span::from_seconds(2);
/// The reason of a failure that no row knows.
const OTHER: &str = "LaunchFailed";
/// So many errors of a fleet are told of; a fleet can have hundreds, mostly of the same kind.
const ERRORS_TOLD: usize = 5;

/// A kind of error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// What its code or text has in it: all of these.
    pub(crate) has: &'static [&'static str],
    /// What can no longer be had.
    pub(crate) marks: Marks,
    /// Whether the same launch may work elsewhere: nobody has to change anything.
    pub(crate) is_capacity: bool,
    /// The reason of the claim's condition, if nothing that comes before it happened too.
    pub(crate) reason: &'static str,
    /// What a user can do about it.
    pub(crate) advice: &'static str,
}

/// What can no longer be had after an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marks {
    /// Nothing changes.
    Nothing,
    /// This type in this zone, by this capacity type; of a reservation, the reservation.
    Offering,
    /// The same, and the subnet has no address left.
    Subnet,
    /// Every requested type in this zone, as far as this placement group goes.
    PlacementGroup,
    /// Spot, everywhere.
    Spot,
}

/// One thing that can no longer be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A type in a zone, of the request's capacity type; for a placement group, there only.
    Offering { instance_type: String, zone: String, placement: Option<PlacementScope> },
    /// A capacity reservation.
    Reservation(String),
    /// A subnet.
    Subnet(String),
    /// Spot.
    Spot,
}

const fn row(
    has: &'static [&'static str],
    marks: Marks,
    is_capacity: bool,
    reason: &'static str,
    advice: &'static str,
) -> Row {
    Row { has, marks, is_capacity, reason, advice }
}

/// The account has no service-linked role for spot, and may not make it.
pub(crate) const NO_SPOT_ROLE: &str = "AuthFailure.ServiceLinkedRoleCreationNotPermitted";

/// Every error that is known, in the order of which reason is told where there are several.
#[rustfmt::skip]
pub(crate) const ROWS: &[Row] = &[
    row(&[NO_SPOT_ROLE], Marks::Spot, true, "SpotSLRCreationFailed",
        "create the service-linked role for spot: aws iam create-service-linked-role --aws-service-name spot.amazonaws.com"),
    row(&["Not authorized for images"], Marks::Nothing, false, "AMIAuthorizationFailure",
        "the account may not use the image: have it shared, or select another"),
    row(&["UnauthorizedOperation", "permissions boundary"], Marks::Nothing, false, "Unauthorized",
        "a permissions boundary forbids it"),
    row(&["UnauthorizedOperation", "service control policy"], Marks::Nothing, false, "Unauthorized",
        "a service control policy of the organization forbids it"),
    row(&["UnauthorizedOperation"], Marks::Nothing, false, "Unauthorized", "grant the permission to the controller's role"),
    row(&["AccessDenied"], Marks::Nothing, false, "Unauthorized", "grant the permission to the controller's role"),
    row(&["AuthFailure"], Marks::Nothing, false, "Unauthorized", "check the credentials and permissions of the controller"),
    row(&["InvalidParameter", "belong to different networks"], Marks::Nothing, false, "SecurityGroupSubnetVPCMismatch",
        "select security groups and subnets of one VPC"),
    row(&["iamInstanceProfile.name is invalid"], Marks::Nothing, false, "InstanceProfileNameInvalid",
        "the instance profile is not there (yet), or its name is wrong"),
    row(&["InvalidLaunchTemplateId.NotFound"], Marks::Nothing, false, "LaunchTemplateNotFound", "it is made anew by the next launch"),
    row(&["InvalidLaunchTemplateName.NotFoundException"], Marks::Nothing, false, "LaunchTemplateNotFound",
        "it is made anew by the next launch"),
    row(&["User data is limited to"], Marks::Nothing, false, "UserDataSizeLimitExceeded", "shorten spec.userData"),
    row(&["InvalidAMIID.Malformed"], Marks::Nothing, false, "InvalidAMIID", "correct the image's id"),
    row(&["InvalidAMIID.NotFound"], Marks::Nothing, false, "AMINotFound", "the image is gone: select another"),
    row(&["RequestLimitExceeded"], Marks::Nothing, false, "RequestLimitExceeded", "it is tried again"),
    row(&["InternalError"], Marks::Nothing, false, "InternalError", "it is tried again"),
    row(&["not eligible for Free Tier"], Marks::Nothing, false, "FreeTierIneligible",
        "the account may launch types of the free tier only"),
    row(&["MaxFleetCountExceeded"], Marks::Offering, true, "FleetQuotaExceeded", "raise the quota for fleets"),
    row(&["PendingVerification"], Marks::Nothing, false, "AccountPendingVerification", "AWS is still verifying the account"),
    row(&["MaxSpotInstanceCountExceeded"], Marks::Offering, true, "SpotQuotaExceeded", "raise the quota for spot instances"),
    row(&["VcpuLimitExceeded"], Marks::Offering, true, "VCPULimitExceeded", "raise the quota for on-demand vCPUs"),
    row(&["InsufficientFreeAddressesInSubnet"], Marks::Subnet, true, "InsufficientFreeAddressesInSubnet",
        "add subnets, or larger ones"),
    row(&["limit of instances in this spread placement group"], Marks::PlacementGroup, true, OTHER,
        "a spread placement group takes seven instances a zone"),
    row(&["InsufficientInstanceCapacity"], Marks::Offering, true, OTHER, "allow more instance types or zones"),
    row(&["UnfulfillableCapacity"], Marks::Offering, true, OTHER, "allow more instance types or zones"),
    row(&["Unsupported"], Marks::Offering, true, OTHER, "allow more instance types or zones"),
    row(&["ReservationCapacityExceeded"], Marks::Offering, true, OTHER, "the capacity reservation is full"),
];

/// The row an error belongs to.
fn row_of(code: &str, message: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.has.iter().all(|it| code.contains(it) || message.contains(it)))
}

/// Whether a launch template is gone that was there a moment ago.
pub(crate) fn is_template_gone(code: &str) -> bool {
    code.contains("InvalidLaunchTemplateName.NotFoundException")
        || code.contains("InvalidLaunchTemplateId.NotFound")
}

/// What can no longer be had after the errors of a fleet.
pub(crate) fn marks(request: &FleetRequest, errors: &[FleetError]) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    for mark in errors.iter().flat_map(|error| marks_of(request, error)) {
        if !marks.contains(&mark) {
            marks.push(mark);
        }
    }
    marks
}

fn marks_of(request: &FleetRequest, error: &FleetError) -> Vec<Mark> {
    let FleetError { code, message, instance_type, zone, subnet, reservation, placement } = error;
    let Some(row) = row_of(code, message) else { return Vec::new() };
    let offering = |instance_type: &str| match reservation {
        Some(id) => Mark::Reservation(id.clone()),
        None => Mark::Offering {
            instance_type: instance_type.to_owned(),
            zone: zone.clone(),
            placement: placement.clone(),
        },
    };
    match row.marks {
        Marks::Nothing => Vec::new(),
        Marks::Offering => vec![offering(instance_type)],
        Marks::Subnet => vec![offering(instance_type), Mark::Subnet(subnet.clone())],
        Marks::PlacementGroup => {
            let overrides = request.configs.iter().flat_map(|it| &it.overrides);
            let there = overrides.filter(|it| it.zone == *zone);
            there.map(|it| offering(&it.instance_type)).collect()
        }
        Marks::Spot => vec![Mark::Spot],
    }
}

/// What a claim hears that got no instance from a fleet with these errors.
pub(crate) fn failure_of_fleet(errors: &[FleetError]) -> Failure {
    let text = told(errors);
    let is_capacity =
        |error: &FleetError| row_of(&error.code, &error.message).is_some_and(|row| row.is_capacity);
    if !errors.is_empty() && errors.iter().all(is_capacity) {
        return Failure::InsufficientCapacity { message: text };
    }
    if errors.is_empty() {
        return refused(OTHER, "EC2 launched too few instances and gives no reason");
    }
    let everything = errors.iter().map(|it| format!("{}: {}\n", it.code, it.message));
    let everything: String = everything.collect();
    match row_of(&everything, "") {
        Some(row) => refused(row.reason, &with_advice(&text, row)),
        None => refused(OTHER, &text),
    }
}

/// What a claim hears whose request itself was not answered as it should be.
pub(crate) fn failure_of_call(error: &CallError) -> Failure {
    let message = error.to_string();
    match error {
        CallError::Throttled { retry_after, .. } => {
            let millis = retry_after.map(|wait| u64::try_from(wait.as_millis()));
            let retry_after = millis.and_then(Result::ok).map_or(THROTTLED_FOR, Span::from_millis);
            Failure::Throttled { message, retry_after }
        }
        CallError::Credentials { .. } | CallError::Unavailable { .. } => {
            Failure::Unavailable { message }
        }
        CallError::Denied { .. } => refused("Unauthorized", &message),
        CallError::Refused { .. } | CallError::NoSuchQueue { .. } => match row_of(&message, "") {
            Some(row) if row.is_capacity => Failure::InsufficientCapacity { message },
            Some(row) => refused(row.reason, &with_advice(&message, row)),
            None => refused(OTHER, &message),
        },
    }
}

fn refused(reason: &str, message: &str) -> Failure {
    Failure::LaunchRefused { reason: reason.to_owned(), message: message.to_owned() }
}

fn with_advice(text: &str, row: &Row) -> String {
    format!("{text}; {}", row.advice)
}

/// The errors as a claim's condition tells them: each kind once, with where it happened first.
fn told(errors: &[FleetError]) -> String {
    let mut kinds: Vec<(&FleetError, usize)> = Vec::new();
    for error in errors {
        let same = |it: &&mut (&FleetError, usize)| {
            it.0.code == error.code && it.0.message == error.message
        };
        match kinds.iter_mut().find(same) {
            Some((_, count)) => *count += 1,
            None => kinds.push((error, 1)),
        }
    }
    // It is told by an Event too, which is made where these words are found.
    kinds.sort_by_key(|(error, _)| error.code != NO_SPOT_ROLE);
    let more = kinds.len().saturating_sub(ERRORS_TOLD);
    let line = |(error, count): &(&FleetError, usize)| {
        let FleetError { code, message, instance_type, zone, .. } = error;
        let others = if *count > 1 { format!(" and {} more", count - 1) } else { String::new() };
        format!("{code}: {message} ({instance_type} in {zone}{others})")
    };
    let mut lines: Vec<String> = kinds.iter().take(ERRORS_TOLD).map(line).collect();
    lines.extend((more > 0).then(|| format!("and {more} other errors")));
    lines.join("; ")
}

#[cfg(test)]
mod tests;
