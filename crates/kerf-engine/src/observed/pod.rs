//! Pods as the engine sees them.

use std::sync::Arc;

use kerf_model::pod::PodShape;
use kerf_model::resources::ResourceList;
use serde::{Deserialize, Serialize};

use super::{Index, Meta, Name, NamespacedName, ObservedKind};
use crate::action::Subject;
use crate::dependents::of_node;
use crate::time::{Span, Time};
use crate::world::World;

/// The name of a pod.
pub type PodKey = NamespacedName;

/// A pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pod {
    /// Namespace and name.
    pub key: PodKey,
    /// What all objects have. For a pod being deleted, `deleting_since` is the end of its grace
    /// period: the moment it should be gone by.
    pub meta: Meta,
    /// Everything that decides where it may stand. Replicas share one.
    pub shape: Arc<PodShape>,
    /// Where it stands.
    pub phase: PodPhase,
    /// What keeps it, as far as it matters.
    pub owner: PodOwner,
    /// Whether it is ready.
    pub is_ready: bool,
    /// When its kubelet took it on.
    pub started_at: Option<Time>,
    /// When it got where it is, as it says itself.
    #[serde(default)]
    pub times: PodTimes,
    /// Whether the system cannot do without it: one of the two critical priority classes.
    pub is_critical: bool,
    /// Its priority.
    pub priority: i32,
    /// The cost its owner put on deleting it, from the annotation; 0 without.
    pub deletion_cost: i32,
    /// What its do-not-disrupt annotation says.
    pub do_not_disrupt: DoNotDisrupt,
    /// How long it may take to end; `None` means as long as it likes.
    pub termination_grace: Option<Span>,
    /// Whether it keeps data in an `emptyDir`, which is lost when it leaves.
    #[serde(default)]
    pub has_local_data: bool,
    /// Why it cannot be considered at all, if so: broken volumes, selectors nobody may use.
    pub unusable: Option<Arc<str>>,
    /// What only those who watch want to know. Replicas share one.
    pub profile: Arc<PodProfile>,
}

/// When a pod came so far, from its conditions; nothing is decided by it. An engine that looks later
/// sees the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PodTimes {
    /// When it was bound to its node.
    pub bound_at: Option<Time>,
    /// When it became ready.
    pub ready_at: Option<Time>,
}

/// What only those who watch want to know of a pod; nothing is decided by it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PodProfile {
    /// The path of what owns it, if anything does.
    pub owner: String,
    /// The most its containers may take.
    pub limits: ResourceList,
}

/// Where a pod stands in its life.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PodPhase {
    /// The scheduler has not come to it yet.
    Unjudged,
    /// It waits for something that is not a node, or has one in sight.
    Waiting,
    /// The scheduler found no node for it, and Kerf may: it is provisionable.
    Unschedulable {
        /// Since when, from the condition.
        since: Time,
    },
    /// It is bound to a node.
    Bound {
        /// The node that `spec.nodeName` names.
        node: Name,
    },
    /// It has run to its end; it may still name a node but takes nothing there.
    Ended {
        /// Where it ran, if it did.
        node: Option<Name>,
        /// Whether it did not succeed.
        #[serde(default)]
        has_failed: bool,
    },
}

/// What keeps a pod, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PodOwner {
    /// A daemon set: it goes down with its node.
    DaemonSet,
    /// The node itself: a mirror of a static pod.
    Node,
    /// A stateful set: a replacement comes only after it is gone.
    StatefulSet,
    /// Anything else, or nothing.
    Other,
}

/// What a pod's do-not-disrupt annotation says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DoNotDisrupt {
    /// Nothing.
    Absent,
    /// Never.
    Always,
    /// Not for so long after it started.
    For(Span),
    /// Something nobody can read, which counts as nothing.
    Unreadable,
}

/// The eviction cost of an ordinary pod: one, in parts of 2²⁷.
const EVICTION_COST_ONE: i64 = 1 << 27;

impl Pod {
    /// The node it is bound to and takes room on.
    #[must_use]
    pub fn node(&self) -> Option<&Name> {
        match &self.phase {
            PodPhase::Bound { node } => Some(node),
            _ => None,
        }
    }

