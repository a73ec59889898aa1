//! A cluster that many what-ifs are asked of.

use rustc_hash::FxHashMap;

use crate::limits::{CancelFlag, Effort, Limits};
use crate::problem::PlacementProblem;
use crate::reading::base::{Base, BoundPods};
use crate::solution::{Solution, WhatIf};
use crate::solver_cache::SolverCache;
use crate::solving::rounds::Placed;
use crate::solving::solver::Solver;

/// A cluster, read once. Questions share what was read and what earlier ones worked out, so that
/// each costs little more than placing its pods; they may be asked from several threads at a time,
/// and the answers do not depend on what was asked before.
pub struct PreparedCluster<'p> {
    pub(crate) base: Base<'p>,
}

impl<'p> PreparedCluster<'p> {
    /// Reads a cluster.
    #[must_use]
    pub fn read(problem: &'p PlacementProblem) -> Self {
        Self::read_with(problem, &mut SolverCache::default())
    }

    /// Reads a cluster with what was read for problems before; the answers are the same.
    #[must_use]
    pub fn read_with(problem: &'p PlacementProblem, cache: &mut SolverCache) -> Self {
        Self { base: Base::read(problem, BoundPods::MayMove, cache) }
    }

    /// Decides where the waiting pods go and which nodes to add.
    #[must_use]
    pub fn solve(&self) -> Solution {
        self.without(&[]).solution
    }

    /// Of each node of the problem a number that it shares with those that are alike but for their
    /// names: same labels and taints, the same pods in the same order, as much left. Without one of
    /// them the cluster looks as it does without another.
    #[must_use]
    pub fn alike(&self) -> Vec<u32> {
        let cluster = &self.base.cluster;
        let mut numbers: FxHashMap<_, u32> = FxHashMap::default();
        let mut alike = vec![0; cluster.nodes.len()];
        for node in &cluster.nodes {
            let (read, listed) = (&node.read, &cluster.listed[node.place]);
            let is_leaving: Vec<bool> = listed.pods.iter().map(|pod| pod.is_leaving).collect();
            let of_kind = (read.kind.number, read.pool, listed.initialized, &listed.volume_limits);
            let key = (of_kind, &read.capacity, &node.free, &read.bound, is_leaving);
            let next = u32::try_from(numbers.len()).expect("fewer than 2³² nodes");
            alike[node.place] = *numbers.entry(key).or_insert(next);
        }
        alike
    }

    /// Decides where the waiting pods and those of some nodes would go if the nodes were not there.
    /// Nodes are named by their index in the problem; one that is not in it is not there anyway.
    #[must_use]
    pub fn without(&self, nodes: &[usize]) -> WhatIf {
        self.without_within(nodes, Effort::UNLIMITED, &CancelFlag::default())
            .expect("a what-if that nobody can cancel ends")
    }

    /// As [`without`](Self::without), with a bound on the work. `None` if it was cancelled.
    #[must_use]
    pub fn without_within(
        &self,
        nodes: &[usize],
        effort: Effort,
        cancel: &CancelFlag,
    ) -> Option<WhatIf> {
        let mut nodes: Vec<usize> = nodes.to_vec();
        nodes.retain(|node| *node < self.base.cluster.len());
        nodes.sort_unstable();
        nodes.dedup();
        let limits = Limits::new(effort, cancel.clone());
        let what_if = self.base.without(&nodes, &limits);
        (!limits.is_cancelled()).then_some(what_if)
    }
}

impl Base<'_> {
    /// Answers for the cluster without some of its nodes, given in order.
    pub(crate) fn without(&self, gone: &[usize], limits: &Limits) -> WhatIf {
        let (solver, placed) = answered(limits, || Solver::without(self, gone, limits));
        solver.into_answer(&placed)
    }
}

/// Places everything; what found no place though it could stand somewhere goes first in a second
/// try.
pub(crate) fn answered<'b>(
    limits: &Limits,
    begin: impl Fn() -> Solver<'b>,
) -> (Solver<'b>, Placed) {
    let mut solver = begin();
    let placed = solver.place_all(&[]);
    let left_out = solver.left_out_by_order(&placed);
    if left_out.is_empty() || limits.are_reached() {
        return (solver, placed);
    }
    // Pods that could stand somewhere found their place taken: with them first, more may fit.
    let mut again = begin();
    let placed_again = again.place_all(&left_out);
    if placed_again.unplaced_count() < placed.unplaced_count() {
        (again, placed_again)
    } else {
        (solver, placed)
    }
}
