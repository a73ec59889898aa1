//! What was observed of the cluster, object by object.
//!
//! The edge reads objects into these once; what it could not understand never gets here. Every
//! object carries the [`Revision`] it was stored with, so that what comes late changes
//! nothing.

mod attachment;
mod claim;
mod daemon_set;
mod index;
mod kind;
mod load;
mod namespace;
mod node;
mod node_class;
mod node_class_subnets;
mod overlay;
mod pod;
mod pod_disruption_budget;
mod pool;
mod pool_manifest;
mod pool_tally;
mod shift_config_map;
mod shifted_zone;
mod totals;

pub use attachment::VolumeAttachment;
pub use claim::{Claim, ClaimStatus};
pub use daemon_set::DaemonSet;
pub use index::Index;
pub(crate) use index::instance_id;
pub use kind::{Collected, Key, Kind, Object, ObjectName, Objects, ObservedKind, Resource};
pub use namespace::Namespace;
pub use node::{Node, NodeProfile};
pub use node_class::{NodeClass, NodeClassStatus, Readiness};
pub use node_class_subnets::NodeClassSubnets;
pub use overlay::Overlay;
pub use pod::{DoNotDisrupt, Pod, PodKey, PodOwner, PodPhase, PodProfile, PodTimes};
pub use pod_disruption_budget::PodDisruptionBudget;
pub use pool::{Pool, PoolStatus};
pub use pool_manifest::{PoolManifest, PoolManifestKey};
pub(crate) use pool_tally::{PoolTally, Share};
pub use shift_config_map::{ShiftConfigMap, ShiftText};
pub use shifted_zone::ShiftedZone;
pub(crate) use totals::Totals;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::time::Time;

/// A name of an object; cheap to copy.
pub type Name = Arc<str>;

/// The name of an object that lives in a namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct NamespacedName {
    /// The namespace.
    pub namespace: Name,
    /// The name in it.
    pub name: Name,
}

impl fmt::Display for NamespacedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// A text that is not `namespace/name`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is not namespace/name")]
pub struct NotNamespaced(pub String);

impl TryFrom<String> for NamespacedName {
    type Error = NotNamespaced;

    fn try_from(text: String) -> Result<Self, NotNamespaced> {
        match text.split_once('/') {
            Some((namespace, name)) => Ok(Self { namespace: namespace.into(), name: name.into() }),
            None => Err(NotNamespaced(text)),
        }
    }
}

impl From<NamespacedName> for String {
    fn from(key: NamespacedName) -> String {
        key.to_string()
    }
}

/// The version an object was stored with; grows with every write.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Revision(pub u64);

/// What all stored objects have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    /// The name.
    pub name: Name,
    /// The identity: an object made anew under the same name has another.
    pub uid: Arc<str>,
    /// The version of this state.
    pub revision: Revision,
    /// How often the spec was changed.
    pub generation: i64,
    /// When it was created.
    pub created_at: Time,
    /// When its deletion was asked for, if it was. It stays until its finalizers are gone.
    pub deleting_since: Option<Time>,
}

impl Meta {
    /// Whether its deletion was asked for.
    #[must_use]
    pub fn is_deleting(&self) -> bool {
        self.deleting_since.is_some()
    }
}
