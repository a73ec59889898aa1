//! Moves that were undone: pods need a new node again before their last move has paid back. Moving
//! such pods once more needs twice the saving.

use std::sync::Arc;

use kerf_consolidation::PAYBACK_MAX_SECONDS_DEFAULT;
use kerf_model::hash::fnv1a;
use kerf_model::pod::PodShape;
use rustc_hash::FxHashMap;

use crate::command::Command;
use crate::decision::Decision;
use crate::event::Key;
use crate::kubernetes_event::KubernetesEvent;
use crate::memory::Update;
use crate::observed::{Name, Pod};
use crate::sample::Sample;
use crate::time::{Span, Time};
use crate::world::World;

/// For how long it counts that a move was undone.
const UNDONE_FOR: Span = Span::from_seconds(PAYBACK_MAX_SECONDS_DEFAULT);

/// Notes whose pods a command moves, until that has paid back.
pub(in crate::planners::disruption) fn moves(
    command: &Command,
    now: Time,
    decision: &mut Decision,
) {
    let Some(payback) = command.payback else { return };
    let kinds = command.destinations.iter().map(|held| kind(&held.shape)).collect();
    decision.remember(Update::PodsMoved { kinds, at: now, until: now + payback });
}

/// What follows from the launch of a new node of a pool for these pods.
pub(in crate::planners) fn launched(
    world: &World,
    pool: &Name,
    pods: &[&Pod],
    now: Time,
    decision: &mut Decision,
) {
    let moved = &world.memory.consolidation.moved;
    if moved.is_empty() {
        return;
    }
    let is_open = |kind: &u64| moved.get(kind).is_some_and(|until| now < *until);
    let mut kinds: Vec<u64> = pods.iter().map(|pod| kind(&pod.shape)).filter(is_open).collect();
    kinds.dedup();
    if kinds.is_empty() {
        return;
    }
    decision.remember(Update::MoveUndone { kinds, until: now + UNDONE_FOR });
    let labels = vec![("nodepool", pool.to_string())];
    decision.samples.push(Sample::one("kerf_consolidation_undone_total", labels));
    let message = "a node is launched for pods that were consolidated and have not paid back; \
                   moving such pods again needs twice the saving for a while";
    let event = KubernetesEvent::normal(Key::Pool(pool.clone()), "ConsolidationUndone", message);
    decision.record(event);
}

/// Whether the last move of pods was undone, asked about many. Pods of one owner share their shape,
/// so each is read once.
#[derive(Default)]
pub(super) struct Undone {
    /// By the address of a shape, which the world holds for as long as this lives.
    known: FxHashMap<*const PodShape, bool>,
}

impl Undone {
    /// Whether the last move of such pods was undone.
    pub(super) fn was_undone<'p>(
        &mut self,
        world: &World,
        mut pods: impl Iterator<Item = &'p Pod>,
        now: Time,
    ) -> bool {
        let undone = &world.memory.consolidation.undone;
        let is_undone = |shape: &PodShape| undone.get(&kind(shape)).is_some_and(|it| now < *it);
        let mut is_known = |shape: &Arc<PodShape>| {
            *self.known.entry(Arc::as_ptr(shape)).or_insert_with(|| is_undone(shape))
        };
        !undone.is_empty() && pods.any(|pod| is_known(&pod.shape))
    }
}

/// What pods that come for each other have in common.
fn kind(shape: &PodShape) -> u64 {
    fnv1a(&serde_json::to_vec(shape).expect("a shape can always be written"))
}
