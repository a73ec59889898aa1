//! The search for a plan, step by step.

use kerf_model::price::Price;
use kerf_scheduler::{PreparedCluster, ResidualCluster};

use crate::balanced::PoolTotals;
use crate::kept::Kept;
use crate::node_price::node_prices;
use crate::payback::payback_seconds;
use crate::plan::{Move, Plan};
use crate::snapshot::{Settings, Snapshot};
use crate::visiting_order::{targets, visiting_order};

/// A search that can be stopped and resumed.
pub struct Search<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) settings: &'a Settings,
    pub(crate) residual: ResidualCluster<'a>,
    pub(crate) prices: Vec<Price>,
    pub(crate) totals: PoolTotals,
    /// Nodes that may go, in the order they are looked at.
    pub(crate) order: Vec<usize>,
    pub(crate) moves: Vec<Move>,
    pub(crate) kept: Vec<Option<Kept>>,
    phase: Phase,
}

/// How far a search is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Phase {
    /// Removals without a launch, up to this place in the order.
    Removals(usize),
    /// Everything was looked at.
    Done,
}

/// Plans a cluster to the end.
#[must_use]
pub fn plan(snapshot: &Snapshot, settings: &Settings) -> Plan {
    let cluster = PreparedCluster::read(&snapshot.problem);
    let mut search = Search::new(snapshot, &cluster, settings);
    search.run(|| false);
    search.plan()
}

impl<'a> Search<'a> {
    /// Begins a search. The cluster is that of the snapshot's problem.
    #[must_use]
    pub fn new(
        snapshot: &'a Snapshot,
        cluster: &'a PreparedCluster<'a>,
        settings: &'a Settings,
    ) -> Self {
        let prices = node_prices(&snapshot.problem);
        let order = visiting_order(snapshot, &prices);
        let kept = snapshot.nodes.iter().map(|facts| match &facts.may_go {
            Err(cause) => Some(Kept::Ineligible(cause.clone())),
            Ok(()) => Some(Kept::NotReached),
        });
        Self {
            residual: cluster.residual(&targets(snapshot, &order)),
            totals: PoolTotals::of(snapshot, &prices),
            moves: Vec::new(),
            kept: kept.collect(),
            phase: Phase::Removals(0),
            snapshot,
            settings,
            prices,
            order,
        }
    }

    /// Goes on until everything was looked at or `should_stop` says so, which is asked between any
    /// two steps. Answers whether everything was looked at.
    pub fn run(&mut self, mut should_stop: impl FnMut() -> bool) -> bool {
        loop {
            if self.phase == Phase::Done {
                return true;
            }
            if should_stop() {
                return false;
            }
            self.phase = self.step();
        }
    }

    /// The plan so far.
    #[must_use]
    pub fn plan(&self) -> Plan {
        let sum = |prices: &mut dyn Iterator<Item = Price>| {
            prices.fold(Price::ZERO, |sum, price| sum.checked_add(price).unwrap_or(sum))
        };
        let price_before = sum(&mut self.prices.iter().copied());
        let saving = sum(&mut self.moves.iter().map(|each| each.saving));
        Plan {
            moves: self.moves.clone(),
            price_before,
            price_after: price_before.checked_sub(saving).unwrap_or(Price::ZERO),
            saving_bound: price_before,
            kept: self.kept.clone(),
            is_complete: self.phase == Phase::Done,
        }
    }

    fn step(&mut self) -> Phase {
        match self.phase {
            Phase::Removals(place) if place < self.order.len() => {
                self.try_removal(self.order[place]);
                Phase::Removals(place + 1)
            }
            Phase::Removals(_) | Phase::Done => Phase::Done,
        }
    }

    /// After how long a move pays back, or why that is too long or not worth it.
    pub(crate) fn payback(
        &self,
        removed: &[usize],
        saving: Price,
        launched: Price,
    ) -> Result<u64, Kept> {
        let facts = || removed.iter().map(|node| &self.snapshot.nodes[*node]);
        let cost = facts().map(|facts| facts.reschedule_cost).sum();
        let payback_seconds = payback_seconds(saving, cost, launched, self.settings);
        let was_undone = facts().any(|facts| facts.was_undone);
        let most_seconds = self.settings.payback_max_seconds / if was_undone { 2 } else { 1 };
        if payback_seconds > most_seconds {
            return Err(Kept::PaybackTooLong { payback_seconds, most_seconds });
        }
        match self.totals.too_low(removed, saving, self.snapshot, &self.prices) {
            Some(score_millis) => Err(Kept::NotWorthIt { score_millis }),
            None => Ok(payback_seconds),
        }
    }

    /// Notes that a move is part of the plan.
    pub(crate) fn accept(&mut self, accepted: Move) {
        for node in &accepted.removed {
            self.kept[*node] = None;
        }
        for destination in &accepted.destinations {
            let kept = &mut self.kept[destination.node];
            if !matches!(kept, Some(Kept::Ineligible(_))) {
                *kept = Some(Kept::Receives);
            }
        }
        self.moves.push(accepted);
    }
}
