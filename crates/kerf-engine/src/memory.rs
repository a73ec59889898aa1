//! What Kerf decided and has not yet seen confirmed. All of it can be lost in a crash: the stored
//! objects alone are enough to go on.

mod batch;
mod memo;
mod open_notice;
mod told_shift;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kerf_model::budget::DisruptionReason;

use crate::action::NewClaim;
use crate::event::{Failure, Machine};
use crate::notice::{NoticeId, NoticeKind};
use crate::observed::{Name, PodKey};
use crate::time::Time;
pub use batch::{Batch, Trouble, Wait};
pub use memo::Memo;
pub use open_notice::OpenNotice;
pub use told_shift::ToldShift;

/// What Kerf remembers by itself.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// Claims decided on that are not stored yet, by name. They count as nodes on their way.
    pub creating: BTreeMap<Name, NewClaim>,
    /// Where pods without a node are meant to go, by pod.
    pub nominations: BTreeMap<PodKey, Nomination>,
    /// Until when nodes and claims that were given pods must be left alone, by name of the claim,
    /// or of the node where there is none.
    pub nominated_until: BTreeMap<Name, Time>,
    /// Machines whose launch is known but not yet stored in the claim's status, by claim uid.
    pub launched: BTreeMap<Arc<str>, Arc<Machine>>,
    /// Why the last launch of a claim failed, by claim.
    pub launch_failures: BTreeMap<Name, Failure>,
    /// When a pod last came to or left a claim's node, until that is stored, by claim.
    pub pod_events: BTreeMap<Name, Time>,
    /// When the end of a claim's machine was last asked for, by claim.
    pub terminate_asked_at: BTreeMap<Name, Time>,
    /// Claims whose machine the cloud says is gone.
    pub machine_gone: BTreeSet<Name>,
    /// The cloud's machines when they were last listed.
    pub machines: Option<MachineList>,
    /// What calls for the next pass over waiting pods.
    pub batch: Batch,
    /// Since when pods wait, by pod.
    pub waits: BTreeMap<PodKey, Wait>,
    /// Pods that were seen without a node and have not been ready since.
    pub starting: BTreeSet<PodKey>,
    /// Why pods found no place in the last pass.
    pub unplaced: BTreeMap<PodKey, String>,
    /// The outcomes of the last launches of each pool, newest last, by pool uid; bounded.
    pub registrations: BTreeMap<Arc<str>, Vec<Registration>>,
    /// When a pool's use was last written down, by pool uid.
    pub counted_at: BTreeMap<Arc<str>, Time>,
    /// Machines that belonged to nobody when they were last listed.
    pub strangers: BTreeSet<Arc<str>>,
    /// Nodes chosen for removal because they are empty, waiting for their second look.
    pub emptiness: Option<EmptinessRound>,
    /// Claims chosen for removal, so that nobody counts on them.
    pub marked: BTreeSet<Name>,
    /// What is being done about them, by claim.
    pub removals: BTreeMap<Name, Removal>,
    /// The shifts pools were told of, by zone.
    pub told_shifts: BTreeMap<Name, ToldShift>,
    /// Notices that have no outcome yet. Who brings them waits for outcomes and brings few at a
    /// time; each has one within seconds.
    pub notices: BTreeMap<NoticeId, OpenNotice>,
    /// Claims that have to go because of what was announced about their machines.
    pub interrupted: BTreeMap<Name, NoticeKind>,
    /// When nodes were last searched for some to take away.
    pub searched_at: Option<Time>,
}

/// Where a pod is meant to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nomination {
    /// The identity of the pod.
    pub uid: Arc<str>,
    /// The claim, or the node where there is no claim.
    pub target: Name,
    /// When it was decided.
    pub at: Time,
}

/// The cloud's machines at some moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineList {
    /// When they were asked for.
    pub at: Time,
    /// By the name nodes carry.
    pub machines: BTreeMap<Arc<str>, Arc<Machine>>,
}

/// What became of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// A removal under way: a claim chosen to go, which counts as going from the moment it is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removal {
    /// Why.
    pub reason: DisruptionReason,
    /// When it was chosen.
    pub chosen_at: Time,
}

/// Empty nodes waiting for their second look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmptinessRound {
    /// When they were chosen.
    pub chosen_at: Time,
    /// Their claims.
    pub claims: Vec<Name>,
}

/// How many launches of a pool are remembered.
pub const REGISTRATIONS_MAX: usize = 4;

