//! The ConfigMap that holds the state of zonal shifts.

use std::collections::BTreeMap;

use kerf_notices::zonal_shift::{CONFIG_MAP_KEY, ShiftState, StateUnreadable, ZoneTable};
use serde::{Deserialize, Serialize};

use super::{Meta, NamespacedName, ObservedKind};
use crate::action::Subject;
use crate::world::World;

/// Beside the state: ids and names of zones, for commands that have no AWS account to ask.
const ZONES_KEY: &str = "zones.json";
/// Where a state that could not be read is kept, for a person to look at.
const DAMAGED_KEY: &str = "state.damaged";

/// The ConfigMap, read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShiftConfigMap {
    /// What all objects have.
    pub meta: Meta,
    /// Namespace and name.
    pub key: NamespacedName,
    /// Who wants which zone avoided.
    pub state: ShiftText,
    /// The zones stored beside it, if they can be read.
    pub zones: Option<ZoneTable>,
}

/// The stored text of the state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ShiftText {
    /// There is none.
    Missing,
    /// It says this.
    Read(ShiftState),
    /// It cannot be read: this is what it says.
    Damaged(String),
    /// A newer Kerf wrote it, and it must not be overwritten: what to do about that.
    Newer(String),
}

impl ShiftConfigMap {
    /// Reads the data of the ConfigMap.
    #[must_use]
    pub fn read(meta: Meta, key: NamespacedName, data: &BTreeMap<String, String>) -> Self {
        let state = match data.get(CONFIG_MAP_KEY) {
            None => ShiftText::Missing,
            Some(text) => match ShiftState::from_json(text) {
                Ok(state) => ShiftText::Read(state),
                Err(error @ StateUnreadable::Newer { .. }) => ShiftText::Newer(error.to_string()),
                Err(StateUnreadable::Malformed(_)) => ShiftText::Damaged(text.clone()),
            },
        };
        let zones = data.get(ZONES_KEY).and_then(|text| read_zones(text));
        Self { meta, key, state, zones }
    }

    /// The data to store.
    #[must_use]
    pub fn data(
        state: &ShiftState,
        zones: &ZoneTable,
        damaged: Option<&str>,
    ) -> BTreeMap<String, String> {
        let pairs: BTreeMap<_, _> =
            zones.pairs().map(|(id, name)| (id.as_str(), name.as_str())).collect();
        let zones = serde_json::json!(pairs).to_string();
        let damaged = damaged.map(|text| (DAMAGED_KEY.to_owned(), text.to_owned()));
        let whole = [(CONFIG_MAP_KEY.to_owned(), state.to_json()), (ZONES_KEY.to_owned(), zones)];
        whole.into_iter().chain(damaged).collect()
    }
}

fn read_zones(text: &str) -> Option<ZoneTable> {
    let pairs: BTreeMap<String, String> = serde_json::from_str(text).ok()?;
    Some(ZoneTable::new(pairs.iter().map(|(id, name)| (id.as_str(), name.as_str()))))
}

impl ObservedKind for ShiftConfigMap {
    type Key = NamespacedName;

    fn key(&self) -> NamespacedName {
        self.key.clone()
    }

    fn subject(_key: &NamespacedName) -> Option<Subject> {
        Some(Subject::ZonalShift)
    }

    fn dependents(&self, _world: &World) -> Vec<Subject> {
        vec![Subject::ZonalShift]
    }
}
