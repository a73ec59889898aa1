//! NodePools and Provisioners as the API server has them, for whoever edits them in place.

use std::fmt;
use std::sync::Arc;

use kerf_notices::zonal_shift::PoolKey;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Meta, Name, ObjectName, ObservedKind};
use crate::action::Subject;
use crate::world::World;

/// A pool as JSON, in whatever version is served. Edits leave every field alone that they do not
/// name, also those this Kerf does not know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PoolManifest {
    /// What all objects have.
    pub meta: Meta,
    /// Kind and name.
    pub key: PoolManifestKey,
    /// The object without its status.
    pub object: Arc<Value>,
}

/// The name of a pool. Two kinds may each have one of the same name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PoolManifestKey {
    /// `NodePool`, once `Provisioner`.
    pub kind: Name,
    /// The name.
    pub name: Name,
}

impl ObservedKind for PoolManifest {
    type Key = PoolManifestKey;

    fn key(&self) -> PoolManifestKey {
        self.key.clone()
    }

    fn subject(key: &PoolManifestKey) -> Option<Subject> {
        Some(Subject::Pool(key.name.clone()))
    }

    fn dependents(&self, _world: &World) -> Vec<Subject> {
        vec![Subject::ZonalShift]
    }
}

impl From<&PoolKey> for PoolManifestKey {
    fn from(pool: &PoolKey) -> Self {
        Self { kind: pool.kind.as_str().into(), name: pool.name.as_str().into() }
    }
}

impl ObjectName for PoolManifestKey {
    fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for PoolManifestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.name)
    }
}
