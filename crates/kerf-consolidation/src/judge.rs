//! Whether a move is allowed and worth it.

use kerf_model::labels::well_known;
use kerf_model::pool::ConsolidationPolicy;
use kerf_model::price::Price;
use kerf_scheduler::{Destination, Displaced, WhatIf};

use crate::balanced::PoolTotals;
use crate::kept::{Ineligible, Kept};
use crate::launches::{Narrowed, Removed, narrow};
use crate::node_price::node_prices;
use crate::payback::payback_seconds;
use crate::plan::{Launch, Move};
use crate::snapshot::{Settings, Snapshot};

/// Everything that a verdict depends on; none of it changes during a search.
pub(crate) struct Judge<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) settings: &'a Settings,
    /// What each node costs.
    pub(crate) prices: Vec<Price>,
    totals: PoolTotals,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot, settings: &'a Settings) -> Self {
        let prices = node_prices(&snapshot.problem);
        let totals = PoolTotals::of(snapshot, &prices);
        Self { snapshot, settings, prices, totals }
    }

    /// What nodes cost together.
    pub(crate) fn price_of(&self, nodes: &[usize]) -> Price {
        sum(nodes.iter().map(|node| self.prices[*node]))
    }

    /// The pool of a node, if it is known.
    pub(crate) fn pool(&self, node: usize) -> Option<usize> {
        self.totals.pool(node)
    }

    /// Whether nobody on a node needs another place.
    pub(crate) fn is_empty(&self, node: usize) -> bool {
        let mut pods = self.snapshot.problem.nodes[node].pods.iter();
        pods.all(|bound| bound.is_daemon || bound.is_leaving)
    }

    /// Whether the policy of its pool lets a node go that is not empty.
    pub(crate) fn check_policy(&self, node: usize) -> Result<(), Kept> {
        match self.totals.policy(node) {
            None => Err(Kept::Ineligible(Ineligible::Unknown)),
            Some(ConsolidationPolicy::WhenEmpty) => Err(Kept::OnlyWhenEmpty),
            Some(_) => Ok(()),
        }
    }

    /// Nodes that go without a launch.
    pub(crate) fn removal(&self, removed: &[usize]) -> Result<Move, Kept> {
        let saving = self.price_of(removed);
        let is_free = removed.iter().all(|node| self.is_empty(*node));
        let payback_seconds = if is_free { 0 } else { self.payback(removed, saving, Price::ZERO)? };
        Ok(self.as_move(removed, saving, saving, payback_seconds))
    }

    /// Nodes whose pods go where an answer has them, some of them onto new nodes.
    pub(crate) fn replacement(&self, removed: &[usize], answer: &WhatIf) -> Result<Move, Kept> {
        let problem = &self.snapshot.problem;
        let solution = &answer.solution;
        let pod = |pod: usize| answer.displaced[pod - problem.pods.len()];
        if let Some(unplaced) = solution.unplaced.first() {
            let (pod, reason) = (pod(unplaced.pod), unplaced.reason.clone());
            return Err(Kept::NoPlace { pod, reason });
        }
        if !solution.deferred.is_empty() {
            return Err(Kept::NotReached);
        }
        let price = self.price_of(removed);
        if solution.price >= price {
            return Err(Kept::NotCheaper { price, best: solution.price });
        }
        let about = self.removed(removed, price);
        let narrowed = narrow(problem, &solution.new_nodes, &about, self.settings.spot_to_spot)?;
        let cheapest = |it: &Narrowed| it.node.options.first().map_or(Price::ZERO, |it| it.price);
        let launched = sum(narrowed.iter().map(cheapest));
        let worst = sum(narrowed.iter().map(|it| it.worst));
        let less = |launched| price.checked_sub(launched).unwrap_or(Price::ZERO);
        let payback_seconds = self.payback(removed, less(launched), launched)?;
        let mut destinations = Vec::new();
        for placement in &solution.existing {
            let pods = placement.pods.iter();
            destinations.extend(pods.map(|it| Destination { pod: pod(*it), node: placement.node }));
        }
        destinations.sort_by_key(|each| each.pod);
        let launches = narrowed.into_iter().zip(&solution.new_nodes);
        let launches = launches.map(|(Narrowed { node, worst }, planned)| {
            let mut pods: Vec<Displaced> = planned.pods.iter().map(|it| pod(*it)).collect();
            pods.sort_unstable();
            Launch { node, pods, worst_price: worst }
        });
        Ok(Move {
            launches: launches.collect(),
            destinations,
            ..self.as_move(removed, less(launched), less(worst), payback_seconds)
        })
    }

    fn as_move(
        &self,
        removed: &[usize],
        saving: Price,
        saving_at_least: Price,
        payback_seconds: u64,
    ) -> Move {
        let facts = || removed.iter().map(|node| &self.snapshot.nodes[*node]);
        Move {
            removed: removed.to_vec(),
            launches: Vec::new(),
            destinations: Vec::new(),
            saving,
            saving_at_least,
            eviction_cost: facts().map(|facts| facts.reschedule_cost).sum(),
            payback_seconds,
            was_undone: facts().any(|facts| facts.was_undone),
            scores: self.totals.scores(removed, saving, self.snapshot, &self.prices),
        }
    }

    fn removed(&self, removed: &[usize], price: Price) -> Removed<'_> {
        let label = |node: usize, key: &str| {
            let labels = &self.snapshot.problem.nodes[node].labels;
            labels.get(key).map_or("", String::as_str)
        };
        let is_spot = |node: &usize| label(*node, well_known::CAPACITY_TYPE) == well_known::SPOT;
        let of_type = |node: &usize| (label(*node, well_known::INSTANCE_TYPE), self.prices[*node]);
        Removed {
            count: removed.len(),
            price,
            all_spot: removed.iter().all(is_spot),
            types: removed.iter().map(of_type).collect(),
        }
    }

    /// Whether a saving would pay for evicting everybody on some nodes in time.
    pub(crate) fn could_pay(&self, nodes: &[usize], saving: Price) -> bool {
        self.payback(nodes, saving, Price::ZERO).is_ok()
    }

    /// What a move has saved by the time everything must have paid back, what it costs taken off.
    pub(crate) fn gain(&self, each: &Move) -> u128 {
        let left = self.settings.payback_max_seconds.saturating_sub(each.payback_seconds);
        u128::from(each.saving.micros_per_hour()) * u128::from(left)
    }

    /// After how long a move pays back, or why that is too long or not worth it.
    fn payback(&self, removed: &[usize], saving: Price, launched: Price) -> Result<u64, Kept> {
        let facts = || removed.iter().map(|node| &self.snapshot.nodes[*node]);
        let cost = facts().map(|facts| facts.reschedule_cost).sum();
        let payback_seconds = payback_seconds(saving, cost, launched, self.settings);
        let was_undone = facts().any(|facts| facts.was_undone);
        let most_seconds = self.settings.payback_max_seconds / if was_undone { 2 } else { 1 };
        if payback_seconds > most_seconds || saving == Price::ZERO {
            return Err(Kept::PaybackTooLong { payback_seconds, most_seconds });
        }
        let scores = self.totals.scores(removed, saving, self.snapshot, &self.prices);
        let too_low =
            scores.iter().filter(|score| !score.is_enough).map(|score| score.millis).min();
        match too_low {
            Some(score_millis) => Err(Kept::NotWorthIt { score_millis }),
            None => Ok(payback_seconds),
        }
    }
}

/// Prices together; far beyond any cluster's the sum stays where it is.
pub(crate) fn sum(prices: impl Iterator<Item = Price>) -> Price {
    prices.fold(Price::ZERO, |sum, price| sum.checked_add(price).unwrap_or(sum))
}
