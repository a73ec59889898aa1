//! The search for a plan, step by step.

use kerf_model::price::Price;
use kerf_scheduler::{PreparedCluster, ResidualCluster};

use crate::judge::{Judge, sum};
use crate::kept::Kept;
use crate::plan::{Move, Plan};
use crate::replacements::Found;
use crate::snapshot::{Settings, Snapshot};
use crate::visiting_order::{targets, visiting_order};

/// What-ifs asked between two looks at the clock: few enough to stop soon, enough to keep several
/// threads at work.
const ASKED_AT_ONCE: usize = 64;

/// A search that can be stopped and resumed.
pub struct Search<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) settings: &'a Settings,
    pub(crate) judge: Judge<'a>,
    pub(crate) residual: ResidualCluster<'a>,
    /// Nodes that may go, in the order they are looked at.
    pub(crate) order: Vec<usize>,
    /// Of each node what is paid for nothing: its price less what its pods are worth.
    pub(crate) regrets: Vec<Price>,
    pub(crate) moves: Vec<Move>,
    pub(crate) kept: Vec<Option<Kept>>,
    /// Replacements that save something, until they are taken.
    pub(crate) found: Vec<Found>,
    saving_bound: Price,
    phase: Phase,
}

/// How far a search is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Phase {
    /// Removals without a launch, up to this place in the order.
    Removals(usize),
    /// What-ifs about sets of nodes, up to this place.
    Asking(Sets, usize),
    /// Taking what was found.
    Taking(Kind),
    /// Everything was looked at.
    Done,
}

/// Sets of nodes that are asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sets {
    kind: Kind,
    sets: Vec<Vec<usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Single,
    Group,
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
        let judge = Judge::new(snapshot, settings);
        let order = visiting_order(snapshot, &judge.prices);
        let targets = targets(snapshot, &order);
        let kept = snapshot.nodes.iter().map(|facts| match &facts.may_go {
            Err(cause) => Some(Kept::Ineligible(cause.clone())),
            Ok(()) => Some(Kept::NotReached),
        });
        let mut search = Self {
            residual: cluster.residual(&targets),
            regrets: vec![Price::ZERO; snapshot.nodes.len()],
            moves: Vec::new(),
            kept: kept.collect(),
            found: Vec::new(),
            saving_bound: Price::ZERO,
            phase: Phase::Removals(0),
            snapshot,
            settings,
            judge,
            order,
        };
        search.price_pods(cluster, &targets);
        search
    }

    /// Finds the bound and the regret of each node.
    fn price_pods(&mut self, cluster: &PreparedCluster<'_>, targets: &[usize]) {
        let prices = &self.judge.prices;
        let going: Vec<(usize, Price)> =
            self.order.iter().map(|node| (*node, prices[*node])).collect();
        let facts = &self.snapshot.nodes;
        let stays = |node: &usize| facts[*node].may_go.is_err();
        let staying: Vec<usize> = targets.iter().copied().filter(stays).collect();
        let covering = cluster.covering(&going, &staying);
        let whole = sum(going.iter().map(|(_, price)| *price));
        self.saving_bound = whole.checked_sub(covering.bound).unwrap_or(Price::ZERO);
        for ((node, price), value) in going.iter().zip(covering.values) {
            self.regrets[*node] = price.checked_sub(value).unwrap_or(Price::ZERO);
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
            let phase = std::mem::replace(&mut self.phase, Phase::Done);
            self.phase = self.step(phase);
        }
    }

    /// The plan so far.
    #[must_use]
    pub fn plan(&self) -> Plan {
        let price_before = sum(self.judge.prices.iter().copied());
        let saving = sum(self.moves.iter().map(|each| each.saving));
        Plan {
            moves: self.moves.clone(),
            price_before,
            price_after: price_before.checked_sub(saving).unwrap_or(Price::ZERO),
            saving_bound: self.saving_bound,
            kept: self.kept.clone(),
            is_complete: self.phase == Phase::Done,
        }
    }

    fn step(&mut self, phase: Phase) -> Phase {
        match phase {
            Phase::Removals(place) => match self.order.get(place).copied() {
                Some(node) => {
                    self.try_removal(node);
                    Phase::Removals(place + 1)
                }
                None => Phase::Asking(self.singles(), 0),
            },
            Phase::Asking(sets, place) => {
                match sets.sets.get(place..).filter(|it| !it.is_empty()) {
                    Some(rest) => {
                        let asked = rest.len().min(ASKED_AT_ONCE);
                        self.evaluate(&rest[..asked]);
                        Phase::Asking(sets, place + asked)
                    }
                    None => {
                        self.sort_found();
                        Phase::Taking(sets.kind)
                    }
                }
            }
            Phase::Taking(kind) => match (self.found.pop(), kind) {
                (Some(found), _) => {
                    self.take(&found);
                    Phase::Taking(kind)
                }
                (None, Kind::Single) => {
                    Phase::Asking(Sets { kind: Kind::Group, sets: self.groups() }, 0)
                }
                (None, Kind::Group) => Phase::Done,
            },
            Phase::Done => Phase::Done,
        }
    }

    fn singles(&self) -> Sets {
        // Where the whole price of a node does not pay for its evictions, a part of it does not.
        let pays = |node: &usize| {
            !matches!(self.kept[*node], Some(Kept::PaybackTooLong { .. } | Kept::NotWorthIt { .. }))
        };
        let open = self.order.iter().copied().filter(|node| self.is_open(*node)).filter(pays);
        Sets { kind: Kind::Single, sets: open.map(|node| vec![node]).collect() }
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
