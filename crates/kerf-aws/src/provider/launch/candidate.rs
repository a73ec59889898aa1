//! An instance type that a claim may get, with the ways to buy it that are left.

use kerf_model::instance_type::{InstanceType, Offering};
use kerf_model::labels::{aws, well_known};
use kerf_model::price::Price;
use kerf_model::requirement::{Operator, RequirementEntry};

/// An instance type with those of its offerings that a claim may be launched with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate<'t> {
    pub(crate) instance_type: &'t InstanceType,
    /// Cheapest first; never empty.
    pub(crate) offerings: Vec<&'t Offering>,
}

/// The kinds of capacity reservations: a launch is made of one kind only. In the order they are
/// preferred at the same price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum ReservationKind {
    /// On demand, without an agreed end.
    Default,
    /// Bought ahead for a fixed time.
    CapacityBlock,
    /// Lent: its owner may take it back.
    Interruptible,
}

impl Candidate<'_> {
    /// What its cheapest offering costs.
    pub(crate) fn price(&self) -> Price {
        self.offerings.iter().map(|it| it.price).min().unwrap_or(Price::ZERO)
    }

    /// Keeps some of the offerings; whether any is left.
    pub(crate) fn retain(&mut self, is_kept: impl Fn(&Offering) -> bool) -> bool {
        self.offerings.retain(|offering| is_kept(offering));
        !self.offerings.is_empty()
    }
}

/// The kind of reservation an offering belongs to; none where it is no reservation.
pub(crate) fn reservation_kind(offering: &Offering) -> Option<ReservationKind> {
    if value(offering, well_known::CAPACITY_TYPE) != Some(well_known::RESERVED) {
        return None;
    }
    let is_interruptible = value(offering, aws::CAPACITY_RESERVATION_INTERRUPTIBLE) == Some("true");
    Some(match value(offering, aws::CAPACITY_RESERVATION_TYPE) {
        Some("capacity-block") => ReservationKind::CapacityBlock,
        _ if is_interruptible => ReservationKind::Interruptible,
        _ => ReservationKind::Default,
    })
}

/// The one value an offering has for a label.
pub(crate) fn value<'o>(offering: &'o Offering, key: &str) -> Option<&'o str> {
    only_value(&offering.requirements, key)
}

/// The one value a list of requirements leaves for a label.
pub(crate) fn only_value<'e>(entries: &'e [RequirementEntry], key: &str) -> Option<&'e str> {
    let entry = entries.iter().find(|entry| entry.key == key && entry.operator == Operator::In)?;
    match entry.values.as_slice() {
        [value] => Some(value),
        _ => None,
    }
}
