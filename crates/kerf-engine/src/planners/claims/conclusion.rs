//! What finished actions mean for claims.

use super::super::notices;
use super::end::{self, Cause};
use super::launch::in_words;
use super::{health, tally};
use crate::action::{Action, Deed, NewClaim};
use crate::announcement::Announcement;
use crate::decision::Decision;
use crate::event::{Failure, Key, Machine, Outcome};
use crate::memory::Memo;
use crate::observed::{Claim, Name};
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
    match &action.deed {
        Deed::CreateClaim(wish) => created(world, name, wish, outcome),
        Deed::Launch(claim) => launched(world, claim, outcome),
        Deed::Terminate { .. } => terminated(world, name, outcome, now),
        Deed::DeleteClaim { uid, .. } => deleted(world, name, uid, outcome, now),
        _ => Decision::default(),
    }
}

fn created(world: &World, name: &Name, wish: &NewClaim, outcome: &Outcome) -> Decision {
    let mut decision = Decision::default();
    match outcome {
        Outcome::Stored(_) => {
            decision.remember(Memo::Created(name.clone()));
            decision.measures.push(tally::created(wish));
        }
        // It will never be stored as it is: its pods are free to find another place.
        Outcome::Failed(Failure::Invalid { message }) => {
            let nominated = world.memory.nominations.iter();
            for (pod, _) in nominated.filter(|(_, nomination)| nomination.target == *name) {
                let text = format!("Failed to schedule pod, its claim was refused: {message}");
                let about = Key::Pod(pod.clone());
                decision.announce(Announcement::warning(about, "FailedScheduling", text));
            }
            decision.remember(Memo::ForgetClaim(name.clone()));
        }
        Outcome::NotFound => decision.remember(Memo::ForgetClaim(name.clone())),
        _ => {}
    }
    decision
}

fn launched(world: &World, asked_for: &Claim, outcome: &Outcome) -> Decision {
    let mut decision = Decision::default();
    let (name, uid) = (&asked_for.meta.name, &asked_for.meta.uid);
    let claim = world.claims.get(name).filter(|claim| claim.meta.uid == *uid);
    match outcome {
        Outcome::Launched(machine) => match claim {
            Some(claim) if is_its_only(world, claim, machine) => {
                if claim.status.provider_id.is_none() {
                    let (uid, machine) = (uid.clone(), machine.clone());
                    decision.remember(Memo::Launched { uid, machine });
                }
            }
            // Nobody else knows of this machine.
            _ => decision.act(end_of(name, machine), "no claim has this machine"),
        },
        Outcome::Failed(failure) if claim.is_some() => {
            if let Failure::InsufficientCapacity { .. } = failure {
                let (_, message) = in_words(failure);
                let text = format!("NodeClaim {name} event: {message}");
                let about = Key::Claim(name.clone());
                decision.announce(Announcement::warning(about, "InsufficientCapacityError", text));
            }
            let (claim, failure) = (name.clone(), failure.clone());
            decision.remember(Memo::LaunchFailed { claim, failure });
        }
        _ => {}
    }
    decision
}

fn is_its_only(world: &World, claim: &Claim, machine: &Machine) -> bool {
    let remembered = world.memory.launched.get(&claim.meta.uid).map(|known| &known.provider_id);
    let known = claim.status.provider_id.as_ref().or(remembered);
    known.is_none_or(|known| *known == machine.provider_id)
}

fn end_of(claim: &Name, machine: &Machine) -> Deed {
    Deed::Terminate { claim: claim.clone(), provider_id: Some(machine.provider_id.clone()) }
}

fn terminated(world: &World, name: &Name, outcome: &Outcome, now: Time) -> Decision {
    let mut decision = Decision::default();
    let claim = world.claims.get(name);
    if claim.is_none() && !world.nodes.contains_key(name) {
        return decision;
    }
    match outcome {
        Outcome::Done => decision.remember(Memo::TerminateAsked { claim: name.clone(), at: now }),
        Outcome::NotFound => {
            decision.remember(Memo::MachineGone(name.clone()));
            let asked_at = world.memory.terminate_asked_at.get(name).copied();
            let gone = claim.map(|claim| tally::machine_gone(claim, asked_at, now));
            decision.measures.extend(gone);
        }
        _ => {}
    }
    decision
}

fn deleted(world: &World, name: &Name, uid: &str, outcome: &Outcome, now: Time) -> Decision {
    let mut decision = Decision::default();
    let claim = world.claims.get(name).filter(|claim| *claim.meta.uid == *uid);
    let (Outcome::Done, Some(claim)) = (outcome, claim) else { return decision };
    let Some(cause) = end::cause(world, claim, now) else { return decision };
    decision.measures.push(tally::disrupted(claim, cause.label()));
    if let Cause::Interrupted(kind) = cause {
        decision.announcements.extend(notices::terminating(world, claim, kind));
    }
    if matches!(cause, Cause::LaunchTimeout | Cause::RegistrationTimeout) {
        let timeout = health::timeout(claim, cause);
        decision.memos.extend(health::outcome(world, claim, timeout));
    }
    decision
}
