//! The stored state, as commands read and write it: a ConfigMap, changed only at the version it was
//! read at.

use k8s_openapi::api::core::v1::ConfigMap;
use kerf_engine::event::{Failure, Object, Outcome};
use kerf_engine::observed::{NamespacedName, ShiftConfigMap};
use kerf_engine::zonal_shift::{ShiftStateWrite, StoreCause, StoredShifts};
use kerf_kube::{read_shift_state, write_shift_state};
use kerf_notices::zonal_shift::{CONFIG_MAP, ShiftState, ZoneTable};
use kube::Client;
use kube::api::Api;
use thiserror::Error;

use crate::api_call::{ApiFailure, call};

/// The state as it is stored.
#[derive(Clone)]
pub struct StateStore {
    client: Client,
    name: NamespacedName,
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
    #[error("in namespace {namespace}, {why}")]
    Newer {
        /// Where the ConfigMap lies.
        namespace: String,
        /// What was found, and what to do.
        why: String,
    },
}

impl StateStore {
    /// The state of that namespace; nothing is read yet.
    pub fn new(client: &Client, namespace: &str) -> Self {
        Self {
            client: client.clone(),
            name: NamespacedName { namespace: namespace.into(), name: CONFIG_MAP.into() },
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

    /// Reads what is stored. Where there is nothing, what is known stays: deleting the ConfigMap
    /// ends no shift.
    pub async fn load(&mut self) -> Result<(), StoreError> {
        let api = Api::<ConfigMap>::namespaced(self.client.clone(), &self.name.namespace);
        let found = call(api.get_opt(CONFIG_MAP)).await.map_err(|failure| self.failed(failure))?;
        match found {
            None => self.shifts.revision = None,
            Some(map) => self.take(&read_shift_state(&map))?,
        }
        Ok(())
    }

    /// Writes a state in the place of the one that was read; a conflict means that somebody else
    /// did, and that it must be read and decided on again.
    pub async fn save(&mut self, state: &ShiftState, zones: &ZoneTable) -> Result<(), StoreError> {
        let write = ShiftStateWrite {
            name: self.name.clone(),
            revision: self.shifts.revision,
            state: state.clone(),
            zones: zones.clone(),
            damaged: self.shifts.damaged.clone(),
            cause: StoreCause::Messages(Vec::new()),
        };
        let written = call(write_shift_state(&self.client, &write)).await;
        match written.map_err(|failure| self.failed(failure))? {
            Outcome::Stored(object) => match *object {
                Object::ShiftConfigMap(map) => self.take(&map),
                _ => Ok(()),
            },
            Outcome::Failed(Failure::Conflict) => Err(self.failed(ApiFailure::Conflict)),
            other => Err(self.failed(ApiFailure::Unavailable(format!("{other:?}")))),
        }
    }

    fn take(&mut self, map: &ShiftConfigMap) -> Result<(), StoreError> {
        self.shifts = self.shifts.with(map);
        let namespace = self.name.namespace.to_string();
        let newer = self.shifts.newer.clone();
        newer.map_or(Ok(()), |why| Err(StoreError::Newer { namespace, why }))
    }

    fn failed(&self, failure: ApiFailure) -> StoreError {
        StoreError::Call { namespace: self.name.namespace.to_string(), failure }
    }
}

impl StoreError {
    /// Whether somebody else wrote meanwhile.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Call { failure: ApiFailure::Conflict, .. })
    }
}
