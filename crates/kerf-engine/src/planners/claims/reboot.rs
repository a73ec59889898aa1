//! The reboot of a claim's node, step by step, in the claim's conditions.

use kerf_model::duration::GoDuration;
use kerf_model::labels::annotation::{
    REBOOT_GRACE_PERIOD, REBOOT_PRE_BOOT_ID, TERMINATION_TIMESTAMP,
};

use super::super::reboot::{self, DRAIN_MIN, FAILED, ISSUED, Phase, REQUESTED, Reboot, SUCCEEDED};
use super::super::{drain, drain::NodeDrain};
use super::Reconcile;
use crate::action::{Action, ActionKind, MetadataPatch, RebootOrder};
use crate::condition::Status;
use crate::condition::claim::{DISRUPTION_REASON, INITIALIZED, REBOOTING};
use crate::decision::Decision;
use crate::event::{Failure, Key, Kind, Outcome};
use crate::kubernetes_event::KubernetesEvent;
use crate::memory::{DrainReason, RebootAnswer, RebootUpdate, Update, WantedReboot};
use crate::observed::{Claim, Node};
use crate::reason::{DeletionCause, Reason, RebootFault};
use crate::sample::Sample;
use crate::time::{Span, Time};
use crate::timestamp::{parse_rfc3339, rfc3339};
use crate::world::World;
use kerf_model::budget::DisruptionReason;

/// What was decided on is off if it could not be stored by then: the node may be well by now.
const STORED_WITHIN: Span = Span::from_minutes(1);
/// The provider has so long to begin, from when it was first asked on.
const ISSUED_WITHIN: Span = Span::from_minutes(5);
/// A node that has not come back by then is given up.
const RECOVERED_WITHIN: Span = Span::from_minutes(20);
/// How long an Event about one reboot is not repeated.
const EVENT_SILENCE: Span = Span::from_minutes(30);

/// Takes the next step of a reboot that is wanted or under way.
pub(super) fn advance(reconcile: &mut Reconcile<'_>) {
    let claim = reconcile.claim;
    match Reboot::of(claim) {
        Some(own) if own.phase == Phase::Requested => requested(reconcile, own),
        Some(own) => issued(reconcile, own),
        None => {
            let known = reconcile.world.reboots(claim);
            if let Some(wanted) = known.and_then(|known| known.wanted.as_ref()) {
                commit(reconcile, wanted);
            }
        }
    }
}

/// Stores that a reboot is wanted: first how long pods have, then why.
fn commit(reconcile: &mut Reconcile<'_>, wanted: &WantedReboot) {
    if reconcile.now >= wanted.at + STORED_WITHIN {
        let update = about(reconcile.claim, RebootUpdate::Dropped);
        return reconcile.decision.remember(update);
    }
    reconcile.decision.wake(wanted.at + STORED_WITHIN);
    let own = reconcile.claim.spec.node.termination_grace.map(Span::from);
    let bound = wanted.drain_within.or(own).map(text);
    let stored = reconcile.claim.annotations().get(REBOOT_GRACE_PERIOD);
    if stored != bound.as_ref() {
        let key = REBOOT_GRACE_PERIOD.to_owned();
        match bound {
            Some(bound) => drop(reconcile.patch.annotations.insert(key, bound)),
            None => drop(reconcile.patch.annotations_removed.insert(key)),
        }
        return;
    }
    let word = DisruptionReason::Unhealthy.as_str();
    let message = format!("rebooting for {}/{}", wanted.condition, wanted.reason);
    reconcile.conditions.set_true_because(DISRUPTION_REASON, word, word);
    reconcile.conditions.set_true_because(REBOOTING, REQUESTED, &message);
}

fn requested(reconcile: &mut Reconcile<'_>, own: Reboot<'_>) {
    let bound = match own.bound() {
        Ok(bound) => bound,
        Err(bad) => {
            reconcile
                .patch
                .annotations_removed
                .extend(own.boot_id_before().map(|_| REBOOT_PRE_BOOT_ID.to_owned()));
            let message = format!("{REBOOT_GRACE_PERIOD}: {}", bad.0);
            reconcile.conditions.set_false(REBOOTING, FAILED, &message);
            return;
        }
    };
    wake_for_deadline(reconcile, own);
    let Some(node) = reconcile.world.node_of(reconcile.claim) else { return };
    let Some(before) = own.boot_id_before() else {
        if reboot::is_tainted(node) && is_drained(reconcile, own, node, bound) {
            let id = node.profile.boot_id.clone();
            reconcile.patch.annotations.insert(REBOOT_PRE_BOOT_ID.to_owned(), id);
        }
        return;
    };
    let call = reconcile.world.reboots(reconcile.claim).and_then(|known| known.call.as_ref());
    let is_accepted = call.is_some_and(|call| call.answer == RebootAnswer::Accepted);
    if is_accepted || own.has_booted(node) {
        return issue(reconcile);
    }
    if call.is_none() {
        let update = about(reconcile.claim, RebootUpdate::Asked(reconcile.now));
        reconcile.decision.remember(update);
    }
    let claim = reconcile.claim;
    let order = RebootOrder {
        claim: claim.meta.name.clone(),
        node: claim.status.node_name.clone(),
        provider_id: claim.status.provider_id.clone(),
        operation: own.operation(before),
    };
    reconcile.decision.act(ActionKind::Reboot(Box::new(order)), Reason::Rebooting);
}

