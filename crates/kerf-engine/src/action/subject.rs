//! What actions are about, and which of them wait for each other.

use std::fmt;

use kerf_model::node_spec::NodeClassRef;
use serde::{Deserialize, Serialize};

use crate::observed::{Key, Name, PodKey};

/// What an action is about. Each subject is decided on by itself, and at most one action of a
/// [`Lane`] is under way for it at a time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Subject {
    /// A claim, from its spec to its end.
    Claim(Name),
    /// A node, from joining to its end.
    Node(Name),
    /// A pod that has to leave.
    Pod(PodKey),
    /// A pool and what is said about it.
    Pool(Name),
    /// A node class, from what it selects to its end.
    NodeClass(NodeClassRef),
    /// A NodeOverlay and what is said about it.
    Overlay(Name),
    /// Finding places for pods.
    Provisioning,
    /// Taking away what nobody needs.
    Disruption,
    /// The search for nodes that could go; what comes of it is disruption's.
    Consolidation,
    /// Comparing claims with the cloud's instances.
    Instances,
    /// Telling of zones the cluster is shifted away from.
    ZonalShift,
    /// What the cloud announces about instances.
    Notices,
}

/// What kind of call an action needs; calls of different kinds do not wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Lane {
    /// Reading from the API server.
    Read,
    /// Writing to the API server.
    Write,
    /// Calling the provider.
    Cloud,
    /// Solving, in the lane of its asker.
    Solve,
}

impl Lane {
    /// Every lane.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Cloud, Self::Solve];
}

impl Subject {
    /// The object a subject stands for, if it stands for one.
    pub(crate) fn key(&self) -> Option<Key> {
        Some(match self {
            Self::Claim(name) => Key::Claim(name.clone()),
            Self::Node(name) => Key::Node(name.clone()),
            Self::Pod(key) => Key::Pod(key.clone()),
            Self::Pool(name) => Key::Pool(name.clone()),
            Self::NodeClass(class) => Key::NodeClass(class.clone()),
            Self::Overlay(name) => Key::Overlay(name.clone()),
            Self::Provisioning
            | Self::Disruption
            | Self::Consolidation
            | Self::Instances
            | Self::ZonalShift
            | Self::Notices => return None,
        })
    }
}

/// The name of the object a subject stands for; nothing where it stands for none.
impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Claim(name) | Self::Node(name) | Self::Pool(name) | Self::Overlay(name) => {
                f.write_str(name)
            }
            Self::NodeClass(class) => f.write_str(&class.name),
            Self::Pod(pod) => pod.fmt(f),
            Self::Provisioning
            | Self::Disruption
            | Self::Consolidation
            | Self::Instances
            | Self::ZonalShift
            | Self::Notices => Ok(()),
        }
    }
}
