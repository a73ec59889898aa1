//! The claims of a static pool, by what is to become of them.

use kerf_model::resources::NODES;

use crate::command::Replacement;
use crate::condition::claim::INITIALIZED;
use crate::observed::{Claim, Pool};
use crate::world::World;

/// The claims of a static pool, by what is to become of them.
#[derive(Debug, Default)]
pub(in crate::planners) struct Tally<'a> {
    /// Those that are stored and stay.
    pub(in crate::planners) staying: Vec<&'a Claim>,
    /// Those that are decided on and not stored yet.
    pub(in crate::planners) coming: u64,
    /// Replacements that commands have planned and not ordered.
    pub(in crate::planners) planned: u64,
    /// Those that commands are to delete, and have not.
    pub(in crate::planners) disrupted: u64,
    /// Those that were chosen to go because there are too many, and are not deleted yet.
    pub(in crate::planners) surplus: Vec<&'a Claim>,
    /// Those that go, for whatever other reason.
    pub(in crate::planners) going: u64,
}

impl<'a> Tally<'a> {
    /// Counts the claims of a pool.
    pub(in crate::planners) fn of(world: &'a World, pool: &Pool) -> Self {
        let (mut tally, memory) = (Self::default(), &world.memory);
        for claim in world.claims_of(&pool.meta.name) {
            let name = &claim.meta.name;
            if !world.is_leaving(claim) {
                tally.staying.push(claim);
            } else if claim.meta.is_deleting()
                || memory.interrupted.contains_key(name)
                || world.is_deletion_taken(claim)
            {
                tally.going += 1;
            } else if memory.commands.is_disrupting(name) {
                tally.disrupted += 1;
            } else if memory.surplus.contains(name) {
                tally.surplus.push(claim);
            } else {
                tally.going += 1;
            }
        }
        let is_stored = |name: &str| world.claims.contains_key(name);
        let coming = memory.creating.iter();
        let coming = coming.filter(|(name, it)| it.pool.1 == pool.meta.uid && !is_stored(name));
        tally.coming = count(coming);
        let planned = memory.commands.iter().flat_map(|command| &command.replacements);
        let planned = planned.filter(|replacement| match replacement {
            Replacement::Planned(claim) => claim.pool.1 == pool.meta.uid,
            Replacement::Ordered(_) => false,
        });
        tally.planned = count(planned);
        tally
    }

    /// How many there will be if nothing more is decided.
    pub(in crate::planners) fn active(&self) -> u64 {
        count(&self.staying) + self.coming
    }

    /// Whether as many nodes are up as there shall be, and none is on its way in or out.
    pub(in crate::planners) fn is_complete(&self, replicas: u64) -> bool {
        let is_up = |claim: &&&Claim| claim.status.conditions.is_true(INITIALIZED);
        self.coming + self.planned + self.disrupted + self.going == 0
            && count(self.staying.iter().filter(is_up)) >= replicas
    }

    /// How many more there may be at once. Whatever still runs counts, because an instance is paid
    /// for and takes its address until it is gone.
    pub(in crate::planners) fn headroom(&self, pool: &Pool) -> u64 {
        let Some(limit) = pool.spec.limits.get(NODES) else { return u64::MAX };
        let going = self.disrupted + self.going + count(&self.surplus);
        let limit = u64::try_from(limit.value()).unwrap_or(0);
        limit.saturating_sub(self.active() + self.planned + going)
    }
}

fn count(items: impl IntoIterator) -> u64 {
    u64::try_from(items.into_iter().count()).unwrap_or(u64::MAX)
}
