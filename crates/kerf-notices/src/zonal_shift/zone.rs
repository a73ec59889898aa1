//! Zones by id and by name, and the table that translates.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

/// The longest zone text worth looking at; real ones have at most 20 characters.
const ZONE_TEXT_BYTES_MAX: usize = 63;

/// Id of a zone, the same place for every account: `use1-az2`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ZoneId(String);

/// Name of a zone, which each account has for a place of its own: `us-east-1a`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ZoneName(String);

/// A zone as a message names it: mostly by id, now and then by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ZoneRef {
    /// `use1-az2`.
    Id(ZoneId),
    /// `us-east-1a`.
    Name(ZoneName),
}

/// Ids and names of the zones of one account and region.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZoneTable {
    names: BTreeMap<ZoneId, ZoneName>,
    ids: BTreeMap<ZoneName, ZoneId>,
}

impl ZoneTable {
    /// A table of pairs; see [`ZoneTable::learn`].
    pub fn new<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> ZoneTable {
        let mut table = ZoneTable::default();
        for (id, name) in pairs {
            table.learn(&ZoneId::new(id), &ZoneName::new(name));
        }
        table
    }

    /// Adds a pair unless id or name is known: the first source (EC2 itself) is the better one.
    pub fn learn(&mut self, id: &ZoneId, name: &ZoneName) {
        if !self.names.contains_key(id) && !self.ids.contains_key(name) {
            self.names.insert(id.clone(), name.clone());
            self.ids.insert(name.clone(), id.clone());
        }
    }

    /// The account's name for the zone.
    pub fn name(&self, id: &ZoneId) -> Option<&ZoneName> {
        self.names.get(id)
    }

    /// The id behind the account's name.
    pub fn id(&self, name: &ZoneName) -> Option<&ZoneId> {
        self.ids.get(name)
    }

    /// The id a message means, if the table knows the zone.
    pub fn resolve(&self, zone: &ZoneRef) -> Option<&ZoneId> {
        match zone {
            ZoneRef::Id(id) => self.names.get_key_value(id).map(|(id, _)| id),
            ZoneRef::Name(name) => self.ids.get(name),
        }
    }

    /// The names of these ids, leaving out those the table does not know.
    pub fn names_of<'a>(&self, ids: impl IntoIterator<Item = &'a ZoneId>) -> BTreeSet<ZoneName> {
        ids.into_iter().filter_map(|id| self.name(id).cloned()).collect()
    }

    /// Every id with its name, in the order of ids.
    pub fn pairs(&self) -> impl Iterator<Item = (&ZoneId, &ZoneName)> {
        self.names.iter()
    }

    /// Every name known.
    pub fn all_names(&self) -> BTreeSet<ZoneName> {
        self.ids.keys().cloned().collect()
    }

    /// The name a text means, be it a name or an id; an unknown text is taken as a name.
    pub fn name_meant(&self, text: &str) -> ZoneName {
        let id = ZoneId::new(text);
        self.names.get(&id).cloned().unwrap_or_else(|| ZoneName::new(text))
    }
}

impl ZoneId {
    /// Takes the text as an id.
    pub fn new(text: &str) -> ZoneId {
        ZoneId(text.to_owned())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl ZoneName {
    /// Takes the text as a name.
    pub fn new(text: &str) -> ZoneName {
        ZoneName(text.to_owned())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl ZoneRef {
    /// Reads a zone id or name; nothing when the text can be neither.
    pub fn parse(text: &str) -> Option<ZoneRef> {
        let is_zone_like = (4..=ZONE_TEXT_BYTES_MAX).contains(&text.len())
            && text.contains('-')
            && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        if !is_zone_like {
            return None;
        }
        // Ids end in `-az` and a number, names in a number and a letter (`us-west-2-lax-1a`).
        let mut last = text.bytes().rev();
        let is_name = last.next().is_some_and(|b| b.is_ascii_lowercase())
            && last.next().is_some_and(|b| b.is_ascii_digit());
        Some(if is_name {
            ZoneRef::Name(ZoneName::new(text))
        } else {
            ZoneRef::Id(ZoneId::new(text))
        })
    }
}

impl fmt::Display for ZoneId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for ZoneName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for ZoneRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ZoneRef::Id(id) => id.fmt(f),
            ZoneRef::Name(name) => name.fmt(f),
        }
    }
}
