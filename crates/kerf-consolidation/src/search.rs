//! The search for a plan, step by step.

use std::collections::{BTreeMap, BTreeSet};

use kerf_model::price::Price;
use kerf_scheduler::{PreparedCluster, ResidualCluster};

use crate::judge::{Judge, sum};
use crate::kept::{Ineligible, Kept};
use crate::plan::{Move, Plan};
use crate::refusals::Refusals;
use crate::replacements::Found;
use crate::snapshot::{Settings, Snapshot};
use crate::visiting_order::Ranking;

/// What-ifs asked between two looks at the clock: few enough to stop soon, enough to keep several
/// threads at work.
const ASKED_AT_ONCE: usize = 64;

/// How often the nodes of a small cluster are grouped: a second time for those that no group of the
/// first could take.
const ROUNDS: usize = 2;

/// A cluster in which more nodes may go is large: they are grouped once, and replacements never come
/// first. What removals fill up there is nearly full in the end, so that little is to be had.
const LARGE_CLUSTER_NODES: usize = 200;

/// With more nodes than this that may go, the first strategy has to do: the others take several times
/// as long where little is free, and find little more.
const HUGE_CLUSTER_NODES: usize = 1_000;

/// A search that can be stopped and resumed.
pub struct Search<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) settings: &'a Settings,
    pub(crate) judge: Judge<'a>,
    cluster: &'a PreparedCluster<'a>,
    ranking: Ranking,
    pub(crate) residual: ResidualCluster<'a>,
    /// Nodes that may go, in the order they are looked at.
    pub(crate) order: Vec<usize>,
    /// Of each node when it is looked at, the lowest first; those of one turn as it saves most.
    pub(crate) turns: Vec<usize>,
    pub(crate) moves: Vec<Move>,
    pub(crate) kept: Vec<Option<Kept>>,
    /// Replacements that save something, until they are taken.
    pub(crate) found: Vec<Found>,
    /// Replacements that were looked at in vain since something was taken.
    pub(crate) refusals: Refusals,
    pub(crate) what_ifs: usize,
    /// Of each pool how many of its nodes may go together at most.
    group_limits: Vec<usize>,
    /// What is left of the plan of an earlier search: nodes that go together, in its order.
    planned: Vec<Vec<usize>>,
    strategy: Strategy,
    phase: Phase,
    /// The best that the strategies before this one came to.
    best: Option<Attempt>,
}

/// How a plan is looked for. Each finds what others miss, so the best of all is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strategy {
    /// Removals first, of nodes of which most is paid for nothing: what is left free is used best.
    RemoveWaste,
    /// Removals are cheap and evict nobody for a launch; but they fill nodes up that are far too
    /// large, and might themselves have been replaced.
    ReplaceFirst,
    /// Removals first, of the dearest nodes: where little is free, few but large nodes fit into it.
    RemoveDearest,
}

/// What a strategy came to.
struct Attempt {
    moves: Vec<Move>,
    kept: Vec<Option<Kept>>,
}

