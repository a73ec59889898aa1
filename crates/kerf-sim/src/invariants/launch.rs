//! Launches: only for claims that cannot be forgotten, within limits, and never lost.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_engine::command::record::{COMMAND, REPLACEMENT_FOR, Record};
use kerf_engine::condition::claim::DISRUPTION_REASON;
use kerf_engine::observed::Claim;
use kerf_engine::time::{Span, Time};
use kerf_model::quantity::Quantity;
use kerf_model::resources::ResourceList;

use super::{Checker, Rule};
use crate::cloud::{Cloud, CloudInstance};
use crate::scenario::Scenario;
use crate::store::Store;

/// An instance nobody claims must be on its way out after so long: the engine compares instances with
/// claims every two minutes, and calls and watches may be late.
const UNCLAIMED_FOR_CALM: Span = Span::from_minutes(10);
/// The same when things do go wrong: while claims are not heard of, which may take a quarter of an
/// hour, nothing is taken for an orphan.
const UNCLAIMED_FOR_FAULTY: Span = Span::from_minutes(30);
/// The resource that counts nodes.
const NODES: &str = "nodes";

impl Checker {
    pub(super) fn check_finalizer(&mut self, claim: &Claim) {
        if !self.with_finalizer.contains(&claim.meta.uid) {
            let name = &claim.meta.name;
            let what = format!("{name} is launched but was never stored with its finalizer");
            self.object(Rule::FinalizerBeforeLaunch, what);
        }
    }

    pub(super) fn check_limits(&mut self, instance: &CloudInstance, store: &Store, cloud: &Cloud) {
        let Some(pool) = store.pools.get(&instance.pool) else { return };
        let limits = &pool.spec.limits;
        if limits.is_empty() || self.is_overlap() {
            return;
        }
        let counts = |instance: &&CloudInstance| {
            let claim = store.claims.get(&instance.claim);
            let stays = |claim: &Arc<Claim>| !is_going(claim) && !is_left_over(store, claim);
            // What the cloud takes back is gone in minutes, whether that could be written down or not.
            let is_own = instance.pool == pool.meta.name && !instance.is_announced;
            is_own && claim.is_some_and(stays)
        };
        let mut used = ResourceList::new();
        for instance in cloud.instances.values().filter(counts) {
            used.add(&instance.instance.capacity);
            used.add(&[(NODES, Quantity::from_int(1))].into_iter().collect());
        }
        for (name, limit) in limits.iter() {
            if used.quantity(name) > limit {
                let (pool, has) = (&pool.meta.name, used.quantity(name));
                let what = format!("pool {pool} has {has} of {name}; its limit is {limit}");
                self.object(Rule::Limits, what);
            }
        }
    }

    /// Whoever answers twice, or late: a claim is worth one instance.
    pub(super) fn check_one_instance(&mut self, instance: &CloudInstance, cloud: &Cloud) {
        let count = cloud.count_of(&instance.claim_uid);
        if count > 1 {
            let what = format!("{count} instances run for {}", instance.claim);
            self.object(Rule::OneInstance, what);
        }
    }

    pub(super) fn check_leaks(&mut self, store: &Store, cloud: &Cloud, scenario: &Scenario) {
        let within = if scenario.has_faults() { UNCLAIMED_FOR_FAULTY } else { UNCLAIMED_FOR_CALM };
        let is_claimed = |instance: &CloudInstance| {
            let claim = store.claims.get(&instance.claim);
            claim.is_some_and(|claim| claim.meta.uid == instance.claim_uid)
        };
        let unclaimed: BTreeMap<Arc<str>, Time> = cloud
            .instances
            .iter()
            .filter(|(_, instance)| !instance.instance.is_ending && !is_claimed(instance))
            .map(|(id, _)| (id.clone(), self.unclaimed_since.get(id).copied().unwrap_or(self.now)))
            .collect();
        for (id, since) in &unclaimed {
            let overdue = self.now.since(*since);
            if overdue > within && overdue < within.times(2) {
                let what = format!("instance {id} runs, and no claim knows it");
                if !self.violations.iter().any(|known| known.what == what) {
                    self.object(Rule::NoLeak, what);
                }
            }
        }
        self.unclaimed_since = unclaimed;
    }
}

/// Whether a claim is on its way out for all to see: it is being deleted, marked to go, or the
/// command to replace it is stored. What replaces it may be launched before it is gone, also where
/// its pool is at its limit.
fn is_going(claim: &Claim) -> bool {
    claim.meta.is_deleting()
        || claim.status.conditions.is_true(DISRUPTION_REASON)
        || claim.annotations().contains_key(COMMAND)
}

/// Whether a claim came in the place of another whose command was given up since. That other one
/// counts again, and this one goes or is put to use when it has come up.
fn is_left_over(store: &Store, claim: &Claim) -> bool {
    let Some(command) = claim.annotations().get(REPLACEMENT_FOR) else { return false };
    let mut records = store.claims.values().filter_map(|it| Record::on(it));
    !records.any(|record| *record.id.0 == **command)
}
