//! Why a claim is deleted without anybody asking, and its end: its node goes, then its instance,
//! then its finalizer.

use kerf_model::labels::annotation::TERMINATION_TIMESTAMP;
use kerf_model::labels::well_known::TERMINATION_FINALIZER;

use super::super::{notices, termination};
use super::{Reconcile, metrics, reboot, registration, reserved};
use crate::action::{Action, ActionKind};
use crate::condition::claim::{INSTANCE_TERMINATING, LAUNCHED, REGISTERED};
use crate::decision::Decision;
use crate::event::{Failure, Key, Kind, Object, Outcome};
use crate::kubernetes_event::KubernetesEvent;
use crate::memory::{DeletionState, InstanceList, NodeLook, Update};
use crate::notice::NoticeKind;
use crate::observed::{Claim, Name, Node};
use crate::reason::{DeletionCause, Reason};
use crate::time::{Span, Time};
use crate::timestamp::rfc3339;
use crate::world::World;

/// An instance that has not been launched by then will not be.
const LAUNCH_WITHIN: Span = Span::from_minutes(5);
/// A node that joined unheard needs so long to register once it is heard of.
const HEARD_FOR: Span = Span::from_minutes(1);
/// How soon the API server is asked again for a node that it has and nobody told of.
const LOOK_AGAIN_AFTER: Span = Span::from_seconds(5);
/// Stored times are cut to whole seconds.
const SECOND: Span = Span::from_seconds(1);

/// The step a claim is at, while it has a time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Launch,
    Registration,
}

/// The cause that holds now, if one does, by the latest time that can be believed.
pub(super) fn cause(world: &World, claim: &Claim, now: Time) -> Option<DeletionCause> {
    let announced = world.memory.interrupted.get(&claim.meta.name);
    let believed = world.memory.clock.believed(now);
    announced
        .map(|kind| DeletionCause::Interrupted(*kind))
        .or_else(|| ending(world, claim))
        .or_else(|| surplus(world, claim, now))
        .or_else(|| refused(world, claim))
        .or_else(|| out_of_time(world, claim, now, believed))
        .or_else(|| reboot::fault(world, claim, now, believed))
        .or_else(|| has_expired(world, claim, now, believed).then_some(DeletionCause::Expired))
        .or_else(|| is_garbage(world, claim, now).then_some(DeletionCause::GarbageCollected))
}

/// Comes back when the next cause may hold.
pub(super) fn wake(reconcile: &mut Reconcile<'_>) {
    let heard_since = reconcile.world.fresh_since(&[Kind::Claim, Kind::Node], reconcile.now);
    let heard_at = heard_since.map_or(reconcile.now, |since| since + HEARD_FOR);
    let limit = limit(reconcile.world, reconcile.claim).map(|(_, at)| at.max(heard_at));
    for at in [limit, expires_at(reconcile.claim)].into_iter().flatten() {
        let at = reconcile.world.memory.clock.believed_at(at, reconcile.now);
        // What is over and holds nevertheless waits for a kind to be heard of, not for time.
        if at > reconcile.now {
            reconcile.decision.wake(at);
        }
    }
}

/// Whether the cloud no longer has the instance of a claim whose node is not ready either. A node
/// that says it is ready is believed more than a list.
pub(in crate::planners) fn is_garbage(world: &World, claim: &Claim, now: Time) -> bool {
    let Some(InstanceList { at: listed_at, instances }) = &world.memory.instances else {
        return false;
    };
    let registered = claim.status.conditions.get(REGISTERED);
    let joined_before = registered.is_some_and(|own| own.changed_at + SECOND <= *listed_at);
    let is_listed = claim.status.provider_id.as_ref().is_none_or(|id| instances.contains_key(id));
    claim.status.conditions.is_true(REGISTERED)
        && joined_before
        && !is_listed
        // A list that is silent about a shifted zone proves nothing.
        && world.shifted_zone_of(claim).is_none()
        && !world.node_of(claim).is_some_and(|node| node.is_ready)
        && world.unreadable_node_of(claim).is_none()
        && world.is_fresh(&[Kind::Claim, Kind::Node], now)
}

