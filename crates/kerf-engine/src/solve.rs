//! Solves: searches for places that run outside the engine's task and come back as events.

mod consolidation;
mod what_ifs;

use std::sync::Arc;

use kerf_scheduler::{CancelFlag, Effort, PlacementProblem, SolverCache};
use serde::{Deserialize, Serialize};

use crate::action::Subject;
use crate::event::{Failure, Outcome};
use crate::time::{Span, Time};
pub use consolidation::{Consolidation, ConsolidationPlan};
pub use what_ifs::{Question, WhatIfs, is_complete};

/// A placement problem to solve, on a snapshot of the world that shares what did not change with
/// the snapshots before it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SolveRequest {
    /// Who waits for the answer. Those who ask do not wait for each other.
    pub asker: Asker,
    /// The work that may go into it; what is found by then is the answer. Effort and not time, so
    /// that the same request always has the same answer.
    pub effort: Effort,
    /// Nobody waits for the answer after this time: a solve that runs longer is cancelled. It is
    /// [stopped](Self::stop_at) before.
    pub deadline: Time,
    /// What to solve.
    pub problem: Arc<PlacementProblem>,
    /// The questions the problem consists of, where it is not one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what_ifs: Option<Arc<WhatIfs>>,
    /// What to know of the nodes, where some are looked for that could go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consolidation: Option<Arc<Consolidation>>,
}

/// Who asks for a solve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Asker {
    /// Pods that wait for a node.
    Provisioning,
    /// Nodes that should go, and whose pods need places.
    Disruption,
    /// The search for nodes that could go so that the cluster costs less.
    Consolidation,
    /// A person who wants to know why. Never the engine, so no action has it.
    User,
}

impl Asker {
    /// Everybody who asks.
    pub const ALL: [Self; 4] =
        [Self::Provisioning, Self::Disruption, Self::Consolidation, Self::User];

    /// The work that may go into one answer: bins filled, of which a processor fills a million in
    /// some ten seconds. Pods that wait get what the largest batch takes; a search that can go on
    /// later, and a person, get less.
    #[must_use]
    pub fn effort(self) -> Effort {
        match self {
            Self::Provisioning => Effort(4_000_000),
            Self::Disruption | Self::Consolidation | Self::User => Effort(1_000_000),
        }
    }

    /// How long somebody waits for the answer.
    #[must_use]
    pub fn patience(self) -> Span {
        match self {
            Self::Provisioning | Self::Disruption => Span::from_minutes(5),
            // What it has not come to by then it begins with the next time.
            Self::Consolidation => Span::from_minutes(1),
            Self::User => Span::from_seconds(30),
        }
    }

    /// What the answer is about.
    pub(crate) fn subject(self) -> Subject {
        match self {
            Self::Provisioning | Self::User => Subject::Provisioning,
            Self::Disruption => Subject::Disruption,
            Self::Consolidation => Subject::Consolidation,
        }
    }
}

/// How long before its deadline a solve is told to end with what it has found: the answer has to be
/// written and to arrive, and one step of the solver may take a moment.
const STOPS_BEFORE_DEADLINE: Span = Span::from_seconds(5);

impl SolveRequest {
    /// When a solve that still runs ends with what was found so far; the rest continues in the next.
    #[must_use]
    pub fn stop_at(&self) -> Time {
        self.deadline - STOPS_BEFORE_DEADLINE
    }

    /// A request with the effort and the patience of its asker.
    #[must_use]
    pub fn new(asker: Asker, problem: PlacementProblem, now: Time) -> Self {
        let (effort, deadline) = (asker.effort(), now + asker.patience());
        let problem = Arc::new(problem);
        Self { asker, effort, deadline, problem, what_ifs: None, consolidation: None }
    }

    /// What-ifs, each with the effort of the search for nodes that could go.
    #[must_use]
    pub fn what_ifs(problem: PlacementProblem, what_ifs: WhatIfs, now: Time) -> Self {
        let what_ifs = Some(Arc::new(what_ifs));
        Self { what_ifs, ..Self::new(Asker::Disruption, problem, now) }
    }

    /// A search for nodes that could go.
    #[must_use]
    pub fn consolidation(
        problem: PlacementProblem,
        consolidation: Consolidation,
        now: Time,
    ) -> Self {
        let consolidation = Some(Arc::new(consolidation));
        Self { consolidation, ..Self::new(Asker::Consolidation, problem, now) }
    }

    /// Solves it here and now.
    #[must_use]
    pub fn solve(&self, cancel: &CancelFlag) -> Outcome {
        self.solve_with(&mut SolverCache::default(), cancel)
    }

    /// Solves it with what was read for requests before; the answer is the same.
    #[must_use]
    pub fn solve_with(&self, cache: &mut SolverCache, cancel: &CancelFlag) -> Outcome {
        let outcome = match (&self.what_ifs, &self.consolidation) {
            (Some(what_ifs), _) => {
                what_ifs::answer(self, what_ifs, cache, cancel).map(Outcome::Answered)
            }
            (None, Some(asked)) => {
                let plan = consolidation::search(&self.problem, asked, cancel);
                plan.map(|plan| Outcome::Consolidated(Box::new(plan)))
            }
            (None, None) => {
                let solution = cache.solve_within(&self.problem, self.effort, cancel);
                solution.map(|solution| Outcome::Solved(Box::new(solution)))
            }
        };
        outcome.unwrap_or_else(|| {
            Outcome::Failed(Failure::Unavailable {
                message: "the solve was cancelled: nobody waits for its answer".to_owned(),
            })
        })
    }
}
