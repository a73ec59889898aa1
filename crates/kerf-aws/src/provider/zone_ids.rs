//! The ids of zones, which differ in their names from account to account.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Ids of zones by their names, as far as a subnet has told them. Copies share what they know.
#[derive(Clone, Debug, Default)]
pub(crate) struct ZoneIds(Arc<Mutex<HashMap<String, String>>>);

impl ZoneIds {
    /// A subnet is in a zone with that id.
    pub(crate) fn note(&self, zone: &str, id: &str) {
        self.known().insert(zone.to_owned(), id.to_owned());
    }

    /// The id of a zone, if it is known.
    pub(crate) fn of(&self, zone: &str) -> Option<String> {
        self.known().get(zone).cloned()
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
