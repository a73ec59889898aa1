//! What the engine, the executors and the log must know of each action beside its content.

use std::sync::Arc;

use kerf_model::node_spec::NodeClassRef;
use serde::{Deserialize, Serialize};

use super::{ActionKind, CopyEdit, Lane, Subject};
use crate::observed::Kind;
use crate::time::Span;

/// What is fixed for an action.
#[derive(Clone, Debug)]
pub struct ActionInfo {
    /// What is done, for logs and traces.
    pub name: &'static str,
    /// What it is about.
    pub subject: Subject,
    /// How it is carried out.
    pub call: Call,
    /// How long to wait before it is tried again.
    pub backoff: Backoff,
    /// Whether it fails with a conflict if the object has changed since it was decided.
    pub can_conflict: bool,
    /// Whether it only notes what is known: logs show it when asked for details.
    pub is_bookkeeping: bool,
}

/// How an action is carried out, by the names that metrics carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// A request to the API server.
    Api {
        /// What is asked for.
        verb: Verb,
        /// The kind of object it is about.
        kind: Kind,
        /// The part of the object, if not the whole: `status`, `eviction`.
        subresource: &'static str,
    },
    /// A call to the provider, by the names of Karpenter's controllers and methods.
    Provider {
        /// The controller that makes the call in Karpenter.
        controller: &'static str,
        /// The method it calls.
        method: &'static str,
    },
    /// A call to the AWS account about zones and zonal shifts, whatever the provider is.
    ShiftAccount,
    /// A placement problem to solve.
    Solve,
}

/// What is asked of the API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Read.
    Get,
    /// Store something new.
    Post,
    /// Change a part.
    Patch,
    /// Replace the whole.
    Put,
    /// Take away.
    Delete,
}

/// How long to wait between tries: doubling from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backoff {
    /// After the first failure.
    pub first: Span,
    /// At most.
    pub last: Span,
}

/// Most actions.
const DEFAULT: Backoff = Backoff::millis(100, 60_000);
/// Evictions wait for other pods to become ready, which takes seconds and no minute.
const EVICTION: Backoff = Backoff::millis(100, 10_000);
/// Launching again at once would meet the same shortage.
const LAUNCH: Backoff = Backoff::millis(1_000, 60_000);
/// An instance costs money until its end is asked for.
const TERMINATION: Backoff = Backoff::millis(1_000, 10_000);

