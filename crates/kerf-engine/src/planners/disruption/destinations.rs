//! Capacity held for pods that will come: who has come, and what is still held.

use std::sync::Arc;

use kerf_model::pod::PodShape;

use crate::command::{CommandUpdate, Destination};
use crate::decision::Decision;
use crate::event::Object;
use crate::memory::Update;
use crate::observed::{Name, Pod, PodKey};
use crate::world::World;

/// What to remember when a pod is about to be bound: one that looks like a pod that had to leave
/// is taken for it, be it where capacity was held or elsewhere.
pub(in crate::planners) fn on_change(world: &World, object: &Object) -> Decision {
    let mut decision = Decision::default();
    let Object::Pod(pod) = object else { return decision };
    let commands = &world.memory.commands;
    let Some(node) = pod.node().filter(|_| !commands.is_empty()) else { return decision };
    let was_bound = |former: &Arc<Pod>| former.meta.uid == pod.meta.uid && former.node().is_some();
    if world.pods.get(&pod.key).is_some_and(was_bound) {
        return decision;
    }
    let claim = world.nodes.get(node).and_then(|node| world.claim_of(node));
    let target = claim.map_or(node, |claim| &claim.meta.name);
    let alike = commands.executing().flat_map(|command| {
        let held = command.destinations.iter();
        let held = held.filter(|held| has_left(world, held) && looks_like(&held.shape, &pod.shape));
        held.map(move |held| (&command.id, held))
    });
    let arrived = alike.min_by_key(|(id, held)| (held.target != *target, *id, &held.pod));
    if let Some((id, held)) = arrived {
        let update = CommandUpdate::Arrived(id.clone(), held.pod.clone());
        decision.remember(Update::Command(update));
    }
    decision
}

/// What is held beyond these pods, by target. They are placed by themselves: each stands for
/// itself, or for one that has left and looked like it.
pub(in crate::planners) fn held<'a>(
    world: &'a World,
    placed: &[&Pod],
) -> Vec<(&'a Name, &'a Destination)> {
    let commands = world.memory.commands.executing();
    let mut held: Vec<&Destination> = commands.flat_map(|command| &command.destinations).collect();
    if held.is_empty() {
        return Vec::new();
    }
    let is_placed = |key: &PodKey| placed.iter().any(|pod| pod.key == *key);
    let mut newcomers: Vec<&Pod> = placed.to_vec();
    newcomers.retain(|pod| held.iter().all(|held| held.pod != pod.key));
    held.retain(|held| !is_placed(&held.pod));
    for pod in newcomers {
        let stands_for =
            |held: &&Destination| has_left(world, held) && looks_like(&held.shape, &pod.shape);
        if let Some(place) = held.iter().position(stands_for) {
            held.remove(place);
        }
    }
    held.into_iter().map(|held| (&held.target, held)).collect()
}

/// The claims and nodes that capacity is held on, or that come as replacements.
pub(in crate::planners) fn targets(world: &World) -> impl Iterator<Item = Name> {
    world.memory.commands.executing().flat_map(|command| {
        let held = command.destinations.iter().map(|held| held.target.clone());
        let replacements = command.replacements.iter().map(|it| it.name());
        held.chain(replacements)
    })
}

/// Whether the pod that capacity is held for had to leave. As long as it has not, whoever looks like
/// it is somebody else.
fn has_left(world: &World, held: &Destination) -> bool {
    world.pods.get(&held.pod).is_none_or(|pod| pod.meta.is_deleting())
}

fn looks_like(one: &Arc<PodShape>, other: &Arc<PodShape>) -> bool {
    Arc::ptr_eq(one, other) || one == other
}
