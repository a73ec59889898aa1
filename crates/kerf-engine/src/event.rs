//! Everything that can change the world.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_model::instance_type::InstanceType;
use kerf_model::node_spec::NodeClassRef;
use kerf_model::resources::ResourceList;
use kerf_scheduler::Solution;
use serde::{Deserialize, Serialize};

use crate::action::ActionId;
use crate::notice::Notice;
use crate::observed::{
    Claim, DaemonSet, Meta, Name, Namespace, Node, NodeClass, Pod, PodDisruptionBudget, PodKey,
    Pool, Revision, ShiftedZone, VolumeAttachment,
};
use crate::zonal_shift::ShiftInput;

/// One piece of news. Nothing else changes the world.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Event {
    /// An object appeared or changed.
    Seen(Box<Object>),
    /// An object is gone.
    Gone {
        /// Which.
        key: Key,
        /// The version it was deleted at.
        revision: Revision,
    },
    /// All objects of a kind have been seen once since the start. The world is incomplete before.
    Listed(Kind),
    /// What a pool's nodes can be made of, with prices and availability; replaces what was known.
    Offered {
        /// The pool.
        pool: Name,
        /// Every instance its cloud offers it.
        instance_types: Arc<[InstanceType]>,
    },
    /// The zones the cluster is shifted away from; replaces what was known.
    Shifted(Vec<ShiftedZone>),
    /// Something NodePool mode of zonal shifts looks at became known.
    ZonalShift(Box<ShiftInput>),
    /// The cloud announces something about instances. Who brought it hears what came of it.
    Noticed(Notice),
    /// An action was carried out, or not.
    Finished {
        /// Which.
        action: ActionId,
        /// What came of it.
        outcome: Outcome,
    },
    /// Nothing but the passing of time.
    Tick,
}

/// An object as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "objects travel in a box")]
pub enum Object {
    /// A pod.
    Pod(Pod),
    /// A node.
    Node(Node),
    /// A claim.
    Claim(Claim),
    /// A pool.
    Pool(Pool),
    /// A provider's settings object.
    NodeClass(NodeClass),
    /// A PodDisruptionBudget.
    PodDisruptionBudget(PodDisruptionBudget),
    /// A daemon set.
    DaemonSet(DaemonSet),
    /// A namespace.
    Namespace(Namespace),
    /// A volume attached to a node.
    VolumeAttachment(VolumeAttachment),
}

/// The name of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Key {
    /// A pod.
    Pod(PodKey),
    /// A node.
    Node(Name),
    /// A claim.
    Claim(Name),
    /// A pool.
    Pool(Name),
    /// A provider's settings object.
    NodeClass(NodeClassRef),
    /// A PodDisruptionBudget: namespace and name.
    PodDisruptionBudget(Name, Name),
    /// A daemon set: namespace and name.
    DaemonSet(Name, Name),
    /// A namespace.
    Namespace(Name),
    /// A volume attached to a node.
    VolumeAttachment(Name),
}

/// A kind of object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// Pods.
    Pod,
    /// Nodes.
    Node,
    /// Claims.
    Claim,
    /// Pools.
    Pool,
    /// Providers' settings objects.
    NodeClass,
    /// PodDisruptionBudgets.
    PodDisruptionBudget,
    /// Daemon sets.
    DaemonSet,
    /// Namespaces.
    Namespace,
    /// Volumes attached to nodes.
    VolumeAttachment,
}

/// What came of an action.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Outcome {
    /// The object as it is stored now. The world learns of it here, before any watch tells.
    Stored(Box<Object>),
    /// It is done; there is nothing more to know.
    Done,
    /// What it was about does not exist (any more).
    NotFound,
    /// An instance was launched, or had been for this claim already.
    Launched(Arc<Instance>),
    /// The cloud's instances that belong to this cluster.
    Instances(Vec<Arc<Instance>>),
    /// A placement problem was solved.
    Solved(Box<Solution>),
    /// What a call of NodePool mode of zonal shifts made known.
    ZonalShift(Box<ShiftInput>),
    /// It failed; whether to try again is decided by the engine.
    Failed(Failure),
}

