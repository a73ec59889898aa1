//! One for all replicas: what is the same for pods alike is kept once.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

/// The values in use, by what controls the pods that have them.
#[derive(Debug)]
pub(super) struct Interner<T> {
    known: HashMap<Box<str>, Vec<Weak<T>>>,
    /// How many owners there may be before those without pods are forgotten.
    sweep_at: usize,
}

/// Sweeping costs a look at every owner, so it waits until there are twice as many as after the
/// last sweep, and at least so many.
const SWEEP_AT_LEAST: usize = 256;
/// An owner's pods differ when its template changed, or when each has volumes of its own. Beyond so
/// many different ones no sharing is tried: the search would cost more than it saves.
const VALUES_PER_OWNER_MAX: usize = 8;

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self { known: HashMap::new(), sweep_at: 0 }
    }
}

impl<T: PartialEq> Interner<T> {
    /// The value, or one just like it that other pods of the owner have already.
    pub(super) fn share(&mut self, value: T, owner: &str) -> Arc<T> {
        if !self.known.contains_key(owner) {
            self.sweep();
            self.known.insert(owner.into(), Vec::new());
        }
        let known = self.known.get_mut(owner).expect("it was just put in");
        known.retain(|value| value.strong_count() > 0);
        let alike = known.iter().filter_map(Weak::upgrade).find(|known| **known == value);
        alike.unwrap_or_else(|| {
            let value = Arc::new(value);
            if known.len() < VALUES_PER_OWNER_MAX {
                known.push(Arc::downgrade(&value));
            }
            value
        })
    }

    fn sweep(&mut self) {
        if self.known.len() < self.sweep_at.max(SWEEP_AT_LEAST) {
            return;
        }
        self.known.retain(|_, values| values.iter().any(|value| value.strong_count() > 0));
        self.sweep_at = self.known.len() * 2;
    }
}
