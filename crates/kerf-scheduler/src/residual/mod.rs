//! What is left of a cluster while a plan takes nodes away, one removal after the other.
//!
//! ```text
//!  PreparedCluster ──► ResidualCluster ──► remove: its pods fit on the nodes that stay
//!   (as it stands)      (as planned so   ├► replace: some of them need new nodes
//!                        far)            └► take_if: the same, and it counts from now on
//! ```
//!
//! A removal that does not work out leaves no trace: what it changed is logged and undone.

mod covering;
pub(crate) mod left;
mod new_nodes;
mod placing;
mod rehearsal;
mod target_index;

use serde::{Deserialize, Serialize};

use crate::limits::{CancelFlag, Effort, Limits};
use crate::packing::bin::Content;
use crate::packing::pack_state::PackState;
use crate::prepared_cluster::{PreparedCluster, answered};
use crate::reading::base::is_displaceable;
use crate::solution::{Displaced, WhatIf};
use crate::solving::rounds::Placed;
use crate::solving::solver::Solver;

pub use covering::Covering;
use left::Left;
use new_nodes::EmptyNode;
use placing::Bound;

/// A cluster as it will be once the removals decided so far are carried out. Nodes and pods are
/// named as in the problem the cluster was read from.
pub struct ResidualCluster<'c> {
    left: Left<'c>,
    /// Of each node of the problem whether pods that wait or those of removed nodes go there.
    receives: Vec<bool>,
}

/// Where a pod of a removed node goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Destination {
    /// The pod.
    pub pod: Displaced,
    /// The node that takes it.
    pub node: usize,
}

/// Why nodes cannot go without new ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// This pod fits on none of the nodes that stay.
    NoRoom {
        /// The first that is left over.
        pod: Displaced,
    },
    /// Everybody fits if placed well, but kube-scheduler may come to another order in which this
    /// pod is left over.
    NotInEveryOrder {
        /// The pod that is left over then.
        pod: Displaced,
    },
    /// Pods that wait or those of nodes removed before go to this one; they would move twice.
    Receives {
        /// The node.
        node: usize,
    },
}

/// What is asked about replacing nodes.
#[derive(Clone, Debug)]
pub struct Question<'q> {
    /// The nodes that go.
    pub nodes: &'q [usize],
    /// Where their pods may go.
    pub onto: Onto,
    /// A bound on the work.
    pub effort: Effort,
    /// By which somebody else ends it.
    pub cancel: CancelFlag,
}

/// Where pods of nodes that are replaced may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Onto {
    /// Onto nodes that stay, and onto new nodes if they must.
    AnyNode,
    /// Onto new nodes only: one of those for all of them holds whoever is put there, in any order.
    NewNodes,
}

/// A node that was decided on and is not there yet.
#[derive(Clone, Copy, Debug)]
pub struct Coming<'p> {
    /// Its pool.
    pub pool: usize,
    /// Which of the pool's instance types it is most likely to be.
    pub instance_type: usize,
    /// The pods that are meant for it.
    pub pods: &'p [Displaced],
}

/// Why a what-if was not taken for true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotTaken {
    /// Somebody ended it.
    Cancelled,
    /// The caller did not accept the answer.
    NotAccepted,
    /// Somebody may be left over.
    Refused(Refusal),
}

impl PreparedCluster<'_> {
    /// Begins a plan. Only `targets` take the pods of removed nodes, those listed first before the
    /// others; pods that wait keep the places they would get.
    #[must_use]
    pub fn residual(&self, targets: &[usize]) -> ResidualCluster<'_> {
        let mut residual = ResidualCluster {
            left: Left::of(&self.base, targets),
            receives: vec![false; self.base.problem.nodes.len()],
        };
        residual.place_waiting();
        residual.left.close_all_but(targets);
        residual
    }
}

