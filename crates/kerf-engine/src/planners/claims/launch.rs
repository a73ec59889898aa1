//! From a decided claim to a stored one, and from there to an instance.

use kerf_model::labels::well_known::ZONE;
use kerf_model::requirement::{Operator, RequirementEntry};

use super::{Reconcile, metrics};
use crate::action::{Action, ActionKind, Launch, NewClaim};
use crate::command::Command;
use crate::condition::claim::LAUNCHED;
use crate::decision::Decision;
use crate::event::{Failure, Instance, Key, Outcome};
use crate::kubernetes_event::KubernetesEvent;
use crate::memory::Update;
use crate::observed::{Claim, Name};
use crate::reason::{NotPlaced, Reason};
use crate::world::World;

/// Longer error texts are cut, so that objects stay small; Karpenter cuts here too.
const MESSAGE_BYTES_MAX: usize = 1024;
/// Ends a text that was cut.
const CUT: &str = "...";

/// Stores a claim, or drops the spec if its pool is gone.
pub(super) fn create(world: &World, name: &Name) -> Decision {
    let mut decision = Decision::default();
    let Some(spec) = world.memory.creating.get(name) else { return decision };
    let (pool, uid) = &spec.pool;
    let is_wanted =
        world.pools.get(pool).is_some_and(|pool| pool.meta.uid == *uid && !pool.meta.is_deleting());
    if is_wanted {
        let reason = creation_reason(world, name, pool);
        decision.act(ActionKind::CreateClaim(Box::new(spec.clone())), reason);
    } else {
        decision.remember(Update::ForgetClaim(name.clone()));
    }
    decision
}

fn creation_reason(world: &World, name: &Name, pool: &Name) -> Reason {
    let mut commands = world.memory.commands.iter();
    let of_command = |command: &&Command| command.replacements.iter().any(|it| it.name() == *name);
    match commands.find(of_command) {
        Some(Command { id, reason, .. }) => {
            Reason::Replacement { reason: *reason, command: id.clone() }
        }
        None => Reason::NodeNeeded { pool: pool.clone() },
    }
}

/// Launches an instance, or stores what is known of one.
///
/// The instance is remembered until the status that names it is stored. If the process dies
/// before, the launch is asked for again and the cloud answers with the same instance.
pub(super) fn advance(reconcile: &mut Reconcile<'_>) {
    if reconcile.claim.status.provider_id.is_some() {
        reconcile.conditions.set_true(LAUNCHED);
        return;
    }
    if !reconcile.claim.has_finalizer() {
        return;
    }
    let memory = &reconcile.world.memory;
    if let Some(instance) = memory.launched.get(&reconcile.claim.meta.uid) {
        take_over(reconcile, instance);
        return;
    }
    match memory.launch_failures.get(&reconcile.claim.meta.name) {
        Some(failure) => {
            let (reason, message) = condition_text(failure);
            reconcile.conditions.set_unknown(LAUNCHED, &reason, &message);
        }
        None => reconcile.is_launching = true,
    }
    let launch = launch(reconcile.world, reconcile.claim);
    reconcile.decision.act(ActionKind::Launch(Box::new(launch)), Reason::NotLaunched);
}

/// What a launch is decided on. A claim from before a restart, whose pool's offer is on its way, is
/// launched nevertheless: it may have an instance already.
fn launch(world: &World, claim: &Claim) -> Launch {
    let node_class = world.node_classes.get(&claim.spec.node.node_class).cloned();
    let instance_types = claim.pool().and_then(|pool| world.instance_types.get(pool)).cloned();
    let mut claim = claim.clone();
    // It may allow several zones, and the provider chooses among them.
    if !world.shifted.is_empty() {
        let zones = world.shifted.keys().map(|zone| &**zone);
        let entry = RequirementEntry::new(ZONE, Operator::NotIn, zones);
        claim.spec.node.requirements.push(entry);
    }
    Launch { claim, node_class, instance_types }
}

/// The claim's own labels win over the instance's; annotations are the other way round.
fn take_over(reconcile: &mut Reconcile<'_>, instance: &Instance) {
    let spec = &reconcile.claim.spec;
    for (key, value) in &instance.labels {
        if !spec.labels.contains_key(key) {
            reconcile.patch.labels.insert(key.clone(), value.clone());
        }
    }
    for (key, value) in &instance.annotations {
        if spec.annotations.get(key) != Some(value) {
            reconcile.patch.annotations.insert(key.clone(), value.clone());
        }
    }
    let status = reconcile.status.to_mut();
    status.provider_id = Some(instance.provider_id.clone());
    status.image_id.clone_from(&instance.image_id);
    status.capacity = instance.capacity.clone();
    status.allocatable = instance.allocatable.clone();
    reconcile.conditions.set_true(LAUNCHED);
}

