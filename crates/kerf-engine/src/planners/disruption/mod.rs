//! Taking away what nobody needs.
//!
//! ```text
//!  search ─► candidates within budgets ─► second look ─► removal: taint, reason, delete
//!    ▲                                        │             │
//!    └── every 10 s, while there is something └── spared ◄──┘ when it no longer holds
//! ```
//!
//! A claim chosen for removal counts as going from that moment, so budgets see it. Everything else
//! about a removal is read off the stored objects: after a crash the marks on nodes that nobody
//! removes are taken off again ([`repair`]) and the search starts anew.

mod budgets;
mod candidates;
mod emptiness;
mod messages;
mod metrics;
pub(super) mod pdbs;
mod removal;
mod stale_taints;

pub(super) use removal::conclude;

use crate::decision::Decision;
use crate::reading::Allowance;
use crate::time::{Span, Time};
use crate::world::World;

/// How often nodes are searched for some to take away.
const SEARCH_EVERY: Span = Span::from_seconds(10);

/// What each pool may lose now, for each reason.
pub(crate) fn allowances(world: &World, now: Time) -> Vec<Allowance> {
    budgets::Budgets::of(world, now).allowances()
}

/// How many nodes are empty and have been quiet for long enough.
pub(crate) fn empty_count(world: &World) -> usize {
    emptiness::candidates(world).count()
}

/// What can be taken away now.
pub(super) fn plan(world: &World, now: Time) -> Decision {
    let mut decision = Decision::default();
    if !world.memory.removals.is_empty() {
        removal::advance(world, now, &mut decision);
    }
    let next_search = world.memory.searched_at.map(|last| last + SEARCH_EVERY);
    match (&world.memory.emptiness, next_search) {
        (Some(round), _) => emptiness::look_again(world, round, now, &mut decision),
        (None, Some(at)) if now < at => decision.wake(at),
        (None, _) => search(world, now, &mut decision),
    }
    decision
}

fn search(world: &World, now: Time, decision: &mut Decision) {
    decision.remember(crate::memory::Update::Searched(now));
    let repairs = stale_taints::advance(world, now, decision);
    let hopes = emptiness::choose(world, now, decision);
    // Where there is nothing to hope for, the next change is early enough.
    if repairs || hopes {
        decision.wake(now + SEARCH_EVERY);
    }
}