    /// Whether it has run to its end.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        matches!(self.phase, PodPhase::Ended { .. })
    }

    /// Whether do-not-disrupt protects it now.
    #[must_use]
    pub fn is_protected(&self, now: Time) -> bool {
        match self.do_not_disrupt {
            DoNotDisrupt::Absent | DoNotDisrupt::Unreadable => false,
            DoNotDisrupt::Always => true,
            DoNotDisrupt::For(span) => self.started_at.is_none_or(|start| now < start + span),
        }
    }
}

impl Pod {
    /// Whether a copy of it will want a place elsewhere when its node goes: it is active, or its
    /// stateful set makes it anew once it has ended; and no daemon set or node keeps it.
    #[must_use]
    pub fn is_reschedulable(&self) -> bool {
        let lives_on = self.is_active()
            || self.owner == PodOwner::StatefulSet && self.meta.is_deleting() && !self.has_ended();
        lives_on && !matches!(self.owner, PodOwner::DaemonSet | PodOwner::Node)
    }

    /// Whether it neither has ended nor is being deleted.
    #[must_use]
    pub fn is_active(&self) -> bool {
        !self.has_ended() && !self.meta.is_deleting()
    }

    /// Whether its node is not empty because of it: it would want another place, and moving it
    /// costs something.
    #[must_use]
    pub fn holds_node(&self) -> bool {
        self.is_reschedulable() && !self.costs_nothing()
    }

    /// Its eviction cost in parts of 2²⁷: 1 + deletion cost / 2²⁷ + priority / 2²⁵, between −10
    /// and 10.
    #[must_use]
    pub fn eviction_cost_parts(&self) -> i64 {
        let parts =
            EVICTION_COST_ONE + i64::from(self.deletion_cost) + 4 * i64::from(self.priority);
        parts.clamp(-10 * EVICTION_COST_ONE, 10 * EVICTION_COST_ONE)
    }

    /// Whether its eviction cost is not above zero.
    fn costs_nothing(&self) -> bool {
        self.eviction_cost_parts() <= 0
    }
}

impl ObservedKind for Pod {
    type Key = PodKey;

    fn key(&self) -> PodKey {
        self.key.clone()
    }

    fn add_to(pod: &Arc<Self>, index: &mut Index) {
        match &pod.phase {
            PodPhase::Bound { node } => {
                index.changed_nodes.insert(node.clone());
                index.pods_on.insert(node, &pod.key, pod);
                if pod.holds_node() {
                    index.loads.pod_comes(node);
                }
            }
            PodPhase::Unschedulable { .. } => {
                index.unschedulable.insert(pod.key.clone(), pod.clone());
            }
            PodPhase::Unjudged => drop(index.unjudged.insert(pod.key.clone(), pod.clone())),
            PodPhase::Waiting | PodPhase::Ended { .. } => {}
        }
    }

    fn remove_from(&self, index: &mut Index) {
        match &self.phase {
            PodPhase::Bound { node } => {
                index.changed_nodes.insert(node.clone());
                index.pods_on.remove(node, &self.key);
                if self.holds_node() {
                    index.loads.pod_goes(node);
                }
            }
            PodPhase::Unschedulable { .. } => drop(index.unschedulable.remove(&self.key)),
            PodPhase::Unjudged => drop(index.unjudged.remove(&self.key)),
            PodPhase::Waiting | PodPhase::Ended { .. } => {}
        }
    }

    fn subject(key: &PodKey) -> Option<Subject> {
        Some(Subject::Pod(key.clone()))
    }

    fn dependents(&self, world: &World) -> Vec<Subject> {
        match &self.phase {
            PodPhase::Unschedulable { .. } => vec![Subject::Provisioning],
            PodPhase::Bound { node } | PodPhase::Ended { node: Some(node), .. } => {
                let mut subjects = vec![Subject::Disruption, Subject::Pod(self.key.clone())];
                let node = world.nodes.get(node);
                subjects.extend(node.into_iter().flat_map(|node| of_node(world, node)));
                subjects
            }
            PodPhase::Unjudged | PodPhase::Waiting | PodPhase::Ended { node: None, .. } => {
                Vec::new()
            }
        }
    }
}
