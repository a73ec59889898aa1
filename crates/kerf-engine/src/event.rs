//! Everything that can change the world.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kerf_model::instance_type::InstanceType;
use kerf_model::resources::ResourceList;
use kerf_scheduler::Solution;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::action::ActionId;
use crate::condition::Status;
use crate::notice::{Notice, NoticeId};
pub use crate::observed::{Key, Kind, Object};
use crate::observed::{Name, PodKey, Revision, ShiftedZone};
use crate::provider::DriftRule;
use crate::solve::ConsolidationPlan;
use crate::time::{Span, Time};
use crate::zonal_shift::{ArcReading, ShiftNetwork};

/// Everything that changes the world.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Event {
    /// An object appeared or changed.
    Seen(Box<Object>),
    /// An object is gone.
    Gone {
        /// Kind and name of the object.
        key: Key,
        /// The version it was deleted at.
        revision: Revision,
    },
    /// An object is there, but nobody can read it: what follows from its absence must not.
    Unreadable {
        /// Kind and name of the object.
        key: Key,
        /// The version that cannot be read.
        revision: Revision,
    },
    /// All objects of a kind have been seen once since the start. The world is incomplete before.
    Listed(Kind),
    /// Everything that happened to a kind until now has been told. A watch that says nothing else says
    /// this from time to time, so that silence is known to be silence.
    Heard(Kind),
    /// What a pool's nodes can be made of, with prices and availability; replaces what was known.
    Offered {
        /// The pool.
        pool: Name,
        /// Every instance its cloud offers it.
        instance_types: Arc<[InstanceType]>,
    },
    /// The zones the cluster is shifted away from; replaces what was known.
    Shifted(Vec<ShiftedZone>),
    /// Whether this process is the one that carries out zonal shifts on NodePools.
    LeadsShifts(bool),
    /// Whether the cluster runs in EKS Auto Mode.
    AutoMode(bool),
    /// A message about a zonal shift came. Who brought it hears what came of it.
    Announced {
        /// By which its bringer hears of the outcome.
        id: NoticeId,
        /// Its text.
        body: Arc<str>,
    },
    /// The cloud announces something about instances. Who brought it hears what came of it.
    Noticed(Notice),
    /// An action was carried out, or not.
    Finished {
        /// The action, as numbered when it was decided.
        action: ActionId,
        /// What came of it.
        outcome: Outcome,
    },
    /// What time it was at the API server a moment ago, in whole seconds.
    ServerTime(Time),
    /// Nothing but the passing of time.
    Tick,
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
    /// The pods on a node that have not ended, by name and identity.
    PodsOn(Vec<(PodKey, Arc<str>)>),
    /// An instance was launched, or had been for this claim already.
    Launched(Arc<Instance>),
    /// The cloud's instances that belong to this cluster.
    Instances(Vec<Arc<Instance>>),
    /// What a node class selects.
    Resolved(Box<ResolvedNodeClass>),
    /// A placement problem was solved.
    Solved(Box<Solution>),
    /// What-ifs were answered, one solution for each question.
    Answered(Vec<Solution>),
    /// Nodes were looked for that could go.
    Consolidated(Box<ConsolidationPlan>),
    /// The account's zones and the cluster's subnets.
    ShiftNetwork(Box<ShiftNetwork>),
    /// The zonal shifts that ARC lists.
    ShiftsListed(Box<ArcReading>),
    /// It failed; whether to try again is decided by the engine.
    Failed(Failure),
}

/// What the provider found for a node class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolvedNodeClass {
    /// How each part of it is. A part that is not named stays as it was.
    pub conditions: Vec<ResolvedCondition>,
    /// The status without its conditions.
    pub status: Arc<Value>,
    /// What instances of the class may be made of; one made of something else has drifted.
    pub drift_rules: Vec<DriftRule>,
    /// Reservations that are about to end: what runs in them must leave before.
    #[serde(default)]
    pub ending_reservations: BTreeSet<String>,
    /// When to look again, where that is sooner than usual: something gave no answer for now.
    #[serde(default)]
    pub again_after: Option<Span>,
}

/// How one part of a node class is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolvedCondition {
    /// What it is about.
    pub kind: String,
    /// Whether it holds.
    pub status: Status,
    /// Why, in one word.
    pub reason: String,
    /// Why, in a sentence.
    pub message: String,
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
    /// What it was made of, by the reason it has drifted for if that is no longer right.
    pub made_of: BTreeMap<String, BTreeSet<String>>,
    /// Whether it is on its way out.
    pub is_ending: bool,
}

/// Why an action failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Failure {
    /// The object changed meanwhile; a watch event is on its way.
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
    /// The provider cannot reboot instances.
    RebootNotImplemented {
        /// What it says.
        message: String,
    },
    /// An instance will never reboot.
    RebootFailed {
        /// Why.
        message: String,
    },
    /// A permission is missing. Granting it helps.
    Denied {
        /// What the server said.
        message: String,
    },
    /// The request will never work as it is.
    Invalid {
        /// What the server said.
        message: String,
    },
    /// There were too many calls, and the other side says how long not to ask again.
    Throttled {
        /// What it said.
        message: String,
        /// How long.
        retry_after: Span,
    },
    /// Anything that may pass: time-outs, throttling, a server that is away. Whether it was done is
    /// not known.
    Unavailable {
        /// What happened.
        message: String,
    },
}
