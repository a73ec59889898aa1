//! What the claims of pools come to, with what is only decided on.

use super::World;
use crate::observed::{Name, PoolTally, Share};

impl World {
    /// Every pool that some claim names, with its claims as they are stored.
    pub(crate) fn stored_tallies(&self) -> impl Iterator<Item = (&Name, &PoolTally)> {
        self.index().tallies.iter()
    }

    /// The claims of a pool as they are stored, with the deletions that no watch has told of yet.
    pub(crate) fn stored_tally(&self, pool: &str) -> PoolTally {
        let mut tally = self.index().tallies.get(pool).cloned().unwrap_or_default();
        for candidate in self.memory.commands.taken() {
            let claim = self.claims.get(&candidate.claim);
            let claim = claim.filter(|it| it.meta.uid == candidate.uid && it.pool() == Some(pool));
            // One that is seen to go counts as gone already, and no second time.
            if let Some(claim) = claim.filter(|it| !it.meta.is_deleting()) {
                Share::of(claim, self.node_of(claim)).go(&mut tally);
            }
        }
        tally
    }

    /// The claims of a pool, those that Kerf has decided to take away counted as on their way out.
    pub(crate) fn pool_tally(&self, pool: &str) -> PoolTally {
        let mut tally = self.index().tallies.get(pool).cloned().unwrap_or_default();
        let memory = &self.memory;
        let disrupted = memory.commands.disrupting();
        // One that goes for several reasons goes once.
        let interrupted = memory.interrupted.keys();
        let interrupted = interrupted.filter(|claim| !memory.commands.is_disrupting(claim));
        let surplus = memory.surplus.iter().filter(|claim| {
            !memory.commands.is_disrupting(claim) && !memory.interrupted.contains_key(*claim)
        });
        let chosen = disrupted.chain(interrupted).chain(surplus);
        for claim in chosen.filter_map(|claim| self.claims.get(claim)) {
            if claim.pool() == Some(pool) {
                Share::of(claim, self.node_of(claim)).go(&mut tally);
            }
        }
        tally
    }
}
