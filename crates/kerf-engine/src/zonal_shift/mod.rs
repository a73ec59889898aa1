//! NodePool mode of zonal shifts, as values: what is observed, what is asked for, what people and
//! metrics hear of it.
//!
//! While a zone is avoided, pools are edited so that they make no nodes there. Who wants which zone
//! avoided is kept in one ConfigMap; that state is stored before a message about it is deleted, and
//! pools follow from the state, never from a message.

mod known;

use std::sync::Arc;

use kerf_notices::zonal_shift::{
    AutoModeRevert, Matching, Note, Origin, Received, ShiftState, Step, Subnet, UnixSeconds,
    ZoneId, ZoneTable,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::action::{Lane, Subject};
use crate::notice::NoticeId;

pub use known::{ArcReading, NodePoolMode};
pub(crate) use known::{Change, StepKey};

/// How zonal shifts are carried out on NodePools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShiftSettings {
    /// The EKS cluster's name.
    pub cluster_name: String,
    /// The region whose shifts count.
    pub region: String,
    /// How strictly an announcement must name the cluster.
    pub matching: Matching,
    /// The age at which shifts end where ARC cannot be asked, in place of the age of their kind.
    pub max_age_seconds: Option<i64>,
    /// Whether nodes in the zone are protected instead of replaced.
    pub do_not_disrupt: bool,
    /// Whether nodes of EKS Auto Mode's own pools in the zone are emptied by a taint.
    pub taint_away_nodes: bool,
    /// What becomes of stand-ins for EKS Auto Mode's own pools afterwards.
    pub auto_mode_revert: AutoModeRevert,
}

/// What can become known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ShiftInput {
    /// The kinds of objects the API server serves. Each is listed from here on, anew.
    Served {
        /// Pools, node classes and nodes.
        kinds: Vec<ShiftKind>,
        /// Whether the cluster runs in EKS Auto Mode.
        is_auto_mode: bool,
    },
    /// Every object of a kind.
    Listed {
        /// The kind.
        kind: ShiftKind,
        /// Its objects, as the API server has them.
        objects: Vec<Value>,
    },
    /// A kind cannot be listed; what was known of it holds, and nobody waits for it.
    Unlistable(ShiftKind),
    /// An object appeared or changed.
    Seen {
        /// Its kind.
        kind: ShiftKind,
        /// The object, as the API server has it.
        object: Value,
    },
    /// An object is gone.
    Gone {
        /// Its kind.
        kind: ShiftKind,
        /// Its name.
        name: String,
    },
    /// The ConfigMap with the state, as it is stored now.
    Stored(StoredShifts),
    /// What EC2 and EKS say of the account and the cluster.
    Network(ShiftNetwork),
    /// What ARC lists.
    Arc(ArcReading),
    /// A message came. It may be deleted once a [`ShiftReport::Received`] says so.
    Announced {
        /// Its number, by which the report names it.
        id: NoticeId,
        /// Its body.
        body: Arc<str>,
    },
}

/// A kind of object that a shift looks at. Several versions of an API are known by it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ShiftKind {
    /// `NodePool`, once `Provisioner`.
    Pool(String),
    /// A kind of node class: its group and name.
    NodeClass(String, String),
    /// Nodes.
    Node,
}

/// The ConfigMap that holds the state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredShifts {
    /// Its version; none while there is no ConfigMap.
    pub version: Option<String>,
    /// Who wants which zone avoided.
    pub state: ShiftState,
    /// Ids and names of zones, for commands that have no AWS account to ask.
    pub zones: ZoneTable,
    /// A state that could not be read and is kept for a person to look at.
    pub damaged: Option<String>,
}

/// The account and the cluster; what gave no answer is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShiftNetwork {
    /// Ids and names of the account's zones.
    pub zones: Option<ZoneTable>,
    /// The cluster's ARN.
    pub cluster_arn: Option<String>,
    /// The cluster's network.
    pub vpc_id: Option<String>,
    /// The subnets of that network.
    pub subnets: Option<Vec<Subnet>>,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ShiftCall {
    /// Write the ConfigMap, if it is still at that version.
    /// → [`Stored`](ShiftInput::Stored), `Failed(Conflict)`
    Store {
        /// What to write, at the version it was decided on.
        shifts: Box<StoredShifts>,
        /// Why it changed.
        cause: StoreCause,
    },
    /// Describe zones, cluster and subnets. → [`Network`](ShiftInput::Network)
    DescribeNetwork,
    /// Ask ARC which shifts are active. → [`Arc`](ShiftInput::Arc)
    ListShifts {
        /// The cluster's ARN, if known.
        cluster_arn: Option<String>,
    },
    /// Change a pool, a stand-in or a node, if it is still as it was.
    /// → [`Seen`](ShiftInput::Seen), [`Gone`](ShiftInput::Gone), `NotFound`, `Failed(Conflict)`
    Apply(Box<Step>),
}

/// Why the stored state changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StoreCause {
    /// By what ARC lists, by time, or because more zones are known.
    Correction,
    /// By these messages.
    Messages(Vec<NoticeId>),
}

/// What logs, metrics and Kubernetes Events tell of, each once.
#[derive(Clone, Debug, PartialEq)]
pub enum ShiftReport {
    /// A message was understood and its effect is stored.
    Received {
        /// Its number.
        id: NoticeId,
        /// What was made of it.
        received: Box<Received>,
    },
    /// The zones to avoid changed without a message.
    Corrected {
        /// As they were.
        before: Vec<ZoneId>,
        /// As they are.
        away: Vec<ZoneId>,
    },
    /// A zone is avoided for long, and ARC cannot be asked whether that still holds.
    LongLasting {
        /// The zone.
        zone: ZoneId,
        /// Who wanted it avoided.
        origin: Origin,
        /// Since when.
        since: UnixSeconds,
    },
    /// Something a plan came upon.
    Noted(Note),
    /// A change was made.
    Applied {
        /// The change.
        step: Box<Step>,
        /// Ids and names of zones, to name them by.
        zones: ZoneTable,
    },
}

impl ShiftCall {
    /// What it is about: the state as a whole, or one object.
    #[must_use]
    pub fn subject(&self) -> Subject {
        match self {
            ShiftCall::Apply(step) => StepKey::of(step).subject(),
            _ => Subject::ZonalShift,
        }
    }

    /// What is asked for, for logs and traces.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            ShiftCall::Store { .. } => "store the state",
            ShiftCall::DescribeNetwork => "describe zones and subnets",
            ShiftCall::ListShifts { .. } => "list shifts",
            ShiftCall::Apply(_) => "change a pool or node",
        }
    }

    /// The kind of call it needs.
    #[must_use]
    pub fn lane(&self) -> Lane {
        match self {
            ShiftCall::DescribeNetwork | ShiftCall::ListShifts { .. } => Lane::Cloud,
            ShiftCall::Store { .. } | ShiftCall::Apply(_) => Lane::Write,
        }
    }
}