fn ending(world: &World, claim: &Claim) -> Option<DeletionCause> {
    let is_ending = reserved::is_reservation_ending(world, claim);
    is_ending.then_some(DeletionCause::ReservationEnding)
}

/// Which claims of a static pool are too many, its own planner chooses.
fn surplus(world: &World, claim: &Claim, now: Time) -> Option<DeletionCause> {
    let is_surplus = world.memory.surplus.contains(&claim.meta.name);
    let goes = is_surplus && world.is_fresh(&[Kind::Pool, Kind::Claim], now);
    goes.then_some(DeletionCause::Overprovisioned)
}

fn refused(world: &World, claim: &Claim) -> Option<DeletionCause> {
    let is_launched =
        claim.status.provider_id.is_some() || world.memory.launched.contains_key(&claim.meta.uid);
    match world.memory.launch_failures.get(&claim.meta.name)? {
        _ if is_launched => None,
        Failure::InsufficientCapacity { .. } => Some(DeletionCause::InsufficientCapacity),
        Failure::NodeClassNotReady { .. } => Some(DeletionCause::NodeClassNotReady),
        _ => None,
    }
}

/// That nothing was launched or has joined is what was not heard.
fn out_of_time(world: &World, claim: &Claim, now: Time, believed: Time) -> Option<DeletionCause> {
    let (step, at) = limit(world, claim)?;
    let heard_since = world.fresh_since(&[Kind::Claim, Kind::Node], now)?;
    let is_over = is_past(Some(at), believed) && believed >= heard_since + HEARD_FOR;
    is_over.then_some(match step {
        Step::Launch => DeletionCause::LaunchTimeout,
        Step::Registration => DeletionCause::RegistrationTimeout,
    })
}

/// The step whose time limit runs, and when it ends.
fn limit(world: &World, claim: &Claim) -> Option<(Step, Time)> {
    let conditions = &claim.status.conditions;
    if conditions.is_true(REGISTERED) {
        return None;
    }
    let is_launched =
        conditions.is_true(LAUNCHED) || world.memory.launched.contains_key(&claim.meta.uid);
    Some(if is_launched {
        (Step::Registration, claim.meta.created_at + world.settings.registration_within)
    } else {
        (Step::Launch, claim.meta.created_at + LAUNCH_WITHIN)
    })
}

fn expires_at(claim: &Claim) -> Option<Time> {
    let after = claim.spec.node.expire_after.duration()?;
    Some(claim.meta.created_at + Span::from(after))
}

/// A claim that is too old can wait until it is known what runs on it.
fn has_expired(world: &World, claim: &Claim, now: Time, believed: Time) -> bool {
    is_past(expires_at(claim), believed)
        && world.is_fresh(&[Kind::Claim, Kind::Node, Kind::Pod], now)
}

fn is_past(at: Option<Time>, now: Time) -> bool {
    at.is_some_and(|at| now >= at)
}

/// What a claim whose deletion was asked for needs.
pub(super) fn plan(world: &World, claim: &Claim, now: Time) -> Decision {
    let mut reconcile = Reconcile::new(world, claim, now);
    if !claim.has_finalizer() {
        return reconcile.decision;
    }
    set_deadline(&mut reconcile);
    if world.memory.terminate_asked_at.contains_key(&claim.meta.name) {
        reconcile.conditions.set_true(INSTANCE_TERMINATING);
    }
    if let Some(node) = world.unreadable_node_of(claim) {
        let text = format!("Node {node} cannot be read; it is not drained until it can");
        let about = Key::Claim(claim.meta.name.clone());
        reconcile.decision.record(KubernetesEvent::warning(about, "NodeUnreadable", text));
        return reconcile.finish();
    }
    // A node that joined unheard has pods that nobody drains.
    let knows_nodes = world.is_fresh(&[Kind::Node], now);
    if is_node_left(&mut reconcile)
        || !knows_nodes
        || !is_node_gone(&mut reconcile)
        || is_instance_left(&mut reconcile)
    {
        return reconcile.finish();
    }
    let finalizers = claim.finalizers.iter().filter(|own| *own != TERMINATION_FINALIZER);
    reconcile.patch.finalizers = Some(finalizers.cloned().collect());
    reconcile.finish()
}

