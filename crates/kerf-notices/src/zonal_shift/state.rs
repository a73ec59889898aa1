//! Who wants which zone avoided, and since when: the one thing Kerf must remember.
//!
//! The state is written before a message is deleted and before a pool is touched; everything else
//! follows from it and can be done again.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::event::Origin;
use super::instant::UnixSeconds;
use super::zone::ZoneId;

/// Name of the ConfigMap that holds the state.
pub const CONFIG_MAP: &str = "kerf-zonal-shift";
/// The key within it.
pub const CONFIG_MAP_KEY: &str = "state.json";
/// The layout this code writes.
const VERSION: u32 = 1;

/// Every zone that is avoided, or was until lately.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ShiftState {
    pub(super) zones: BTreeMap<ZoneId, BTreeMap<Origin, Shift>>,
}

/// What is known of one origin's wish about one zone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Shift {
    /// When it began, as far as is known.
    pub since: UnixSeconds,
    /// Time of the newest event seen; older ones are ignored.
    pub last_event_time: UnixSeconds,
    /// Id of that event.
    #[serde(default)]
    pub event_id: String,
    /// When it ends by itself, if ARC said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expiry: Option<UnixSeconds>,
    /// How many reads of ARC in a row contradicted what is recorded here.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub contradictions: u8,
    /// Present when it is over; kept for a day so that late news change nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
}

/// How a shift came to its end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ended {
    /// When Kerf took note, by its own clock.
    pub noted_at: UnixSeconds,
    /// What told it.
    pub by: EndedBy,
}

/// What told that a shift is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndedBy {
    /// An event.
    Event,
    /// Its expiry, known from ARC.
    Expiry,
    /// ARC no longer lists it.
    Listing,
    /// It is older than such a shift can be, and ARC cannot be asked.
    Age,
    /// The command line; what ARC lists does not overrule it.
    Cli,
}

/// The stored state cannot be read.
#[derive(Debug, Error)]
pub enum StateUnreadable {
    /// The text is damaged; without ARC the shifts it held are lost.
    #[error("ConfigMap {CONFIG_MAP}: {CONFIG_MAP_KEY} cannot be read: {0}")]
    Malformed(#[from] serde_json::Error),
    /// A newer Kerf wrote it; this one must not overwrite it.
    #[error(
        "ConfigMap {CONFIG_MAP}: {CONFIG_MAP_KEY} has version {found}, this Kerf reads {VERSION}; \
         run the newer Kerf that wrote it"
    )]
    Newer {
        /// The version found.
        found: u32,
    },
}

/// The layout of the stored text.
#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    zones: BTreeMap<ZoneId, BTreeMap<Origin, Shift>>,
}

impl ShiftState {
    /// The text to store.
    pub fn to_json(&self) -> String {
        let stored = Stored { version: VERSION, zones: self.zones.clone() };
        serde_json::to_string(&stored).expect("maps with text keys and plain values always print")
    }

    /// Reads what [`ShiftState::to_json`] wrote, by this or an older Kerf.
    pub fn from_json(text: &str) -> Result<ShiftState, StateUnreadable> {
        #[derive(Deserialize)]
        struct Layout {
            version: u32,
        }
        // The version is read first: a newer layout need not parse as this one.
        let Layout { version } = serde_json::from_str(text)?;
        if version > VERSION {
            return Err(StateUnreadable::Newer { found: version });
        }
        let Stored { zones, .. } = serde_json::from_str(text)?;
        Ok(ShiftState { zones })
    }

    /// The zones to avoid: those with at least one shift that is not over.
    pub fn away(&self) -> BTreeSet<ZoneId> {
        self.active().map(|(zone, ..)| zone.clone()).collect()
    }

    /// Every shift that is not over.
    pub fn active(&self) -> impl Iterator<Item = (&ZoneId, Origin, &Shift)> {
        self.shifts().filter(|(.., shift)| shift.is_active())
    }

    /// Every shift known, also those lately over.
    pub fn shifts(&self) -> impl Iterator<Item = (&ZoneId, Origin, &Shift)> {
        let of_zone = |(zone, origins)| shifts_of(zone, origins);
        self.zones.iter().flat_map(of_zone)
    }

    /// Whether the zone is known to be usable again: shifts ended there and none goes on.
    pub fn is_known_over(&self, zone: &ZoneId) -> bool {
        self.zones.get(zone).is_some_and(|origins| !origins.values().any(Shift::is_active))
    }

    pub(super) fn get(&self, zone: &ZoneId, origin: Origin) -> Option<&Shift> {
        self.zones.get(zone)?.get(&origin)
    }

    pub(super) fn put(&mut self, zone: &ZoneId, origin: Origin, shift: Shift) {
        self.zones.entry(zone.clone()).or_default().insert(origin, shift);
    }
}

impl Shift {
    /// Whether the zone is still to be avoided on this origin's behalf.
    pub fn is_active(&self) -> bool {
        self.ended.is_none()
    }

    pub(super) fn begun(time: UnixSeconds, event_id: &str) -> Shift {
        Shift {
            since: time,
            last_event_time: time,
            event_id: event_id.to_owned(),
            expiry: None,
            contradictions: 0,
            ended: None,
        }
    }

    pub(super) fn end(&mut self, by: EndedBy, now: UnixSeconds) {
        self.ended = Some(Ended { noted_at: now, by });
        self.expiry = None;
        self.contradictions = 0;
    }
}

fn shifts_of<'a>(
    zone: &'a ZoneId,
    origins: &'a BTreeMap<Origin, Shift>,
) -> impl Iterator<Item = (&'a ZoneId, Origin, &'a Shift)> {
    origins.iter().map(move |(&origin, shift)| (zone, origin, shift))
}

fn is_zero(count: &u8) -> bool {
    *count == 0
}
