//! What to remember when objects change, while the former state is still known.

use std::sync::Arc;

use kerf_model::labels::well_known::{NODE_POOL, TERMINATION_FINALIZER};

use super::transitions::{self, ConditionOwner};
use super::{metrics, reboot, registration};
use crate::action::ActionKind;
use crate::condition::Conditions;
use crate::condition::claim::{DRAINED, REGISTERED};
use crate::decision::Decision;
use crate::event::{Key, Object};
use crate::kubernetes_event::KubernetesEvent;
use crate::memory::{Registration, Update};
use crate::observed::{Claim, Name, Node, NodeClass, Pod, PodKey, PodOwner, PodPhase, Pool};
use crate::provider::ManagedNodeClass;
use crate::reason::Reason;
use crate::time::Time;
use crate::world::World;

/// What to remember when an object is about to become this.
pub(in crate::planners) fn on_change(world: &World, object: &Object, now: Time) -> Decision {
    match object {
        Object::Claim(claim) => claim_changes(world, claim, now),
        Object::Pod(pod) => pod_changes(world, pod, now),
        Object::Pool(pool) => pool_changes(world, pool, now),
        Object::Node(node) => node_changes(world, node),
        Object::NodeClass(class) => node_class_changes(world, class),
        _ => Decision::default(),
    }
}

/// What to remember when an object is about to be gone.
pub(in crate::planners) fn on_delete(world: &World, key: &Key, now: Time) -> Decision {
    match key {
        Key::Claim(name) => {
            world.claims.get(name).map(|claim| claim_goes(world, claim, now)).unwrap_or_default()
        }
        Key::Pod(key) => pod_goes(world, key, now),
        Key::Node(name) => node_goes(world, name, now),
        Key::Pool(name) => {
            world.pools.get(name).map(|pool| pool_goes(pool, now)).unwrap_or_default()
        }
        Key::NodeClass(key) => {
            let class = world.node_classes.get(key);
            class.map(|class| node_class_goes(world, class, now)).unwrap_or_default()
        }
        _ => Decision::default(),
    }
}

fn claim_changes(world: &World, claim: &Claim, now: Time) -> Decision {
    let name = &claim.meta.name;
    let mut decision = match world.claims.get(name) {
        Some(former) if former.meta.uid != claim.meta.uid => claim_goes(world, former, now),
        Some(former) => claim_advances(world, former, claim, now),
        None => Decision::default(),
    };
    if claim.meta.is_deleting() && world.memory.deletions.contains_key(name) {
        decision.remember(Update::DeletionShows(name.clone()));
    }
    if world.memory.creating.contains_key(name) {
        decision.remember(Update::Created(name.clone()));
    }
    let uid = &claim.meta.uid;
    if claim.status.provider_id.is_some() && world.memory.launched.contains_key(uid) {
        decision.remember(Update::LaunchStored { claim: name.clone(), uid: uid.clone() });
    }
    decision
}

fn claim_advances(world: &World, former: &Claim, claim: &Claim, now: Time) -> Decision {
    let mut decision = Decision::default();
    reboot::ended(former, claim, now, &mut decision);
    let (old, new) = (&former.status.conditions, &claim.status.conditions);
    let turns_true = |kind| !old.is_true(kind) && new.is_true(kind);
    if turns_true(REGISTERED) {
        decision.samples.push(metrics::node_created(claim));
        decision.updates.extend(registration::pool_health(world, claim, Registration::Joined));
    }
    if turns_true(DRAINED) {
        decision.samples.push(metrics::node_drained(claim));
    }
    if old != new {
        transitions::record(&ConditionOwner::claim(claim), old, new, &mut decision);
    }
    decision
}

fn pool_changes(world: &World, pool: &Pool, now: Time) -> Decision {
    let mut decision = Decision::default();
    let Some(former) = world.pools.get(&pool.meta.name) else { return decision };
    if former.meta.uid != pool.meta.uid {
        decision.remember(Update::ForgetPool(former.meta.uid.clone()));
        return decision;
    }
    let (old, new) = (&former.status, &pool.status);
    if old.resources != new.resources || old.nodes != new.nodes {
        decision.remember(Update::Counted { pool: pool.meta.uid.clone(), at: now });
    }
    if old.conditions != new.conditions {
        transitions::record(
            &ConditionOwner::pool(pool),
            &old.conditions,
            &new.conditions,
            &mut decision,
        );
    }
    decision
}

fn pool_goes(pool: &Pool, now: Time) -> Decision {
    let mut decision = Decision::default();
    decision.remember(Update::ForgetPool(pool.meta.uid.clone()));
    decision.samples.extend(transitions::ended(&ConditionOwner::pool(pool), now));
    decision
}

fn node_class_changes(world: &World, class: &NodeClass) -> Decision {
    let mut decision = Decision::default();
    let former = world.node_classes.get(&class.key);
    let former = former.filter(|former| former.meta.uid == class.meta.uid);
    if let (Some(former), Some(managed)) = (former, managed(world, class)) {
        let (old, new) = (&former.status.conditions, &class.status.conditions);
        if old != new {
            let owner = ConditionOwner::node_class(class, managed);
            transitions::record(&owner, old, new, &mut decision);
        }
    }
    decision
}

