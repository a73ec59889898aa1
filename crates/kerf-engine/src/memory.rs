//! What Kerf decided and has not yet seen confirmed. All of it can be lost in a crash: the stored
//! objects alone are enough to go on.

mod batch;
mod clock;
mod confirmation;
mod consolidation;
mod deletion;
mod drain;
mod node_class;
mod notice_breaker;
mod open_notice;
mod reboot;
mod recorded_shift;
mod update;
mod what_if;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kerf_model::node_spec::NodeClassRef;
use serde::{Deserialize, Serialize};

use crate::action::NewClaim;
use crate::command::Commands;
use crate::event::{Failure, Instance};
use crate::notice::{NoticeId, NoticeKind};
use crate::observed::{Name, PodKey};
use crate::reason::NotPlaced;
use crate::time::Time;
pub use batch::{Batch, PassFailure, Wait};
pub use clock::{CLOCK_AHEAD_MIN, ClockCheck};
pub use confirmation::{Confirmation, NodeLook};
pub use consolidation::{ConsolidationMemory, KeptMove, KeptPlan};
pub use deletion::{Deletion, DeletionState};
pub use drain::{Closing, Drain, DrainReason, DrainRequest, NotADrainReason};
pub use node_class::ResolvedClass;
pub use notice_breaker::NoticeBreaker;
pub use open_notice::{Awaited, OpenNotice};
pub use reboot::{RebootAnswer, RebootCall, RebootMemory, RebootUpdate, WantedReboot};
pub use recorded_shift::RecordedShift;
pub use update::Update;
pub use what_if::{HeldOff, QUESTIONS_MAX, WhatIfMemory};

/// What Kerf remembers by itself.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Memory {
    /// Claims decided on that are not stored yet, by name. They count as nodes on their way.
    pub creating: BTreeMap<Name, NewClaim>,
    /// Where pods without a node are meant to go, by pod.
    pub nominations: BTreeMap<PodKey, Nomination>,
    /// Until when nodes and claims that were given pods must be left alone, by name of the claim,
    /// or of the node where there is none.
    pub nominated_until: BTreeMap<Name, Time>,
    /// Instances whose launch is known but not yet stored in the claim's status, by claim uid.
    pub launched: BTreeMap<Arc<str>, Arc<Instance>>,
    /// Why the last launch of a claim failed, by claim.
    pub launch_failures: BTreeMap<Name, Failure>,
    /// When a pod last came to or left a claim's node, until that is stored, by claim.
    pub pod_events: BTreeMap<Name, Time>,
    /// When the end of a claim's instance was last asked for, by claim.
    pub terminate_asked_at: BTreeMap<Name, Time>,
    /// When a claim's instance type was last found among what is sold, by claim.
    #[serde(default)]
    pub offer_found_at: BTreeMap<Name, Time>,
    /// Claims whose instance the cloud says is gone.
    pub instance_gone: BTreeSet<Name>,
    /// The cloud's instances when they were last listed.
    pub instances: Option<InstanceList>,
    /// What calls for the next pass over waiting pods.
    pub batch: Batch,
    /// Since when pods wait, by pod.
    pub waits: BTreeMap<PodKey, Wait>,
    /// Pods that were seen without a node and have not been ready since.
    pub starting: BTreeSet<PodKey>,
    /// Why pods found no place in the last pass.
    pub unplaced: BTreeMap<PodKey, NotPlaced>,
    /// The outcomes of the last launches of each pool, newest last, by pool uid; bounded.
    pub registrations: BTreeMap<Arc<str>, Vec<Registration>>,
    /// When a pool's use was last written down, by pool uid.
    pub counted_at: BTreeMap<Arc<str>, Time>,
    /// Instances that belonged to nobody when they were last listed.
    pub orphans: BTreeSet<Arc<str>>,
    /// Claims whose instances are tagged.
    pub tagged: BTreeSet<Name>,
    /// What the provider found for node classes, and which of them it has let go.
    #[serde(with = "crate::entries")]
    pub node_classes: BTreeMap<NodeClassRef, ResolvedClass>,
    /// The commands under way.
    pub commands: Commands,
    /// The shifts pools were told of, by zone.
    pub recorded_shifts: BTreeMap<Name, RecordedShift>,
    /// Notices that have no outcome yet. Who brings them waits for outcomes and brings few at a
    /// time; each has one within seconds.
    pub notices: BTreeMap<NoticeId, OpenNotice>,
    /// What notices took away lately.
    #[serde(default)]
    pub notice_breaker: NoticeBreaker,
    /// Claims that have to go because of what was announced about their instances.
    pub interrupted: BTreeMap<Name, NoticeKind>,
    /// Claims of static pools that have more than they shall have.
    #[serde(default)]
    pub surplus: BTreeSet<Name>,
    /// Claims whose deletion was ordered and does not show yet.
    #[serde(default)]
    pub deletions: BTreeMap<Name, Deletion>,
    /// What is known of the reboots of claims' nodes, by claim.
    #[serde(default)]
    pub reboots: BTreeMap<Name, RebootMemory>,
    /// Nodes that are drained, or were and are still there, by name.
    pub drains: BTreeMap<Name, Drain>,
    /// What the API server said when it was asked for the pods of nodes, by node.
    #[serde(default)]
    pub confirmations: BTreeMap<Name, Confirmation>,
    /// What the API server said when it was asked for the node of a claim, by claim.
    #[serde(default)]
    pub node_looks: BTreeMap<Name, NodeLook>,
    /// When nodes were last searched for some to take away.
    pub searched_at: Option<Time>,
    /// When commands under way were last looked at.
    #[serde(default)]
    pub advanced_at: Option<Time>,
    /// What-ifs about nodes that could go.
    #[serde(default)]
    pub what_ifs: WhatIfMemory,
    /// Searches for nodes to consolidate.
    #[serde(default)]
    pub consolidation: ConsolidationMemory,
    /// Whether the clock can be believed.
    #[serde(default)]
    pub clock: ClockCheck,
}

