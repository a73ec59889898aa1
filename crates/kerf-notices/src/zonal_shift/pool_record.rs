//! What a pool's annotations remember of the time before the shift.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::pool::{APPLIED_ZONES, AWAY_ZONES, ORIGINAL_ZONES};
use super::zone::{ZoneName, ZoneTable};

/// A zone requirement and its place in the pool's list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Placed {
    pub(super) index: usize,
    pub(super) requirement: Value,
    #[serde(default, skip_serializing_if = "Added::is_no")]
    pub(super) added: Added,
}

/// Whether Kerf added a requirement, so that it goes again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Added {
    /// It was there before.
    #[default]
    No,
    /// To a list.
    Entry,
    /// With the list, which was absent.
    List,
}

/// What a pool's annotations say.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Record {
    /// No shift changed the pool.
    None,
    /// Kerf changed it and remembers how.
    Ours(Memento),
    /// Another tool changed it, or the memory is damaged: only the zones are known.
    ZonesOnly { away: BTreeSet<ZoneName>, is_damaged: bool },
}

/// What Kerf remembers of a pool it changed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Memento {
    pub(super) away: BTreeSet<ZoneName>,
    /// Each requirement as it was, if it was there, and as Kerf wrote it.
    pub(super) changes: Vec<(Option<Value>, Placed)>,
}

impl Record {
    pub(super) fn read(annotations: &BTreeMap<&str, &str>, table: &ZoneTable) -> Record {
        let [away, original, applied] =
            [AWAY_ZONES, ORIGINAL_ZONES, APPLIED_ZONES].map(|name| annotations.get(name));
        let zones = away.map(|text| read_zones(text, table));
        match (original, applied) {
            (None, None) => {
                zones.map_or(Record::None, |away| Record::ZonesOnly { away, is_damaged: false })
            }
            (original, applied) => {
                let changes = original.zip(applied).and_then(|(o, a)| changes(o, a));
                let away = zones.unwrap_or_default();
                match changes {
                    Some(changes) => Record::Ours(Memento { away, changes }),
                    None => Record::ZonesOnly { away, is_damaged: true },
                }
            }
        }
    }

    /// The zones the pool is kept out of, by its annotations.
    pub(super) fn away(&self) -> BTreeSet<ZoneName> {
        match self {
            Record::None => BTreeSet::new(),
            Record::Ours(memento) => memento.away.clone(),
            Record::ZonesOnly { away, .. } => away.clone(),
        }
    }
}

/// The zone names of an annotation; blanks and zone ids, which older tools wrote, are understood.
pub(super) fn read_zones(text: &str, table: &ZoneTable) -> BTreeSet<ZoneName> {
    let zones = text.split(',').map(str::trim).filter(|zone| !zone.is_empty());
    zones.map(|zone| table.name_meant(zone)).collect()
}

/// The annotation for these zones.
pub(super) fn write_zones(zones: &BTreeSet<ZoneName>) -> String {
    zones.iter().map(ZoneName::as_str).collect::<Vec<_>>().join(",")
}

/// The annotation for the requirements as they were; `null` if there were none.
pub(super) fn write_original(original: &[Placed]) -> String {
    if original.is_empty() { "null".to_owned() } else { write_applied(original) }
}

/// The annotation for the requirements as Kerf wrote them.
pub(super) fn write_applied(applied: &[Placed]) -> String {
    serde_json::to_string(applied).expect("JSON values always print")
}

/// Pairs each applied requirement with what it replaced; nothing when the two do not match.
fn changes(original: &str, applied: &str) -> Option<Vec<(Option<Value>, Placed)>> {
    let original: Option<Vec<Placed>> = serde_json::from_str(original).ok()?;
    let applied: Vec<Placed> = serde_json::from_str(applied).ok()?;
    let mut before = original.unwrap_or_default().into_iter();
    let mut changes = Vec::new();
    for placed in applied {
        let was = match placed.added {
            Added::No => Some(before.next()?.requirement),
            Added::Entry | Added::List => None,
        };
        changes.push((was, placed));
    }
    before.next().is_none().then_some(changes)
}

impl Added {
    fn is_no(&self) -> bool {
        *self == Added::No
    }
}
