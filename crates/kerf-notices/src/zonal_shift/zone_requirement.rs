//! One entry of a pool's requirements that speaks of zones.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::zone::{ZoneName, ZoneTable};

/// Label with a zone's name.
pub(super) const ZONE_KEY: &str = "topology.kubernetes.io/zone";
/// Label with a zone's id.
pub(super) const ZONE_ID_KEY: &str = "topology.k8s.aws/zone-id";

/// What an entry asks of the zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ZoneOperator {
    In,
    NotIn,
    Exists,
    /// `DoesNotExist` and the comparisons of numbers fit no zone; such an entry is left alone.
    Other,
}

/// An entry about zones, with the object it was read from.
#[derive(Clone, Debug)]
pub(super) struct ZoneRequirement {
    pub(super) operator: ZoneOperator,
    pub(super) is_by_id: bool,
    pub(super) values: Vec<String>,
    verbatim: Value,
}

impl ZoneRequirement {
    /// Reads an entry; nothing when it is about something else.
    pub(super) fn read(entry: &Value) -> Option<ZoneRequirement> {
        let is_by_id = match entry.get("key")?.as_str()? {
            ZONE_KEY => false,
            ZONE_ID_KEY => true,
            _ => return None,
        };
        let operator = match entry.get("operator").and_then(Value::as_str) {
            Some("In") => ZoneOperator::In,
            Some("NotIn") => ZoneOperator::NotIn,
            Some("Exists") => ZoneOperator::Exists,
            _ => ZoneOperator::Other,
        };
        let values = values_of(entry).into_iter().map(str::to_owned).collect();
        Some(ZoneRequirement { operator, is_by_id, values, verbatim: entry.clone() })
    }

    /// The entry Kerf adds where a pool has none: exactly these zones.
    pub(super) fn exactly(zones: &BTreeSet<ZoneName>) -> Value {
        let zones: Vec<_> = zones.iter().map(ZoneName::as_str).collect();
        json!({"key": ZONE_KEY, "operator": "In", "values": zones})
    }

    /// The zones listed, by name.
    pub(super) fn zones(&self, table: &ZoneTable) -> BTreeSet<ZoneName> {
        self.values.iter().map(|value| self.zone(value, table)).collect()
    }

    /// Whether the entry lets a node be in the zone.
    pub(super) fn allows(&self, zone: &ZoneName, table: &ZoneTable) -> bool {
        let is_listed = || self.values.iter().any(|value| self.zone(value, table) == *zone);
        match self.operator {
            ZoneOperator::In => is_listed(),
            ZoneOperator::NotIn => !is_listed(),
            ZoneOperator::Exists => true,
            ZoneOperator::Other => false,
        }
    }

    /// The entry without these zones: taken out of `In`, added to `NotIn`.
    pub(super) fn without(&self, zones: &BTreeSet<ZoneName>, table: &ZoneTable) -> ZoneRequirement {
        let mut edited = self.clone();
        match self.operator {
            ZoneOperator::In => {
                edited.values.retain(|value| !zones.contains(&self.zone(value, table)));
            }
            ZoneOperator::NotIn => edited.append(zones, table),
            ZoneOperator::Exists | ZoneOperator::Other => {}
        }
        edited
    }

    /// Adds zones that are not listed yet, in the words of the entry's key.
    pub(super) fn append(&mut self, zones: &BTreeSet<ZoneName>, table: &ZoneTable) {
        let listed = self.zones(table);
        for zone in zones.difference(&listed) {
            let id = table.id(zone).filter(|_| self.is_by_id);
            self.values.push(id.map_or(zone.as_str(), |id| id.as_str()).to_owned());
        }
    }

    /// The entry as an object: `minValues` is lowered to `zones_left` where more zones are asked
    /// for than remain, since the API server would refuse it.
    pub(super) fn into_entry(self, zones_left: usize) -> Value {
        let mut entry = self.verbatim;
        if self.operator != ZoneOperator::Exists && self.values != values_of(&entry) {
            entry["values"] = json!(self.values);
        }
        let possible = match self.operator {
            ZoneOperator::In => self.values.len(),
            ZoneOperator::NotIn | ZoneOperator::Exists | ZoneOperator::Other => zones_left,
        };
        let wanted = entry.get("minValues").and_then(Value::as_u64);
        if wanted.is_some_and(|wanted| wanted > possible as u64) {
            entry["minValues"] = json!(possible);
        }
        entry
    }

    fn zone(&self, value: &str, table: &ZoneTable) -> ZoneName {
        if self.is_by_id { table.name_meant(value) } else { ZoneName::new(value) }
    }
}

/// The values of an entry, leaving out what is no text.
pub(super) fn values_of(entry: &Value) -> Vec<&str> {
    let values = entry.get("values").and_then(Value::as_array);
    values.into_iter().flatten().filter_map(Value::as_str).collect()
}