impl ActionKind {
    /// What is fixed for the action.
    #[must_use]
    pub fn info(&self) -> ActionInfo {
        use Kind::{Claim, Node, NodeClass, Overlay, Pod, Pool};
        use Verb::{Delete, Get, Patch, Post, Put};
        let claim = |name: &Arc<str>| Subject::Claim(name.clone());
        let node = |name: &Arc<str>| Subject::Node(name.clone());
        let pool = |name: &Arc<str>| Subject::Pool(name.clone());
        let class = |key: &NodeClassRef| Subject::NodeClass(key.clone());
        match self {
            Self::CreateClaim(new) => {
                let subject = Subject::Claim(Arc::from(new.spec.name.as_str()));
                ActionInfo::request("create claim", subject, Post, Claim)
            }
            Self::PatchClaim { name, .. } => {
                ActionInfo::request("patch claim", claim(name), Patch, Claim).bookkeeping()
            }
            Self::WriteClaimStatus { name, .. } => {
                let info = ActionInfo::request("write claim status", claim(name), Patch, Claim);
                info.of("status").bookkeeping()
            }
            Self::DeleteClaim { name, .. } => {
                ActionInfo::request("delete claim", claim(name), Delete, Claim)
            }
            Self::PatchNode { name, .. } => {
                ActionInfo::request("patch node", node(name), Patch, Node).bookkeeping()
            }
            Self::DeleteNode { name, .. } => {
                ActionInfo::request("delete node", node(name), Delete, Node)
            }
            Self::EvictPod { pod, .. } => {
                let subject = Subject::Pod(pod.clone());
                ActionInfo::request("evict pod", subject, Post, Pod).of("eviction").every(EVICTION)
            }
            Self::DeletePod { pod, .. } => {
                let subject = Subject::Pod(pod.clone());
                ActionInfo::request("delete pod", subject, Delete, Pod).every(EVICTION)
            }
            Self::PatchPool { name, .. } => {
                ActionInfo::request("patch pool", pool(name), Patch, Pool).bookkeeping()
            }
            Self::WritePoolStatus { name, .. } => {
                let info = ActionInfo::request("write pool status", pool(name), Patch, Pool);
                info.of("status").bookkeeping()
            }
            Self::Launch(launched) => {
                let call = Call::Provider { controller: "nodeclaim.lifecycle", method: "Create" };
                ActionInfo::new("launch", claim(&launched.claim.meta.name), call).every(LAUNCH)
            }
            Self::Terminate { claim: name, .. } => {
                let call = Call::Provider { controller: "nodeclaim.lifecycle", method: "Delete" };
                ActionInfo::new("terminate", claim(name), call).every(TERMINATION)
            }
            Self::Reboot(order) => {
                let call = Call::Provider { controller: "nodeclaim.reboot", method: "Reboot" };
                ActionInfo::new("reboot", claim(&order.claim), call).every(LAUNCH)
            }
            Self::ConfirmDrained { node: name, .. } => {
                ActionInfo::request("list pods of node", node(name), Get, Pod).bookkeeping()
            }
            Self::ConfirmNodeGone { claim: name, .. } => {
                ActionInfo::request("look for node of claim", claim(name), Get, Node).bookkeeping()
            }
            Self::ConfirmOrphan { claim: name, instance } => {
                let subject = claim(name.as_ref().unwrap_or(&instance.provider_id));
                ActionInfo::request("look for claim of instance", subject, Get, Claim).bookkeeping()
            }
            Self::ListInstances => {
                let call =
                    Call::Provider { controller: "nodeclaim.garbagecollection", method: "List" };
                ActionInfo::new("list instances", Subject::Instances, call).bookkeeping()
            }
            Self::TagInstance { claim: name, .. } => {
                let call = Call::Provider { controller: "nodeclaim.tagging", method: "Tag" };
                ActionInfo::new("tag instance", claim(name), call).bookkeeping()
            }
            Self::ResolveNodeClass(resolved) => {
                let call = Call::Provider { controller: "nodeclass", method: "Resolve" };
                ActionInfo::new("resolve node class", class(&resolved.key), call).bookkeeping()
            }
            Self::ReleaseNodeClass(released) => {
                let call = Call::Provider { controller: "nodeclass", method: "Release" };
                ActionInfo::new("release node class", class(&released.key), call)
            }
            Self::PatchNodeClass { class: key, .. } => {
                let info = ActionInfo::request("patch node class", class(key), Patch, NodeClass);
                info.bookkeeping()
            }
            Self::WriteNodeClassStatus { class: key, .. } => {
                let name = "write node class status";
                ActionInfo::request(name, class(key), Patch, NodeClass).of("status").bookkeeping()
            }
            Self::WriteOverlayStatus { name, .. } => {
                let subject = Subject::Overlay(name.clone());
                let info = ActionInfo::request("write overlay status", subject, Patch, Overlay);
                info.of("status").bookkeeping()
            }
            Self::WriteShiftState(write) => {
                let verb = if write.revision.is_some() { Patch } else { Post };
                let subject = Subject::ZonalShift;
                ActionInfo::request("write shift state", subject, verb, Kind::ShiftConfigMap)
            }
            Self::EditPool(edit) => {
                let subject = Subject::Pool(edit.pool.name.as_str().into());
                ActionInfo::request("edit pool", subject, Patch, Kind::PoolManifest)
            }
            Self::EditPoolCopy(step) => {
                let verb = match step.edit {
                    CopyEdit::Create { .. } => Post,
                    CopyEdit::Replace { .. } => Put,
                    CopyEdit::Delete { .. } => Delete,
                };
                ActionInfo::request("edit copy of pool", step.subject(), verb, Kind::PoolManifest)
            }
            Self::DescribeShiftNetwork => {
                let call = Call::ShiftAccount;
                ActionInfo::new("describe zones and subnets", Subject::ZonalShift, call)
                    .bookkeeping()
            }
            Self::ListZonalShifts { .. } => {
                let call = Call::ShiftAccount;
                ActionInfo::new("list zonal shifts", Subject::ZonalShift, call).bookkeeping()
            }
            Self::Solve(request) => ActionInfo::new("solve", request.asker.subject(), Call::Solve),
        }
    }

    /// What it is about.
    #[must_use]
    pub fn subject(&self) -> Subject {
        self.info().subject
    }

    /// The actions it waits for.
    #[must_use]
    pub fn lane(&self) -> Lane {
        self.info().lane()
    }
}

impl ActionInfo {
    fn new(name: &'static str, subject: Subject, call: Call) -> Self {
        Self {
            name,
            subject,
            call,
            backoff: DEFAULT,
            can_conflict: matches!(call, Call::Api { verb: Verb::Patch | Verb::Put, .. }),
            is_bookkeeping: false,
        }
    }

    fn request(name: &'static str, subject: Subject, verb: Verb, kind: Kind) -> Self {
        Self::new(name, subject, Call::Api { verb, kind, subresource: "" })
    }

    fn of(mut self, part: &'static str) -> Self {
        if let Call::Api { subresource, .. } = &mut self.call {
            *subresource = part;
        }
        self
    }

    fn every(self, backoff: Backoff) -> Self {
        Self { backoff, ..self }
    }

    fn bookkeeping(self) -> Self {
        Self { is_bookkeeping: true, ..self }
    }

    /// The actions it waits for.
    #[must_use]
    pub fn lane(&self) -> Lane {
        match self.call {
            Call::Api { verb: Verb::Get, .. } => Lane::Read,
            Call::Api { .. } => Lane::Write,
            Call::Provider { .. } => Lane::Cloud,
            Call::ShiftAccount => Lane::Cloud,
            Call::Solve => Lane::Solve,
        }
    }
}

impl Verb {
    /// The HTTP method.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Patch => "PATCH",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
        }
    }
}

impl Backoff {
    const fn millis(first: u64, last: u64) -> Self {
        Self { first: Span::from_millis(first), last: Span::from_millis(last) }
    }

    /// The wait after so many failures in a row.
    pub(crate) fn after(self, tries: u32) -> Span {
        let factor = 1u64.checked_shl(tries.saturating_sub(1)).unwrap_or(u64::MAX);
        self.first.times(factor.max(1)).min(self.last)
    }
}
