//! Capacity reservations beside what can be bought now.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use kerf_catalog::aws::{Zone, instance_type};
use kerf_catalog::price::BuiltInPrices;
use kerf_catalog::reserved::{ReservedCapacity, add_reserved};
use kerf_catalog::settings::NodeClassSettings;
use kerf_catalog::table;
use kerf_model::instance_type::{InstanceType, Offering};
use kerf_model::labels::{aws, well_known};
use kerf_model::price::Price;
use kerf_model::requirement::{Operator, RequirementEntry};

fn zone() -> Zone {
    Zone { name: "us-east-1a".to_owned(), id: Some("use1-az1".to_owned()) }
}

fn reservation(id: &str, remaining: u32) -> ReservedCapacity {
    ReservedCapacity {
        id: id.to_owned(),
        kind: "default",
        is_interruptible: false,
        zone: zone(),
        remaining,
        is_available: true,
    }
}

fn m5_large(reserved: &[ReservedCapacity], partitions: u32) -> InstanceType {
    let shape = table::shape("m5.large").unwrap();
    let settings = NodeClassSettings::default();
    let mut large = instance_type(shape, &settings, "us-east-1", &[&zone()], &BuiltInPrices);
    add_reserved(&mut large, reserved, Some(Price::from_micros_per_hour(96_000)), partitions);
    large
}

fn entry<'a>(entries: &'a [RequirementEntry], key: &str) -> &'a RequirementEntry {
    entries.iter().find(|entry| entry.key == key).unwrap()
}

fn reserved(large: &InstanceType) -> Vec<&Offering> {
    large.offerings.iter().filter(|offering| offering.reservation.is_some()).collect()
}

#[test]
fn a_reservation_is_an_offering_that_costs_next_to_nothing_and_carries_its_count() {
    let large = m5_large(&[reservation("cr-1", 3)], 0);
    let [offering] = reserved(&large)[..] else { panic!("{large:?}") };
    assert_eq!(offering.price.micros_per_hour(), 1);
    assert_eq!(offering.reservation.as_ref().unwrap().remaining, 3);
    assert!(offering.available);
    let id = entry(&offering.requirements, aws::CAPACITY_RESERVATION_ID);
    assert_eq!(id.values, ["cr-1"]);
    let zone_id = entry(&offering.requirements, aws::ZONE_ID);
    assert_eq!(zone_id.values, ["use1-az1"]);
}

#[test]
fn labels_name_all_reservations_and_other_offerings_say_they_are_none() {
    let large = m5_large(&[reservation("cr-2", 1), reservation("cr-1", 0)], 0);
    let ids = entry(&large.requirements, aws::CAPACITY_RESERVATION_ID);
    assert_eq!(
        (ids.operator, &*ids.values),
        (Operator::In, &["cr-1".to_owned(), "cr-2".to_owned()][..])
    );
    let bought = entry(&large.requirements, well_known::CAPACITY_TYPE);
    assert_eq!(bought.values, ["on-demand", "spot", "reserved"]);
    for offering in large.offerings.iter().filter(|offering| offering.reservation.is_none()) {
        let id = entry(&offering.requirements, aws::CAPACITY_RESERVATION_ID);
        assert_eq!(id.operator, Operator::DoesNotExist);
    }
    assert!(large.offerings.iter().all(|offering| offering.available));
    let full = large.offerings.iter().filter(|offering| !offering.is_launchable()).count();
    assert_eq!(full, 1, "nothing is launched into a reservation without room");
}

#[test]
fn a_type_without_reservations_stays_as_it_is() {
    assert!(reserved(&m5_large(&[], 0)).is_empty());
    let ids = entry(&m5_large(&[], 0).requirements, aws::CAPACITY_RESERVATION_ID).operator;
    assert_eq!(ids, Operator::DoesNotExist);
}

#[test]
fn each_partition_of_a_placement_group_has_its_own_offering() {
    let large = m5_large(&[reservation("cr-1", 3)], 2);
    let partitions = reserved(&large).into_iter().map(|offering| {
        entry(&offering.requirements, aws::PLACEMENT_GROUP_PARTITION).values[0].clone()
    });
    assert_eq!(partitions.collect::<Vec<_>>(), ["1", "2"]);
}
