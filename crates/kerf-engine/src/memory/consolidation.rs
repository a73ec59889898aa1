//! What the search for nodes to consolidate remembers.

use std::collections::BTreeSet;

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
}

impl ConsolidationMemory {
    /// A search begins, or there is nothing that could go while pools are closed.
    pub(super) fn asked(&mut self, at: Time, closed: BTreeSet<Name>, is_search: bool) {
        self.asked_at = is_search.then_some(at);
        self.idle_since = (!is_search).then_some(at);
        self.has_changed = false;
        self.closed = closed;
    }

    /// The answer came, or will not.
    pub(super) fn answered(&mut self, at: Time, unreached: Vec<String>, found: bool) {
        self.asked_at = None;
        self.unreached = unreached;
        self.idle_since = (!found && !self.has_changed).then_some(at);
    }

    /// The cluster is another one.
    pub(super) fn changed(&mut self) {
        self.has_changed = true;
        self.idle_since = None;
    }

    /// The clock was set back.
    pub(super) fn times_mut(&mut self) -> impl Iterator<Item = &mut Time> {
        self.asked_at.iter_mut().chain(self.idle_since.iter_mut())
    }
}
