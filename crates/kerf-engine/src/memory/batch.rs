//! Pods that wait, and what calls for looking at them.

use std::collections::BTreeSet;
use std::sync::Arc;

use kerf_model::pod::PodShape;
use serde::{Deserialize, Serialize};

use crate::time::Time;

/// What calls for the next pass over waiting pods: a window that opens with the first call and
/// closes when no new one has come for a while.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// When the first call of the open window came.
    pub opened_at: Option<Time>,
    /// When the last new one came.
    pub last_new_at: Option<Time>,
    /// Who called, by identity: pods that wait, nodes that leave, claims that are gone. The same
    /// one calling twice does not hold the window open.
    pub callers: BTreeSet<Arc<str>>,
    /// What the pods among them look like, as far as they are told apart; bounded.
    pub kinds: Vec<Arc<PodShape>>,
    /// When the last pass began.
    pub last_pass_at: Option<Time>,
    /// When a pod that was awaited on a node was last bound, wherever.
    pub last_bound_at: Option<Time>,
    /// Whether its solve still runs.
    pub is_solving: bool,
    /// Whether it left out pods because there were too many; the next begins at once.
    pub has_more: bool,
    /// Whether it saw nodes on their way out, whose pods need looking after.
    pub has_leaving_nodes: bool,
    /// Whether it saw pods expected on nodes that are up, of which some may find their place taken.
    pub is_settling: bool,
    /// What follows from solves that failed, until one succeeds again.
    pub failure: Option<PassFailure>,
}

/// Solves that failed, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassFailure {
    /// How many in a row that could not be made smaller.
    pub failures: u32,
    /// When the last one did.
    pub at: Time,
    /// Pods in the next solve at most, so that a pod that makes every solve fail is found.
    pub pods_max: usize,
}

/// When a pod that waits was first seen, and first judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// The identity of the pod.
    pub uid: Arc<str>,
    /// When it was first seen waiting.
    pub seen_at: Time,
    /// When a pass first placed or refused it.
    pub decided_at: Option<Time>,
    /// When a pass last did.
    pub judged_at: Option<Time>,
    /// When a pass first placed it, unless a later one refused it.
    pub placed_at: Option<Time>,
}

/// Kinds of pods remembered in a window: pods that come at once are of few workloads. Of more no
/// likeness is looked for.
const KINDS_MAX: usize = 64;
/// A solve that failed is cut to so many parts, of which one is asked next.
const PARTS: usize = 4;

impl Batch {
    pub(super) fn fail(&mut self, at: Time, pods: usize) {
        let before = self.failure.map_or(0, |failure| failure.failures);
        let failures = before.saturating_add(u32::from(pods <= 1));
        self.is_solving = false;
        self.failure = Some(PassFailure { failures, at, pods_max: (pods / PARTS).max(1) });
    }

    /// Every time it knows.
    pub(super) fn times_mut(&mut self) -> impl Iterator<Item = &mut Time> {
        let failed = self.failure.as_mut().map(|failure| &mut failure.at);
        let known = [&mut self.opened_at, &mut self.last_new_at, &mut self.last_pass_at];
        let known = known.into_iter().chain([&mut self.last_bound_at]);
        known.filter_map(Option::as_mut).chain(failed)
    }

    /// Whether a pod of this shape has called.
    #[must_use]
    pub fn is_kin(&self, shape: &Arc<PodShape>) -> bool {
        self.kinds.iter().any(|known| Arc::ptr_eq(known, shape) || known == shape)
    }

    pub(super) fn note_kind(&mut self, shape: Arc<PodShape>) {
        if self.kinds.len() < KINDS_MAX && !self.is_kin(&shape) {
            self.kinds.push(shape);
        }
    }

    pub(super) fn call(&mut self, caller: Arc<str>, at: Time) {
        if self.callers.insert(caller) {
            self.opened_at.get_or_insert(at);
            self.last_new_at = Some(at);
        }
    }
}

impl Wait {
    pub(super) fn since(uid: Arc<str>, seen_at: Time) -> Self {
        Self { uid, seen_at, decided_at: None, judged_at: None, placed_at: None }
    }
}
