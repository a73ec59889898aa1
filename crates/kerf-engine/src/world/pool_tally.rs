//! What the claims of pools come to, with what is only decided on.

use super::World;
use crate::observed::{Name, PoolTally, Share};

impl World {
    /// Every pool that some claim names, with its claims as they are stored.
    pub(crate) fn stored_tallies(&self) -> impl Iterator<Item = (&Name, &PoolTally)> {
        self.index().tallies.iter()
    }

    /// The claims of a pool, those that Kerf has decided to take away counted as on their way out.
    pub(crate) fn pool_tally(&self, pool: &str) -> PoolTally {
        let mut tally = self.index().tallies.get(pool).cloned().unwrap_or_default();
        let memory = &self.memory;
        let disrupted = memory.commands.disrupting();
        // One that is both goes once.
        let interrupted = memory.interrupted.keys();
        let interrupted = interrupted.filter(|claim| !memory.commands.is_disrupting(claim));
        for claim in disrupted.chain(interrupted).filter_map(|claim| self.claims.get(claim)) {
            if claim.pool() == Some(pool) {
                Share::of(claim, self.node_of(claim)).go(&mut tally);
            }
        }
        tally
    }
}
