//! What this process did and said lately, so that it neither fights nor repeats itself.
//!
//! Losing it costs one edit and one message too many; nothing depends on it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::instant::UnixSeconds;
use super::note::Note;
use super::pool::PoolKey;
use super::pool_edit::PoolEdit;
use super::zone::ZoneName;

/// How soon the same edit is made again after somebody undid it.
const SAME_EDIT_SECONDS_MIN: i64 = 30;

/// What this process did and said lately.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditMemory {
    #[serde(with = "pairs")]
    edits: BTreeMap<PoolKey, Edited>,
    said: BTreeSet<Note>,
}

/// When a pool was last edited, and the zones it was kept out of then.
type Edited = (UnixSeconds, BTreeSet<ZoneName>);

/// Keys that are no text: the map as a list of pairs.
mod pairs {
    use super::*;

    pub(super) fn serialize<S: serde::Serializer>(
        edits: &BTreeMap<PoolKey, Edited>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(edits)
    }

    pub(super) fn deserialize<'de, D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<PoolKey, Edited>, D::Error> {
        Ok(Vec::deserialize(deserializer)?.into_iter().collect())
    }
}

impl EditMemory {
    /// Remembers an edit that was carried out.
    pub fn carried_out(&mut self, edit: &PoolEdit, now: UnixSeconds) {
        self.edits.retain(|_, (at, _)| now.since(*at) < SAME_EDIT_SECONDS_MIN);
        self.edits.insert(edit.pool.clone(), (now, edit.away.clone()));
    }

    /// The notes that were not in the plan before, which are those worth saying.
    pub fn unheard(&mut self, notes: &[Note]) -> Vec<Note> {
        let unheard = notes.iter().filter(|note| !self.said.contains(note)).cloned().collect();
        self.said = notes.iter().cloned().collect();
        unheard
    }

    /// Until when an edit must wait because the same was made a moment ago: somebody (a GitOps
    /// tool) undoes it, and the two must not chase each other.
    pub(super) fn must_wait_until(&self, edit: &PoolEdit, now: UnixSeconds) -> Option<UnixSeconds> {
        let (at, away) = self.edits.get(&edit.pool)?;
        let free_at = at.plus(SAME_EDIT_SECONDS_MIN);
        (*away == edit.away && !away.is_empty() && now < free_at).then_some(free_at)
    }
}
