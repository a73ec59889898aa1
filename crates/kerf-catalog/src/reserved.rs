//! Capacity that was reserved beforehand, beside what can be bought now.

use std::sync::Arc;

use kerf_model::instance_type::{InstanceType, Offering, Reservation};
use kerf_model::labels::{aws, well_known};
use kerf_model::price::Price;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::resources::ResourceList;

use crate::aws::Zone;

/// Reserved capacity is paid for whether it is used or not: it costs next to nothing to use, and
/// still less where the type is cheap.
const PRICE_DIVISOR: u64 = 10_000_000;

/// A capacity reservation for one type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReservedCapacity {
    /// EC2's name for it.
    pub id: String,
    /// `default` or `capacity-block`.
    pub kind: &'static str,
    /// Whether its owner may take it back.
    pub is_interruptible: bool,
    /// Where it is.
    pub zone: Zone,
    /// How many more instances fit into it.
    pub remaining: u32,
    /// Whether it takes instances, if there is room.
    pub is_available: bool,
}

/// Adds the reservations of a type to its offerings and labels. `on_demand` is what an instance
/// would cost without one. All other offerings then say that they are none.
pub fn add_reserved(
    instance_type: &mut InstanceType,
    reserved: &[ReservedCapacity],
    on_demand: Option<Price>,
    partitions: u32,
) {
    if reserved.is_empty() {
        return;
    }
    label(instance_type, reserved);
    let absent = KEYS.map(|key| RequirementEntry::new(key, Operator::DoesNotExist, [""; 0]));
    let mut offerings = instance_type.offerings.to_vec();
    for offering in &mut offerings {
        let entries = offering.requirements.iter().chain(&absent).cloned();
        offering.requirements = entries.collect();
    }
    let micros = on_demand.map_or(0, Price::micros_per_hour).div_ceil(PRICE_DIVISOR);
    for capacity in reserved {
        let price = Price::from_micros_per_hour(micros);
        let numbers: Vec<Option<u32>> = match partitions {
            0 => vec![None],
            _ => (1..=partitions).map(Some).collect(),
        };
        offerings.extend(numbers.into_iter().map(|number| offering(capacity, number, price)));
    }
    instance_type.offerings = offerings.into();
}

/// The labels only reserved instances carry.
const KEYS: [&str; 3] = [
    aws::CAPACITY_RESERVATION_ID,
    aws::CAPACITY_RESERVATION_TYPE,
    aws::CAPACITY_RESERVATION_INTERRUPTIBLE,
];

/// What the type's labels say of its reservations.
fn label(instance_type: &mut InstanceType, reserved: &[ReservedCapacity]) {
    let interruptible = |it: &ReservedCapacity| it.is_interruptible.to_string();
    for entry in Arc::make_mut(&mut instance_type.requirements) {
        let mut values: Vec<String> = match entry.key.as_str() {
            aws::CAPACITY_RESERVATION_ID => reserved.iter().map(|it| it.id.clone()).collect(),
            aws::CAPACITY_RESERVATION_TYPE => {
                reserved.iter().map(|it| it.kind.to_owned()).collect()
            }
            aws::CAPACITY_RESERVATION_INTERRUPTIBLE => reserved.iter().map(interruptible).collect(),
            well_known::CAPACITY_TYPE => {
                entry.values.push(well_known::RESERVED.to_owned());
                entry.operator = Operator::In;
                continue;
            }
            _ => continue,
        };
        values.sort();
        values.dedup();
        (entry.operator, entry.values) = (Operator::In, values);
    }
}

fn offering(capacity: &ReservedCapacity, partition: Option<u32>, price: Price) -> Offering {
    let one = |key: &str, value: &str| RequirementEntry::new(key, Operator::In, [value]);
    let interruptible = capacity.is_interruptible.to_string();
    let always = [
        one(well_known::CAPACITY_TYPE, well_known::RESERVED),
        one(well_known::ZONE, &capacity.zone.name),
        one(aws::CAPACITY_RESERVATION_ID, &capacity.id),
        one(aws::CAPACITY_RESERVATION_TYPE, capacity.kind),
        one(aws::CAPACITY_RESERVATION_INTERRUPTIBLE, &interruptible),
    ];
    let zone_id = capacity.zone.id.iter().map(|id| one(aws::ZONE_ID, id));
    let partition = partition.iter().map(|n| one(aws::PLACEMENT_GROUP_PARTITION, &n.to_string()));
    let requirements: Arc<[RequirementEntry]> =
        always.into_iter().chain(zone_id).chain(partition).collect();
    Offering {
        requirements,
        price,
        available: capacity.is_available,
        reservation: Some(Reservation { id: capacity.id.clone(), remaining: capacity.remaining }),
        capacity_override: ResourceList::new(),
        overhead_override: None,
    }
}
