//! The search for a plan, step by step.

use std::collections::BTreeMap;

use kerf_model::price::Price;
use kerf_scheduler::{PreparedCluster, ResidualCluster};

use crate::judge::{Judge, sum};
use crate::kept::{Ineligible, Kept};
use crate::plan::{Move, Plan};
use crate::replacements::Found;
use crate::snapshot::{Settings, Snapshot};
use crate::visiting_order::{targets, visiting_order};

/// What-ifs asked between two looks at the clock: few enough to stop soon, enough to keep several
/// threads at work.
const ASKED_AT_ONCE: usize = 64;

/// How often the nodes of a small cluster are grouped: a second time for those that no group of the
/// first could take.
const ROUNDS: usize = 2;

/// A cluster in which more nodes may go is large: they are grouped once, and only one strategy is
/// tried. What removals fill up there is nearly full in the end, so that little is to be had.
const LARGE_CLUSTER_NODES: usize = 200;

/// A search that can be stopped and resumed.
pub struct Search<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) settings: &'a Settings,
    pub(crate) judge: Judge<'a>,
    cluster: &'a PreparedCluster<'a>,
    /// Nodes that may take pods, in the order they do.
    targets: Vec<usize>,
    pub(crate) residual: ResidualCluster<'a>,
    /// Nodes that may go, in the order they are looked at.
    pub(crate) order: Vec<usize>,
    /// Of each node when it is looked at, the lowest first; those of one turn as it saves most.
    pub(crate) turns: Vec<usize>,
    /// Of each node what is paid for nothing: its price less what its pods are worth.
    pub(crate) regrets: Vec<Price>,
    pub(crate) moves: Vec<Move>,
    pub(crate) kept: Vec<Option<Kept>>,
    /// Replacements that save something, until they are taken.
    pub(crate) found: Vec<Found>,
    saving_bound: Price,
    strategy: Strategy,
    phase: Phase,
    /// What the first strategy came to, once the second is tried.
    first: Option<Attempt>,
}

/// What is tried first. Removals are cheap and evict nobody for a launch; but they fill nodes up that
/// are far too large, and might themselves have been replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strategy {
    RemoveFirst,
    ReplaceFirst,
}

/// What a strategy came to.
struct Attempt {
    moves: Vec<Move>,
    kept: Vec<Option<Kept>>,
}

