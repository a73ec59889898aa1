//! What nodes of one class can be made of, right now.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kerf_api::ec2_node_class::{
    CapacityReservation, CapacityReservationState, CapacityReservationType, EC2NodeClass,
    EC2NodeClassStatus,
};
use kerf_catalog::aws::{Market, Zone};
use kerf_catalog::price::PriceBook;
use kerf_catalog::reserved::{ReservedCapacity, add_reserved};
use kerf_catalog::settings::{NodeClassSettings, PlacementGroup};
use kerf_model::instance_type::{InstanceType, Offering};
use kerf_model::labels::{aws, well_known};
use kerf_model::resources::MEMORY;

use super::class_facts::ClassFacts;
use super::prices::Prices;
use super::{Offers, PlacementScope};
use crate::catalogue::node_class;

/// Whom it is for.
pub(super) struct ForClass<'a> {
    pub(super) class: &'a EC2NodeClass,
    /// The hash of the class.
    pub(super) hash: &'a str,
    /// Where its instances are placed.
    pub(super) group: Option<&'a PlacementGroup>,
    /// What was answered before.
    pub(super) last: &'a [InstanceType],
}

impl Offers {
    /// The types that are sold where the class has subnets, in the order of their names. What did
    /// not change since the last answer is shared with it.
    pub(super) fn for_class(
        &self,
        wanted: &ForClass<'_>,
        facts: &ClassFacts,
        prices: &Prices,
    ) -> Arc<[InstanceType]> {
        let ForClass { class, hash, group, last } = *wanted;
        let ClassFacts { stock, settings, zones, types, .. } = facts;
        let market = Market::new(&self.context.cluster.region, settings, zones.iter().cloned());
        let full = self.zones_without_addresses(class.status.as_ref());
        let reserved = self.reservations_by_type(class.status.as_ref(), zones);
        let images = class.status.as_ref().and_then(|status| status.amis.as_deref());
        let images = images.unwrap_or_default();
        let offered = stock.shapes.iter().zip(types).filter_map(|(shape, facts)| {
            let (facts, sold) = (facts.as_ref()?, stock.zones.get(&shape.name)?);
            let is_sold = |zone: &Zone| sold.contains(&zone.name);
            let mut offered = market.instance_type(shape, facts, is_sold, prices);
            for offering in Arc::make_mut(&mut offered.offerings) {
                offering.available &= self.is_in_stock(&shape.name, offering, group, &full);
            }
            if let Some(reserved) = reserved.get(&shape.name) {
                let usable = usable(reserved, facts.is_compatible(), sold);
                let partitions = group.map_or(0, |group| group.partitions);
                add_reserved(&mut offered, &usable, prices.on_demand(shape), partitions);
            }
            let images = images.iter().map(|image| image.id.as_str());
            if let Some(memory) = self.memory.of(&shape.name, images, hash) {
                Arc::make_mut(&mut offered.capacity).insert(MEMORY, memory);
            }
            let place = last.binary_search_by(|older| older.name.cmp(&offered.name));
            if let Ok(place) = place {
                offered.share_with(&last[place]);
            }
            Some(offered)
        });
        offered.collect()
    }

    pub(super) fn settings(
        &self,
        class: &EC2NodeClass,
        group: Option<&PlacementGroup>,
    ) -> NodeClassSettings {
        let own = &self.context.settings;
        NodeClassSettings {
            placement_group: group.cloned(),
            vm_memory_overhead: own.vm_memory_overhead,
            reserved_interfaces: own.reserved_interfaces,
            ..node_class::settings(class)
        }
    }

    /// The zones whose subnets have all run out of addresses.
    fn zones_without_addresses(&self, status: Option<&EC2NodeClassStatus>) -> BTreeSet<String> {
        let subnets = status.and_then(|status| status.subnets.as_deref()).unwrap_or_default();
        let (full, free): (Vec<_>, Vec<_>) =
            subnets.iter().partition(|subnet| self.unavailable.has_subnet(&subnet.id));
        let is_full = |zone: &&String| !free.iter().any(|subnet| subnet.zone == **zone);
        full.iter().map(|subnet| &subnet.zone).filter(is_full).cloned().collect()
    }

    fn is_in_stock(
        &self,
        instance_type: &str,
        offering: &Offering,
        group: Option<&PlacementGroup>,
        full: &BTreeSet<String>,
    ) -> bool {
        let value = |key: &str| {
            let entry = offering.requirements.iter().find(|entry| entry.key == key);
            entry.and_then(|entry| entry.values.first()).map_or("", String::as_str)
        };
        let zone = value(well_known::ZONE);
        let scope = group.map(|group| PlacementScope {
            group: group.id.clone(),
            partition: value(aws::PLACEMENT_GROUP_PARTITION).parse().ok(),
        });
        let capacity_type = value(well_known::CAPACITY_TYPE);
        !full.contains(zone)
            && !self.unavailable.has_offering(capacity_type, instance_type, zone, scope.as_ref())
    }

    /// The reservations the class selects, by the type they are for.
    fn reservations_by_type(
        &self,
        status: Option<&EC2NodeClassStatus>,
        zones: &[Zone],
    ) -> BTreeMap<String, Vec<ReservedCapacity>> {
        let mut by_type: BTreeMap<String, Vec<ReservedCapacity>> = BTreeMap::new();
        if !self.context.settings.uses_reserved_capacity {
            return by_type;
        }
        let listed = status.and_then(|status| status.capacity_reservations.as_deref());
        for reservation in listed.unwrap_or_default() {
            let zone = zones.iter().find(|zone| zone.name == reservation.availability_zone);
            // Without a subnet there, nothing can be launched into it.
            let Some(zone) = zone else { continue };
            let capacity = self.reserved_capacity(reservation, zone);
            by_type.entry(reservation.instance_type.clone()).or_default().push(capacity);
        }
        by_type
    }

    fn reserved_capacity(&self, of: &CapacityReservation, zone: &Zone) -> ReservedCapacity {
        ReservedCapacity {
            id: of.id.clone(),
            kind: match of.reservation_type {
                Some(CapacityReservationType::CapacityBlock) => "capacity-block",
                Some(CapacityReservationType::Default) | None => "default",
            },
            is_interruptible: of.interruptible == Some(true),
            zone: zone.clone(),
            remaining: self.reservations.left(&of.id),
            is_available: of.state != Some(CapacityReservationState::Expiring),
        }
    }
}

/// The reservations that instances of a type can be launched into for the class.
fn usable(
    reserved: &[ReservedCapacity],
    is_compatible: bool,
    sold: &BTreeSet<String>,
) -> Vec<ReservedCapacity> {
    let usable = |capacity: &ReservedCapacity| ReservedCapacity {
        is_available: capacity.is_available && is_compatible && sold.contains(&capacity.zone.name),
        ..capacity.clone()
    };
    reserved.iter().map(usable).collect()
}
