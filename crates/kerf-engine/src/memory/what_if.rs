//! What the search for nodes that could go remembers of its what-ifs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::observed::Name;
use crate::time::Time;

/// Nodes asked about at once at most. At 5,000 nodes a question takes some ten milliseconds, so the
/// answer comes within a second or two, and the budgets of most clusters allow fewer.
pub const QUESTIONS_MAX: usize = 100;

/// What is remembered of what-ifs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhatIfMemory {
    /// When the question was asked that has no answer yet.
    pub asked_at: Option<Time>,
    /// Claims whose pods had no place to go, and when that was found.
    pub blocked: BTreeMap<Name, Time>,
    /// How often the number of questions is to be halved: together the nodes leave no place that
    /// one alone might.
    pub halved: u32,
    /// Pools whose replacements failed, until when nothing of them is replaced.
    pub held_off: BTreeMap<Name, HeldOff>,
}

/// A pool whose replacements failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldOff {
    /// How often in a row.
    pub failures: u32,
    /// Nothing of it is replaced before.
    pub until: Time,
}

/// How often questions are halved until each node is asked about alone.
const HALVED_MAX: u32 = QUESTIONS_MAX.ilog2() + 1;

impl WhatIfMemory {
    /// How many nodes to ask about at once.
    #[must_use]
    pub fn questions_max(&self) -> usize {
        (QUESTIONS_MAX >> self.halved).max(1)
    }

    /// The answer came: who was blocked, and whether anybody was not.
    pub(super) fn answered(&mut self, at: Time, blocked: Vec<Name>, is_of_use: bool) {
        self.asked_at = None;
        self.halved = match is_of_use {
            true => self.halved.saturating_sub(1),
            false if blocked.is_empty() => self.halved,
            // Two steps at a time: what fits together at all is found in a few passes.
            false => (self.halved + 2).min(HALVED_MAX),
        };
        self.blocked.extend(blocked.into_iter().map(|claim| (claim, at)));
    }

    /// The clock was set back.
    pub(super) fn times_mut(&mut self) -> impl Iterator<Item = &mut Time> {
        let held_off = self.held_off.values_mut().map(|it| &mut it.until);
        self.asked_at.iter_mut().chain(self.blocked.values_mut()).chain(held_off)
    }
}
