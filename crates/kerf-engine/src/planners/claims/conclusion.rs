//! What finished actions mean for claims.

use super::super::notices;
use super::launch::in_words;
use super::{health, metrics};
use crate::action::{Action, ActionKind, NewClaim};
use crate::decision::Decision;
use crate::event::{Failure, Instance, Key, Outcome};
use crate::kubernetes_event::KubernetesEvent;
use crate::memory::Update;
use crate::observed::{Claim, Name};
use crate::reason::{DeletionCause, NotPlaced, Reason};
use crate::time::Time;
use crate::world::World;

/// What to make of a finished action about a claim.
pub(in crate::planners) fn conclude(
    world: &World,
    name: &Name,
    action: &Action,
    outcome: &Outcome,
    now: Time,
) -> Decision {
    match &action.kind {
        ActionKind::CreateClaim(spec) => created(world, name, spec, action, outcome),
        ActionKind::Launch(claim) => launched(world, claim, outcome),
        ActionKind::Terminate { .. } => terminated(world, name, outcome, now),
        ActionKind::DeleteClaim { uid, .. } => deleted(world, name, uid, action, outcome),
        _ => Decision::default(),
    }
}

fn created(
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

fn launched(world: &World, asked_for: &Claim, outcome: &Outcome) -> Decision {
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
            // Nobody else knows of this instance.
            _ => decision.act(end_of(name, instance), Reason::InstanceOrphaned),
        },
        Outcome::Failed(failure) if claim.is_some() => {
            if let Failure::InsufficientCapacity { .. } = failure {
                let (_, message) = in_words(failure);
                let text = format!("NodeClaim {name} event: {message}");
                let about = Key::Claim(name.clone());
                decision.record(KubernetesEvent::warning(about, "InsufficientCapacityError", text));
            }
            let (claim, failure) = (name.clone(), failure.clone());
            decision.remember(Update::LaunchFailed { claim, failure });
        }
        _ => {}
    }
    decision
}

fn is_its_only(world: &World, claim: &Claim, instance: &Instance) -> bool {
    let remembered = world.memory.launched.get(&claim.meta.uid).map(|known| &known.provider_id);
    let known = claim.status.provider_id.as_ref().or(remembered);
    known.is_none_or(|known| *known == instance.provider_id)
}

fn end_of(claim: &Name, instance: &Instance) -> ActionKind {
    ActionKind::Terminate { claim: claim.clone(), provider_id: Some(instance.provider_id.clone()) }
}

fn terminated(world: &World, name: &Name, outcome: &Outcome, now: Time) -> Decision {
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
fn deleted(world: &World, name: &Name, uid: &str, action: &Action, outcome: &Outcome) -> Decision {
    let mut decision = Decision::default();
    let claim = world.claims.get(name).filter(|claim| *claim.meta.uid == *uid);
    let (Outcome::Done, Some(claim)) = (outcome, claim) else { return decision };
    let Some(cause) = action.reason.deletion_cause() else { return decision };
    decision.samples.push(metrics::disrupted(claim, cause.label()));
    if let DeletionCause::Interrupted(kind) = cause {
        decision.kubernetes_events.extend(notices::terminating(world, claim, kind));
    }
    if matches!(cause, DeletionCause::LaunchTimeout | DeletionCause::RegistrationTimeout) {
        let timeout = health::timeout(claim, cause);
        decision.updates.extend(health::outcome(world, claim, timeout));
    }
    decision
}
