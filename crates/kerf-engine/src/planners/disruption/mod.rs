//! Voluntary disruption: methods propose commands, commands are validated and carried out.
//!
//! ```text
//!  search: methods ─► candidates within budgets ─┬► proposed ─► validated ─┬► execution
//!    ▲                                            └► what-ifs ─► answered ──┘      │
//!    └── every 10 s, while there are candidates           spared ◄────────────────┘
//! ```
//!
//! A candidate of a validated command counts as leaving from that moment, so budgets see it. A new
//! process finds what it needs on the stored objects and resumes or cleans up ([`recovery`]). To add
//! a method, see [`method`].

mod budget_windows;
mod budgets;
mod candidates;
mod command_text;
mod consolidation;
mod destinations;
mod drift;
mod emptiness;
mod execution;
mod hold_off;
mod marks;
mod messages;
mod method;
mod metrics;
pub(super) mod pdbs;
mod proposal;
mod reboots;
mod recovery;
mod repair;
mod static_pools;
#[cfg(test)]
mod tests;
mod what_if;

pub use consolidation::consolidation_snapshot;
pub(super) use consolidation::{conclude as conclude_consolidation, launched};
pub(super) use destinations::{held, targets};
pub(super) use execution::conclude;
pub(super) use hold_off::{held_off_until, hold_off_pool};
pub(super) use what_if::conclude as conclude_what_ifs;

use kerf_model::budget::DisruptionReason;

use crate::command::record::replacement_for;
use crate::decision::Decision;
use crate::event::{Key, Kind, Object};
use crate::memory::Update;
use crate::observed::Name;
use crate::reading::Allowance;
use crate::time::{Span, Time};
use crate::world::World;

/// How often nodes are searched for some to take away.
const SEARCH_EVERY: Span = Span::from_seconds(10);

/// How soon the next wave of a plan follows the last.
const NEXT_WAVE_AFTER: Span = Span::from_seconds(1);

/// What each pool may lose now, for each reason.
pub(crate) fn allowances(world: &World, now: Time) -> Vec<Allowance> {
    budgets::Budgets::of(world, now).allowances()
}

/// What one pool may lose now, for each reason.
pub(super) fn allowances_of(world: &World, pool: &Name, now: Time) -> Vec<Allowance> {
    let budgets = budgets::Budgets::of(world, now);
    budgets.allowances_of(pool).into()
}

/// How many nodes each method would have go.
pub(crate) fn eligible(world: &World, now: Time) -> Vec<(DisruptionReason, usize)> {
    let count =
        |method: &&dyn method::Method| (method.reason(), method.candidates(world, now).len());
    method::METHODS.iter().map(count).collect()
}

/// What to remember when an object is about to become this.
pub(super) fn on_change(world: &World, object: &Object, now: Time) -> Decision {
    let mut decision = destinations::on_change(world, object);
    if let Object::Claim(claim) = object {
        reboots::on_change(world, claim, now, &mut decision);
    }
    if let Object::Claim(claim) = object
        && !world.claims.contains_key(&claim.meta.name)
        && let Some(command) = replacement_for(claim).and_then(|id| world.memory.commands.get(&id))
    {
        let events = messages::replacement_comes(&claim.meta.name, command.reason);
        decision.kubernetes_events.extend(events);
    }
    if !world.memory.consolidation.has_changed && consolidation::has_changed(world, object) {
        decision.remember(Update::ClusterChanged);
    }
    decision
}

/// What to remember when an object is about to be gone.
pub(super) fn on_delete(world: &World, key: &Key) -> Decision {
    let mut decision = Decision::default();
    if !world.memory.consolidation.has_changed && consolidation::is_change_by_end(key) {
        decision.remember(Update::ClusterChanged);
    }
    decision
}

/// How often commands under way are looked at, at most. Each look counts all nodes for the budgets,
/// and every change of a claim asks for one.
const ADVANCE_EVERY: Span = Span::from_millis(100);

/// The kinds that say whether a node may be taken away by choice.
const CHOSEN_BY: [Kind; 5] =
    [Kind::Pool, Kind::Claim, Kind::Node, Kind::PodDisruptionBudget, Kind::Pod];

/// What commands need now, and which to propose. Nothing of it is so urgent that it could not wait
/// until it is known what runs where.
pub(super) fn plan(world: &World, now: Time) -> Decision {
    let mut decision = Decision::default();
    if !world.is_fresh(&CHOSEN_BY, now) {
        return decision;
    }
    match world.memory.advanced_at.map(|last| last + ADVANCE_EVERY) {
        Some(at) if now < at && world.memory.commands.executing().next().is_some() => {
            decision.wake(at);
        }
        _ => execution::advance(world, now, &mut decision),
    }
    let every = match consolidation::has_next_wave(world, now) {
        true => NEXT_WAVE_AFTER,
        false => SEARCH_EVERY,
    };
    let next_search = world.memory.searched_at.map(|last| last + every);
    let proposed = world.memory.commands.proposed();
    proposed.for_each(|command| proposal::validate(world, command, now, &mut decision));
    if let Some(at) = next_search.filter(|at| now < *at) {
        decision.wake(at);
    } else if proposal::give_up(world, now, &mut decision) {
        decision.wake(now);
    } else {
        search(world, now, &mut decision);
    }
    decision
}

fn search(world: &World, now: Time, decision: &mut Decision) {
    decision.remember(Update::Searched(now));
    let found = recovery::advance(world, now, decision);
    if found.resumed {
        // What is resumed counts in budgets before anything is proposed.
        return decision.wake(now);
    }
    let has_candidates = proposal::propose(world, now, decision);
    if let Some(at) = hold_off::next_end(world, now) {
        decision.wake(at);
    }
    if world.settings.node_repair
        && let Some(at) = repair::next_due(world, now)
    {
        decision.wake(at);
    }
    // Where there is nothing to hope for, the next change is early enough.
    if found.leftovers || has_candidates {
        decision.wake(now + SEARCH_EVERY);
    }
}
