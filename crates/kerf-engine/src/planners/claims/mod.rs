//! Claims, from the spec to the end.
//!
//! ```text
//!  launch ──────────────► registration ────────► conditions ─────► deletion
//!  claim stored,          node joined,           kept while the    node gone, instance gone,
//!  instance launched      node initialized       node runs         finalizer gone
//! ```
//!
//! Every step looks at what is stored and says what is missing, so that it does not matter how
//! often it is asked or where the process died before.

mod conditions;
mod deletion;
mod launch;
mod metrics;
mod on_change;
mod reboot;
mod registration;
mod reserved;
mod transitions;

use std::borrow::Cow;

use kerf_model::labels::node_class_key;
use kerf_model::labels::well_known::TERMINATION_FINALIZER;

pub(super) use on_change::{on_change, on_delete};
pub(crate) use reserved::is_reserved;
pub(super) use reserved::take_off;

use crate::action::{Action, ActionKind, MetadataPatch};
use crate::condition::claim::DEPENDENTS;
use crate::condition::{Condition, Draft};
use crate::decision::Decision;
use crate::event::Outcome;
use crate::observed::{Claim, ClaimStatus, Name};
use crate::reason::{ConditionChange, DeletionCause, Reason};
use crate::time::Time;
use crate::world::World;

/// One reconcile of a claim. Steps change `patch`, `status` and `conditions`;
/// [`Reconcile::finish`] asks for what differs to be stored.
struct Reconcile<'a> {
    world: &'a World,
    claim: &'a Claim,
    now: Time,
    /// What its metadata lacks.
    patch: MetadataPatch,
    /// What its status should be, conditions apart.
    status: Cow<'a, ClaimStatus>,
    /// What its conditions should be.
    conditions: Draft<'a>,
    /// Whether the first launch is under way. That nothing is known yet is not worth a write.
    is_launching: bool,
    decision: Decision,
}

/// What a claim needs now.
pub(super) fn plan(world: &World, name: &Name, now: Time) -> Decision {
    let Some(claim) = world.claims.get(name) else { return launch::create(world, name) };
    if !world.is_supported(&claim.spec.node.node_class) {
        return Decision::default();
    }
    if claim.meta.is_deleting() {
        return deletion::plan(world, claim, now);
    }
    match deletion::cause(world, claim, now) {
        Some(cause) => delete(claim, cause, now),
        None => advance(world, claim, now),
    }
}

/// What to make of a finished action about a claim.
pub(super) fn conclude(
    world: &World,
    name: &Name,
    action: &Action,
    outcome: &Outcome,
    now: Time,
) -> Decision {
    match &action.kind {
        ActionKind::CreateClaim(spec) => launch::created(world, name, spec, action, outcome),
        ActionKind::Launch(launch) => launch::launched(world, &launch.claim, outcome),
        ActionKind::TagInstance { .. } => registration::tagged(world, name, outcome),
        ActionKind::Reboot(_) => reboot::answered(world, action, outcome),
        ActionKind::ConfirmNodeGone { .. } => {
            deletion::looked_for_node(world, name, action, outcome)
        }
        ActionKind::Terminate { .. } => deletion::terminated(world, name, outcome, now),
        ActionKind::DeleteClaim { uid, .. } => {
            deletion::deleted(world, name, uid, action, outcome, now)
        }
        _ => Decision::default(),
    }
}

fn delete(claim: &Claim, cause: DeletionCause, now: Time) -> Decision {
    let mut decision = Decision::default();
    if let DeletionCause::RebootFailed(_) = cause
        && let Some(limit) = reboot::deadline_patch(claim, now)
    {
        decision.act(limit, Reason::Deletion(cause));
        return decision;
    }
    let kind =
        ActionKind::DeleteClaim { name: claim.meta.name.clone(), uid: claim.meta.uid.clone() };
    decision.act(kind, Reason::Deletion(cause));
    decision
}

fn advance(world: &World, claim: &Claim, now: Time) -> Decision {
    let mut reconcile = Reconcile::new(world, claim, now);
    ensure_finalizer(&mut reconcile);
    ensure_node_class_label(&mut reconcile);
    reserved::demote(&mut reconcile);
    launch::advance(&mut reconcile);
    registration::register(&mut reconcile);
    reboot::advance(&mut reconcile);
    registration::initialize(&mut reconcile);
    registration::tag(&mut reconcile);
    conditions::store_pod_event(&mut reconcile);
    conditions::judge_consolidatable(&mut reconcile);
    conditions::judge_consistency(&mut reconcile);
    conditions::judge_drift(&mut reconcile);
    deletion::wake(&mut reconcile);
    reconcile.finish()
}

/// Nothing is launched for a claim that could vanish: the finalizer comes first.
fn ensure_finalizer(reconcile: &mut Reconcile<'_>) {
    if !reconcile.claim.has_finalizer() {
        let mut finalizers = reconcile.claim.finalizers.clone();
        finalizers.push(TERMINATION_FINALIZER.to_owned());
        reconcile.patch.finalizers = Some(finalizers);
    }
}

/// Claims made by others or long ago may lack the label of their node class.
fn ensure_node_class_label(reconcile: &mut Reconcile<'_>) {
    let class = &reconcile.claim.spec.node.node_class;
    let key = node_class_key(&class.group, &class.kind);
    if reconcile.claim.label(&key).is_none() {
        reconcile.patch.labels.insert(key, class.name.clone());
    }
}

impl<'a> Reconcile<'a> {
    fn new(world: &'a World, claim: &'a Claim, now: Time) -> Self {
        Self {
            world,
            claim,
            now,
            patch: MetadataPatch::default(),
            status: Cow::Borrowed(&claim.status),
            conditions: Draft::of(&claim.status.conditions, &DEPENDENTS, &claim.meta, now),
            is_launching: false,
            decision: Decision::default(),
        }
    }

    /// Metadata is stored before the status: a status never speaks of labels that are not there.
    fn finish(mut self) -> Decision {
        let name = self.claim.meta.name.clone();
        let revision = self.claim.meta.revision;
        if let Some(conditions) = self.conditions.into_changed() {
            self.status.to_mut().conditions = conditions;
        }
        if self.patch != MetadataPatch::default() {
            let kind = ActionKind::PatchClaim { name, revision, patch: self.patch };
            self.decision.act(kind, Reason::ClaimMetadataOutdated);
        } else if let Cow::Owned(status) = self.status
            && status != self.claim.status
            && !self.is_launching
        {
            let reason = reason_of(&self.claim.status, &status);
            let status = Box::new(status);
            let kind = ActionKind::WriteClaimStatus { name, revision, status };
            self.decision.act(kind, reason);
        }
        self.decision
    }
}

fn reason_of(stored: &ClaimStatus, wanted: &ClaimStatus) -> Reason {
    let is_new = |condition: &&Condition| {
        let known = stored.conditions.get(&condition.kind);
        known.is_none_or(|known| known.status != condition.status)
    };
    let change = |condition: &Condition| ConditionChange {
        kind: condition.kind.as_str().into(),
        status: condition.status,
    };
    let conditions = wanted.conditions.0.iter().filter(is_new).map(change).collect();
    let pod_event = stored.last_pod_event_at != wanted.last_pod_event_at;
    Reason::ClaimStatusOutdated { conditions, pod_event }
}
