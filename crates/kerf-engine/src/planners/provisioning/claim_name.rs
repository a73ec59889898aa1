//! Names of new claims, in the form Kubernetes gives them.

use std::collections::BTreeSet;
use std::sync::Arc;

use kerf_model::generated_name::{SUFFIX_LEN, suffix};
use kerf_model::hash::Fnv1a;
use kerf_model::rng::mix;

use crate::command::Replacement;
use crate::observed::{Name, Pool};
use crate::time::Time;
use crate::world::World;

/// Generated names have at most 63 characters; what comes before the suffix is cut.
const PREFIX_LEN_MAX: usize = 63 - SUFFIX_LEN;

/// The name of the claim number `ordinal` decided on now: the same for the same decision, so that
/// storing it twice stores it once. Names that are taken are passed over.
pub(super) fn claim_name(
    pool: &str,
    pool_uid: &str,
    now: Time,
    ordinal: usize,
    is_taken: impl Fn(&str) -> bool,
) -> Name {
    let names = (0u64..).map(|attempt| {
        let seed = number(&[
            pool_uid.as_bytes(),
            &now.millis().to_le_bytes(),
            &(ordinal as u64).to_le_bytes(),
            &attempt.to_le_bytes(),
        ]);
        let mut prefix = format!("{pool}-");
        let cut = prefix.floor_char_boundary(PREFIX_LEN_MAX);
        prefix.truncate(cut);
        prefix + &suffix(seed).0
    });
    let free = names.into_iter().find(|name| !is_taken(name));
    Arc::from(free.expect("there are more names than claims"))
}

/// A name for the claim number `ordinal` of a pool that nothing has: no claim, no decision, no
/// replacement that is planned, and none of these.
pub(in crate::planners) fn free_name(
    world: &World,
    pool: &Pool,
    now: Time,
    ordinal: usize,
    others: &BTreeSet<Name>,
) -> Name {
    claim_name(&pool.meta.name, &pool.meta.uid, now, ordinal, |name| {
        world.claims.contains_key(name)
            || world.memory.creating.contains_key(name)
            || others.contains(name)
            || is_planned(world, name)
    })
}

/// Whether a command has a replacement of that name.
fn is_planned(world: &World, name: &str) -> bool {
    let mut commands = world.memory.commands.iter();
    commands
        .any(|command| command.replacements.iter().map(Replacement::name).any(|it| *it == *name))
}

/// A number for the parts, mixed so that neighbours differ in every letter.
fn number(parts: &[&[u8]]) -> u64 {
    let mut hash = Fnv1a::default();
    parts.iter().for_each(|part| hash.write_field(part));
    mix(hash.finish())
}
