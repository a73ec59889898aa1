//! Drains that were asked for, node by node.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_model::taint::{Taint, unschedulable};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::notice::NoticeKind;
use crate::observed::PodKey;
use crate::time::Time;

/// The drain of a node. However many reasons there are, the node is drained once; each reason
/// learns by itself when the pods it is about have left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drain {
    /// The identity of the node: one made anew under the same name is not drained.
    pub uid: Arc<str>,
    /// What each reason asks for.
    pub requests: BTreeMap<DrainReason, DrainRequest>,
    /// When the node was first seen closed to new pods.
    pub closed_at: Option<Time>,
}

/// Why a node is drained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum DrainReason {
    /// Its deletion was asked for, with or without its claim's. Never asked for by an update: it
    /// follows from the stored node.
    Termination,
    /// It is about to be rebooted. Never asked for by an update: it follows from the stored claim.
    Reboot,
    /// The cloud announced this about its instance.
    Notice(NoticeKind),
}

/// What a drain does to a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrainRequest {
    /// How the node is closed to new pods.
    pub closing: Closing,
    /// Labels the node gets with the same write.
    pub labels: BTreeMap<String, String>,
    /// Taints it gets beside, unless it has one of the key.
    #[serde(default)]
    pub taints: Vec<Taint>,
    /// Whether the pods on it may stay.
    #[serde(default)]
    pub cordons_only: bool,
    /// A pod that stays whatever else leaves.
    #[serde(default)]
    pub keeps: Option<PodKey>,
    /// Whether pods leave that ask not to be disrupted.
    #[serde(default)]
    pub evicts_protected: bool,
    /// When the node will be gone. Nodes with an earlier deadline are drained first.
    pub deadline: Option<Time>,
    /// Whether pods are deleted in time to be gone by the deadline, whatever their
    /// PodDisruptionBudgets say.
    pub forces_pods: bool,
    /// When the last of its pods had left.
    pub drained_at: Option<Time>,
}

/// How a node is closed to new pods, which also says which pods stay on it to the end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Closing {
    /// By `spec.unschedulable`, as `kubectl drain` does. Pods of DaemonSets stay.
    #[default]
    Cordon,
    /// By a taint, as Karpenter does. Pods that tolerate it stay.
    Taint(Taint),
}

/// A text that names no reason for a drain.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is no reason for a drain")]
pub struct NotADrainReason(pub String);

/// How the end of a node by its own deletion is written.
const TERMINATION: &str = "termination";
/// How its reboot is.
const REBOOT: &str = "reboot";

impl TryFrom<String> for DrainReason {
    type Error = NotADrainReason;

    fn try_from(text: String) -> Result<Self, NotADrainReason> {
        if text == TERMINATION {
            return Ok(DrainReason::Termination);
        }
        if text == REBOOT {
            return Ok(DrainReason::Reboot);
        }
        let kind = NoticeKind::ALL.into_iter().find(|kind| kind.label() == text);
        kind.map(DrainReason::Notice).ok_or(NotADrainReason(text))
    }
}

impl From<DrainReason> for String {
    fn from(reason: DrainReason) -> String {
        match reason {
            DrainReason::Termination => TERMINATION.to_owned(),
            DrainReason::Reboot => REBOOT.to_owned(),
            DrainReason::Notice(kind) => kind.label().to_owned(),
        }
    }
}

impl Closing {
    /// The taint the node carries once it is closed.
    #[must_use]
    pub fn taint(&self) -> Taint {
        match self {
            Closing::Cordon => unschedulable(),
            Closing::Taint(taint) => taint.clone(),
        }
    }
}

impl Drain {
    /// A drain of the node with this identity, for no reason yet.
    pub(super) fn of(uid: Arc<str>) -> Self {
        Self { uid, requests: BTreeMap::new(), closed_at: None }
    }

    /// Takes one more reason in. Asked twice for the same reason, the earlier deadline counts.
    pub(super) fn add(&mut self, reason: DrainReason, mut request: DrainRequest) {
        let known = self.requests.get(&reason).filter(|known| known.drained_at.is_none());
        match known {
            Some(known) => {
                let deadlines = [known.deadline, request.deadline].into_iter().flatten();
                request.deadline = deadlines.min();
            }
            // It may have to be closed in another way, or have been opened since.
            None => self.closed_at = None,
        }
        self.requests.insert(reason, request);
    }
}