/// The moment pods are no longer waited for is stored with the claim, where people and a new
/// process find it.
fn set_deadline(reconcile: &mut Reconcile<'_>) {
    let Reconcile { world, claim, now, .. } = reconcile;
    let is_written = claim.annotations().contains_key(TERMINATION_TIMESTAMP);
    let announced = world.memory.interrupted.get(&claim.meta.name);
    // Pods of an instance that does not work are waited for in vain.
    let at_once =
        announced.filter(|_| !is_written).filter(|kind| is_impaired(**kind)).map(|_| *now);
    let Some(deadline) = at_once.or_else(|| termination::deadline(claim)) else { return };
    if !reconcile.claim.annotations().contains_key(TERMINATION_TIMESTAMP) {
        let text = rfc3339(deadline);
        reconcile.patch.annotations.insert(TERMINATION_TIMESTAMP.to_owned(), text);
    }
    let about = Key::Claim(reconcile.claim.meta.name.clone());
    reconcile.decision.record(termination::deadline_event(about, deadline));
}

/// Whether what is announced is that an instance does not work any more.
fn is_impaired(kind: NoticeKind) -> bool {
    matches!(kind, NoticeKind::InstanceStatus | NoticeKind::SystemStatus)
}

/// Asks for the deletion of the claim's nodes, and notes how far that has come. A node that never
/// joined is not Kerf's to delete.
fn is_node_left(reconcile: &mut Reconcile<'_>) -> bool {
    let Some(provider_id) = &reconcile.claim.status.provider_id else { return false };
    let world = reconcile.world;
    let has_joined = reconcile.conditions.is_true(REGISTERED);
    let nodes: Vec<&Node> = world
        .nodes_on_instance(provider_id)
        .filter(|node| has_joined || termination::has_finalizer(node))
        .collect();
    for node in nodes.iter().filter(|node| !node.meta.is_deleting()) {
        let kind =
            ActionKind::DeleteNode { name: node.meta.name.clone(), uid: node.meta.uid.clone() };
        reconcile.decision.act(kind, Reason::ClaimDeleting);
    }
    let Reconcile { conditions, decision, claim, now, .. } = reconcile;
    termination::note_progress(world, &nodes, claim, *now, conditions, decision);
    !nodes.is_empty()
}

/// Whether no node stands for the instance of a claim. That one which had joined is not known may
/// mean that nobody told of it: before the instance ends, the API server itself is asked.
fn is_node_gone(reconcile: &mut Reconcile<'_>) -> bool {
    let (world, claim) = (reconcile.world, reconcile.claim);
    let (memory, name) = (&world.memory, &claim.meta.name);
    let Some(node) = &claim.status.node_name else { return true };
    let is_ending =
        memory.instance_gone.contains(name) || memory.terminate_asked_at.contains_key(name);
    match memory.node_looks.get(name) {
        _ if is_ending => return true,
        Some(look) if look.is_gone => return true,
        // One that is there will be told of soon.
        Some(look) if reconcile.now < look.at + LOOK_AGAIN_AFTER => {
            reconcile.decision.wake(look.at + LOOK_AGAIN_AFTER);
            return false;
        }
        _ => {}
    }
    let kind = ActionKind::ConfirmNodeGone { claim: name.clone(), node: node.clone() };
    reconcile.decision.act(kind, Reason::AbsenceUnconfirmed);
    false
}

