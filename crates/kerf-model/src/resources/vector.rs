//! Resources by id.

use smallvec::SmallVec;

use super::{ResourceId, ResourceList, ResourceNames};
use crate::quantity::{Format, Quantity};

/// Most instances and pods concern themselves with the four fixed resources only.
const INLINE_RESOURCES: usize = 4;

/// Amounts in nano-units by [`ResourceId`]; what lies beyond the end is zero.
///
/// Amounts are exact, and held at the end of the range where a sum would leave it. Equality is by
/// amount: trailing zeros make no difference.
#[derive(Clone, Debug, Default)]
pub struct ResourceVector {
    nanos: SmallVec<[i128; INLINE_RESOURCES]>,
}

impl ResourceVector {
    /// Nothing of anything.
    pub fn new() -> ResourceVector {
        ResourceVector::default()
    }

    /// The amounts of a list, its names interned in the table.
    pub fn from_list(list: &ResourceList, names: &mut ResourceNames) -> ResourceVector {
        let mut vector = ResourceVector::new();
        for (name, quantity) in list.iter() {
            vector.set(names.intern(name), quantity.nanos());
        }
        vector
    }

    /// The amounts that are not zero, under the names of the table they were interned in.
    ///
    /// Memory and storage print as bytes do, everything else as a decimal.
    pub fn to_list(&self, names: &ResourceNames) -> ResourceList {
        let quantity = |id| Quantity::from_nanos(self.nanos(id), printed_format(id));
        let amounts = names.iter().map(|(id, name)| (name, quantity(id)));
        amounts.filter(|(_, quantity)| !quantity.is_zero()).collect()
    }

    /// The amount of a resource in nano-units.
    pub fn nanos(&self, id: ResourceId) -> i128 {
        self.nanos.get(id.index()).copied().unwrap_or(0)
    }

    /// Sets the amount of a resource in nano-units.
    pub fn set(&mut self, id: ResourceId, nanos: i128) {
        self.reach(id.index() + 1);
        self.nanos[id.index()] = nanos;
    }

    /// Adds every amount of another vector.
    pub fn add(&mut self, other: &ResourceVector) {
        self.combine(other, i128::saturating_add);
    }

    /// Takes away every amount of another vector, below zero if need be.
    ///
    /// Unlike [`ResourceList::subtract`] this cannot tell an absent resource from none of it; a
    /// caller to whom that matters subtracts lists.
    pub fn subtract(&mut self, other: &ResourceVector) {
        self.combine(other, i128::saturating_sub);
    }

    /// Raises every amount to that of another vector where that is larger.
    pub fn raise_to(&mut self, other: &ResourceVector) {
        self.combine(other, i128::max);
    }

    /// Whether these amounts can be had where so much is available. Where any amount is negative
    /// nothing fits.
    pub fn fits(&self, available: &ResourceVector) -> bool {
        let shared = self.nanos.len().min(available.nanos.len());
        available.nanos.iter().all(|have| *have >= 0)
            && self.nanos.iter().zip(&available.nanos).all(|(want, have)| want <= have)
            && self.nanos[shared..].iter().all(|want| *want <= 0)
    }

    /// Whether every amount is zero.
    pub fn is_zero(&self) -> bool {
        self.nanos.iter().all(|nanos| *nanos == 0)
    }

    fn combine(&mut self, other: &ResourceVector, both: impl Fn(i128, i128) -> i128) {
        self.reach(other.nanos.len());
        for (index, mine) in self.nanos.iter_mut().enumerate() {
            *mine = both(*mine, other.nanos.get(index).copied().unwrap_or(0));
        }
    }

    fn reach(&mut self, len: usize) {
        if self.nanos.len() < len {
            self.nanos.resize(len, 0);
        }
    }
}

fn printed_format(id: ResourceId) -> Format {
    if matches!(id, ResourceId::MEMORY | ResourceId::EPHEMERAL_STORAGE) {
        Format::BinarySi
    } else {
        Format::DecimalSi
    }
}

impl PartialEq for ResourceVector {
    fn eq(&self, other: &ResourceVector) -> bool {
        let longest = self.nanos.len().max(other.nanos.len());
        let at = |vector: &ResourceVector, index| vector.nanos.get(index).copied().unwrap_or(0);
        (0..longest).all(|index| at(self, index) == at(other, index))
    }
}

impl Eq for ResourceVector {}
