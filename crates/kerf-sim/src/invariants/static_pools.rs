//! Static pools: they come to the number of nodes they shall have, and nothing goes for being too
//! many where there are not.

use kerf_engine::condition::claim::DISRUPTION_REASON;
use kerf_engine::observed::{Claim, Name, Pool};
use kerf_engine::time::Span;
use kerf_model::pool::Sizing;
use kerf_model::resources::NODES;

use super::{Checker, Rule};
use crate::scenario::Scenario;
use crate::store::Store;

/// A pool has its number after so long when nothing goes wrong: a launch, and a minute if it failed.
const COUNTED_WITHIN_CALM: Span = Span::from_minutes(5);
/// The same when things do go wrong: launches fail one after the other, ten minutes apart.
const COUNTED_WITHIN_FAULTY: Span = Span::from_minutes(40);

impl Checker {
    /// Remembers how many nodes a static pool shall have.
    pub(super) fn note_replicas(&mut self, name: &Name, store: &Store) {
        let Some(wanted) = store.pools.get(name).and_then(|pool| wanted(pool)) else { return };
        let known = self.replicas.get(name).is_some_and(|(known, _)| *known == wanted);
        if !known {
            self.replicas.insert(name.clone(), (wanted, self.now));
        }
    }

    /// Looks at a claim that is given up because there are too many.
    pub(super) fn check_surplus(&mut self, name: &Name, store: &Store) {
        let pool = store.claims.get(name).and_then(|claim| store.pools.get(claim.pool()?));
        let Some(pool) = pool else { return };
        let Some((wanted, since)) = self.replicas.get(&pool.meta.name).copied() else { return };
        let is_news = self.now.since(since) <= self.staleness;
        // Those that went lately were there when it was decided.
        let of_pool = |claim: &Claim| claim.pool() == Some(&*pool.meta.name);
        let is_there = |claim: &Claim| {
            let since = claim.meta.deleting_since;
            since.is_none_or(|since| self.now.since(since) <= self.staleness)
        };
        let stored = store.claims.values().filter(|claim| of_pool(claim) && is_there(claim));
        let gone = self.gone_lately.iter().filter(|(_, of)| *of == pool.meta.name);
        let has = (stored.count() + gone.count()) as u64;
        if has <= wanted && !is_news && !self.is_overlap() {
            let what = format!("{name} is given up as too many, and there are {has} of {wanted}");
            self.object(Rule::Replicas, what);
        }
    }

    /// Looks whether static pools have the nodes they shall have.
    pub(super) fn check_replicas(&mut self, store: &Store, scenario: &Scenario) {
        let within =
            if scenario.has_faults() { COUNTED_WITHIN_FAULTY } else { COUNTED_WITHIN_CALM };
        for pool in store.pools.values() {
            let name = &pool.meta.name;
            let Some(wanted) = wanted(pool) else { continue };
            // What is being replaced counts as its replacement does.
            let is_kept = |claim: &&Claim| !claim.status.conditions.is_true(DISRUPTION_REASON);
            let has = claims_of(pool, store).filter(is_kept).count() as u64;
            if has == wanted {
                self.miscounted_since.remove(name);
                continue;
            }
            let since = *self.miscounted_since.entry(name.clone()).or_insert(self.now);
            if self.now.since(since.max(self.deaf_until)) > within {
                self.miscounted_since.insert(name.clone(), self.now);
                let what = format!("pool {name} has had {has} nodes of {wanted} for too long");
                self.object(Rule::Replicas, what);
            }
        }
    }
}

/// How many nodes a static pool shall have, within its limit.
fn wanted(pool: &Pool) -> Option<u64> {
    let Sizing::Static { replicas } = pool.spec.sizing else { return None };
    let limit = pool.spec.limits.get(NODES).and_then(|limit| u64::try_from(limit.value()).ok());
    Some(limit.map_or(replicas, |limit| limit.min(replicas)))
}

/// The claims of a pool that nobody has asked to go.
fn claims_of<'a>(pool: &'a Pool, store: &'a Store) -> impl Iterator<Item = &'a Claim> {
    let claims = store.claims.values().map(AsRef::as_ref);
    let own = claims.filter(|claim: &&Claim| claim.pool() == Some(&*pool.meta.name));
    own.filter(|claim| !claim.meta.is_deleting())
}
