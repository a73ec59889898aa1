//! Restarting the node of a claim in place: what the stored claim and node say of how far it is.
//!
//! ```text
//!  Requested: taint ─► drain ─► boot id noted ─► provider asked ─► Issued: new boot id ─► ready
//!      └────────── never worked ──────────┴────────── took too long ─────┘      └─► Succeeded
//!                        └─► the claim is deleted
//! ```
//!
//! The claim's conditions are written by the claim's planner, its node is tainted and drained by
//! the drain's, and opened again by the one that takes nodes in. Each reads here what is next.

use std::sync::Arc;

use kerf_model::duration::GoDuration;
use kerf_model::labels::annotation::{REBOOT_GRACE_PERIOD, REBOOT_PRE_BOOT_ID};
use kerf_model::taint::{REBOOTING_KEY, rebooting};

use crate::condition::claim::{INITIALIZED, REBOOTING};
use crate::condition::{Condition, Status};
use crate::memory::{Closing, DrainRequest, RebootMemory};
use crate::observed::{Claim, Node};
use crate::time::{Span, Time};
use crate::world::World;

/// The reasons of the condition.
pub(super) const REQUESTED: &str = "RebootRequested";
pub(super) const ISSUED: &str = "RebootIssued";
pub(super) const SUCCEEDED: &str = "RebootSucceeded";
pub(super) const FAILED: &str = "RebootFailed";

/// Pods have at least so long to leave, where they have to.
pub(super) const DRAIN_MIN: Span = Span::from_seconds(5);

/// How far a reboot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It is wanted; pods leave, and the provider is asked.
    Requested,
    /// The provider has begun.
    Issued,
}

/// A reboot under way, as it is stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reboot<'a> {
    pub(super) phase: Phase,
    pub(super) claim: &'a Claim,
    /// Since when it is wanted.
    pub(super) since: Time,
}

/// What a claim says of how long pods have makes no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BadBound(pub(super) String);

impl<'a> Reboot<'a> {
    /// The reboot of a claim's node, if one is under way.
    pub(super) fn of(claim: &'a Claim) -> Option<Self> {
        let condition = stored(claim).filter(|it| it.status == Status::True)?;
        let phase = if condition.reason == ISSUED { Phase::Issued } else { Phase::Requested };
        Some(Self { phase, claim, since: condition.changed_at })
    }

    /// How long pods have to leave; without an end where nothing is said.
    pub(super) fn bound(&self) -> Result<Option<Span>, BadBound> {
        let Some(text) = self.claim.annotations().get(REBOOT_GRACE_PERIOD) else { return Ok(None) };
        match GoDuration::parse(text) {
            Ok(bound) if bound.nanos() < 0 => Err(BadBound(format!("{text:?} is negative"))),
            Ok(bound) => Ok(Some(Span::from(bound))),
            Err(error) => Err(BadBound(error.to_string())),
        }
    }

    /// The boot id the node had before, once it was noted.
    pub(super) fn boot_id_before(&self) -> Option<&'a str> {
        self.claim.annotations().get(REBOOT_PRE_BOOT_ID).map(String::as_str)
    }

    /// Whether a node has started anew. The boot id it had is only forgotten once it has.
    pub(super) fn has_booted(&self, node: &Node) -> bool {
        match (self.phase, self.boot_id_before()) {
            (_, Some(before)) => node.profile.boot_id != before,
            (Phase::Issued, None) => true,
            (Phase::Requested, None) => false,
        }
    }

    /// Since when the provider is at it.
    pub(super) fn issued_at(&self) -> Option<Time> {
        let initialized = self.claim.status.conditions.get(INITIALIZED)?;
        (initialized.status == Status::Unknown).then_some(initialized.changed_at)
    }

    /// By which the provider knows this reboot from others: the same however often it is asked.
    pub(super) fn operation(&self, boot_id_before: &str) -> Arc<str> {
        let nanos = i128::from(self.since.millis()) * 1_000_000;
        format!("{}-{nanos}-{boot_id_before}", self.claim.meta.uid).into()
    }
}

/// The condition that says how far a reboot is or how the last one ended.
pub(super) fn stored(claim: &Claim) -> Option<&Condition> {
    claim.status.conditions.get(REBOOTING)
}

/// Whether the last reboot of a claim's node is over.
pub(super) fn is_over(claim: &Claim) -> bool {
    stored(claim).is_some_and(|it| it.status == Status::False)
}

/// Whether a node is closed to pods because it is rebooted.
pub(super) fn is_tainted(node: &Node) -> bool {
    node.taints.iter().any(|taint| taint.key == REBOOTING_KEY)
}

/// What the drain of a node that is about to be rebooted has to do: pods are asked to leave, and
/// never made to. Where they have no time, or it is over, they ride through.
pub(super) fn drain_request(world: &World, node: &Node) -> Option<DrainRequest> {
    let claim = world.claim_of(node).filter(|claim| !claim.meta.is_deleting())?;
    let reboot = Reboot::of(claim).filter(|it| it.phase == Phase::Requested)?;
    if !world.is_supported(&claim.spec.node.node_class) {
        return None;
    }
    let bound = reboot.bound().ok()?;
    Some(DrainRequest {
        closing: Closing::Taint(rebooting()),
        labels: Default::default(),
        taints: Vec::new(),
        cordons_only: bound == Some(Span::default()) || reboot.boot_id_before().is_some(),
        keeps: None,
        evicts_protected: false,
        deadline: None,
        forces_pods: false,
        drained_at: None,
    })
}

impl World {
    /// What is remembered of the reboots of a claim's node.
    pub(crate) fn reboots(&self, claim: &Claim) -> Option<&RebootMemory> {
        let known = self.memory.reboots.get(&claim.meta.name)?;
        (known.uid == claim.meta.uid).then_some(known)
    }

    /// Whether a reboot of a claim's node was decided on that is not stored yet.
    pub(crate) fn wants_reboot(&self, claim: &Claim) -> bool {
        self.reboots(claim).is_some_and(|known| known.wanted.is_some())
    }
}
