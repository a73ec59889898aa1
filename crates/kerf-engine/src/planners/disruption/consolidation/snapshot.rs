//! The cluster as the search sees it: the placement problem, and what was decided about each node.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kerf_consolidation::{
    EvictionCost, Ineligible, NodeFacts, PAYBACK_MAX_SECONDS_DEFAULT, Settings,
};
use kerf_model::labels::well_known::NODE_POOL;
use kerf_model::node::Node as NodeView;
use kerf_scheduler::PlacementProblem;

use super::hysteresis::Undone;
use super::{Consolidation as Method, eligibility, left};
use crate::command::CandidateRef;
use crate::decision::Decision;
use crate::observed::{Name, Node, Pod, PodOwner};
use crate::planners::disruption::budgets::Budgets;
use crate::planners::disruption::candidates::{Candidate, Judge};
use crate::planners::disruption::messages;
use crate::planners::disruption::proposal::BLOCKED_EVENTS_MAX;
use crate::planners::provisioning::{build_without, waiting_pods};
use crate::solve::Consolidation;
use crate::time::{Span, Time};
use crate::world::World;

/// For how long a plan is gone on with: by then its first moves have paid back, and the cluster is
/// another one.
const PLAN_COUNTS_FOR: Span = Span::from_seconds(PAYBACK_MAX_SECONDS_DEFAULT);

/// Makes snapshots.
pub(super) struct Painter<'a, 'j> {
    pub(super) world: &'a World,
    pub(super) judge: &'j mut Judge<'a>,
    /// Claims that others have chosen already.
    pub(super) taken: &'j BTreeSet<Name>,
    /// Pools that may lose nothing now.
    pub(super) closed: &'j BTreeSet<Name>,
    /// Whether empty nodes are part of the plan. They need none: they go by themselves.
    pub(super) plans_empty: bool,
    pub(super) undone: Undone,
    pub(super) now: Time,
}

impl<'a> Painter<'a, '_> {
    /// The cluster of now. Nodes that are blocked are told so.
    pub(super) fn paint(
        mut self,
        budgets: &Budgets<'_>,
        decision: &mut Decision,
    ) -> (PlacementProblem, Consolidation) {
        let (world, now) = (self.world, self.now);
        let waiting = waiting_pods(world, now);
        let (mut problem, _) = build_without(world, (&waiting, &[]), &BTreeSet::new(), now);
        let mut nodes = Vec::with_capacity(problem.nodes.len());
        let (mut candidates, mut allowed) = (BTreeMap::new(), BTreeMap::new());
        let before = decision.kubernetes_events.len();
        for (index, view) in problem.nodes.iter_mut().enumerate() {
            let events = decision.kubernetes_events.len() - before;
            let told = (events < 2 * BLOCKED_EVENTS_MAX).then_some(&mut *decision);
            let (facts, candidate) = self.facts(view, told);
            if let Some(candidate) = candidate {
                candidates.insert(index, candidate);
                show_movers(world, view);
            }
            nodes.push(facts);
        }
        for pool in world.pools.keys() {
            allowed.extend(left(budgets, pool).map(|count| (pool.clone(), count)));
        }
        let memory = &world.memory.consolidation;
        let visit_first = memory.unreached.clone();
        let plan = memory.plan.as_ref().filter(|plan| now < plan.since + PLAN_COUNTS_FOR);
        let moves = plan.map(|plan| plan.moves.iter().map(|each| each.nodes.clone()).collect());
        let planned = moves.unwrap_or_default();
        let received = plan.map(|plan| plan.received.iter().cloned().collect());
        let received = received.unwrap_or_default();
        let settings =
            Settings { spot_to_spot: world.settings.spot_to_spot, ..Settings::default() };
        let asked =
            Consolidation { nodes, candidates, allowed, visit_first, planned, received, settings };
        (problem, asked)
    }

    fn facts(
        &mut self,
        view: &NodeView,
        told: Option<&mut Decision>,
    ) -> (NodeFacts, Option<CandidateRef>) {
        let world = self.world;
        let Some(node) = world.nodes.get(view.name.as_str()) else {
            return (staying(Ineligible::NotInitialized, false), None);
        };
        let Some(claim) = world.claim_of(node) else {
            // One whose claim is gone goes as well.
            let is_foreign = !node.labels.contains_key(NODE_POOL);
            let facts = staying(Ineligible::NotManaged, is_foreign);
            return (NodeFacts { disruption_cost: disruption_cost(world, node), ..facts }, None);
        };
        let Some(candidate) = Candidate::of(world, claim) else {
            return (staying(Ineligible::NotInitialized, false), None);
        };
        let is_taken = self.taken.contains(&claim.meta.name);
        let may_go = self.may_go(&candidate, is_taken, told);
        let is_candidate = may_go.is_ok() && eligibility::is_wanted(world, &candidate);
        let movers = candidate.reschedulable_pods(world).map(cost);
        let facts = NodeFacts {
            may_go,
            may_receive: !is_taken && eligibility::may_receive(world, &candidate),
            reschedule_cost: EvictionCost::of_node(movers),
            disruption_cost: disruption_cost(world, node),
            was_undone: is_candidate
                && self.undone.was_undone(world, candidate.reschedulable_pods(world), self.now),
        };
        (facts, is_candidate.then(|| candidate.reference()))
    }

    fn may_go(
        &mut self,
        candidate: &Candidate<'a>,
        is_taken: bool,
        told: Option<&mut Decision>,
    ) -> Result<(), Ineligible> {
        let world = self.world;
        eligibility::judge(world, candidate, self.now)?;
        // Who is empty goes without being asked where to.
        if is_taken || !self.plans_empty && eligibility::is_empty(world, candidate) {
            return Err(Ineligible::InCommand);
        }
        if let Err(cause) = self.judge.may_go(&Method, candidate) {
            if let Some(decision) = told.filter(|_| eligibility::is_wanted(world, candidate)) {
                decision.kubernetes_events.extend(messages::blocked(candidate, &cause));
            }
            return Err(eligibility::ineligible(&cause));
        }
        match self.closed.contains(&candidate.pool.meta.name) {
            true => Err(Ineligible::Budget { until: None }),
            false => Ok(()),
        }
    }
}

/// Mirrors of static pods end with their node, and a pod of a StatefulSet that is ending will want
/// another place under the same name.
fn show_movers(world: &World, view: &mut Arc<NodeView>) {
    let special = |pod: &&Pod| {
        pod.owner == PodOwner::Node || pod.is_reschedulable() && pod.meta.is_deleting()
    };
    let name = view.name.clone();
    for pod in world.pods_on(&name).filter(special) {
        let bound = Arc::make_mut(view).pods.iter_mut();
        for bound in bound.filter(|bound| *bound.pod.uid == *pod.meta.uid) {
            bound.is_leaving = pod.owner == PodOwner::Node;
        }
    }
}

/// A node that stays.
fn staying(cause: Ineligible, may_receive: bool) -> NodeFacts {
    NodeFacts {
        may_go: Err(cause),
        may_receive,
        reschedule_cost: EvictionCost::ONE,
        disruption_cost: EvictionCost::ONE,
        was_undone: false,
    }
}

fn disruption_cost(world: &World, node: &Node) -> EvictionCost {
    let pods = world.pods_on(&node.meta.name).filter(|pod| pod.owner != PodOwner::DaemonSet);
    EvictionCost::of_node(pods.map(cost))
}

fn cost(pod: &Pod) -> EvictionCost {
    EvictionCost::of_pod(pod.deletion_cost, pod.priority)
}
