//! From an instance to a node of the cluster that is ready for pods, as the claim sees it, and what
//! that means for the health of its pool.

use kerf_model::labels::well_known::INITIALIZED as INITIALIZED_LABEL;

use super::super::joining::{Lack, has_joined, lack, pending_hooks};
use super::Reconcile;
use crate::action::ActionKind;
use crate::condition::claim::{INITIALIZED, LAUNCHED, REBOOTING, REGISTERED};
use crate::condition::pool::NODE_REGISTRATION_HEALTHY;
use crate::condition::{Condition, Status};
use crate::decision::Decision;
use crate::event::Outcome;
use crate::memory::{Registration, Update};
use crate::observed::{Claim, Name, Node};
use crate::provider::RegistrationHook;
use crate::reason::{DeletionCause, Reason};
use crate::world::World;

/// Notes that the node has joined, or why not.
pub(super) fn register(reconcile: &mut Reconcile<'_>) {
    if !reconcile.conditions.is_true(LAUNCHED) || reconcile.conditions.is_true(REGISTERED) {
        return;
    }
    let Some(provider_id) = reconcile.status.provider_id.clone() else { return };
    let world = reconcile.world;
    let mut nodes = world.nodes_on_instance(&provider_id);
    match (nodes.next(), nodes.next()) {
        (None, _) => {
            let message = "no node runs on the claim's instance yet";
            reconcile.conditions.set_unknown(REGISTERED, "NodeNotFound", message);
        }
        (Some(node), None) => {
            let pending = pending_hooks(world, reconcile.claim);
            if !pending.is_empty() {
                let names: Vec<&str> = pending.iter().map(|hook| hook.name.as_str()).collect();
                let message = format!("waiting for {}", names.join(", "));
                fill_in(reconcile, &pending, &provider_id);
                reconcile.conditions.set_unknown(REGISTERED, "RegistrationHookPending", &message);
            } else if has_joined(node, reconcile.claim) {
                reconcile.status.to_mut().node_name = Some(node.meta.name.clone());
                reconcile.conditions.set_true(REGISTERED);
            }
        }
        (Some(one), Some(other)) => {
            let names = format!("{}, {}", one.meta.name, other.meta.name);
            let message = format!("more than one node says it runs on {provider_id}: {names}");
            reconcile.conditions.set_false(REGISTERED, "MultipleNodesFound", &message);
        }
    }
}

/// Takes over what the provider knows by now and did not when it launched the instance.
fn fill_in(reconcile: &mut Reconcile<'_>, pending: &[&RegistrationHook], provider_id: &str) {
    let listed = reconcile.world.memory.instances.as_ref();
    let Some(instance) = listed.and_then(|list| list.instances.get(provider_id)) else { return };
    for hook in pending {
        if let Some(value) = instance.labels.get(&hook.label).filter(|value| !value.is_empty()) {
            reconcile.patch.labels.insert(hook.label.clone(), value.clone());
        }
    }
}

/// Tags the instance with the names of its node and claim, where the provider wants that.
pub(super) fn tag(reconcile: &mut Reconcile<'_>) {
    let Some(tagging) = &reconcile.world.settings.provider.tagging else { return };
    let Reconcile { claim, status, .. } = &*reconcile;
    let (Some(node), Some(provider_id)) = (&status.node_name, &status.provider_id) else { return };
    if tagging.annotations.iter().all(|annotation| claim.annotations().contains_key(annotation)) {
        return;
    }
    if reconcile.world.memory.tagged.contains(&claim.meta.name) {
        let marks = tagging.annotations.iter().map(|key| (key.clone(), "true".to_owned()));
        reconcile.patch.annotations.extend(marks);
        return;
    }
    let tags = [(&tagging.node_tag, node), (&tagging.claim_tag, &claim.meta.name)];
    let tags = tags.into_iter().map(|(key, value)| (key.clone(), value.to_string()));
    let kind = ActionKind::TagInstance {
        claim: claim.meta.name.clone(),
        provider_id: provider_id.clone(),
        tags: tags.collect(),
    };
    reconcile.decision.act(kind, Reason::InstanceUntagged);
}

/// What to make of tags that were set. An instance that is gone needs none.
pub(super) fn tagged(world: &World, name: &Name, outcome: &Outcome) -> Decision {
    let mut decision = Decision::default();
    if matches!(outcome, Outcome::Done | Outcome::NotFound) && world.claims.contains_key(name) {
        decision.remember(Update::Tagged(name.clone()));
    }
    decision
}

/// Notes that the node is ready for pods, or why not. There is no time limit.
pub(super) fn initialize(reconcile: &mut Reconcile<'_>) {
    let is_rebooting = reconcile.conditions.is_true(REBOOTING);
    if !reconcile.conditions.is_true(REGISTERED)
        || reconcile.conditions.is_true(INITIALIZED)
        || is_rebooting
    {
        return;
    }
    let node = reconcile.world.node_of(reconcile.claim);
    match lack(reconcile.claim, node) {
        Lack::Something { reason, message } => {
            reconcile.conditions.set_unknown(INITIALIZED, reason, &message);
        }
        // The node says so itself before the claim does: others read the label.
        Lack::Nothing if node.is_some_and(is_labelled) => {
            reconcile.conditions.set_true(INITIALIZED);
        }
        Lack::Nothing => {}
    }
}

fn is_labelled(node: &Node) -> bool {
    node.labels.get(INITIALIZED_LABEL).is_some_and(|value| value == "true")
}

/// Notes for a claim's pool what became of a launch. What a former process knew is in the pool's
/// condition: one success, or just enough failures.
pub(super) fn pool_health(world: &World, claim: &Claim, registration: Registration) -> Vec<Update> {
    let pool = claim.pool().and_then(|pool| world.pools.get(pool));
    let pool = pool.filter(|pool| claim.owner_pool.as_ref() == Some(&pool.meta.uid));
    let Some(pool) = pool else { return Vec::new() };
    let mut outcomes = Vec::new();
    if !world.memory.registrations.contains_key(&pool.meta.uid) {
        let known = pool.status.conditions.get(NODE_REGISTRATION_HEALTHY);
        match known.map(|condition| condition.status) {
            Some(Status::True) => outcomes.push(Registration::Joined),
            Some(Status::False) => outcomes.extend([failure(known), failure(known)]),
            _ => {}
        }
    }
    outcomes.push(registration);
    let update = |registration| Update::Registration { pool: pool.meta.uid.clone(), registration };
    outcomes.into_iter().map(update).collect()
}

/// A launch that became nothing in time. A launch that was refused says why by itself.
pub(super) fn timeout(claim: &Claim, cause: DeletionCause) -> Registration {
    let launched = claim.status.conditions.get(LAUNCHED);
    match cause {
        DeletionCause::LaunchTimeout if launched.is_some() => failure(launched),
        _ => Registration::Failed {
            reason: "RegistrationFailed".to_owned(),
            message: "instances were launched and their nodes did not join".to_owned(),
        },
    }
}

fn failure(condition: Option<&Condition>) -> Registration {
    let (reason, message) =
        condition.map(|own| (own.reason.clone(), own.message.clone())).unwrap_or_default();
    Registration::Failed { reason, message }
}