/// What the answer to a creation means.
pub(super) fn created(
    world: &World,
    name: &Name,
    spec: &NewClaim,
    action: &Action,
    outcome: &Outcome,
) -> Decision {
    let mut decision = Decision::default();
    match outcome {
        Outcome::Stored(_) => {
            decision.remember(Update::Created(name.clone()));
            decision.samples.push(metrics::created(spec, &action.reason));
        }
        // It will never be stored as it is: its pods are free to find another place.
        Outcome::Failed(Failure::Invalid { message }) => {
            let nominated = world.memory.nominations.iter();
            for (pod, _) in nominated.filter(|(_, nomination)| nomination.target == *name) {
                let refusal = NotPlaced::ClaimRefused { message: message.as_str().into() };
                let text = format!("Failed to schedule pod, {refusal}");
                let about = Key::Pod(pod.clone());
                decision.record(KubernetesEvent::warning(about, "FailedScheduling", text));
            }
            decision.remember(Update::ForgetClaim(name.clone()));
        }
        Outcome::NotFound => decision.remember(Update::ForgetClaim(name.clone())),
        _ => {}
    }
    decision
}

/// What the answer to a launch means.
pub(super) fn launched(world: &World, asked_for: &Claim, outcome: &Outcome) -> Decision {
    let mut decision = Decision::default();
    let (name, uid) = (&asked_for.meta.name, &asked_for.meta.uid);
    let claim = world.claims.get(name).filter(|claim| claim.meta.uid == *uid);
    match outcome {
        Outcome::Launched(instance) => match claim {
            Some(claim) if is_its_only(world, claim, instance) => {
                if claim.status.provider_id.is_none() {
                    let (uid, instance) = (uid.clone(), instance.clone());
                    decision.remember(Update::Launched { uid, instance });
                }
            }
            // It has another, and nobody else knows of this one.
            Some(_) => decision.act(end_of(name, instance), Reason::InstanceOrphaned),
            None => {
                let (claim, instance) = (Some(name.clone()), instance.clone());
                let kind = ActionKind::ConfirmOrphan { claim, instance };
                decision.act(kind, Reason::AbsenceUnconfirmed);
            }
        },
        Outcome::Failed(failure) if claim.is_some() => {
            if let Failure::InsufficientCapacity { .. } = failure {
                let (_, message) = condition_text(failure);
                let text = format!("NodeClaim {name} event: {message}");
                let about = Key::Claim(name.clone());
                decision.record(KubernetesEvent::warning(about, "InsufficientCapacityError", text));
            }
            if let Some(error) = spot_role_error(world, failure) {
                let about = Key::Claim(name.clone());
                decision.record(KubernetesEvent::spot_role_missing(about, error));
            }
            if !has_node_class(world, asked_for) {
                let about = Key::Claim(name.clone());
                decision.record(KubernetesEvent::unresolved_node_class(about));
            }
            let (claim, failure) = (name.clone(), failure.clone());
            decision.remember(Update::LaunchFailed { claim, failure });
        }
        _ => {}
    }
    decision
}

/// The error of an account without a role for spot instances, where the cloud told of it.
fn spot_role_error<'w>(world: &'w World, failure: &Failure) -> Option<&'w str> {
    let (_, message) = condition_text(failure);
    let error = world.settings.provider.spot_role_error.as_deref();
    error.filter(|error| message.contains(error))
}

/// A class that is being deleted makes no nodes any more.
fn has_node_class(world: &World, claim: &Claim) -> bool {
    let class = world.node_classes.get(&claim.spec.node.node_class);
    class.is_some_and(|class| !class.meta.is_deleting())
}

fn is_its_only(world: &World, claim: &Claim, instance: &Instance) -> bool {
    let remembered = world.memory.launched.get(&claim.meta.uid).map(|known| &known.provider_id);
    let known = claim.status.provider_id.as_ref().or(remembered);
    known.is_none_or(|known| *known == instance.provider_id)
}

fn end_of(claim: &Name, instance: &Instance) -> ActionKind {
    ActionKind::Terminate { claim: claim.clone(), provider_id: Some(instance.provider_id.clone()) }
}

/// Reason and message of the condition.
fn condition_text(failure: &Failure) -> (String, String) {
    match failure {
        Failure::LaunchRefused { reason, message } => (reason.clone(), message.clone()),
        Failure::Conflict => ("LaunchFailed".to_owned(), "the claim changed meanwhile".to_owned()),
        Failure::Refused { message }
        | Failure::InsufficientCapacity { message }
        | Failure::NodeClassNotReady { message }
        | Failure::RebootNotImplemented { message }
        | Failure::RebootFailed { message }
        | Failure::Invalid { message }
        | Failure::Denied { message }
        | Failure::Throttled { message, .. }
        | Failure::Unavailable { message } => ("LaunchFailed".to_owned(), cut(message)),
    }
}

fn cut(message: &str) -> String {
    if message.len() <= MESSAGE_BYTES_MAX {
        return message.to_owned();
    }
    let end = message.floor_char_boundary(MESSAGE_BYTES_MAX - CUT.len());
    format!("{}{CUT}", &message[..end])
}
