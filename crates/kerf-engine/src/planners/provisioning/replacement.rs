//! Claims that come in the place of others, from the answers to what-ifs.

use std::collections::BTreeSet;
use std::sync::Arc;

use kerf_scheduler::{NewNode, PlacementProblem};

use super::claim_draft::{draft, mark_overlaid};
use super::claim_name::free_name;
use super::pool_choice;
use super::usage::Usage;
use crate::action::NewClaim;
use crate::observed::{Claim, Name};
use crate::reason::NotPlaced;
use crate::time::Time;
use crate::world::World;

/// Names are made of the time and a number; those of waiting pods' claims begin at zero.
const FIRST_ORDINAL: usize = 1 << 32;

/// Makes claims for new nodes, as long as their pools want them and have room.
pub(in crate::planners) struct Replacements<'a> {
    world: &'a World,
    problem: &'a PlacementProblem,
    now: Time,
    usage: Usage<'a>,
    names: BTreeSet<Name>,
}

impl<'a> Replacements<'a> {
    pub(in crate::planners) fn new(
        world: &'a World,
        problem: &'a PlacementProblem,
        now: Time,
    ) -> Self {
        Self { world, problem, now, usage: Usage::of(world), names: BTreeSet::new() }
    }

    /// A claim goes to make room for what comes next.
    pub(in crate::planners) fn release(&mut self, claim: &Claim) {
        self.usage.release(claim);
    }

    /// A claim stays after all.
    pub(in crate::planners) fn keep(&mut self, claim: &Claim) {
        self.usage.keep(claim);
    }

    /// The claim for a new node.
    ///
    /// # Errors
    /// The pool has changed since it was asked about, or its limits leave no room.
    pub(in crate::planners) fn claim(&mut self, node: &NewNode) -> Result<NewClaim, NotPlaced> {
        let (world, asked) = (self.world, &self.problem.pools[node.pool]);
        let pool = world.pools.get(asked.pool.name.as_str()).map(Arc::as_ref);
        let pool = pool.filter(|pool| pool_choice::is_open(world, pool) && pool.spec == asked.pool);
        let pool = pool.ok_or(NotPlaced::NoPool)?;
        let ordinal = FIRST_ORDINAL + self.names.len();
        let name = free_name(world, pool, self.now, ordinal, &self.names);
        let mut claim = draft(node, pool, &asked.instance_types, &name, &world.settings);
        mark_overlaid(&mut claim, node, world);
        self.usage.take(&pool.spec, &claim)?;
        self.names.insert(name);
        Ok(claim)
    }
}
