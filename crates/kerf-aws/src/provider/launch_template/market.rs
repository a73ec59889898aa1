//! How instances are bought, as far as a template says it: from a capacity reservation or not.

use aws_sdk_ec2::types::{
    CapacityReservationPreference, CapacityReservationTarget,
    LaunchTemplateCapacityReservationSpecificationRequest,
    LaunchTemplateInstanceMarketOptionsRequest, MarketType,
};
use kerf_api::ec2_node_class::{CapacityReservation, CapacityReservationType};

use super::TemplateRequest;

/// Which reservation is used; without one, none is: instances would else be counted to open
/// reservations that the class has not selected. Nothing is said while the feature is off.
pub(super) fn reservation(
    request: &TemplateRequest<'_>,
    reservation: Option<&str>,
) -> Option<LaunchTemplateCapacityReservationSpecificationRequest> {
    if !request.settings.uses_reserved_capacity {
        return None;
    }
    let specification = LaunchTemplateCapacityReservationSpecificationRequest::builder();
    let specification = match reservation {
        Some(id) => {
            let target = CapacityReservationTarget::builder().capacity_reservation_id(id).build();
            specification
                .capacity_reservation_preference(
                    CapacityReservationPreference::CapacityReservationsOnly,
                )
                .capacity_reservation_target(target)
        }
        None => specification.capacity_reservation_preference(CapacityReservationPreference::None),
    };
    Some(specification.build())
}

/// The market of reservations that are not the usual ones.
pub(super) fn options(
    request: &TemplateRequest<'_>,
    reservation: Option<&str>,
) -> Option<LaunchTemplateInstanceMarketOptionsRequest> {
    let reservations = request.status()?.capacity_reservations.as_ref()?;
    let found = reservations.iter().find(|it| Some(it.id.as_str()) == reservation)?;
    let market = market(found)?;
    Some(LaunchTemplateInstanceMarketOptionsRequest::builder().market_type(market).build())
}

fn market(reservation: &CapacityReservation) -> Option<MarketType> {
    if reservation.reservation_type == Some(CapacityReservationType::CapacityBlock) {
        return Some(MarketType::CapacityBlock);
    }
    let is_interruptible = reservation.interruptible == Some(true);
    is_interruptible.then_some(MarketType::InterruptibleCapacityReservation)
}