/// Where a pod is meant to go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nomination {
    /// The identity of the pod.
    pub uid: Arc<str>,
    /// The claim, or the node where there is no claim.
    pub target: Name,
    /// When it was decided.
    pub at: Time,
}

/// The cloud's instances at some moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceList {
    /// When they were asked for.
    pub at: Time,
    /// By the name nodes carry.
    pub instances: BTreeMap<Arc<str>, Arc<Instance>>,
}

/// What became of a launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Registration {
    /// A node.
    Joined,
    /// Nothing in time.
    Failed {
        /// One word.
        reason: String,
        /// A sentence.
        message: String,
    },
}

/// How many launches of a pool are remembered.
pub const REGISTRATIONS_MAX: usize = 4;

impl Memory {
    /// Takes a change in.
    pub fn apply(&mut self, update: Update) {
        match update {
            Update::Create(claim) => {
                self.creating.insert(Arc::from(claim.spec.name.as_str()), *claim);
            }
            Update::Created(claim) => drop(self.creating.remove(&claim)),
            Update::Launched { uid, instance } => drop(self.launched.insert(uid, instance)),
            Update::LaunchStored { claim, uid } => {
                self.launched.remove(&uid);
                self.launch_failures.remove(&claim);
            }
            Update::LaunchFailed { claim, failure } => {
                self.launch_failures.insert(claim, failure);
            }
            Update::PodEvent { claim, at } => drop(self.pod_events.insert(claim, at)),
            Update::PodEventStored(claim) => drop(self.pod_events.remove(&claim)),
            Update::TerminateAsked { claim, at } => {
                self.terminate_asked_at.insert(claim, at);
            }
            Update::DeletionOrdered { claim, uid, until } => {
                let known = self.deletions.get(&claim).filter(|known| known.uid == uid);
                let mut deletion = known.cloned().unwrap_or(Deletion::ordered(uid, until));
                deletion.learn(DeletionState::Unknown { until });
                self.deletions.insert(claim, deletion);
            }
            Update::DeletionAnswered { claim, state } => {
                if let Some(deletion) = self.deletions.get_mut(&claim) {
                    deletion.learn(state);
                }
            }
            Update::DeletionShows(claim) => drop(self.deletions.remove(&claim)),
            Update::OfferFound { claim, at } => drop(self.offer_found_at.insert(claim, at)),
            Update::InstanceGone(claim) => drop(self.instance_gone.insert(claim)),
            Update::ForgetClaim(claim) => self.forget_claim(&claim),
            Update::Instances(list) => self.instances = Some(list),
            Update::Nominate { pod, nomination } => {
                self.nominations.insert(pod, nomination);
            }
            Update::Release(pod) => {
                self.nominations.remove(&pod);
            }
            Update::Shield { target, until } => {
                let known = self.nominated_until.entry(target).or_insert(until);
                *known = (*known).max(until);
            }
            Update::Unshield(target) => drop(self.nominated_until.remove(&target)),
            Update::Call { caller, at } => self.batch.call(caller, at),
            Update::Kind(shape) => self.batch.note_kind(shape),
            Update::PassBegun { at, is_solving, has_more, has_leaving_nodes, is_settling } => {
                self.batch = Batch {
                    last_pass_at: Some(at),
                    is_solving,
                    has_more,
                    has_leaving_nodes,
                    is_settling,
                    last_bound_at: self.batch.last_bound_at,
                    failure: self.batch.failure,
                    ..Batch::default()
                };
            }
            Update::StandBy => self.batch = Batch::default(),
            Update::PassEnded => {
                self.batch.is_solving = false;
                self.batch.failure = None;
            }
            Update::PassFailed { at, pods } => self.batch.fail(at, pods),
            Update::Waits { pod, uid, at } => self.note_wait(pod, uid, at),
            Update::Judged { pod, at, placed } => {
                if let Some(wait) = self.waits.get_mut(&pod) {
                    wait.decided_at.get_or_insert(at);
                    wait.judged_at = Some(at);
                    wait.placed_at = placed.then(|| wait.placed_at.unwrap_or(at));
                }
            }
            Update::Bound(at) => self.batch.last_bound_at = Some(at),
            Update::Starting(pod) => drop(self.starting.insert(pod)),
            Update::WaitOver(pod) => {
                self.waits.remove(&pod);
                self.starting.remove(&pod);
                self.unplaced.remove(&pod);
            }
            Update::Unplaced { pod, cause: Some(cause) } => {
                self.unplaced.insert(pod, cause);
            }
            Update::Unplaced { pod, cause: None } => {
                self.unplaced.remove(&pod);
            }
            Update::Registration { pool, registration } => {
                let outcomes = self.registrations.entry(pool).or_default();
                outcomes.push(registration);
                let surplus = outcomes.len().saturating_sub(REGISTRATIONS_MAX);
                outcomes.drain(..surplus);
            }
            Update::ForgetRegistrations(pool) => {
                self.registrations.remove(&pool);
            }
            Update::Counted { pool, at } => drop(self.counted_at.insert(pool, at)),
            Update::ForgetPool(pool) => {
                self.registrations.remove(&pool);
                self.counted_at.remove(&pool);
            }
            Update::Orphans(instances) => self.orphans = instances,
            Update::Tagged(claim) => drop(self.tagged.insert(claim)),
            Update::NodeClassResolved { class, resolved } => {
                self.node_classes.insert(class, *resolved);
            }
            Update::ForgetNodeClass(class) => drop(self.node_classes.remove(&class)),
            Update::Searched(at) => self.searched_at = Some(at),
            Update::SearchAgain => self.searched_at = None,
            Update::Advanced(at) => self.advanced_at = Some(at),
            Update::WhatIfsAsked(at) => self.what_ifs.asked_at = Some(at),
            Update::WhatIfsAnswered { at, blocked, is_of_use } => {
                self.what_ifs.answered(at, blocked, is_of_use);
            }
            Update::ConsolidationAsked { at, closed, is_search, is_waiting } => {
                self.consolidation.asked(at, closed, is_search, is_waiting);
            }
            Update::ConsolidationAnswered { at, unreached, found, plan } => {
                self.consolidation.answered(at, unreached, found, plan);
            }
            Update::ClusterChanged => self.consolidation.changed(),
            Update::PodsMoved { kinds, at, until } => {
                self.consolidation.pods_moved(kinds, at, until);
            }
            Update::MoveUndone { kinds, until } => self.consolidation.move_undone(kinds, until),
            Update::ReplacementFailed { pool, held_off } => {
                self.what_ifs.held_off.insert(pool, held_off);
            }
            Update::Replaced { pool } => drop(self.what_ifs.held_off.remove(&pool)),
            Update::Command(update) => self.commands.apply(update),
            Update::ShiftRecorded(recorded) => {
                self.recorded_shifts.insert(recorded.zone.name.clone(), *recorded);
            }
            Update::ShiftOver(zone) => drop(self.recorded_shifts.remove(&zone)),
            Update::Noticed { notice, at } => {
                self.notices.insert(notice.id, OpenNotice::new(notice, at));
            }
            Update::NoticeAwaits { id, awaits } => {
                if let Some(open) = self.notices.get_mut(&id) {
                    open.awaits = Some(awaits);
                }
            }
            Update::NoticeSettled(id) => drop(self.notices.remove(&id)),
            Update::TakenByNotices { at, count } => self.notice_breaker.take(at, count),
            Update::NoticesHeld(at) => self.notice_breaker.hold(at),
            Update::StartDrain { node, uid, reason, request } => {
                let drain = self.drains.entry(node).or_insert_with(|| Drain::of(uid.clone()));
                if drain.uid != uid {
                    *drain = Drain::of(uid);
                }
                drain.add(reason, *request);
            }
            Update::DrainClosed { node, at } => {
                if let Some(drain) = self.drains.get_mut(&node) {
                    drain.closed_at.get_or_insert(at);
                }
            }
            Update::Drained { node, reason, at } => {
                let drain = self.drains.get_mut(&node);
                if let Some(request) = drain.and_then(|drain| drain.requests.get_mut(&reason)) {
                    request.drained_at.get_or_insert(at);
                }
            }
            Update::ForgetDrain(node) => drop(self.drains.remove(&node)),
            Update::Confirmed { node, confirmation } => {
                self.confirmations.insert(node, confirmation);
            }
            Update::Unconfirmed(node) => drop(self.confirmations.remove(&node)),
            Update::LookedForNode { claim, look } => drop(self.node_looks.insert(claim, look)),
            Update::Interrupted { claim, kind } => {
                // The first reason stays: what follows from it follows once.
                self.interrupted.entry(claim).or_insert(kind);
            }
            Update::Reboot { claim, uid, update } => {
                let of = || RebootMemory::of(uid.clone());
                let known = self.reboots.entry(claim).or_insert_with(of);
                if known.uid != uid {
                    *known = of();
                }
                known.apply(update);
            }
            Update::Surplus(claim) => drop(self.surplus.insert(claim)),
            Update::NotSurplus(claim) => drop(self.surplus.remove(&claim)),
        }
    }

