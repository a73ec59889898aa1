//! What is played: a cloud, pools, workloads, what happens when, and what is expected.
//!
//! ```text
//!  file ─ document (serde) ─ read ─► Scenario
//! ```

mod document;
mod error;
mod pool;
mod read;
mod text;
mod timeline;
mod workload;

pub use error::ScenarioError;
pub(crate) use pool::hash as pool_hash;
pub use timeline::{Count, Expectation, Step, Victim};
pub(crate) use workload::APP_LABEL;
pub use workload::{PdbRule, Share, Workload, WorkloadKind};

use std::sync::Arc;

use kerf_engine::time::Span;
use kerf_model::pool::{ConsolidationPolicy, NodePool};

use crate::rng::Delay;

/// What is played.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// What it shows, in a sentence or two.
    pub about: String,
    /// How long it lasts.
    pub length: Span,
    /// The cloud.
    pub cloud: CloudPlan,
    /// The pools there are from the start.
    pub pools: Vec<Arc<NodePool>>,
    /// The workloads there are from the start.
    pub workloads: Vec<Arc<Workload>>,
    /// What happens, by time since the start, ascending.
    pub timeline: Vec<(Span, Step)>,
    /// What must be the case, by time since the start, ascending.
    pub expectations: Vec<(Span, Expectation)>,
    /// What goes wrong.
    pub faults: FaultPlan,
}

/// The cloud of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloudPlan {
    /// Which instances it sells.
    pub catalogue: Catalogue,
    /// The only zones it has; empty means all that the catalogue knows.
    pub zones: Vec<String>,
    /// From the call for a launch to its answer.
    pub launch: Delay,
    /// From the launch until the node joins.
    pub boot: Delay,
    /// From joining until the node is ready.
    pub ready: Delay,
    /// From the call for an instance's end until it is gone.
    pub terminate: Delay,
    /// How old lists of instances are.
    pub lag: Delay,
    /// Where there are only so many instances; anything else there is as much as anybody wants.
    pub stock: Vec<Stock>,
}

/// Which instances a cloud sells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Catalogue {
    /// What AWS sells in a region.
    Aws {
        /// The region.
        region: String,
        /// The only families; empty means all.
        families: Vec<String>,
    },
    /// The kwok provider's types.
    Kwok,
}

/// How many instances there are of some offerings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stock {
    /// The instance type; none means each.
    pub instance_type: Option<String>,
    /// The zone; none means each.
    pub zone: Option<String>,
    /// The capacity type; none means each.
    pub capacity_type: Option<String>,
    /// How many there are of each offering it speaks of.
    pub instances: u32,
}

/// What goes wrong by chance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultPlan {
    /// Until when; nothing goes wrong by chance after that.
    pub until: Span,
    /// What happens to single calls.
    pub calls: CallFaults,
    /// What happens about so often, by kind.
    pub every: Vec<(Fault, Span)>,
}

/// What happens to single calls, in percent of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallFaults {
    /// Refused because the object changed, though it did not.
    pub conflict: u8,
    /// Never arrive; the caller hears of a time-out.
    pub unavailable: u8,
    /// Carried out, but the caller hears of a time-out.
    pub unheard: u8,
    /// Carried out, and the caller hears nothing at all.
    pub lost: u8,
    /// The answer comes twice.
    pub doubled: u8,
    /// The answer comes seconds late.
    pub late: u8,
    /// Refused by the cloud because there were too many calls.
    pub throttled: u8,
    /// Launches refused by the cloud for a reason of its own.
    pub launch_refused: u8,
    /// Instances that never join.
    pub stillborn: u8,
    /// Instances that take ten times as long to join.
    pub slow_boot: u8,
}

/// Something that goes wrong at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// The engine's process dies and is started again.
    Crash,
    /// The watches break; what changes meanwhile is only seen when all is listed again.
    LostWatch,
    /// The watches stall for a while.
    StalledWatch,
    /// The watch of one kind stalls for minutes, while all others go on.
    StalledKind,
    /// The watch of pods does.
    StalledPods,
    /// A second engine starts while the first still runs.
    SecondLeader,
    /// An instance dies.
    InstanceDies,
    /// The kubelet of an instance dies; the instance itself goes on running.
    KubeletDies,
    /// The API server is away for a while.
    ServerAway,
    /// The cloud sells nothing more of an offering that is in use.
    SoldOut,
    /// The cloud announces that it takes an instance, and takes it two minutes later.
    Interruption,
    /// A node is not ready for a moment.
    NodeFlaps,
    /// Somebody edits a pool.
    PoolEdit,
    /// An instance type costs more, or less.
    PriceChange,
}

impl Scenario {
    /// The same where only empty nodes are taken away, to tell what consolidation saves. Nothing is
    /// expected of it.
    #[must_use]
    pub fn only_when_empty(&self) -> Self {
        let mut scenario = self.clone();
        for pool in &mut scenario.pools {
            Arc::make_mut(pool).disruption.policy = ConsolidationPolicy::WhenEmpty;
        }
        scenario.expectations.clear();
        scenario
    }

    /// The times after the scenario's end at which its timeline or its expectations say something,
    /// ascending.
    #[must_use]
    pub fn times_past_end(&self) -> Vec<Span> {
        let steps = self.timeline.iter().map(|(at, _)| *at);
        let expectations = self.expectations.iter().map(|(at, _)| *at);
        let mut times: Vec<Span> =
            steps.chain(expectations).filter(|at| *at > self.length).collect();
        times.sort_unstable();
        times
    }

    /// Whether anything goes wrong in it.
    #[must_use]
    pub fn has_faults(&self) -> bool {
        self.faults != FaultPlan::default()
            || self.timeline.iter().any(|(_, step)| matches!(step, Step::Fault(_)))
    }
}

impl Fault {
    /// Every fault with its word in scenario files.
    pub const ALL: [(Self, &'static str); 14] = [
        (Self::Crash, "crash"),
        (Self::LostWatch, "lost watch"),
        (Self::StalledWatch, "stalled watch"),
        (Self::StalledKind, "stalled kind"),
        (Self::StalledPods, "stalled pods"),
        (Self::SecondLeader, "second leader"),
        (Self::InstanceDies, "instance dies"),
        (Self::KubeletDies, "kubelet dies"),
        (Self::ServerAway, "server away"),
        (Self::SoldOut, "sold out"),
        (Self::Interruption, "interruption"),
        (Self::NodeFlaps, "node flaps"),
        (Self::PoolEdit, "pool edit"),
        (Self::PriceChange, "price change"),
    ];

    /// Its word in scenario files.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(fault, _)| *fault == self).map_or("", |(_, word)| word)
    }
}

impl CallFaults {
    /// Everything that can happen to a call, now and then.
    pub const ALL: Self = Self {
        conflict: 3,
        unavailable: 3,
        unheard: 2,
        lost: 1,
        doubled: 3,
        late: 3,
        throttled: 5,
        launch_refused: 3,
        stillborn: 4,
        slow_boot: 4,
    };
}
