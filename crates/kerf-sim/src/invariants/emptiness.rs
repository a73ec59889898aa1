//! Shrinking: a node that nothing needs goes, so that an engine which only ever adds nodes is found
//! out.

use std::collections::BTreeMap;

use kerf_engine::condition::claim::INITIALIZED;
use kerf_engine::observed::{Claim, Node, PodOwner, Pool};
use kerf_engine::time::Span;
use kerf_model::budget::DisruptionReason;
use kerf_model::labels::annotation::DO_NOT_DISRUPT;
use kerf_model::pool::Sizing;

use super::{Checker, Rule};
use crate::scenario::Scenario;
use crate::store::Store;

/// An empty node is given up so long after its pool says so when nothing goes wrong: it is searched
/// for every ten seconds, looked at twice, and waits for its turn in the budget.
const GIVEN_UP_WITHIN_CALM: Span = Span::from_minutes(10);
/// The same when things do go wrong: while a kind is not heard of nothing is given up by choice, and
/// a new process waits anew.
const GIVEN_UP_WITHIN_FAULTY: Span = Span::from_minutes(40);

impl Checker {
    pub(super) fn check_kept_empty(&mut self, store: &Store, scenario: &Scenario) {
        let within =
            if scenario.has_faults() { GIVEN_UP_WITHIN_FAULTY } else { GIVEN_UP_WITHIN_CALM };
        let mut empty_since = BTreeMap::new();
        let mut budgets = BTreeMap::new();
        for claim in store.claims.values() {
            let name = &claim.meta.name;
            let Some((pool, quiet)) = goes_when_empty(store, claim) else { continue };
            let admits_one = || self.budget_admits_one(store, pool);
            if !*budgets.entry(&pool.meta.name).or_insert_with(admits_one) {
                continue;
            }
            let since = self.empty_since.get(name).copied().unwrap_or(self.now);
            empty_since.insert(name.clone(), since);
            let overdue = self.now.since(since + quiet);
            if overdue > within && overdue <= within.times(2) {
                let what = format!("{name} has been empty since {}, and stays", since.seconds());
                if !self.violations.iter().any(|known| known.what == what) {
                    self.object(Rule::KeptEmpty, what);
                }
            }
        }
        self.empty_since = empty_since;
    }

    fn budget_admits_one(&self, store: &Store, pool: &Pool) -> bool {
        let nodes = store.claims.values().filter(|it| it.pool() == Some(&*pool.meta.name)).count();
        let nodes = u32::try_from(nodes).unwrap_or(u32::MAX);
        let budgets = &pool.spec.disruption.budgets;
        budgets.allowed(nodes, DisruptionReason::Empty, self.now.seconds()).admits(1)
    }
}

/// The pool of a node that is empty and how long it may be, if nothing but a budget speaks for it.
fn goes_when_empty<'a>(store: &'a Store, claim: &Claim) -> Option<(&'a Pool, Span)> {
    let node = store.node_of(claim).filter(|node| is_empty(store, node))?;
    let pool = store.pools.get(claim.pool()?)?;
    let quiet = Span::from(pool.spec.disruption.consolidate_after.duration()?);
    let is_up = claim.status.conditions.is_true(INITIALIZED) && node.is_ready;
    let is_asked = claim.meta.is_deleting() || node.meta.is_deleting();
    let is_dynamic = pool.spec.sizing == Sizing::Dynamic;
    (is_up && !is_asked && is_dynamic).then_some((pool, quiet))
}

/// Whether nothing runs on a node that would have to move, or asks for it to stay.
fn is_empty(store: &Store, node: &Node) -> bool {
    let keeps = node.annotations.get(DO_NOT_DISRUPT).is_some_and(|value| value == "true");
    let mut pods = store.pods_on(&node.meta.name);
    !keeps && pods.all(|pod| matches!(pod.owner, PodOwner::DaemonSet | PodOwner::Node))
}