/// How far a search is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Phase {
    /// Removals without a launch, up to this place in the order.
    Removals(usize),
    /// What-ifs about sets of nodes, up to this place.
    Asking { round: usize, sets: Vec<Vec<usize>>, place: usize },
    /// Taking what was found in a round.
    Taking { round: usize },
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
        let judge = Judge::new(snapshot, settings);
        let order = visiting_order(snapshot, &judge.prices);
        let targets = targets(snapshot, &order);
        let mut search = Self {
            residual: cluster.residual(&targets),
            turns: vec![usize::MAX; snapshot.nodes.len()],
            regrets: vec![Price::ZERO; snapshot.nodes.len()],
            moves: Vec::new(),
            kept: unreached(snapshot),
            found: Vec::new(),
            saving_bound: Price::ZERO,
            strategy: Strategy::RemoveFirst,
            phase: Phase::Removals(0),
            first: None,
            cluster,
            targets,
            snapshot,
            settings,
            judge,
            order,
        };
        search.price_pods();
        search
    }

    /// Finds the bound and the regret of each node.
    fn price_pods(&mut self) {
        let prices = &self.judge.prices;
        let going: Vec<(usize, Price)> =
            self.order.iter().map(|node| (*node, prices[*node])).collect();
        let facts = &self.snapshot.nodes;
        let stays = |node: &usize| facts[*node].may_go.is_err();
        let staying: Vec<usize> = self.targets.iter().copied().filter(stays).collect();
        let covering = self.cluster.covering(&going, &staying);
        let whole = sum(going.iter().map(|(_, price)| *price));
        self.saving_bound = whole.checked_sub(covering.bound).unwrap_or(Price::ZERO);
        for ((node, price), value) in going.iter().zip(covering.values) {
            self.regrets[*node] = price.checked_sub(value).unwrap_or(Price::ZERO);
        }
    }

    /// Has nodes looked at before all others, in this order, before the search begins: those that
    /// the last search [did not reach](Self::unreached), so that none waits for ever.
    pub fn visit_first(&mut self, names: &[String]) {
        let places: BTreeMap<&String, usize> = names.iter().zip(0..).collect();
        let nodes = self.snapshot.problem.nodes.iter();
        let place = |name| places.get(name).copied().unwrap_or(usize::MAX);
        self.turns = nodes.map(|node| place(&node.name)).collect();
        self.order.sort_by_key(|node| self.turns[*node]);
    }

    /// The names of the nodes that were not looked at yet, or not for a replacement.
    #[must_use]
    pub fn unreached(&self) -> Vec<String> {
        let left: Vec<usize> = match &self.phase {
            _ if self.first.is_some() => Vec::new(),
            Phase::Removals(place) => {
                let is_unknown = |node: &usize| self.kept[*node] == Some(Kept::NotReached);
                self.order[*place..].iter().copied().filter(is_unknown).collect()
            }
            Phase::Asking { round: 0, sets, place } => {
                let alone = sets[*place..].iter().filter(|set| set.len() == 1);
                alone.flatten().copied().collect()
            }
            Phase::Asking { .. } | Phase::Taking { .. } | Phase::Done => Vec::new(),
        };
        left.into_iter().map(|node| self.snapshot.problem.nodes[node].name.clone()).collect()
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

    /// The best plan so far.
    #[must_use]
    pub fn plan(&self) -> Plan {
        let gain = |moves: &[Move]| moves.iter().map(|each| self.judge.gain(each)).sum::<u128>();
        let first = self.first.as_ref().filter(|first| gain(&first.moves) >= gain(&self.moves));
        let (moves, kept) =
            first.map_or((&self.moves, &self.kept), |first| (&first.moves, &first.kept));
        let price_before = sum(self.judge.prices.iter().copied());
        let saving = sum(moves.iter().map(|each| each.saving));
        let mut moves = moves.clone();
        // Nobody has to move for these, and nobody was going to come: they wait for nothing.
        let is_free = |each: &Move| each.removed.iter().all(|node| self.judge.is_empty(*node));
        moves.sort_by_key(|each| !is_free(each));
        Plan {
            moves,
            price_before,
            price_after: price_before.checked_sub(saving).unwrap_or(Price::ZERO),
            saving_bound: self.saving_bound,
            kept: kept.clone(),
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
                None => match self.strategy {
                    Strategy::RemoveFirst => self.ask_in(0),
                    Strategy::ReplaceFirst => Phase::Done,
                },
            },
            Phase::Asking { round, sets, place } if place < sets.len() => {
                let end = sets.len().min(place + ASKED_AT_ONCE);
                self.evaluate(&sets[place..end]);
                Phase::Asking { round, sets, place: end }
            }
            Phase::Asking { round, .. } => {
                self.choose();
                self.sort_found();
                Phase::Taking { round }
            }
            Phase::Taking { round } => match self.found.pop() {
                Some(found) => {
                    self.take(&found);
                    Phase::Taking { round }
                }
                None if round + 1 < ROUNDS && !self.is_large() => self.ask_in(round + 1),
                None => match self.strategy {
                    Strategy::RemoveFirst => self.try_again(),
                    Strategy::ReplaceFirst => Phase::Removals(0),
                },
            },
            Phase::Done => Phase::Done,
        }
    }

    fn is_large(&self) -> bool {
        self.order.len() > LARGE_CLUSTER_NODES
    }

    /// Begins with the second strategy where that is worth it.
    fn try_again(&mut self) -> Phase {
        if self.is_large() {
            return Phase::Done;
        }
        self.strategy = Strategy::ReplaceFirst;
        self.residual = self.cluster.residual(&self.targets);
        let moves = std::mem::take(&mut self.moves);
        let kept = std::mem::replace(&mut self.kept, unreached(self.snapshot));
        self.first = Some(Attempt { moves, kept });
        self.ask_in(0)
    }

    fn ask_in(&self, round: usize) -> Phase {
        Phase::Asking { round, sets: self.sets(round), place: 0 }
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

/// Before anything was looked at.
fn unreached(snapshot: &Snapshot) -> Vec<Option<Kept>> {
    let cause = |may_go: &Result<(), Ineligible>| match may_go {
        Err(cause) => Kept::Ineligible(cause.clone()),
        Ok(()) => Kept::NotReached,
    };
    snapshot.nodes.iter().map(|facts| Some(cause(&facts.may_go))).collect()
}
