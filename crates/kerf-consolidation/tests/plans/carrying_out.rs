//! Carrying a plan out on paper, move by move, with a look by the independent checker at each.

use std::sync::Arc;

use kerf_checker::check;
use kerf_consolidation::{Launch, Move, Plan, Snapshot};
use kerf_model::node::{BoundPod, Node};
use kerf_model::requirement::Operator;
use kerf_scheduler::{
    Displaced, ExistingPlacement, NewNode, PlacementProblem, PreparedCluster, Solution, Unplaced,
};

/// A cluster while a plan is carried out. Nodes keep their index: one that is gone is empty and so
/// small that nothing fits.
pub(crate) struct Carried {
    /// What stands there now.
    pub(crate) problem: PlacementProblem,
    original: PlacementProblem,
    gone: Vec<bool>,
    may_receive: Vec<bool>,
}

/// Everything that is wrong with a plan, move by move.
pub(crate) fn violations(snapshot: &Snapshot, plan: &Plan) -> Vec<String> {
    let mut carried = Carried::new(snapshot);
    let mut found = Vec::new();
    for (number, each) in plan.moves.iter().enumerate() {
        found.extend(carried.carry_out(each).iter().map(|it| format!("move {number}: {it}")));
    }
    found
}

impl Carried {
    pub(crate) fn new(snapshot: &Snapshot) -> Self {
        let mut problem = snapshot.problem.clone();
        problem.pods.clear();
        let gone = vec![false; problem.nodes.len()];
        let may_receive = snapshot.nodes.iter().map(|facts| facts.may_receive).collect();
        Self { original: problem.clone(), problem, gone, may_receive }
    }

    /// Carries a move out; answers with what is wrong with it.
    pub(crate) fn carry_out(&mut self, each: &Move) -> Vec<String> {
        let mut wrong = Vec::new();
        for node in &each.removed {
            if std::mem::replace(&mut self.gone[*node], true) {
                wrong.push(format!("node {node} goes twice"));
            }
        }
        let displaced = self.displaced(each);
        let (problem, solution) = self.question(each, &displaced);
        wrong.extend(check(&problem, &solution).iter().map(ToString::to_string));
        for destination in &each.destinations {
            if self.gone[destination.node] {
                wrong.push(format!("a pod goes to node {}, which is gone", destination.node));
                continue;
            }
            let bound = self.bound(destination.pod);
            Arc::make_mut(&mut self.problem.nodes[destination.node]).pods.push(bound);
        }
        for launch in &each.launches {
            let node = self.launched(launch);
            self.problem.nodes.push(Arc::new(node));
            self.gone.push(false);
            self.may_receive.push(false);
        }
        wrong
    }

    /// Whether the pods of a node all fit on those that stay and may take pods, in every order.
    pub(crate) fn could_go(&self, node: usize) -> bool {
        let targets: Vec<usize> = (0..self.gone.len())
            .filter(|target| !self.gone[*target] && self.may_receive[*target])
            .collect();
        let mut problem = self.problem.clone();
        for gone in (0..self.gone.len()).filter(|node| self.gone[*node]) {
            Arc::make_mut(&mut problem.nodes[gone]).pods.clear();
        }
        let cluster = PreparedCluster::read(&problem);
        cluster.residual(&targets).remove(&[node]).is_ok()
    }

    /// The pods that have to move: all that stood on the nodes at first, and nobody who came since.
    fn displaced(&self, each: &Move) -> Vec<Displaced> {
        let mut displaced = Vec::new();
        for node in each.removed.iter().copied() {
            let now = &self.problem.nodes[node].pods;
            assert_eq!(now.len(), self.original.nodes[node].pods.len(), "nobody moves twice");
            let pods = now.iter().enumerate();
            let pods = pods.filter(|(_, bound)| !bound.is_daemon && !bound.is_leaving);
            displaced.extend(pods.map(|(pod, _)| Displaced { node, pod }));
        }
        displaced
    }

    fn bound(&self, pod: Displaced) -> BoundPod {
        self.original.nodes[pod.node].pods[pod.pod].clone()
    }

    /// The move as a placement problem and its answer: the pods wait, and the nodes are gone.
    fn question(&self, each: &Move, displaced: &[Displaced]) -> (PlacementProblem, Solution) {
        let mut problem = self.problem.clone();
        problem.pods = displaced.iter().map(|pod| self.bound(*pod).pod).collect();
        let stays: Vec<usize> = (0..problem.nodes.len()).filter(|node| !self.gone[*node]).collect();
        problem.nodes = stays.iter().map(|node| self.problem.nodes[*node].clone()).collect();
        let number = |pod: &Displaced| displaced.iter().position(|it| it == pod);
        let number = |pod: &Displaced| number(pod).expect("only pods of removed nodes move");
        let mut solution = Solution::default();
        for (place, node) in stays.iter().enumerate() {
            let here = each.destinations.iter().filter(|it| it.node == *node);
            let mut pods: Vec<usize> = here.map(|it| number(&it.pod)).collect();
            pods.sort_unstable();
            if !pods.is_empty() {
                solution.existing.push(ExistingPlacement { node: place, pods });
            }
        }
        for launch in &each.launches {
            let mut pods: Vec<usize> = launch.pods.iter().map(number).collect();
            pods.sort_unstable();
            solution.new_nodes.push(NewNode { pods, ..launch.node.clone() });
            let cheapest = launch.node.options[0].price;
            solution.price = solution.price.checked_add(cheapest).expect("small prices");
        }
        let placed: Vec<usize> = solution.existing.iter().flat_map(|it| it.pods.clone()).collect();
        let new: Vec<usize> = solution.new_nodes.iter().flat_map(|it| it.pods.clone()).collect();
        let is_left = |pod: &usize| !placed.contains(pod) && !new.contains(pod);
        let left = (0..displaced.len()).filter(is_left);
        solution.unplaced =
            left.map(|pod| Unplaced { pod, reason: "forgotten by the move".to_owned() }).collect();
        assert!(solution.unplaced.is_empty(), "pods without a place: {:?}", solution.unplaced);
        (problem, solution)
    }

    /// What a launch becomes: the cheapest of its instance types, with its pods.
    fn launched(&self, launch: &Launch) -> Node {
        let pool = &self.problem.pools[launch.node.pool];
        let option = launch.node.options[0];
        let instance_type = &pool.instance_types[option.instance_type];
        let name = format!("launched-{:03}", self.problem.nodes.len());
        let offering = &instance_type.offerings[option.offering];
        let entries = [&offering.requirements[..], &launch.node.requirements[..]];
        let entries = entries.into_iter().flatten().chain(&*instance_type.requirements);
        let mut labels = pool.pool.template.labels.clone();
        for entry in entries.filter(|entry| entry.operator == Operator::In) {
            if let Some(value) = entry.values.first() {
                labels.entry(entry.key.clone()).or_insert_with(|| value.clone());
            }
        }
        let type_key = kerf_model::labels::well_known::INSTANCE_TYPE;
        labels.insert(type_key.to_owned(), instance_type.name.clone());
        labels.insert(kerf_model::labels::well_known::HOSTNAME.to_owned(), name.clone());
        Node {
            name,
            pool: Some(pool.pool.name.clone()),
            labels,
            taints: pool.pool.template.spec.taints.clone(),
            initialized: true,
            capacity: (*instance_type.capacity).clone(),
            allocatable: instance_type.allocatable_of(offering),
            pods: launch.pods.iter().map(|pod| self.bound(*pod)).collect(),
            volume_limits: Default::default(),
        }
    }
}
