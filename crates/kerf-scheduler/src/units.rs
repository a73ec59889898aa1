//! Resource amounts as short rows of integers.

use kerf_model::bitset::BitSet;
use kerf_model::quantity::Quantity;
use kerf_model::resources::{ResourceId, ResourceList, ResourceNames};
use smallvec::SmallVec;

/// Nano-units in one unit.
const NANOS_PER_UNIT: i128 = 1_000_000_000;

/// Amounts by resource; what lies beyond the end is zero. CPU is held in nano-CPUs and everything
/// else in whole units (bytes, pods, devices), so that the sum over any cluster fits.
pub(crate) type Amounts = SmallVec<[i64; 6]>;

/// Turns quantities into [`Amounts`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Units {
    names: ResourceNames,
}

impl Units {
    /// What is asked for, a part of a unit counting as a whole one.
    pub(crate) fn asked(&mut self, list: &ResourceList) -> Amounts {
        self.read(list, round_up, |_| {})
    }

    /// The same, and notes the resources that are named.
    pub(crate) fn asked_noting(&mut self, list: &ResourceList, named: &mut Named) -> Amounts {
        self.read(list, round_up, |id| named.note(id))
    }

    /// What is offered, a part of a unit counting as nothing.
    pub(crate) fn offered(&mut self, list: &ResourceList) -> Amounts {
        self.read(list, i128::div_euclid, |_| {})
    }

    /// The same, and notes the resources that are named.
    pub(crate) fn offered_noting(&mut self, list: &ResourceList, named: &mut Named) -> Amounts {
        self.read(list, i128::div_euclid, |id| named.note(id))
    }

    /// The amounts as quantities, zeros left out.
    pub(crate) fn to_list(&self, amounts: &Amounts) -> ResourceList {
        let amount = |id: ResourceId| amounts.get(id.index()).copied().unwrap_or(0);
        let named = self.names.iter().filter(|(id, _)| amount(*id) != 0);
        named
            .map(|(id, name)| {
                let nanos = i128::from(amount(id)) * divisor(id);
                (name, Quantity::from_nanos(nanos, format(id)))
            })
            .collect()
    }

    /// How many resources are known.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// The id of a resource, if anything in the problem has it.
    pub(crate) fn id(&self, name: &str) -> Option<ResourceId> {
        self.names.id(name)
    }

    /// An amount of the resource at a place, as a quantity.
    pub(crate) fn quantity(&self, index: usize, amount: i64) -> Quantity {
        let id = self.names.iter().nth(index).map(|(id, _)| id);
        id.map_or_else(Quantity::default, |id| {
            Quantity::from_nanos(i128::from(amount) * divisor(id), format(id))
        })
    }

    /// The name of the resource at a place in the amounts.
    pub(crate) fn name_at(&self, index: usize) -> &str {
        self.names.iter().nth(index).map_or("", |(_, name)| name)
    }

    fn read(
        &mut self,
        list: &ResourceList,
        round: impl Fn(i128, i128) -> i128,
        mut note: impl FnMut(ResourceId),
    ) -> Amounts {
        let mut amounts = Amounts::new();
        for (name, quantity) in list.iter() {
            let id = self.names.intern(name);
            note(id);
            if amounts.len() <= id.index() {
                amounts.resize(id.index() + 1, 0);
            }
            let units = round(quantity.nanos(), divisor(id));
            amounts[id.index()] =
                i64::try_from(units).unwrap_or(if units < 0 { i64::MIN } else { i64::MAX });
        }
        amounts
    }
}

/// The resources that were named, each once and in the order they were.
#[derive(Clone, Debug, Default)]
pub(crate) struct Named {
    pub(crate) in_order: SmallVec<[u32; 8]>,
    known: BitSet,
}

impl Named {
    fn note(&mut self, id: ResourceId) {
        let index = u32::try_from(id.index()).expect("fewer than 2³² resources");
        if self.known.insert(index) {
            self.in_order.push(index);
        }
    }
}

/// The amount at a place; what lies beyond the end is zero.
pub(crate) fn at(amounts: &Amounts, index: usize) -> i64 {
    amounts.get(index).copied().unwrap_or(0)
}

fn round_up(nanos: i128, divisor: i128) -> i128 {
    nanos.div_euclid(divisor) + i128::from(nanos.rem_euclid(divisor) > 0)
}

fn divisor(id: ResourceId) -> i128 {
    if id == ResourceId::CPU { 1 } else { NANOS_PER_UNIT }
}

fn format(id: ResourceId) -> kerf_model::quantity::Format {
    match id {
        ResourceId::MEMORY | ResourceId::EPHEMERAL_STORAGE => {
            kerf_model::quantity::Format::BinarySi
        }
        _ => kerf_model::quantity::Format::DecimalSi,
    }
}

/// Adds `times` times what is asked to a sum.
pub(crate) fn add(sum: &mut Amounts, asked: &Amounts, times: i64) {
    if sum.len() < asked.len() {
        sum.resize(asked.len(), 0);
    }
    for (sum, asked) in sum.iter_mut().zip(asked) {
        *sum = sum.saturating_add(asked.saturating_mul(times));
    }
}

/// Raises amounts to others where those are larger.
pub(crate) fn raise_to(most: &mut Amounts, amounts: &Amounts) {
    if most.len() < amounts.len() {
        most.resize(amounts.len(), 0);
    }
    for (most, amount) in most.iter_mut().zip(amounts) {
        *most = (*most).max(*amount);
    }
}

/// Takes amounts away, below zero if need be.
pub(crate) fn subtract(from: &mut Amounts, amounts: &Amounts, times: i64) {
    add(from, amounts, -times);
}

/// How often what is asked fits into what is free.
pub(crate) fn times_fitting(asked: &Amounts, free: &Amounts) -> i64 {
    let mut times = i64::MAX;
    for (index, asked) in asked.iter().enumerate().filter(|(_, asked)| **asked > 0) {
        let free = free.get(index).copied().unwrap_or(0);
        if free < *asked {
            return 0;
        }
        times = times.min(free / asked);
    }
    times
}

/// How often what is asked fits beside others into what there is.
pub(crate) fn times_fitting_beside(asked: &Amounts, others: &Amounts, whole: &Amounts) -> i64 {
    let mut times = i64::MAX;
    for (index, asked) in asked.iter().enumerate().filter(|(_, asked)| **asked > 0) {
        let at = |amounts: &Amounts| amounts.get(index).copied().unwrap_or(0);
        times = times.min((at(whole) - at(others)).max(0) / asked);
    }
    times
}

/// Whether what is asked fits into what is free. Where something is overdrawn, nothing fits.
pub(crate) fn fits(asked: &Amounts, free: &Amounts) -> bool {
    free.iter().all(|free| *free >= 0)
        && asked
            .iter()
            .enumerate()
            .all(|(index, asked)| *asked <= 0 || *asked <= free.get(index).copied().unwrap_or(0))
}
