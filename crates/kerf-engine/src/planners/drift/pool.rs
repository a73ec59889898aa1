//! Drift from a pool: another template, or other requirements.

use kerf_model::requirement::RequirementEntry;
use kerf_model::requirements::Requirements;
use kerf_model::vocabulary::{KeySet, Vocabulary};

use crate::observed::{Claim, Pool};
use crate::planners::template_hash::TemplateHash;
use crate::world::World;

const NODE_POOL_DRIFTED: &str = "NodePoolDrifted";
const REQUIREMENTS_DRIFTED: &str = "RequirementsDrifted";

/// Whether a reason is one that the pool and the claim alone decide on.
pub(in crate::planners) fn is_about_pool(reason: &str) -> bool {
    [NODE_POOL_DRIFTED, REQUIREMENTS_DRIFTED].contains(&reason)
}

/// Why a claim is no longer what its pool asks for, if it is not.
pub(super) fn drift(world: &World, pool: &Pool, claim: &Claim) -> Option<&'static str> {
    if TemplateHash::of_pool(pool).differs_in(claim.annotations()) {
        return Some(NODE_POOL_DRIFTED);
    }
    (!serves(world, pool, claim)).then_some(REQUIREMENTS_DRIFTED)
}

/// Whether a claim's labels are what the pool requires. It has all the labels it will ever have.
fn serves(world: &World, pool: &Pool, claim: &Claim) -> bool {
    let wanted = &pool.spec.template.spec.requirements;
    let spelling = world.settings.scheduler.label_rules.normalization();
    let label = |entry: &RequirementEntry| {
        let key = spelling.key(&entry.key);
        claim.label(key).map(|value| spelling.value(key, value))
    };
    let is_plain = |entry: &RequirementEntry| {
        entry.values.iter().all(|value| spelling.value(spelling.key(&entry.key), value) == value)
    };
    // As a rule each label that is asked for is there, and the texts tell.
    if wanted.iter().all(|entry| is_plain(entry) && label(entry).is_some()) {
        return wanted.iter().all(|entry| label(entry).is_some_and(|value| entry.admits(value)));
    }
    let mut words = Vocabulary::new();
    // What has no meaning is told by the pool's validation.
    let Ok(wanted) = Requirements::from_entries(wanted, spelling, &mut words) else { return true };
    let labels = claim.spec.labels.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    let labels = Requirements::from_labels(labels, spelling, &mut words);
    labels.compatible(&wanted, &KeySet::default(), &words)
}
