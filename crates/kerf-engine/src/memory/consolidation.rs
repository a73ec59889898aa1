//! What the search for nodes to consolidate remembers.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::observed::Name;
use crate::time::Time;

/// What is remembered of searches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsolidationMemory {
    /// When the search was begun that has no answer yet.
    pub asked_at: Option<Time>,
    /// Since when nothing is to be found, unless something changes.
    pub idle_since: Option<Time>,
    /// Whether something has changed since the last search was begun.
    pub has_changed: bool,
    /// Pools that might lose nothing when the last search was begun.
    pub closed: BTreeSet<Name>,
    /// Nodes that the last search did not come to.
    pub unreached: Vec<String>,
    /// What is left of the plan that is being carried out. It is not stored: a new process resumes
    /// the commands it finds on claims and searches anew for the rest, with the same rules in the
    /// same cluster. That plan may be another one, but it is as good, and what is under way is part
    /// of no plan.
    #[serde(default)]
    pub plan: Option<KeptPlan>,
    /// Pods that were moved, by their kind, until that has paid back.
    #[serde(with = "crate::entries")]
    pub moved: BTreeMap<u64, Time>,
    /// Pods that were moved in vain, by their kind, until that is forgotten.
    #[serde(with = "crate::entries")]
    pub undone: BTreeMap<u64, Time>,
}

/// What is left of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptPlan {
    /// When the first of its waves was found.
    pub since: Time,
    /// The moves to come, in the order of the plan.
    pub moves: Vec<KeptMove>,
    /// Nodes that take the pods of its waves so far.
    pub received: BTreeSet<String>,
}

/// A move that waits for those before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptMove {
    /// The nodes that go.
    pub nodes: Vec<String>,
    /// Since when every search has found that they can.
    pub since: Time,
}

impl KeptPlan {
    /// Since when the plan has had these nodes go together.
    #[must_use]
    pub fn known_since(&self, nodes: &[String]) -> Option<Time> {
        let known = self.moves.iter().find(|each| each.nodes == nodes);
        known.map(|each| each.since)
    }
}

/// Kinds of pods that are remembered at most; of more moves than this none is held against the next.
const KINDS_MAX: usize = 10_000;

impl ConsolidationMemory {
    /// A search begins, or there is nothing that could go while pools are closed. Where nodes wait
    /// for pods that are meant for them, that passes by itself and counts as a change.
    pub(super) fn asked(
        &mut self,
        at: Time,
        closed: BTreeSet<Name>,
        is_search: bool,
        is_waiting: bool,
    ) {
        self.asked_at = is_search.then_some(at);
        self.idle_since = (!is_search && !is_waiting).then_some(at);
        self.has_changed = is_waiting;
        self.closed = closed;
    }

    /// The answer came, or will not.
    pub(super) fn answered(
        &mut self,
        at: Time,
        unreached: Vec<String>,
        found: bool,
        plan: Option<KeptPlan>,
    ) {
        self.asked_at = None;
        self.plan = plan;
        self.unreached = unreached;
        self.idle_since = (!found && !self.has_changed).then_some(at);
    }

    /// The cluster is another one.
    pub(super) fn changed(&mut self) {
        self.has_changed = true;
        self.idle_since = None;
    }

    /// Pods of these kinds are moved; that pays back by then.
    pub(super) fn pods_moved(&mut self, kinds: Vec<u64>, at: Time, until: Time) {
        self.moved.retain(|_, until| at < *until);
        self.undone.retain(|_, until| at < *until);
        let room = KINDS_MAX.saturating_sub(self.moved.len());
        self.moved.extend(kinds.into_iter().take(room).map(|kind| (kind, until)));
    }

    /// A move of pods of these kinds was undone.
    pub(super) fn move_undone(&mut self, kinds: Vec<u64>, until: Time) {
        for kind in kinds {
            self.moved.remove(&kind);
            self.undone.insert(kind, until);
        }
    }

    /// The clock was set back.
    pub(super) fn times_mut(&mut self) -> impl Iterator<Item = &mut Time> {
        let plan = self.plan.iter_mut();
        let since = plan.flat_map(|plan| {
            plan.moves.iter_mut().map(|each| &mut each.since).chain([&mut plan.since])
        });
        self.asked_at.iter_mut().chain(self.idle_since.iter_mut()).chain(since)
    }
}
