//! Resources by name.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::quantity::Quantity;

/// Quantities by resource name, in name order. A name that is absent stands for zero.
///
/// Sums and differences out of [`Quantity`]'s range are held at its end: such an amount fits
/// nowhere, which is the right answer for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ResourceList {
    quantities: BTreeMap<Box<str>, Quantity>,
}

impl ResourceList {
    /// An empty list.
    pub const fn new() -> ResourceList {
        ResourceList { quantities: BTreeMap::new() }
    }

    /// The quantity under a name, if there is one (it may be zero).
    pub fn get(&self, name: &str) -> Option<Quantity> {
        self.quantities.get(name).copied()
    }

    /// The quantity under a name, zero if absent.
    pub fn quantity(&self, name: &str) -> Quantity {
        self.get(name).unwrap_or_default()
    }

    /// Puts a quantity under a name and returns what was there.
    pub fn insert(&mut self, name: impl Into<Box<str>>, quantity: Quantity) -> Option<Quantity> {
        self.quantities.insert(name.into(), quantity)
    }

    /// Takes a name out and returns what was there.
    pub fn remove(&mut self, name: &str) -> Option<Quantity> {
        self.quantities.remove(name)
    }

    /// Names and quantities, in name order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, Quantity)> {
        self.quantities.iter().map(|(name, quantity)| (&**name, *quantity))
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.quantities.len()
    }

    /// Whether there is no name at all.
    pub fn is_empty(&self) -> bool {
        self.quantities.is_empty()
    }

    /// Adds every quantity of another list.
    pub fn add(&mut self, other: &ResourceList) {
        self.combine(other, Quantity::saturating_add);
    }

    /// Raises every quantity to that of another list where that is larger.
    pub fn raise_to(&mut self, other: &ResourceList) {
        // On a tie the quantity already there stays, and with it its way of printing.
        self.combine(other, |mine, theirs| if theirs > mine { theirs } else { mine });
    }

    /// Takes away the quantities of another list. Names this list does not have are ignored, so
    /// that a limit nobody set is not turned into one.
    pub fn subtract(&mut self, other: &ResourceList) {
        for (name, quantity) in &mut self.quantities {
            if let Some(less) = other.get(name) {
                *quantity = quantity.saturating_sub(less);
            }
        }
    }

    /// Puts in the quantities of another list under names this list does not have.
    pub fn fill_missing(&mut self, other: &ResourceList) {
        self.combine(other, |mine, _| mine);
    }

    /// Whether these amounts can be had where so much is available.
    ///
    /// Somewhere already overdrawn (any negative amount) nothing fits, not even nothing.
    pub fn fits(&self, available: &ResourceList) -> bool {
        !available.quantities.values().any(|quantity| quantity.is_negative())
            && self.iter().all(|(name, wanted)| wanted <= available.quantity(name))
    }

    fn combine(&mut self, other: &ResourceList, both: impl Fn(Quantity, Quantity) -> Quantity) {
        for (name, quantity) in &other.quantities {
            match self.quantities.get_mut(name) {
                Some(mine) => *mine = both(*mine, *quantity),
                None => drop(self.quantities.insert(name.clone(), *quantity)),
            }
        }
    }
}

impl<N: Into<Box<str>>> FromIterator<(N, Quantity)> for ResourceList {
    fn from_iter<I: IntoIterator<Item = (N, Quantity)>>(entries: I) -> ResourceList {
        let entries = entries.into_iter().map(|(name, quantity)| (name.into(), quantity));
        ResourceList { quantities: entries.collect() }
    }
}