/// The provider has begun: the node has to come up anew.
fn issue(reconcile: &mut Reconcile<'_>) {
    let known = reconcile.conditions.get(REBOOTING);
    let message = known.map(|known| known.message.clone()).unwrap_or_default();
    reconcile.conditions.set_true_because(REBOOTING, ISSUED, &message);
    let message = "the node is being rebooted";
    reconcile.conditions.set_unknown(INITIALIZED, "Rebooting", message);
}

fn issued(reconcile: &mut Reconcile<'_>, own: Reboot<'_>) {
    wake_for_deadline(reconcile, own);
    let Some(node) = reconcile.world.node_of(reconcile.claim) else { return };
    if !own.has_booted(node) {
        return;
    }
    let mut event = KubernetesEvent::normal(
        Key::Claim(reconcile.claim.meta.name.clone()),
        "RebootObserved",
        format!("Node {} has booted again", node.meta.name),
    );
    event.dedupe = rfc3339(own.since);
    reconcile.decision.record(event.silent_for(EVENT_SILENCE));
    if !node.is_ready || reboot::is_tainted(node) {
        return;
    }
    match own.boot_id_before() {
        Some(_) => {
            reconcile.patch.annotations_removed.insert(REBOOT_PRE_BOOT_ID.to_owned());
        }
        None => {
            reconcile.conditions.set_false(REBOOTING, SUCCEEDED, "");
        }
    }
}

/// Whether pods need not be waited for any more.
fn is_drained(
    reconcile: &mut Reconcile<'_>,
    own: Reboot<'_>,
    node: &Node,
    bound: Option<Span>,
) -> bool {
    let (world, now) = (reconcile.world, reconcile.now);
    if bound == Some(Span::default()) {
        return true;
    }
    let first = own.since + DRAIN_MIN;
    let last = bound.map(|bound| own.since + bound.max(DRAIN_MIN));
    if now < first {
        reconcile.decision.wake(first);
        return false;
    }
    if let Some(last) = last {
        if now >= last {
            return true;
        }
        reconcile.decision.wake(last);
    }
    let Some(request) = reboot::drain_request(world, node) else { return false };
    let drain = NodeDrain::only(node, DrainReason::Reboot, request);
    let waiting = drain::waiting(world, &drain, now);
    for at in waiting.iter().filter_map(|pod| drain::given_up_at(pod)) {
        reconcile.decision.wake(at);
    }
    // Pods that came unheard are not seen to have left.
    waiting.is_empty()
        && world.is_fresh(&[Kind::Node, Kind::Pod], now)
        && drain::is_confirmed(world, node, now, &mut reconcile.decision)
}

/// Why a reboot will not come to a good end, by the latest time that can be believed.
pub(super) fn fault(
    world: &World,
    claim: &Claim,
    now: Time,
    believed: Time,
) -> Option<DeletionCause> {
    let own = Reboot::of(claim)?;
    let call = world.reboots(claim).and_then(|known| known.call.as_ref());
    let is_refused = call.is_some_and(|call| matches!(call.answer, RebootAnswer::Refused { .. }));
    let is_late = deadline(world, own).is_some_and(|at| believed >= at);
    let fault = match own.phase {
        Phase::Requested if is_refused => RebootFault::ProviderError,
        _ if !is_late || !world.is_fresh(&[Kind::Claim, Kind::Node], now) => return None,
        Phase::Requested => RebootFault::ProviderError,
        Phase::Issued => RebootFault::RecoveryTimeout,
    };
    Some(DeletionCause::RebootFailed(fault))
}

/// When a reboot is given up at the step it is at. Pods may take as long as they have.
fn deadline(world: &World, own: Reboot<'_>) -> Option<Time> {
    if own.phase == Phase::Issued {
        return own.issued_at().map(|at| at + RECOVERED_WITHIN);
    }
    // How long pods have makes no sense: that is told, and the node stays.
    own.bound().ok()?;
    let call = world.reboots(own.claim).and_then(|known| known.call.as_ref());
    match call {
        Some(call) if call.answer == RebootAnswer::Accepted => None,
        Some(call) => Some(call.first_at + ISSUED_WITHIN),
        None if world.node_of(own.claim).is_none() => Some(own.since + ISSUED_WITHIN),
        None => None,
    }
}