/// What the answer to the question for a claim's node means. A node of that name on another
/// instance is not the claim's.
pub(super) fn looked_for_node(
    world: &World,
    name: &Name,
    action: &Action,
    outcome: &Outcome,
) -> Decision {
    let mut decision = Decision::default();
    let Some(claim) = world.claims.get(name) else { return decision };
    let is_gone = match outcome {
        Outcome::NotFound => true,
        Outcome::Stored(object) => {
            matches!(&**object, Object::Node(node) if node.provider_id != claim.status.provider_id)
        }
        _ => return decision,
    };
    let look = NodeLook { at: action.at, is_gone };
    decision.remember(Update::LookedForNode { claim: name.clone(), look });
    decision
}

/// Asks for the end of the instance until the cloud says it is gone.
fn is_instance_left(reconcile: &mut Reconcile<'_>) -> bool {
    let (memory, claim) = (&reconcile.world.memory, reconcile.claim);
    let launched = memory.launched.get(&claim.meta.uid).map(|instance| &instance.provider_id);
    let provider_id = claim.status.provider_id.as_ref().or(launched).cloned();
    if provider_id.is_none() && was_never_launched(reconcile.world, claim) {
        return false;
    }
    let (world, now, decision) = (reconcile.world, reconcile.now, &mut reconcile.decision);
    !termination::terminate_instance(world, &claim.meta.name, provider_id, now, decision)
}

/// A cloud that said no launched nothing. Without such an answer there may be an instance nobody
/// heard of.
fn was_never_launched(world: &World, claim: &Claim) -> bool {
    matches!(
        world.memory.launch_failures.get(&claim.meta.name),
        Some(Failure::InsufficientCapacity { .. } | Failure::NodeClassNotReady { .. })
    )
}

/// What the answer to a termination means.
pub(super) fn terminated(world: &World, name: &Name, outcome: &Outcome, now: Time) -> Decision {
    let mut decision = Decision::default();
    let claim = world.claims.get(name);
    if claim.is_none() && !world.nodes.contains_key(name) {
        return decision;
    }
    match outcome {
        Outcome::Done => decision.remember(Update::TerminateAsked { claim: name.clone(), at: now }),
        Outcome::NotFound => {
            decision.remember(Update::InstanceGone(name.clone()));
            let asked_at = world.memory.terminate_asked_at.get(name).copied();
            let gone = claim.map(|claim| metrics::instance_gone(claim, asked_at, now));
            decision.samples.extend(gone);
        }
        _ => {}
    }
    decision
}

/// What the deletion was ordered for is what it counts as, whatever else holds by now.
pub(super) fn deleted(
    world: &World,
    name: &Name,
    uid: &str,
    action: &Action,
    outcome: &Outcome,
    now: Time,
) -> Decision {
    let mut decision = Decision::default();
    let claim = world.claims.get(name).filter(|claim| *claim.meta.uid == *uid);
    let Some(claim) = claim else { return decision };
    let state = match outcome {
        Outcome::Done | Outcome::NotFound => DeletionState::Taken,
        _ => DeletionState::Unknown { until: world.memory.clock.believed(now) },
    };
    decision.remember(Update::DeletionAnswered { claim: name.clone(), state });
    if !matches!(outcome, Outcome::Done) {
        return decision;
    }
    let Some(cause) = action.reason.deletion_cause() else { return decision };
    // That it is disrupted was counted when the reboot began.
    if let DeletionCause::RebootFailed(fault) = cause {
        reboot::given_up(world, claim, fault, now, &mut decision);
        return decision;
    }
    decision.samples.push(metrics::disrupted(claim, cause.label()));
    if let DeletionCause::Interrupted(kind) = cause {
        decision.kubernetes_events.extend(notices::terminating(world, claim, kind));
    }
    if matches!(cause, DeletionCause::LaunchTimeout | DeletionCause::RegistrationTimeout) {
        let timeout = registration::timeout(claim, cause);
        decision.updates.extend(registration::pool_health(world, claim, timeout));
    }
    decision
}