impl Memory {
    /// Takes a change in.
    pub fn apply(&mut self, memo: Memo) {
        match memo {
            Memo::Create(claim) => {
                self.creating.insert(Arc::from(claim.wish.name.as_str()), *claim);
            }
            Memo::Created(claim) => drop(self.creating.remove(&claim)),
            Memo::Launched { uid, machine } => drop(self.launched.insert(uid, machine)),
            Memo::LaunchStored { claim, uid } => {
                self.launched.remove(&uid);
                self.launch_failures.remove(&claim);
            }
            Memo::LaunchFailed { claim, failure } => {
                self.launch_failures.insert(claim, failure);
            }
            Memo::PodEvent { claim, at } => drop(self.pod_events.insert(claim, at)),
            Memo::PodEventStored(claim) => drop(self.pod_events.remove(&claim)),
            Memo::TerminateAsked { claim, at } => {
                self.terminate_asked_at.insert(claim, at);
            }
            Memo::MachineGone(claim) => drop(self.machine_gone.insert(claim)),
            Memo::ForgetClaim(claim) => self.forget_claim(&claim),
            Memo::Machines(list) => self.machines = Some(list),
            Memo::Nominate { pod, nomination } => {
                self.nominations.insert(pod, nomination);
            }
            Memo::Release(pod) => {
                self.nominations.remove(&pod);
            }
            Memo::Shield { target, until } => {
                let known = self.nominated_until.entry(target).or_insert(until);
                *known = (*known).max(until);
            }
            Memo::Unshield(target) => drop(self.nominated_until.remove(&target)),
            Memo::Call { caller, at } => self.batch.call(caller, at),
            Memo::Kind(shape) => self.batch.note_kind(shape),
            Memo::PassBegun { at, is_solving, has_more, has_leaving_nodes, is_settling } => {
                self.batch = Batch {
                    last_pass_at: Some(at),
                    is_solving,
                    has_more,
                    has_leaving_nodes,
                    is_settling,
                    last_bound_at: self.batch.last_bound_at,
                    trouble: self.batch.trouble,
                    ..Batch::default()
                };
            }
            Memo::PassEnded => {
                self.batch.is_solving = false;
                self.batch.trouble = None;
            }
            Memo::PassFailed { at, pods } => self.batch.fail(at, pods),
            Memo::Waits { pod, uid, at } => self.note_wait(pod, uid, at),
            Memo::Judged { pod, at, placed } => {
                if let Some(wait) = self.waits.get_mut(&pod) {
                    wait.decided_at.get_or_insert(at);
                    wait.judged_at = Some(at);
                    wait.placed_at = placed.then(|| wait.placed_at.unwrap_or(at));
                }
            }
            Memo::Bound(at) => self.batch.last_bound_at = Some(at),
            Memo::Starting(pod) => drop(self.starting.insert(pod)),
            Memo::WaitOver(pod) => {
                self.waits.remove(&pod);
                self.starting.remove(&pod);
                self.unplaced.remove(&pod);
            }
            Memo::Unplaced { pod, reason: Some(reason) } => {
                self.unplaced.insert(pod, reason);
            }
            Memo::Unplaced { pod, reason: None } => {
                self.unplaced.remove(&pod);
            }
            Memo::Registration { pool, registration } => {
                let outcomes = self.registrations.entry(pool).or_default();
                outcomes.push(registration);
                let surplus = outcomes.len().saturating_sub(REGISTRATIONS_MAX);
                outcomes.drain(..surplus);
            }
            Memo::ForgetRegistrations(pool) => {
                self.registrations.remove(&pool);
            }
            Memo::Counted { pool, at } => drop(self.counted_at.insert(pool, at)),
            Memo::ForgetPool(pool) => {
                self.registrations.remove(&pool);
                self.counted_at.remove(&pool);
            }
            Memo::Strangers(machines) => self.strangers = machines,
            Memo::Emptiness(round) => self.emptiness = round,
            Memo::Searched(at) => self.searched_at = Some(at),
            Memo::Mark { claim, removal } => {
                self.marked.insert(claim.clone());
                self.removals.insert(claim, removal);
            }
            Memo::Unmark(claim) => {
                self.marked.remove(&claim);
                self.removals.remove(&claim);
            }
            Memo::ShiftTold(told) => {
                self.told_shifts.insert(told.zone.name.clone(), *told);
            }
            Memo::ShiftOver(zone) => drop(self.told_shifts.remove(&zone)),
            Memo::Noticed { notice, at } => {
                self.notices.insert(notice.id, OpenNotice::new(notice, at));
            }
            Memo::NoticeAwaits { id, awaits } => {
                if let Some(open) = self.notices.get_mut(&id) {
                    open.awaits = Some(awaits);
                }
            }
            Memo::NoticeSettled(id) => drop(self.notices.remove(&id)),
            Memo::Interrupted { claim, kind } => {
                // The first reason stays: what follows from it follows once.
                self.interrupted.entry(claim).or_insert(kind);
            }
        }
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
        self.machine_gone.remove(claim);
        self.nominated_until.remove(claim);
        self.marked.remove(claim);
        self.interrupted.remove(claim);
        self.removals.remove(claim);
        self.nominations.retain(|_, nomination| nomination.target != *claim);
    }
}