fn wake_for_deadline(reconcile: &mut Reconcile<'_>, own: Reboot<'_>) {
    if let Some(at) = deadline(reconcile.world, own) {
        let at = reconcile.world.memory.clock.believed_at(at, reconcile.now);
        if at > reconcile.now {
            reconcile.decision.wake(at);
        }
    }
}

/// What a claim whose reboot failed lacks before it is deleted: pods have no longer than they had.
pub(super) fn deadline_patch(claim: &Claim, now: Time) -> Option<ActionKind> {
    let deadline = now + Reboot::of(claim)?.bound().ok()??;
    let known = claim.annotations().get(TERMINATION_TIMESTAMP);
    if known.and_then(|text| parse_rfc3339(text)).is_some_and(|known| known <= deadline) {
        return None;
    }
    let annotations = [(TERMINATION_TIMESTAMP.to_owned(), rfc3339(deadline))].into();
    let patch = MetadataPatch { annotations, ..MetadataPatch::default() };
    let (name, revision) = (claim.meta.name.clone(), claim.meta.revision);
    Some(ActionKind::PatchClaim { name, revision, patch })
}

/// What to make of the provider's answer.
pub(super) fn answered(world: &World, action: &Action, outcome: &Outcome) -> Decision {
    let mut decision = Decision::default();
    let ActionKind::Reboot(order) = &action.kind else { return decision };
    let Some(claim) = world.claims.get(&order.claim) else { return decision };
    let is_same = Reboot::of(claim).is_some_and(|own| {
        own.boot_id_before().is_some_and(|before| own.operation(before) == order.operation)
    });
    let answer = match outcome {
        Outcome::Done => RebootAnswer::Accepted,
        Outcome::NotFound => RebootAnswer::Refused { message: "there is no instance".to_owned() },
        Outcome::Failed(
            Failure::RebootNotImplemented { message } | Failure::RebootFailed { message },
        ) => RebootAnswer::Refused { message: message.clone() },
        _ => return decision,
    };
    if is_same {
        decision.remember(about(claim, RebootUpdate::Answered(answer)));
    }
    decision
}

/// What to count and tell when a claim's conditions change: a reboot may be over.
pub(super) fn ended(former: &Claim, claim: &Claim, now: Time, decision: &mut Decision) {
    let Some(own) = Reboot::of(former) else { return };
    let Some(condition) = reboot::stored(claim).filter(|it| it.status == Status::False) else {
        return;
    };
    let is_success = condition.reason == SUCCEEDED;
    let result = if is_success { "succeeded" } else { RebootFault::InvalidRequest.label() };
    decision.samples.extend(results(own, result, now));
    if is_success {
        let metric = "karpenter_nodes_reboot_recovery_duration_seconds";
        let took = own.issued_at().map(|at| now.since(at));
        let sample = |span| Sample::Took { metric, labels: Vec::new(), span };
        decision.samples.extend(took.map(sample));
    } else {
        decision.record(failed(own, &condition.message));
    }
    decision.remember(about(claim, RebootUpdate::Over));
}

/// What to count and tell when a claim is deleted because a reboot failed.
pub(super) fn given_up(
    world: &World,
    claim: &Claim,
    fault: RebootFault,
    now: Time,
    decision: &mut Decision,
) {
    let Some(own) = Reboot::of(claim) else { return };
    let call = world.reboots(claim).and_then(|known| known.call.as_ref());
    let message = match call.map(|call| &call.answer) {
        Some(RebootAnswer::Refused { message }) => format!("{fault}: {message}"),
        _ => fault.to_string(),
    };
    decision.samples.extend(results(own, fault.label(), now));
    decision.record(failed(own, &message));
}

fn results(own: Reboot<'_>, result: &'static str, now: Time) -> [Sample; 2] {
    let labels = || vec![("result", result.to_owned())];
    let metric = "karpenter_nodes_reboot_duration_seconds";
    [
        Sample::one("karpenter_nodes_reboots_total", labels()),
        Sample::Took { metric, labels: labels(), span: now.since(own.since) },
    ]
}

fn failed(own: Reboot<'_>, message: &str) -> KubernetesEvent {
    let about = Key::Claim(own.claim.meta.name.clone());
    let text = format!("Rebooting the node failed: {message}");
    let mut event = KubernetesEvent::warning(about, "RebootFailed", text);
    event.dedupe = rfc3339(own.since);
    event.silent_for(EVENT_SILENCE)
}

fn about(claim: &Claim, update: RebootUpdate) -> Update {
    Update::Reboot { claim: claim.meta.name.clone(), uid: claim.meta.uid.clone(), update }
}

/// A length of time as Go writes it.
fn text(span: Span) -> String {
    let nanos = i64::try_from(span.millis()).unwrap_or(i64::MAX).saturating_mul(1_000_000);
    GoDuration::from_nanos(nanos).to_string()
}
