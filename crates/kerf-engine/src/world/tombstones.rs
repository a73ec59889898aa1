//! Objects that are gone, so that late watch events do not bring them back.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::event::Key;
use crate::observed::Revision;

/// The last objects that went.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(into = "Vec<(Key, Revision)>", from = "Vec<(Key, Revision)>")]
pub(super) struct Tombstones {
    revisions: FxHashMap<Key, Revision>,
    order: VecDeque<Key>,
}

/// Late watch events come within seconds; so many objects do not go in seconds.
const TOMBSTONES_MAX: usize = 10_000;

impl Tombstones {
    pub(super) fn add(&mut self, key: Key, revision: Revision) {
        if self.revisions.insert(key.clone(), revision).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > TOMBSTONES_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.revisions.remove(&oldest);
        }
    }

    pub(super) fn revision_of(&self, key: &Key) -> Option<Revision> {
        self.revisions.get(key).copied()
    }
}

/// In the order they went.
impl From<Tombstones> for Vec<(Key, Revision)> {
    fn from(tombstones: Tombstones) -> Self {
        let Tombstones { revisions, order } = tombstones;
        order.into_iter().filter_map(|key| Some((key.clone(), *revisions.get(&key)?))).collect()
    }
}

impl From<Vec<(Key, Revision)>> for Tombstones {
    fn from(gone: Vec<(Key, Revision)>) -> Self {
        let order = gone.iter().map(|(key, _)| key.clone()).collect();
        Self { revisions: gone.into_iter().collect(), order }
    }
}
