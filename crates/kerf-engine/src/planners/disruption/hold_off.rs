//! How long nodes of a pool are left alone when what should replace them failed.

use kerf_model::budget::DisruptionReason;
use kerf_model::hash::Fnv1a;
use kerf_model::rng::mix;

use crate::command::Command;
use crate::decision::Decision;
use crate::memory::{HeldOff, Update};
use crate::observed::{Name, Pool};
use crate::reason::Cancelled;
use crate::time::{Span, Time};
use crate::world::World;

/// After the first failure, and at most; in between twice as long each time.
const FIRST: Span = Span::from_minutes(1);
const LAST: Span = Span::from_minutes(10);
/// Up to so many thousandths longer, so that pools that failed together do not try together.
const JITTER_THOUSANDTHS: u64 = 200;

/// Notes that a command was given up. What went wrong with its replacements will go wrong again for
/// the next node of the same pool; other pools are not concerned.
pub(super) fn failed(
    world: &World,
    command: &Command,
    cause: &Cancelled,
    now: Time,
    decision: &mut Decision,
) {
    let is_replacement = matches!(
        cause,
        Cancelled::ReplacementGone { .. } | Cancelled::TimedOut | Cancelled::LimitReached(_)
    );
    if !is_replacing(command) || !is_replacement {
        return;
    }
    pools(world, command).for_each(|pool| hold_off_pool(world, pool, now, decision));
}

/// Leaves a pool alone for a while because something that was launched from it failed.
pub(in crate::planners) fn hold_off_pool(
    world: &World,
    pool: &Pool,
    now: Time,
    decision: &mut Decision,
) {
    let known = world.memory.what_ifs.held_off.get(&pool.meta.name);
    // What runs side by side fails side by side: that is one failure.
    if known.is_some_and(|known| now < known.until) {
        return;
    }
    // A failure of long ago says nothing about this one.
    let in_a_row = known.filter(|known| now < known.until + LAST).map_or(0, |it| it.failures);
    let failures = in_a_row.saturating_add(1);
    let held_off = HeldOff { failures, until: now + span(pool, failures) };
    let pool = pool.meta.name.clone();
    decision.remember(Update::ReplacementFailed { pool, held_off });
}

/// Until when a pool is left alone, if it is.
pub(in crate::planners) fn held_off_until(world: &World, pool: &Name, now: Time) -> Option<Time> {
    let until = world.memory.what_ifs.held_off.get(pool).map(|held_off| held_off.until);
    until.filter(|until| now < *until)
}

/// Notes that the replacements of a command came up.
pub(super) fn succeeded(world: &World, command: &Command, decision: &mut Decision) {
    if !is_replacing(command) || command.replacements.is_empty() {
        return;
    }
    let held_off = &world.memory.what_ifs.held_off;
    for pool in pools(world, command).filter(|pool| held_off.contains_key(&pool.meta.name)) {
        decision.remember(Update::Replaced { pool: pool.meta.name.clone() });
    }
}

/// Whether a command is one that can wait: unhealthy nodes cannot.
fn is_replacing(command: &Command) -> bool {
    matches!(command.reason, DisruptionReason::Drifted | DisruptionReason::Underutilized)
}

/// Whether a pool is left alone now.
pub(super) fn is_held_off(world: &World, pool: &Name, now: Time) -> bool {
    held_off_until(world, pool, now).is_some()
}

/// When the next pool is no longer left alone.
pub(super) fn next_end(world: &World, now: Time) -> Option<Time> {
    let ends = world.memory.what_ifs.held_off.values().map(|held_off| held_off.until);
    ends.filter(|until| now < *until).min()
}

fn pools<'a>(world: &'a World, command: &'a Command) -> impl Iterator<Item = &'a Pool> {
    let claims = command.candidates.iter().filter_map(|it| world.claims.get(&it.claim));
    let mut names: Vec<&str> = claims.filter_map(|claim| claim.pool()).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().filter_map(|name| world.pools.get(name)).map(AsRef::as_ref)
}

fn span(pool: &Pool, failures: u32) -> Span {
    let factor = 1u64.checked_shl(failures.saturating_sub(1)).unwrap_or(u64::MAX);
    let span = FIRST.times(factor).min(LAST);
    let mut hash = Fnv1a::default();
    hash.write_field(pool.meta.uid.as_bytes());
    hash.write_field(&failures.to_le_bytes());
    let jitter = mix(hash.finish()) % (JITTER_THOUSANDTHS + 1);
    Span::from_millis(span.millis() + span.millis() * jitter / 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::pool;

    #[test]
    fn a_pool_is_left_alone_for_a_minute_then_longer_and_for_ten_at_most() {
        let seconds = |pool: &Pool, failures| span(pool, failures).seconds();
        let (one, other) = (pool("one"), pool("other"));
        for (failures, least) in [(1, 60), (2, 120), (3, 240), (4, 480), (5, 600), (200, 600)] {
            for pool in [&one, &other] {
                let span = seconds(pool, failures);
                assert!((least..=least * 12 / 10).contains(&span), "{failures}: {span}");
            }
        }
        assert_ne!(span(&one, 1), span(&other, 1), "pools that fail together try apart");
        assert_eq!(span(&one, 3), span(&one, 3));
    }
}
