//! How many more instances each capacity reservation takes, between one listing and the next.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Changes;

/// What is left of capacity reservations.
#[derive(Debug)]
pub(crate) struct ReservationCounts {
    left: Mutex<HashMap<String, u32>>,
    changes: Arc<Changes>,
}

impl ReservationCounts {
    /// Nothing is known of any.
    pub(crate) fn new(changes: Arc<Changes>) -> Self {
        Self { left: Mutex::default(), changes }
    }

    /// EC2 has listed a reservation with so many instances left.
    pub(crate) fn listed(&self, id: &str, left: u32) {
        self.set(id, |_| Some(left));
    }

    /// An instance was launched into it.
    pub(crate) fn launched(&self, id: &str) {
        self.set(id, |left| left.map(|left| left.saturating_sub(1)));
    }

    /// An instance of it is gone for good.
    pub(crate) fn ended(&self, id: &str) {
        self.set(id, |left| left.map(|left| left.saturating_add(1)));
    }

    /// It is full, or takes its instances back.
    pub(crate) fn exhausted(&self, id: &str) {
        self.set(id, |_| Some(0));
    }

    /// How many more it takes; none where it was never listed.
    pub(crate) fn left(&self, id: &str) -> u32 {
        self.counts().get(id).copied().unwrap_or(0)
    }

    fn set(&self, id: &str, change: impl FnOnce(Option<u32>) -> Option<u32>) {
        let mut counts = self.counts();
        let before = counts.get(id).copied();
        let after = change(before);
        if let Some(left) = after.filter(|_| after != before) {
            counts.insert(id.to_owned(), left);
            drop(counts);
            self.changes.note();
        }
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<String, u32>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_take_from_a_reservation_and_ends_give_back() {
        let counts = ReservationCounts::new(Arc::default());
        counts.launched("cr-1");
        assert_eq!(counts.left("cr-1"), 0, "nothing is known of it");
        counts.listed("cr-1", 2);
        counts.launched("cr-1");
        assert_eq!(counts.left("cr-1"), 1);
        counts.ended("cr-1");
        counts.exhausted("cr-1");
        assert_eq!((counts.left("cr-1"), counts.left("cr-2")), (0, 0));
        counts.launched("cr-1");
        assert_eq!(counts.left("cr-1"), 0, "never below nothing");
    }

    #[test]
    fn only_what_changes_is_told() {
        let counts = ReservationCounts::new(Arc::default());
        counts.listed("cr-1", 2);
        counts.listed("cr-1", 2);
        assert_eq!(counts.changes.count(), 1);
    }
}
