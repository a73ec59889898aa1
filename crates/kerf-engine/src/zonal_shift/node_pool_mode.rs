//! What NodePool mode knows beside the objects of the world, and remembers of what was done.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kerf_notices::zonal_shift::{EditMemory, Received, ShiftState, UnixSeconds, ZoneTable};
use serde::{Deserialize, Serialize};

use super::step::StepKey;
use super::{Arcs, Change, Network};
use crate::notice::NoticeId;
use crate::observed::{Revision, ShiftConfigMap, ShiftText};

/// Messages without a stored effect at most. Queues are read ten messages at a time; what comes
/// beyond this has to come again.
const ANNOUNCED_MAX: usize = 1_000;

/// Everything that is known and remembered.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct NodePoolMode {
    /// Since when this process is the one that acts; absent while it is not.
    pub(crate) leads_since: Option<UnixSeconds>,
    /// The state as last known. Deleting or damaging the ConfigMap ends no shift.
    pub(crate) stored: StoredShifts,
    pub(crate) is_auto_mode: bool,
    pub(crate) network: Network,
    pub(crate) arc: Arcs,
    /// Messages whose effect is not stored yet, in the order they came.
    pub(crate) announced: BTreeMap<NoticeId, Arc<str>>,
    /// What was made of messages whose effect is being stored.
    pub(crate) receipts: BTreeMap<NoticeId, Received>,
    /// Edits made and notes given lately.
    pub(crate) edits: EditMemory,
    /// Changes whose last try failed; later ones do not wait for them.
    pub(crate) failed: BTreeSet<StepKey>,
}

/// What is known of the stored state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredShifts {
    /// The version of the ConfigMap; none while there is none.
    pub revision: Option<Revision>,
    /// Who wants which zone avoided.
    pub state: ShiftState,
    /// Ids and names of zones.
    pub zones: ZoneTable,
    /// A state that could not be read and is kept for a person to look at.
    pub damaged: Option<String>,
    /// Why the state must be left alone: a newer Kerf wrote it.
    pub newer: Option<String>,
}

impl NodePoolMode {
    /// This process is the one that acts from now on.
    pub(crate) fn lead(&mut self, now: UnixSeconds) {
        if self.leads_since.is_none() {
            self.leads_since = Some(now);
            self.arc.read_at = None;
        }
    }

    /// It is no longer. Returns the messages that somebody else has to receive.
    pub(crate) fn follow(&mut self) -> Vec<NoticeId> {
        self.leads_since = None;
        self.receipts.clear();
        std::mem::take(&mut self.announced).into_keys().collect()
    }

    /// Takes a message in; not if it has to come again.
    pub(crate) fn announce(&mut self, id: NoticeId, body: Arc<str>) -> bool {
        let has_room = self.leads_since.is_some() && self.announced.len() < ANNOUNCED_MAX;
        if has_room {
            self.announced.insert(id, body);
        }
        has_room
    }

    /// Takes in what a planner remembers.
    pub(crate) fn apply(&mut self, change: Change) {
        match change {
            Change::Stored(map) => self.take_stored(*map),
            Change::StoredGone => self.stored.revision = None,
            Change::Network(network, now) => self.network.take(network, now),
            Change::Arc(reading, now) => self.arc.take(reading, now),
            Change::Understood(receipts) => {
                for (id, received) in receipts {
                    self.receipts.entry(id).or_insert(received);
                }
            }
            Change::NotStored(ids) => ids.iter().for_each(|id| drop(self.receipts.remove(id))),
            Change::Settled(ids) => {
                for id in ids {
                    self.receipts.remove(&id);
                    self.announced.remove(&id);
                }
            }
            Change::ListingApplied => self.arc.unapplied = None,
            Change::AskArc => self.arc.read_at = None,
            Change::LookedForOld(at) => self.arc.looked_at = Some(at),
            Change::Noted(notes) => drop(self.edits.unheard(&notes)),
            Change::Edited(edit, at) => self.edits.carried_out(&edit, at),
            Change::Tried { step, has_failed: true } => drop(self.failed.insert(step)),
            Change::Tried { step, has_failed: false } => drop(self.failed.remove(&step)),
            Change::NodeChanged => {}
        }
    }

    fn take_stored(&mut self, map: ShiftConfigMap) {
        let stored = self.stored.with(&map);
        // An answer of ARC counts once: it was about the state before, and the next one is about
        // this. The watch may show the state before the write that made it is answered.
        if stored.state != self.stored.state {
            self.arc.unapplied = None;
        }
        self.stored = stored;
    }

    /// Who wants which zone avoided, as far as is known.
    #[must_use]
    pub fn state(&self) -> &ShiftState {
        &self.stored.state
    }

    /// Whether this process is the one that acts.
    #[must_use]
    pub fn is_leading(&self) -> bool {
        self.leads_since.is_some()
    }

    /// Why nothing is done although this process leads, if so.
    #[must_use]
    pub fn state_failure(&self) -> Option<&str> {
        self.stored.newer.as_deref()
    }
}

impl StoredShifts {
    /// What is known once the ConfigMap is this.
    #[must_use]
    pub fn with(&self, map: &ShiftConfigMap) -> Self {
        let known = Self { damaged: None, newer: None, ..self.clone() };
        let known = match &map.state {
            ShiftText::Read(state) => Self { state: state.clone(), ..known },
            ShiftText::Missing => known,
            ShiftText::Damaged(text) => Self { damaged: Some(text.clone()), ..known },
            ShiftText::Newer(why) => Self { newer: Some(why.clone()), ..known },
        };
        let zones = map.zones.clone().unwrap_or(known.zones);
        Self { revision: Some(map.meta.revision), zones, ..known }
    }
}
