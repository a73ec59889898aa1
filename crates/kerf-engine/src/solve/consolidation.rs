//! The search for nodes that could go so that the cluster costs less, as a solve like any other.

use std::collections::BTreeMap;

use kerf_consolidation::{Kept, Move, NodeFacts, Search, Settings, Snapshot, waves};
use kerf_model::price::Price;
use kerf_scheduler::{CancelFlag, PlacementProblem, PreparedCluster};
use serde::{Deserialize, Serialize};

use crate::command::CandidateRef;
use crate::observed::Name;

/// What the search has to know beside the problem: nodes are named by their index there.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Consolidation {
    /// What was decided about each node.
    pub nodes: Vec<NodeFacts>,
    /// The claims of the nodes that may go.
    pub candidates: BTreeMap<usize, CandidateRef>,
    /// How many nodes of each pool may go at once; nothing is said where there is no bound.
    pub allowed: BTreeMap<Name, usize>,
    /// Nodes that the last search did not come to.
    pub visit_first: Vec<String>,
    /// What is left of the plan of the last search: nodes that go together, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub planned: Vec<Vec<String>>,
    /// Nodes that have taken pods for that plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub received: Vec<String>,
    /// How to plan.
    pub settings: Settings,
}

/// What the search came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsolidationPlan {
    /// The moves that can be carried out at the same time now, in the order of the plan.
    pub wave: Vec<Move>,
    /// The nodes of each move that comes after them.
    pub later: Vec<Vec<usize>>,
    /// Why nodes stay that may go.
    pub kept: Vec<(usize, Kept)>,
    /// What the whole plan saves …
    pub saving: Price,
    /// … and what no plan can exceed.
    pub saving_bound: Price,
    /// Nodes that the search did not come to before it was stopped.
    pub unreached: Vec<String>,
    /// Whether it came to its end.
    pub is_complete: bool,
}

/// Searches until everything was looked at or somebody stops it. `None` if it was cancelled.
pub(super) fn search(
    problem: &PlacementProblem,
    asked: &Consolidation,
    cancel: &CancelFlag,
) -> Option<ConsolidationPlan> {
    let snapshot = Snapshot { problem: problem.clone(), nodes: asked.nodes.clone() };
    let cluster = PreparedCluster::read(&snapshot.problem);
    let mut search = Search::new(&snapshot, &cluster, &asked.settings);
    search.visit_first(&asked.visit_first);
    search.limit_groups(|pool| asked.allowed.get(pool).copied());
    search.go_on(&asked.planned, &asked.received);
    search.run(|| cancel.is_set());
    if cancel.is_cancelled() {
        return None;
    }
    let (plan, unreached) = (search.plan(), search.unreached());
    let within = |gone: &[usize], nodes: &[usize]| gone.is_empty() && asked.admits(problem, nodes);
    let cut = waves(&snapshot, &cluster, &plan, within).waves;
    let first = cut.first().map_or(&[][..], |first| first);
    let later = plan.moves.iter().enumerate().filter(|(place, _)| !first.contains(place));
    let may_go = |node: &usize| asked.candidates.contains_key(node);
    let kept = plan.kept.iter().enumerate().filter(|(node, _)| may_go(node));
    Some(ConsolidationPlan {
        wave: first.iter().map(|place| plan.moves[*place].clone()).collect(),
        later: later.map(|(_, each)| each.removed.clone()).collect(),
        kept: kept.filter_map(|(node, kept)| Some((node, kept.clone()?))).collect(),
        saving: plan.saving(),
        saving_bound: plan.saving_bound,
        unreached,
        is_complete: plan.is_complete,
    })
}

impl Consolidation {
    /// Whether these nodes may go at the same time.
    fn admits(&self, problem: &PlacementProblem, nodes: &[usize]) -> bool {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for pool in nodes.iter().filter_map(|node| problem.nodes[*node].pool.as_deref()) {
            *counts.entry(pool).or_default() += 1;
        }
        let admits = |(pool, count): (&str, usize)| {
            self.allowed.get(pool).is_none_or(|allowed| count <= *allowed)
        };
        counts.into_iter().all(admits)
    }
}