    /// The clock was set back: nothing happened later than now, or it would be waited on until then.
    pub(crate) fn set_back(&mut self, now: Time) {
        self.deletions.values_mut().for_each(|deletion| deletion.set_back(now));
        let asked = self.terminate_asked_at.values_mut();
        let noted = self.pod_events.values_mut().chain(self.counted_at.values_mut());
        let noted = noted.chain(self.offer_found_at.values_mut());
        let confirmed = self.confirmations.values_mut().map(|confirmation| &mut confirmation.at);
        let confirmed = confirmed.chain(self.node_looks.values_mut().map(|look| &mut look.at));
        let closed = self.drains.values_mut().filter_map(|drain| drain.closed_at.as_mut());
        let listed = self.instances.iter_mut().map(|list| &mut list.at);
        let searched = self.searched_at.iter_mut().chain(self.advanced_at.iter_mut());
        let times = asked.chain(noted).chain(closed).chain(confirmed).chain(listed).chain(searched);
        let times = times.chain(self.notice_breaker.times_mut()).chain(self.what_ifs.times_mut());
        let times = times.chain(self.consolidation.times_mut());
        let times = times.chain(self.reboots.values_mut().flat_map(RebootMemory::times_mut));
        times.chain(self.batch.times_mut()).for_each(|at| *at = (*at).min(now));
    }

    fn note_wait(&mut self, pod: PodKey, uid: Arc<str>, at: Time) {
        let known = self.waits.get(&pod).is_some_and(|wait| wait.uid == uid);
        if !known {
            let wait = Wait::since(uid, at);
            self.waits.insert(pod, wait);
        }
    }

    fn forget_claim(&mut self, claim: &Name) {
        self.creating.remove(claim);
        self.launch_failures.remove(claim);
        self.pod_events.remove(claim);
        self.terminate_asked_at.remove(claim);
        self.instance_gone.remove(claim);
        self.offer_found_at.remove(claim);
        self.node_looks.remove(claim);
        self.nominated_until.remove(claim);
        self.interrupted.remove(claim);
        self.surplus.remove(claim);
        self.deletions.remove(claim);
        self.reboots.remove(claim);
        self.tagged.remove(claim);
        self.what_ifs.blocked.remove(claim);
        self.commands.forget_claim(claim);
        self.nominations.retain(|_, nomination| nomination.target != *claim);
    }
}
