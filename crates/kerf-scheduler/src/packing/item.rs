//! What is packed: pods of one class, placed one way, bound for one set of domains.

use kerf_model::bitset::BitSet;
use kerf_model::vocabulary::{KeyId, KeySet, ValueId, Vocabulary};
use smallvec::SmallVec;

use crate::limits::Limits;
use crate::packing::bin::Choice;
use crate::packing::min_values::KnownOpenTypes;
use crate::reading::class::Class;
use crate::reading::demand::{DemandId, Demands};
use crate::reading::group::Groups;
use crate::reading::instance_type::InstanceTypes;
use crate::reading::occupancy::HostGroups;

/// The domains an item is bound for.
pub(crate) type Pins = SmallVec<[(KeyId, ValueId); 1]>;

/// Pods of one class, placed one way, bound for one set of domains.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) class: usize,
    pub(crate) variant: usize,
    pub(crate) pins: Pins,
    pub(crate) demand: DemandId,
    pub(crate) count: i64,
}

impl Item {
    /// Whether another stands for the same pods, placed in the same way.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (self.class, self.variant, &self.pins) == (other.class, other.variant, &other.pins)
    }
}

/// Everything packing reads and never changes.
#[derive(Clone, Copy)]
pub(crate) struct PackingContext<'a> {
    pub(crate) classes: &'a [Class],
    pub(crate) groups: &'a Groups,
    pub(crate) hosts: &'a HostGroups,
    pub(crate) instance_types: &'a InstanceTypes,
    pub(crate) demands: &'a Demands,
    pub(crate) vocabulary: &'a Vocabulary,
    pub(crate) well_known: &'a KeySet,
    pub(crate) best_effort_min_values: bool,
    pub(crate) known_open_types: &'a KnownOpenTypes,
    pub(crate) limits: &'a Limits,
    /// Most instance types a new node keeps as options.
    pub(crate) options_max: usize,
    /// The weight of the pools that may get nodes; any where all have one.
    pub(crate) weight: Option<u32>,
}

impl PackingContext<'_> {
    /// Whether an instance type is one of those pools'.
    pub(crate) fn is_open(&self, instance_type: usize) -> bool {
        self.weight.is_none_or(|weight| self.instance_types.weight(instance_type) == weight)
    }

    /// Of the instance types that could hold a node, cheapest first, those that a launch may name:
    /// each type once, and so many.
    pub(crate) fn options(
        &self,
        choices: impl IntoIterator<Item = Choice>,
    ) -> impl Iterator<Item = Choice> {
        let mut seen = BitSet::new();
        let first_of_its_type = move |choice: &Choice| {
            let type_index = self.instance_types.all[choice.instance_type].type_index;
            seen.insert(u32::try_from(type_index).expect("fewer than 2³² types"))
        };
        choices.into_iter().filter(first_of_its_type).take(self.options_max)
    }
}
