//! What-ifs: where would the pods of some nodes go if the nodes were not there?
//!
//! Questions of one request are answered in turn, on one snapshot. A node that may go leaves its
//! pods' places taken for the questions after it, so that all answers hold together and each can
//! become a command of its own.

use std::sync::Arc;

use kerf_model::budget::DisruptionReason;
use kerf_model::node::BoundPod;
use kerf_model::pod::Pod;
use kerf_scheduler::{CancelFlag, PlacementProblem, Solution, SolverCache};
use serde::{Deserialize, Serialize};

use super::SolveRequest;
use crate::command::CandidateRef;

/// Questions about nodes that could go. None of these nodes is in the problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhatIfs {
    /// Why the nodes would go.
    pub reason: DisruptionReason,
    /// So many pods of the problem, the first ones, wait for a place anyway. They are placed first
    /// and have no say in the answers.
    pub waiting: usize,
    /// So many nodes of the problem, the first ones, are up. Only pods that wait may count on others.
    pub nodes_up: usize,
    /// The nodes, best first. Their pods follow in the problem, in the same order.
    pub questions: Vec<Question>,
}

/// A question about one node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The claim of the node that would go.
    pub candidate: CandidateRef,
    /// How many pods would need another place.
    pub pods: usize,
}

impl WhatIfs {
    /// Each question with its pods.
    pub fn with_pods<'p>(
        &'p self,
        problem: &'p PlacementProblem,
    ) -> impl Iterator<Item = (&'p Question, &'p [Pod])> {
        let mut rest = problem.pods.get(self.waiting..).unwrap_or_default();
        self.questions.iter().map(move |question| {
            let (own, others) = rest.split_at(question.pods.min(rest.len()));
            rest = others;
            (question, own)
        })
    }
}

/// Answers the questions of a request, one solution each, which counts the question's own pods.
/// `None` if it was cancelled.
pub(super) fn answer(
    request: &SolveRequest,
    what_ifs: &WhatIfs,
    cache: &mut SolverCache,
    cancel: &CancelFlag,
) -> Option<Vec<Solution>> {
    let mut problem = (*request.problem).clone();
    problem.pods.truncate(what_ifs.waiting);
    if !problem.pods.is_empty() {
        let solution = cache.solve_within(&problem, request.effort, cancel)?;
        occupy(&mut problem, &solution);
    }
    problem.nodes.truncate(what_ifs.nodes_up);
    let mut answers = Vec::with_capacity(what_ifs.questions.len());
    for (_, pods) in what_ifs.with_pods(&request.problem) {
        problem.pods = pods.to_vec();
        let solution = cache.solve_within(&problem, request.effort, cancel)?;
        if is_complete(&solution) {
            occupy(&mut problem, &solution);
        }
        answers.push(solution);
    }
    Some(answers)
}

/// Whether every pod has a place.
#[must_use]
pub fn is_complete(solution: &Solution) -> bool {
    solution.unplaced.is_empty() && solution.deferred.is_empty()
}

/// Takes the places that a solution gives pods on nodes that exist.
fn occupy(problem: &mut PlacementProblem, solution: &Solution) {
    for placement in &solution.existing {
        let node = Arc::make_mut(&mut problem.nodes[placement.node]);
        let pods = placement.pods.iter().map(|pod| problem.pods[*pod].clone());
        let bound = pods.map(|pod| BoundPod { pod, is_daemon: false, is_leaving: false });
        node.pods.extend(bound);
    }
}