/// An instance of the cloud.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instance {
    /// The cloud's name for it, as nodes carry it.
    pub provider_id: Arc<str>,
    /// The name of the claim it was launched for, if the cloud remembers.
    pub claim: Option<Name>,
    /// The image it was started from.
    pub image_id: Option<String>,
    /// Labels that follow from what it is: instance type, zone, capacity type, and more.
    pub labels: BTreeMap<String, String>,
    /// Annotations the provider wants on the claim.
    pub annotations: BTreeMap<String, String>,
    /// What it has in all.
    pub capacity: ResourceList,
    /// What pods can use of it.
    pub allocatable: ResourceList,
    /// Whether it is on its way out.
    pub is_ending: bool,
}

/// Why an action failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Failure {
    /// The object changed meanwhile; the news is on its way.
    Conflict,
    /// An eviction was refused for now: a PodDisruptionBudget, or more than one.
    Refused {
        /// What the server said.
        message: String,
    },
    /// The cloud has no such instance now.
    InsufficientCapacity {
        /// What the cloud said.
        message: String,
    },
    /// The node class cannot be used now.
    NodeClassNotReady {
        /// What is missing.
        message: String,
    },
    /// A launch failed for a reason its users should read.
    LaunchRefused {
        /// One word.
        reason: String,
        /// A sentence.
        message: String,
    },
    /// The request will never work as it is.
    Invalid {
        /// What the server said.
        message: String,
    },
    /// Anything that may pass: time-outs, throttling, a server that is away.
    Unavailable {
        /// What happened.
        message: String,
    },
}

impl Kind {
    /// Every kind there is.
    pub const ALL: [Kind; 9] = [
        Kind::Pod,
        Kind::Node,
        Kind::Claim,
        Kind::Pool,
        Kind::NodeClass,
        Kind::PodDisruptionBudget,
        Kind::DaemonSet,
        Kind::Namespace,
        Kind::VolumeAttachment,
    ];
}

impl Object {
    /// What all objects have.
    #[must_use]
    pub fn meta(&self) -> &Meta {
        match self {
            Object::Pod(pod) => &pod.meta,
            Object::Node(node) => &node.meta,
            Object::Claim(claim) => &claim.meta,
            Object::Pool(pool) => &pool.meta,
            Object::NodeClass(class) => &class.meta,
            Object::PodDisruptionBudget(pdb) => &pdb.meta,
            Object::DaemonSet(set) => &set.meta,
            Object::Namespace(namespace) => &namespace.meta,
            Object::VolumeAttachment(volume) => &volume.meta,
        }
    }

    /// The same, to be changed by who stores objects.
    pub fn meta_mut(&mut self) -> &mut Meta {
        match self {
            Object::Pod(pod) => &mut pod.meta,
            Object::Node(node) => &mut node.meta,
            Object::Claim(claim) => &mut claim.meta,
            Object::Pool(pool) => &mut pool.meta,
            Object::NodeClass(class) => &mut class.meta,
            Object::PodDisruptionBudget(pdb) => &mut pdb.meta,
            Object::DaemonSet(set) => &mut set.meta,
            Object::Namespace(namespace) => &mut namespace.meta,
            Object::VolumeAttachment(volume) => &mut volume.meta,
        }
    }

    /// Its name.
    #[must_use]
    pub fn key(&self) -> Key {
        match self {
            Object::Pod(pod) => Key::Pod(pod.key.clone()),
            Object::Node(node) => Key::Node(node.meta.name.clone()),
            Object::Claim(claim) => Key::Claim(claim.meta.name.clone()),
            Object::Pool(pool) => Key::Pool(pool.meta.name.clone()),
            Object::NodeClass(class) => Key::NodeClass(class.key.clone()),
            Object::PodDisruptionBudget(pdb) => {
                Key::PodDisruptionBudget(pdb.namespace.clone(), pdb.meta.name.clone())
            }
            Object::DaemonSet(set) => Key::DaemonSet(set.namespace.clone(), set.meta.name.clone()),
            Object::Namespace(namespace) => Key::Namespace(namespace.meta.name.clone()),
            Object::VolumeAttachment(volume) => Key::VolumeAttachment(volume.meta.name.clone()),
        }
    }
}
