//! What the claims of pools come to, with what is only decided on.

use std::collections::BTreeSet;

use super::World;
use crate::observed::{Name, PoolTally, Share};

impl World {
    /// Every pool that some claim names, with its claims as they are stored.
    pub(crate) fn stored_tallies(&self) -> impl Iterator<Item = (&Name, &PoolTally)> {
        self.index().tallies.iter()
    }

    /// The claims of a pool as they are stored, those whose deletion was ordered and does not show
    /// yet counted as on their way out.
    pub(crate) fn stored_tally(&self, pool: &str) -> PoolTally {
        self.tally_without(pool, self.going())
    }

    /// The claims of a pool, those that Kerf has decided to take away counted as on their way out,
    /// and nodes that it has decided to reboot as away.
    pub(crate) fn pool_tally(&self, pool: &str) -> PoolTally {
        let memory = &self.memory;
        let disrupted = memory.commands.disrupting();
        let chosen = disrupted.chain(memory.interrupted.keys()).chain(&memory.surplus);
        let mut tally = self.tally_without(pool, chosen.chain(self.going()));
        for claim in memory.reboots.keys().filter_map(|claim| self.claims.get(claim)) {
            let stays = !self.is_leaving(claim) && !self.may_be_going(claim);
            if stays && self.wants_reboot(claim) && claim.pool() == Some(pool) {
                Share::of(claim, self.node_of(claim)).be_away(&mut tally);
            }
        }
        tally
    }

    /// The claims whose deletion was ordered and does not show yet.
    fn going(&self) -> impl Iterator<Item = &Name> {
        let is_going =
            |name: &&Name| self.claims.get(*name).is_some_and(|it| self.may_be_going(it));
        self.memory.deletions.keys().filter(is_going)
    }

    fn tally_without<'n>(&self, pool: &str, going: impl Iterator<Item = &'n Name>) -> PoolTally {
        let mut tally = self.index().tallies.get(pool).cloned().unwrap_or_default();
        // One that goes for several reasons goes once.
        for name in going.collect::<BTreeSet<&Name>>() {
            let claim = self.claims.get(name).filter(|it| it.pool() == Some(pool));
            if let Some(claim) = claim {
                Share::of(claim, self.node_of(claim)).go(&mut tally);
            }
        }
        tally
    }
}