fn node_class_goes(world: &World, class: &NodeClass, now: Time) -> Decision {
    let mut decision = Decision::default();
    if let Some(managed) = managed(world, class) {
        let owner = ConditionOwner::node_class(class, managed);
        decision.samples.extend(transitions::ended(&owner, now));
    }
    decision
}

/// What Kerf keeps on a class; none of a kind that is only read.
fn managed<'w>(world: &'w World, class: &NodeClass) -> Option<&'w ManagedNodeClass> {
    let kind = world.settings.provider.node_class_kind(&class.key.group, &class.key.kind)?;
    kind.managed.as_ref()
}

fn claim_goes(world: &World, claim: &Claim, now: Time) -> Decision {
    let mut decision = Decision::default();
    let (name, uid) = (&claim.meta.name, &claim.meta.uid);
    decision.remember(Update::ForgetClaim(name.clone()));
    if let Some(instance) = world.memory.launched.get(uid) {
        let (claim, instance) = (Some(name.clone()), instance.clone());
        let kind = ActionKind::ConfirmOrphan { claim, instance };
        decision.act(kind, Reason::AbsenceUnconfirmed);
        decision.remember(Update::LaunchStored { claim: name.clone(), uid: uid.clone() });
    }
    if claim.meta.is_deleting() {
        decision.samples.extend(metrics::terminated(claim, now));
        decision.samples.extend(transitions::ended(&ConditionOwner::claim(claim), now));
        decision.record(finalized(Key::Claim(name.clone())));
    }
    decision
}

fn pod_changes(world: &World, pod: &Pod, now: Time) -> Decision {
    let mut decision = Decision::default();
    let former = world.pods.get(&pod.key).map(Arc::as_ref);
    let former = former.filter(|former| former.meta.uid == pod.meta.uid);
    let has_place = matches!(pod.phase, PodPhase::Bound { .. } | PodPhase::Ended { .. });
    if (has_place || former.is_none()) && world.memory.nominations.contains_key(&pod.key) {
        decision.remember(Update::Release(pod.key.clone()));
    }
    // Before the world is complete everything looks new; only what happens before Kerf's eyes
    // counts, so that a restart does not start all clocks anew.
    if world.is_complete() {
        decision.updates.extend(pod_event(world, former, pod, now));
    }
    decision
}

fn pod_event(world: &World, former: Option<&Pod>, pod: &Pod, now: Time) -> Option<Update> {
    let was_leaving = former.is_some_and(|former| former.meta.is_deleting());
    let node = match &pod.phase {
        PodPhase::Bound { node } => {
            let comes = former.is_none_or(|former| former.node() != Some(node));
            let leaves = pod.meta.is_deleting() && !was_leaving;
            (comes || leaves).then_some(node)?
        }
        PodPhase::Ended { node: Some(node), .. } => {
            let ends = former.is_none_or(|former| !former.has_ended());
            ends.then_some(node)?
        }
        _ => return None,
    };
    event_on(world, node, pod, now)
}

fn event_on(world: &World, node: &Name, pod: &Pod, now: Time) -> Option<Update> {
    if pod.owner == PodOwner::DaemonSet {
        return None;
    }
    let claim = world.claim_of(world.nodes.get(node)?)?;
    Some(Update::PodEvent { claim: claim.meta.name.clone(), at: now })
}

fn pod_goes(world: &World, key: &PodKey, now: Time) -> Decision {
    let mut decision = Decision::default();
    if world.memory.nominations.contains_key(key) {
        decision.remember(Update::Release(key.clone()));
    }
    let Some(pod) = world.pods.get(key) else { return decision };
    // A pod that was leaving has been noticed then.
    if let Some(node) = pod.node()
        && !pod.meta.is_deleting()
        && world.is_complete()
    {
        decision.updates.extend(event_on(world, node, pod, now));
    }
    decision
}

fn node_changes(world: &World, node: &Node) -> Decision {
    let mut decision = Decision::default();
    let former = world.nodes.get(&node.meta.name);
    let former = former.filter(|former| former.meta.uid == node.meta.uid);
    // What is there when Kerf starts has not just changed.
    if former.is_some() || world.is_complete() {
        let none = Conditions::default();
        let old = former.map_or(&none, |former| &former.profile.conditions);
        let new = &node.profile.conditions;
        if old != new {
            transitions::record(&ConditionOwner::node(node), old, new, &mut decision);
        }
    }
    decision
}

fn node_goes(world: &World, name: &Name, now: Time) -> Decision {
    let mut decision = Decision::default();
    // A node without a claim went under its own name.
    if !world.claims.contains_key(name) && world.memory.instance_gone.contains(name) {
        decision.remember(Update::ForgetClaim(name.clone()));
    }
    let node = world.nodes.get(name).filter(|node| node.meta.is_deleting());
    if let Some(node) = node
        && node.labels.contains_key(NODE_POOL)
    {
        decision.samples.extend(metrics::node_terminated(node, now));
        decision.samples.extend(transitions::ended(&ConditionOwner::node(node), now));
        decision.record(finalized(Key::Node(name.clone())));
    }
    decision
}

fn finalized(about: Key) -> KubernetesEvent {
    KubernetesEvent::normal(about, "Finalized", format!("Finalized {TERMINATION_FINALIZER}"))
}
