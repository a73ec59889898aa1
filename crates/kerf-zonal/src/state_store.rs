//! The stored state: a ConfigMap, changed only at the version it was read at.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use kerf_engine::zonal_shift::StoredShifts;
use kerf_notices::zonal_shift::{
    CONFIG_MAP, CONFIG_MAP_KEY, ShiftState, StateUnreadable, ZoneId, ZoneName, ZoneTable,
};
use kube::Client;
use kube::api::{Api, ObjectMeta, Patch, PatchParams, PostParams};
use serde_json::json;
use thiserror::Error;
use tracing::warn;

use crate::api_call::{ApiFailure, call};

/// Beside the state: ids and names of zones, for commands that have no AWS account to ask.
const ZONES_KEY: &str = "zones.json";
/// Where a state that could not be read is kept, for a person to look at.
const DAMAGED_KEY: &str = "state.damaged";

/// The state as it is stored.
#[derive(Clone, Debug)]
pub struct StateStore {
    api: Api<ConfigMap>,
    namespace: String,
    /// As last read or written.
    shifts: StoredShifts,
}

/// Why the state could not be read or written.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The call failed. Whether trying again helps, the failure says.
    #[error("ConfigMap {namespace}/{CONFIG_MAP}: {failure}")]
    Call {
        /// Where the ConfigMap lies.
        namespace: String,
        /// What happened.
        failure: ApiFailure,
    },
    /// A newer Kerf wrote it. Nothing is done until that one runs.
    #[error("in namespace {namespace}, {source}")]
    Newer {
        /// Where the ConfigMap lies.
        namespace: String,
        /// What was found.
        source: StateUnreadable,
    },
}

impl StateStore {
    /// The state of that namespace; nothing is read yet.
    pub fn new(client: &Client, namespace: &str) -> Self {
        Self {
            api: Api::namespaced(client.clone(), namespace),
            namespace: namespace.to_owned(),
            shifts: StoredShifts::default(),
        }
    }

    /// The state as last read or written.
    pub fn state(&self) -> &ShiftState {
        &self.shifts.state
    }

    /// The zones stored beside it.
    pub fn zones(&self) -> &ZoneTable {
        &self.shifts.zones
    }

    /// Everything that was last read or written.
    pub(crate) fn shifts(&self) -> &StoredShifts {
        &self.shifts
    }

    /// Remembers what was written elsewhere.
    pub(crate) fn hold(&mut self, shifts: StoredShifts) {
        self.shifts = shifts;
    }

    /// Reads what is stored.
    pub async fn load(&mut self) -> Result<(), StoreError> {
        self.shifts = self.read(&self.shifts).await?;
        Ok(())
    }

    /// Writes a state in the place of the one that was read; a conflict means that somebody else
    /// did, and that it must be read and thought over again.
    pub async fn save(&mut self, state: &ShiftState, zones: &ZoneTable) -> Result<(), StoreError> {
        let (state, zones) = (state.clone(), zones.clone());
        self.shifts = self.write(&StoredShifts { state, zones, ..self.shifts.clone() }).await?;
        Ok(())
    }

    /// What is stored. Where there is nothing, what is known stays: deleting the ConfigMap ends no
    /// shift.
    async fn read(&self, known: &StoredShifts) -> Result<StoredShifts, StoreError> {
        let found = call(self.api.get_opt(CONFIG_MAP)).await;
        let mut read = known.clone();
        let Some(map) = found.map_err(|failure| self.failed(failure))? else {
            read.version = None;
            return Ok(read);
        };
        let data = map.data.unwrap_or_default();
        if let Some(text) = data.get(CONFIG_MAP_KEY) {
            match ShiftState::from_json(text) {
                Ok(state) => read.state = state,
                Err(source @ StateUnreadable::Newer { .. }) => {
                    return Err(StoreError::Newer { namespace: self.namespace.clone(), source });
                }
                Err(error) => {
                    warn!(%error, "kept under {DAMAGED_KEY}; going on with what is known");
                    read.damaged = Some(text.clone());
                }
            }
        }
        if let Some(zones) = data.get(ZONES_KEY).and_then(|text| read_zones(text)) {
            read.zones = zones;
        }
        read.version = map.metadata.resource_version;
        Ok(read)
    }

    /// Writes the ConfigMap if it is still at the version given. Returns what is stored then.
    pub(crate) async fn write(&self, shifts: &StoredShifts) -> Result<StoredShifts, StoreError> {
        let mut data = BTreeMap::from([
            (CONFIG_MAP_KEY.to_owned(), shifts.state.to_json()),
            (ZONES_KEY.to_owned(), write_zones(&shifts.zones)),
        ]);
        data.extend(shifts.damaged.clone().map(|text| (DAMAGED_KEY.to_owned(), text)));
        let written = match &shifts.version {
            Some(version) => {
                let patch = json!({"metadata": {"resourceVersion": version}, "data": data});
                let (params, patch) = (PatchParams::default(), Patch::Merge(patch));
                call(self.api.patch(CONFIG_MAP, &params, &patch)).await
            }
            None => {
                let name = Some(CONFIG_MAP.to_owned());
                let metadata = ObjectMeta { name, ..ObjectMeta::default() };
                let map = ConfigMap { metadata, data: Some(data), ..ConfigMap::default() };
                call(self.api.create(&PostParams::default(), &map)).await
            }
        };
        let written = written.map_err(|failure| match failure {
            // Deleted since it was read: the next read sees that it is to be made.
            ApiFailure::NotFound => self.failed(ApiFailure::Conflict),
            failure => self.failed(failure),
        })?;
        let version = written.metadata.resource_version;
        Ok(StoredShifts { version, damaged: None, ..shifts.clone() })
    }

    fn failed(&self, failure: ApiFailure) -> StoreError {
        StoreError::Call { namespace: self.namespace.clone(), failure }
    }
}

impl StoreError {
    /// Whether somebody else wrote meanwhile.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Call { failure: ApiFailure::Conflict, .. })
    }
}

fn write_zones(zones: &ZoneTable) -> String {
    let pairs: BTreeMap<_, _> =
        zones.pairs().map(|(id, name)| (id.as_str(), name.as_str())).collect();
    json!(pairs).to_string()
}

fn read_zones(text: &str) -> Option<ZoneTable> {
    let pairs: BTreeMap<String, String> = serde_json::from_str(text).ok()?;
    let mut zones = ZoneTable::default();
    for (id, name) in &pairs {
        zones.learn(&ZoneId::new(id), &ZoneName::new(name));
    }
    Some(zones)
}
