//! Changes to what Kerf remembers. Planners ask for them; the engine alone carries them out.

use std::collections::BTreeSet;
use std::sync::Arc;

use kerf_model::node_spec::NodeClassRef;
use kerf_model::pod::PodShape;

use super::{
    Awaited, Confirmation, DeletionState, DrainReason, DrainRequest, HeldOff, InstanceList,
    KeptPlan, NodeLook, Nomination, RebootUpdate, RecordedShift, Registration, ResolvedClass,
};
use crate::action::NewClaim;
use crate::command::CommandUpdate;
use crate::event::{Failure, Instance};
use crate::notice::{Notice, NoticeId, NoticeKind};
use crate::observed::{Name, PodKey};
use crate::reason::NotPlaced;
use crate::time::Time;

/// A change to what Kerf remembers.
#[derive(Clone, Debug)]
pub enum Update {
    /// A claim shall be stored.
    Create(Box<NewClaim>),
    /// A claim is stored, or will not be.
    Created(Name),
    /// An instance was launched for the claim with this identity.
    Launched {
        /// The claim's identity.
        uid: Arc<str>,
        /// Its instance.
        instance: Arc<Instance>,
    },
    /// Everything about a claim's launch is stored, or the claim is gone.
    LaunchStored {
        /// The claim.
        claim: Name,
        /// Its identity.
        uid: Arc<str>,
    },
    /// A launch failed.
    LaunchFailed {
        /// The claim.
        claim: Name,
        /// What the cloud answered.
        failure: Failure,
    },
    /// A pod came to or left a claim's node.
    PodEvent {
        /// The claim.
        claim: Name,
        /// The engine's time of it.
        at: Time,
    },
    /// The last pod event of a claim is stored.
    PodEventStored(Name),
    /// The end of a claim's instance was asked for.
    TerminateAsked {
        /// The claim.
        claim: Name,
        /// The engine's time of it.
        at: Time,
    },
    /// The deletion of a claim was ordered.
    DeletionOrdered {
        /// The claim.
        claim: Name,
        /// Its identity.
        uid: Arc<str>,
        /// How long an answer may be hoped for.
        until: Time,
    },
    /// The deletion of a claim was answered.
    DeletionAnswered {
        /// The claim.
        claim: Name,
        /// What that says.
        state: DeletionState,
    },
    /// A claim is seen to be deleted.
    DeletionShows(Name),
    /// A claim's instance type is among what is sold.
    OfferFound {
        /// The claim.
        claim: Name,
        /// The engine's time of it.
        at: Time,
    },
    /// The cloud says a claim's instance is gone.
    InstanceGone(Name),
    /// A claim is gone: nothing about it matters any more.
    ForgetClaim(Name),
    /// The cloud's instances as listed.
    Instances(InstanceList),
    /// A pod is meant for a claim or node.
    Nominate {
        /// The pod.
        pod: PodKey,
        /// Its place.
        nomination: Nomination,
    },
    /// A pod is no longer nominated.
    Release(PodKey),
    /// A node must be left alone until then.
    Shield {
        /// The claim, or the node where there is none.
        target: Name,
        /// Until when.
        until: Time,
    },
    /// A node without a claim is gone; nobody is meant for it.
    Unshield(Name),
    /// Something calls for a pass over waiting pods.
    Call {
        /// Who, by identity.
        caller: Arc<str>,
        /// The engine's time of it.
        at: Time,
    },
    /// A pod that looks like this called.
    Kind(Arc<PodShape>),
    /// A pass begins; who called is heard.
    PassBegun {
        /// The engine's time of it.
        at: Time,
        /// Whether there is something to think about.
        is_solving: bool,
        /// Whether pods were left out because there are too many.
        has_more: bool,
        /// Whether there are nodes on their way out.
        has_leaving_nodes: bool,
        /// Whether pods are expected on nodes that are up.
        is_settling: bool,
    },
    /// Another process leads: who calls for a pass calls there.
    StandBy,
    /// The answer of a pass is there.
    PassEnded,
    /// The solve of a pass failed.
    PassFailed {
        /// The engine's time of it.
        at: Time,
        /// How many pods it was about.
        pods: usize,
    },
    /// A pod was seen waiting; the first time counts.
    Waits {
        /// The pod.
        pod: PodKey,
        /// Its identity.
        uid: Arc<str>,
        /// The engine's time of it.
        at: Time,
    },
    /// A pass placed or refused a pod.
    Judged {
        /// The pod.
        pod: PodKey,
        /// The engine's time of it.
        at: Time,
        /// Whether it was placed.
        placed: bool,
    },
    /// A pod that was awaited on a node was bound, there or elsewhere.
    Bound(Time),
    /// A pod without a node was seen.
    Starting(PodKey),
    /// A pod waits neither for a node nor for its start, or is gone.
    WaitOver(PodKey),
    /// A pod found no place.
    Unplaced {
        /// The pod.
        pod: PodKey,
        /// Why; `None` once it has one.
        cause: Option<NotPlaced>,
    },
    /// A launch became a node, or did not in time.
    Registration {
        /// The pool's identity.
        pool: Arc<str>,
        /// Which of them.
        registration: Registration,
    },
    /// The pool's past launches count no more.
    ForgetRegistrations(Arc<str>),
    /// A pool's use was written down.
    Counted {
        /// The pool's identity.
        pool: Arc<str>,
        /// The engine's time of it.
        at: Time,
    },
    /// A pool is gone: nothing about it matters any more.
    ForgetPool(Arc<str>),
    /// These instances belong to nobody.
    Orphans(BTreeSet<Arc<str>>),
    /// The instance of a claim is tagged.
    Tagged(Name),
    /// The provider has looked at a node class.
    NodeClassResolved {
        /// Group, kind and name.
        class: NodeClassRef,
        /// What it found.
        resolved: Box<ResolvedClass>,
    },
    /// A node class is gone.
    ForgetNodeClass(NodeClassRef),
    /// Nodes were searched for some to take away.
    Searched(Time),
    /// Nodes are to be searched for again without a wait.
    SearchAgain,
    /// Commands under way were looked at.
    Advanced(Time),
    /// It was asked where the pods of some nodes would go.
    WhatIfsAsked(Time),
    /// The answer is there, or will not come.
    WhatIfsAnswered {
        /// The engine's time of it.
        at: Time,
        /// Claims whose pods have no place to go.
        blocked: Vec<Name>,
        /// Whether any node goes because of it.
        is_of_use: bool,
    },
    /// A search for nodes to consolidate begins.
    ConsolidationAsked {
        /// The engine's time of it.
        at: Time,
        /// Pools that may lose nothing now.
        closed: BTreeSet<Name>,
        /// Whether there is anything to search; not where all pools are closed.
        is_search: bool,
        /// Whether nodes are left alone only because pods are on their way to them.
        is_waiting: bool,
    },
    /// The answer is there, or will not come.
    ConsolidationAnswered {
        /// The engine's time of it.
        at: Time,
        /// Nodes that were not looked at.
        unreached: Vec<String>,
        /// Whether there is something to go on with.
        found: bool,
        /// What is left of the plan.
        plan: Option<KeptPlan>,
    },
    /// Consolidation moves pods.
    PodsMoved {
        /// Their kinds.
        kinds: Vec<u64>,
        /// The engine's time of it.
        at: Time,
        /// When that will have paid back.
        until: Time,
    },
    /// A node was launched for pods before their move had paid back.
    MoveUndone {
        /// Their kinds.
        kinds: Vec<u64>,
        /// Until when that counts.
        until: Time,
    },
    /// Something changed that the plans of consolidation depend on.
    ClusterChanged,
    /// A replacement for nodes of a pool failed.
    ReplacementFailed {
        /// The pool.
        pool: Name,
        /// Until when it is left alone.
        held_off: HeldOff,
    },
    /// Nodes of a pool were replaced.
    Replaced {
        /// The pool.
        pool: Name,
    },
    /// A command changes.
    Command(CommandUpdate),
    /// Pools were told of a zonal shift.
    ShiftRecorded(Box<RecordedShift>),
    /// A zonal shift is over, and pools were told.
    ShiftOver(Name),
    /// A notice came.
    Noticed {
        /// The notice.
        notice: Notice,
        /// The engine's time of it.
        at: Time,
    },
    /// A notice was looked at.
    NoticeAwaits {
        /// The notice, as its sender numbered it.
        id: NoticeId,
        /// What it waits for.
        awaits: Awaited,
    },
    /// A notice has its outcome.
    NoticeSettled(NoticeId),
    /// Notices took so many claims or nodes away.
    TakenByNotices {
        /// When the notices were read.
        at: Time,
        /// How many.
        count: usize,
    },
    /// Notices were held back, because too much would have gone.
    NoticesHeld(Time),
    /// A claim has to go because of what was announced about its instance.
    Interrupted {
        /// The claim.
        claim: Name,
        /// What was announced.
        kind: NoticeKind,
    },
    /// The reboot of a claim's node.
    Reboot {
        /// The claim.
        claim: Name,
        /// Its identity.
        uid: Arc<str>,
        /// What is new.
        update: RebootUpdate,
    },
    /// A claim's pool has more than it shall have, and this one goes.
    Surplus(Name),
    /// A claim's pool shall have more after all.
    NotSurplus(Name),
    /// A node shall be drained. Asked for several reasons, it is drained once.
    StartDrain {
        /// The node.
        node: Name,
        /// Its identity.
        uid: Arc<str>,
        /// Who asks. The same reason asked twice is one.
        reason: DrainReason,
        /// What to do.
        request: Box<DrainRequest>,
    },
    /// A node that is drained was seen closed to new pods.
    DrainClosed {
        /// The node.
        node: Name,
        /// The first time counts.
        at: Time,
    },
    /// The pods that had to leave a node for this reason have left.
    Drained {
        /// The node.
        node: Name,
        /// Who had asked.
        reason: DrainReason,
        /// When the last of them was gone.
        at: Time,
    },
    /// A node that was drained is gone.
    ForgetDrain(Name),
    /// The API server was asked for the pods of a node.
    Confirmed {
        /// The node.
        node: Name,
        /// What it said.
        confirmation: Confirmation,
    },
    /// What the API server said of a node's pods no longer counts.
    Unconfirmed(Name),
    /// The API server was asked for the node of a claim.
    LookedForNode {
        /// The claim.
        claim: Name,
        /// What it said.
        look: NodeLook,
    },
}
