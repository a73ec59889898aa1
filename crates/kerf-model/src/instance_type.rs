//! What a cloud sells: instance types, and the offerings that say where and for how much.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::price::Price;
use crate::requirement::RequirementEntry;
use crate::resources::ResourceList;

/// What a cloud sells under one name. Its parts are shared: a list of all types is made anew when
/// one offering changes, and a type has some forty labels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceType {
    /// The cloud's name for it.
    pub name: String,
    /// One entry for each well-known label: the values a node of this type may carry.
    pub requirements: Arc<[RequirementEntry]>,
    /// What the instance has.
    pub capacity: Arc<ResourceList>,
    /// What of it the pods cannot use.
    pub overhead: Arc<Overhead>,
    /// Where and how it is sold.
    pub offerings: Arc<[Offering]>,
}

/// What of an instance is kept from pods.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overhead {
    /// For the kubelet and the container runtime.
    pub kube_reserved: ResourceList,
    /// For the operating system.
    pub system_reserved: ResourceList,
    /// What the kubelet keeps free before it evicts.
    pub eviction_threshold: ResourceList,
}

/// One way to buy an instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offering {
    /// Zone and capacity type, and what else tells this offering from the others. Shared, because
    /// a cloud sells all its types in the same few ways.
    pub requirements: Arc<[RequirementEntry]>,
    /// What it costs.
    pub price: Price,
    /// Whether it can be had, as far as is known. A reservation that is full is so still: an
    /// instance of it may go. Who launches asks [`Offering::is_launchable`].
    pub available: bool,
    /// Set where the capacity was reserved beforehand.
    pub reservation: Option<Reservation>,
    /// Where instances of this offering differ from the type: capacity merged over the type's.
    pub capacity_override: ResourceList,
    /// Where instances of this offering differ from the type: overhead in place of the type's.
    pub overhead_override: Option<Arc<Overhead>>,
}

/// Capacity that was reserved beforehand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reservation {
    /// The cloud's name for the reservation.
    pub id: String,
    /// How many more instances fit into it.
    pub remaining: u32,
}

/// The prefix of the resources that take their memory away from all others.
const HUGEPAGES_PREFIX: &str = "hugepages-";

impl Overhead {
    /// Everything that is kept from pods, together.
    #[must_use]
    pub fn total(&self) -> ResourceList {
        let mut total = self.kube_reserved.clone();
        total.add(&self.system_reserved);
        total.add(&self.eviction_threshold);
        total
    }
}

impl Offering {
    /// Whether an instance can be launched with it now: there is room in its reservation, if it is
    /// of one.
    #[must_use]
    pub fn is_launchable(&self) -> bool {
        self.available && self.reservation.as_ref().is_none_or(|it| it.remaining > 0)
    }

    /// Whether its instances are just as the type says.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.capacity_override.is_empty() && self.overhead_override.is_none()
    }
}

impl InstanceType {
    /// Shares with the same type of an older list what is equal, so that the memory of both is
    /// that of one.
    pub fn share_with(&mut self, older: &InstanceType) {
        share(&mut self.requirements, &older.requirements);
        share(&mut self.capacity, &older.capacity);
        share(&mut self.overhead, &older.overhead);
        share(&mut self.offerings, &older.offerings);
    }

    /// Adds what is said about one more label.
    pub fn add_requirement(&mut self, entry: RequirementEntry) {
        self.requirements = self.requirements.iter().cloned().chain([entry]).collect();
    }

    /// What pods can use on an instance of this type, whatever the offering.
    #[must_use]
    pub fn allocatable(&self) -> ResourceList {
        allocatable(&self.capacity, &self.overhead)
    }

    /// What pods can use on an instance of this type bought by the given offering.
    #[must_use]
    pub fn allocatable_of(&self, offering: &Offering) -> ResourceList {
        let mut capacity = ResourceList::clone(&self.capacity);
        for (name, quantity) in offering.capacity_override.iter() {
            capacity.insert(name, quantity);
        }
        allocatable(&capacity, offering.overhead_override.as_ref().unwrap_or(&self.overhead))
    }
}

fn share<T: ?Sized + PartialEq>(mine: &mut Arc<T>, older: &Arc<T>) {
    if !Arc::ptr_eq(mine, older) && mine == older {
        *mine = older.clone();
    }
}

/// Capacity less overhead; huge pages also take their memory away. Memory never goes below zero.
fn allocatable(capacity: &ResourceList, overhead: &Overhead) -> ResourceList {
    let mut left = capacity.clone();
    left.subtract(&overhead.total());
    let huge: Vec<_> =
        capacity.iter().filter(|(name, _)| name.starts_with(HUGEPAGES_PREFIX)).collect();
    if !huge.is_empty()
        && let Some(memory) = left.get("memory")
    {
        let rest = huge.iter().fold(memory, |rest, (_, pages)| rest.saturating_sub(*pages));
        left.insert("memory", rest.max(crate::quantity::Quantity::default()));
    }
    left
}