impl ResidualCluster<'_> {
    /// Takes nodes away if their pods fit on the nodes that stay, in whatever order kube-scheduler
    /// is rehearsed to bind them. Nothing changes otherwise.
    ///
    /// # Errors
    /// The pods do not fit; [`Refusal`] says which.
    pub fn remove(&mut self, nodes: &[usize]) -> Result<Vec<Destination>, Refusal> {
        if let Some(node) = nodes.iter().copied().find(|node| self.receives[*node]) {
            return Err(Refusal::Receives { node });
        }
        let displaced = self.displaced(nodes);
        let before = self.left.mark();
        match self.try_without(nodes, &displaced) {
            Ok(bound) => {
                self.left.forget_marks();
                Ok(self.destinations(&bound))
            }
            Err(refusal) => {
                self.left.undo(&before);
                Err(refusal)
            }
        }
    }

    fn try_without(
        &mut self,
        nodes: &[usize],
        displaced: &[Displaced],
    ) -> Result<Vec<Bound>, Refusal> {
        self.left.take_away(nodes);
        let without = self.left.mark();
        let bound = self.left.place_planned(displaced)?;
        self.left.undo(&without);
        self.left.rehearse(displaced, &[])?;
        for Bound { class, variant, index, .. } in &bound {
            if let Some(index) = index {
                self.left.bind(*index, *class, *variant);
            }
        }
        Ok(bound)
    }

    fn destinations(&mut self, bound: &[Bound]) -> Vec<Destination> {
        let cluster = &self.left.base.cluster;
        let destination = |each: &Bound| {
            let node = cluster.nodes[each.index?].place;
            Some(Destination { pod: each.pod, node })
        };
        let mut destinations: Vec<Destination> = bound.iter().filter_map(destination).collect();
        destinations.sort_by_key(|each| each.pod);
        for destination in &destinations {
            self.receives[destination.node] = true;
        }
        destinations
    }

    /// Where the pods of some nodes would go if those were gone too, onto new nodes where need be.
    /// Changes nothing and may be asked from several threads. `None` if it was cancelled.
    #[must_use]
    pub fn replace(&self, question: &Question<'_>) -> Option<WhatIf> {
        let limits = Limits::new(question.effort, question.cancel.clone());
        let gone = sorted(question.nodes);
        let begin = || Solver::over(&self.left, &gone, question.onto, &limits);
        let (solver, placed) = answered(&limits, begin);
        let answer = solver.into_answer(&placed);
        (!limits.is_cancelled()).then_some(answer)
    }

    /// As [`replace`](Self::replace), and where `accept` says so it counts from now on: the nodes
    /// are gone, their pods stand where the answer has them, and pool limits hold the new nodes.
    ///
    /// # Errors
    /// It was cancelled or not accepted, or kube-scheduler may bind the pods in an order in which
    /// one is left over. Nothing has changed then.
    pub fn take_if<T>(
        &mut self,
        question: &Question<'_>,
        accept: impl FnOnce(WhatIf) -> Option<T>,
    ) -> Result<T, NotTaken> {
        let limits = Limits::new(question.effort, question.cancel.clone());
        let gone = sorted(question.nodes);
        let begin = || Solver::over(&self.left, &gone, question.onto, &limits);
        let (solver, placed) = answered(&limits, begin);
        let outcome = Outcome::of(&solver, &placed);
        let answer = solver.into_answer(&placed);
        if limits.is_cancelled() {
            return Err(NotTaken::Cancelled);
        }
        let displaced = answer.displaced.clone();
        let accepted = accept(answer).ok_or(NotTaken::NotAccepted)?;
        let before = self.left.mark();
        self.left.take_away(&gone);
        if outcome.may_come_otherwise()
            && let Err(refusal) = self.left.rehearse(&displaced, &outcome.new_nodes)
        {
            self.left.undo(&before);
            return Err(NotTaken::Refused(refusal));
        }
        self.bind(outcome);
        self.left.forget_marks();
        Ok(accepted)
    }

    /// Whether the pods of nodes fit on those that stay and on those that come, if all go at once,
    /// in whatever order kube-scheduler is rehearsed to bind them. Changes nothing.
    ///
    /// # Errors
    /// The pods do not fit; [`Refusal`] says which.
    pub fn rehearse(&mut self, nodes: &[usize], coming: &[Coming<'_>]) -> Result<(), Refusal> {
        let displaced = self.displaced(nodes);
        let coming: Vec<EmptyNode> =
            coming.iter().filter_map(|each| EmptyNode::coming(each, &self.left)).collect();
        let before = self.left.mark();
        self.left.take_away(nodes);
        let outcome = self.left.rehearse(&displaced, &coming);
        self.left.undo(&before);
        outcome
    }

    /// Whether pods that wait or those of removed nodes go to a node.
    #[must_use]
    pub fn receives(&self, node: usize) -> bool {
        self.receives[node]
    }

    /// Keeps the places that pods which wait would get; those that need new nodes have none.
    fn place_waiting(&mut self) {
        let base = self.left.base;
        if base.problem.pods.is_empty() {
            return;
        }
        let limits = Limits::new(Effort::UNLIMITED, CancelFlag::default());
        let (solver, placed) = answered(&limits, || Solver::without(base, &[], &limits));
        self.bind(Outcome::of(&solver, &placed));
    }

    /// Lets pods stand where a what-if has them.
    fn bind(&mut self, outcome: Outcome) {
        let Outcome { on_nodes, on_new, state, .. } = outcome;
        self.left.bind_all(&on_nodes, &on_new);
        self.left.take_limits(state);
        for (index, _) in on_nodes.iter().filter(|(_, contents)| !contents.is_empty()) {
            self.receives[self.left.base.cluster.nodes[*index].place] = true;
        }
    }

    /// The pods of nodes that need another place.
    fn displaced(&self, nodes: &[usize]) -> Vec<Displaced> {
        let mut displaced = Vec::new();
        for node in nodes.iter().copied() {
            let pods = self.left.base.problem.nodes[node].pods.iter().enumerate();
            let pods = pods.filter(|(_, bound)| is_displaceable(bound));
            displaced.extend(pods.map(|(pod, _)| Displaced { node, pod }));
        }
        displaced
    }
}

/// Where a what-if has put pods, and what it has used of limits and reservations.
struct Outcome {
    /// Nodes by their place in filling order.
    on_nodes: Vec<(usize, Vec<Content>)>,
    on_new: Vec<Content>,
    new_nodes: Vec<EmptyNode>,
    state: PackState,
}

impl Outcome {
    fn of(solver: &Solver<'_>, placed: &Placed) -> Self {
        let on_new = placed.bins.iter().flat_map(|bin| bin.contents.iter().cloned());
        Self {
            on_nodes: solver.contents().collect(),
            on_new: on_new.collect(),
            new_nodes: placed.bins.iter().map(|bin| EmptyNode::of(bin, solver)).collect(),
            state: solver.state.clone(),
        }
    }

    /// Whether pods may stand elsewhere than planned. One new node for all of them holds whoever is
    /// put there.
    fn may_come_otherwise(&self) -> bool {
        let on_nodes = self.on_nodes.iter().any(|(_, contents)| !contents.is_empty());
        on_nodes || self.new_nodes.len() > 1
    }
}

fn sorted(nodes: &[usize]) -> Vec<usize> {
    let mut nodes = nodes.to_vec();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}