/// How far a search is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Phase {
    /// What is left of an earlier plan, up to this place.
    Planned(usize),
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
        let ranking = Ranking::of(snapshot, cluster, &judge.prices);
        let order = ranking.order(snapshot, &ranking.regrets, &judge.prices);
        Self {
            residual: cluster.residual(&ranking.targets(snapshot, &order)),
            turns: vec![usize::MAX; snapshot.nodes.len()],
            moves: Vec::new(),
            kept: unreached(snapshot),
            found: Vec::new(),
            refusals: Refusals::among(cluster.alike()),
            what_ifs: 0,
            group_limits: vec![usize::MAX; snapshot.problem.pools.len()],
            planned: Vec::new(),
            strategy: Strategy::RemoveWaste,
            phase: Phase::Removals(0),
            best: None,
            cluster,
            ranking,
            snapshot,
            settings,
            judge,
            order,
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

    /// Keeps groups within what budgets let go at once, before the search begins: a larger one would
    /// never be carried out, and its nodes would be part of no other move. A pool that is not named
    /// has no limit.
    pub fn limit_groups(&mut self, limit: impl Fn(&str) -> Option<usize>) {
        let pools = self.snapshot.problem.pools.iter();
        self.group_limits =
            pools.map(|pool| limit(&pool.pool.name).unwrap_or(usize::MAX)).collect();
    }

    /// Whether budgets let these nodes go at once.
    pub(crate) fn is_within_limits(&self, nodes: &[usize]) -> bool {
        let is_within = |(pool, limit): (usize, &usize)| {
            let of_pool = nodes.iter().filter(|node| self.judge.pool(**node) == Some(pool));
            of_pool.count() <= *limit
        };
        self.group_limits.iter().enumerate().all(is_within)
    }

    /// Goes on with the plan of an earlier search, before this one begins. What is left of it is
    /// checked again and comes first; what no longer holds drops out, and the rest of the cluster is
    /// looked at as ever. Nodes that have taken pods for that plan stay until it is carried out, so
    /// that nobody moves twice for it.
    ///
    /// Nothing depends on it but how steady plans are: without it (a new process has none) the
    /// search finds a plan of the same quality in the cluster as it is.
    pub fn go_on(&mut self, planned: &[Vec<String>], received: &[String]) {
        if planned.is_empty() {
            return;
        }
        let nodes = self.snapshot.problem.nodes.iter().zip(0..);
        let places: BTreeMap<&str, usize> =
            nodes.map(|(node, place)| (node.name.as_str(), place)).collect();
        let known = |name: &String| places.get(name.as_str()).copied();
        let sets = planned.iter().filter_map(|names| names.iter().map(known).collect());
        self.planned = sets.collect();
        let received: BTreeSet<usize> = received.iter().filter_map(known).collect();
        self.order.retain(|node| !received.contains(node));
        for node in received.into_iter().filter(|node| self.snapshot.nodes[*node].may_go.is_ok()) {
            self.kept[node] = Some(Kept::Receives);
        }
        self.phase = Phase::Planned(0);
    }

    /// The names of the nodes that were not looked at yet, or not for a replacement.
    #[must_use]
    pub fn unreached(&self) -> Vec<String> {
        let left: Vec<usize> = match &self.phase {
            _ if self.best.is_some() => Vec::new(),
            Phase::Removals(place) => {
                let is_unknown = |node: &usize| self.kept[*node] == Some(Kept::NotReached);
                self.order[*place..].iter().copied().filter(is_unknown).collect()
            }
            Phase::Asking { round: 0, sets, place } => {
                let alone = sets[*place..].iter().filter(|set| set.len() == 1);
                alone.flatten().copied().collect()
            }
            // The nodes of an earlier plan are the first of all.
            Phase::Planned(_) | Phase::Asking { .. } | Phase::Taking { .. } | Phase::Done => {
                Vec::new()
            }
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

    /// How many replacements were asked about so far.
    #[must_use]
    pub fn what_ifs(&self) -> usize {
        self.what_ifs
    }

    /// The best plan so far.
    #[must_use]
    pub fn plan(&self) -> Plan {
        let best =
            self.best.as_ref().filter(|best| self.gain(&best.moves) >= self.gain(&self.moves));
        let (moves, kept) =
            best.map_or((&self.moves, &self.kept), |best| (&best.moves, &best.kept));
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
            saving_bound: self.ranking.saving_bound,
            kept: kept.clone(),
            is_complete: self.phase == Phase::Done,
        }
    }

    fn step(&mut self, phase: Phase) -> Phase {
        match phase {
            Phase::Planned(place) => match self.planned.get(place).cloned() {
                Some(nodes) => {
                    self.take_planned(&nodes);
                    Phase::Planned(place + 1)
                }
                None => Phase::Removals(0),
            },
            Phase::Removals(place) => match self.order.get(place).copied() {
                Some(node) => {
                    self.try_removal(node);
                    Phase::Removals(place + 1)
                }
                None => match self.strategy {
                    Strategy::RemoveWaste | Strategy::RemoveDearest => self.ask_in(0),
                    Strategy::ReplaceFirst => self.try_again(),
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
                    Strategy::RemoveWaste | Strategy::RemoveDearest => self.try_again(),
                    Strategy::ReplaceFirst => Phase::Removals(0),
                },
            },
            Phase::Done => Phase::Done,
        }
    }

    fn is_large(&self) -> bool {
        self.order.len() > LARGE_CLUSTER_NODES
    }

    /// Begins with the next strategy where that may find more: where nothing was found, nothing
    /// would be found in another order either.
    fn try_again(&mut self) -> Phase {
        if self.best.is_none() && self.moves.is_empty() {
            return Phase::Done;
        }
        self.refusals.forget();
        let prices = &self.judge.prices;
        let next = match self.strategy {
            Strategy::RemoveWaste if self.order.len() > HUGE_CLUSTER_NODES => return Phase::Done,
            Strategy::RemoveWaste if !self.is_large() => Strategy::ReplaceFirst,
            Strategy::RemoveWaste | Strategy::ReplaceFirst => Strategy::RemoveDearest,
            Strategy::RemoveDearest => return Phase::Done,
        };
        // What was begun is gone on with, be it the best or not.
        if !self.planned.is_empty() {
            return Phase::Done;
        }
        let saved = match next {
            Strategy::RemoveDearest => prices,
            Strategy::RemoveWaste | Strategy::ReplaceFirst => &self.ranking.regrets,
        };
        let mut order = self.ranking.order(self.snapshot, saved, prices);
        let targets = self.ranking.targets(self.snapshot, &order);
        order.sort_by_key(|node| self.turns[*node]);
        if next == Strategy::RemoveDearest && order == self.order {
            return Phase::Done;
        }
        (self.strategy, self.order) = (next, order);
        self.residual = self.cluster.residual(&targets);
        let moves = std::mem::take(&mut self.moves);
        let kept = std::mem::replace(&mut self.kept, unreached(self.snapshot));
        let best = self.best.take().filter(|best| self.gain(&best.moves) >= self.gain(&moves));
        self.best = best.or(Some(Attempt { moves, kept }));
        match next {
            Strategy::ReplaceFirst => self.ask_in(0),
            Strategy::RemoveWaste | Strategy::RemoveDearest => Phase::Removals(0),
        }
    }

    fn gain(&self, moves: &[Move]) -> u128 {
        moves.iter().map(|each| self.judge.gain(each)).sum()
    }

    pub(crate) fn regret_micros(&self, node: usize) -> u64 {
        self.ranking.regrets[node].micros_per_hour()
    }

    fn ask_in(&self, round: usize) -> Phase {
        Phase::Asking { round, sets: self.sets(round), place: 0 }
    }

    /// Notes that a move is part of the plan.
    pub(crate) fn accept(&mut self, accepted: Move) {
        self.refusals.forget();
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
