//! In which order nodes are looked at, and in which order they take pods.

use std::cmp::Ordering;

use kerf_model::node::Node;
use kerf_model::price::Price;
use kerf_model::quantity::Quantity;
use kerf_model::resources::{CPU, MEMORY};
use kerf_scheduler::PreparedCluster;

use crate::judge::sum;
use crate::snapshot::Snapshot;

/// How finely it is told how much of a node is asked for.
const PARTS: i128 = 1 << 20;

/// What a search goes by, from its begin to its end.
pub(crate) struct Ranking {
    /// Of each node what is paid for nothing: its price less what its pods are worth.
    pub(crate) regrets: Vec<Price>,
    /// No plan can save more.
    pub(crate) saving_bound: Price,
    /// How much of each node is asked for.
    loads: Vec<i128>,
}

impl Ranking {
    pub(crate) fn of(snapshot: &Snapshot, cluster: &PreparedCluster<'_>, prices: &[Price]) -> Self {
        let nodes = &snapshot.problem.nodes;
        let facts = &snapshot.nodes;
        let (going, mut staying): (Vec<usize>, Vec<usize>) =
            (0..nodes.len()).partition(|node| facts[*node].may_go.is_ok());
        staying.retain(|node| facts[*node].may_receive);
        let going: Vec<(usize, Price)> =
            going.into_iter().map(|node| (node, prices[node])).collect();
        let covering = cluster.covering(&going, &staying);
        let mut regrets = vec![Price::ZERO; nodes.len()];
        for ((node, price), value) in going.iter().zip(&covering.values) {
            regrets[*node] = price.checked_sub(*value).unwrap_or(Price::ZERO);
        }
        let whole = sum(going.iter().map(|(_, price)| *price));
        let saving_bound = whole.checked_sub(covering.bound).unwrap_or(Price::ZERO);
        Self { regrets, saving_bound, loads: nodes.iter().map(|node| load(node)).collect() }
    }

    /// Nodes that may go, those first for which this is most per eviction, then those that cost
    /// most. Of two that are alike the emptier comes first: never is the busy node taken where the
    /// idle one would do.
    pub(crate) fn order(
        &self,
        snapshot: &Snapshot,
        saved: &[Price],
        prices: &[Price],
    ) -> Vec<usize> {
        let (nodes, facts) = (&snapshot.problem.nodes, &snapshot.nodes);
        let cost = |node: usize| facts[node].reschedule_cost.parts();
        let mut order: Vec<usize> =
            (0..nodes.len()).filter(|node| facts[*node].may_go.is_ok()).collect();
        order.sort_by(|one, other| {
            per_eviction(*one, *other, snapshot, saved)
                .then_with(|| per_eviction(*one, *other, snapshot, prices))
                .then(cost(*one).cmp(&cost(*other)))
                .then(self.loads[*one].cmp(&self.loads[*other]))
                .then_with(|| nodes[*one].name.cmp(&nodes[*other].name))
        });
        order
    }

    /// Nodes that may take pods, those first that stay in any case, the fullest before the others;
    /// then those that may go, the last to be looked at first.
    pub(crate) fn targets(&self, snapshot: &Snapshot, order: &[usize]) -> Vec<usize> {
        let facts = &snapshot.nodes;
        let mut staying: Vec<usize> =
            (0..facts.len()).filter(|node| facts[*node].may_go.is_err()).collect();
        staying.sort_by_cached_key(|node| (-self.loads[*node], *node));
        let going = order.iter().rev().copied();
        staying.into_iter().chain(going).filter(|node| facts[*node].may_receive).collect()
    }
}

/// Which of two nodes comes first by what is saved per eviction.
fn per_eviction(one: usize, other: usize, snapshot: &Snapshot, saved: &[Price]) -> Ordering {
    let saved = |node: usize| u128::from(saved[node].micros_per_hour());
    let cost = |node: usize| u128::from(snapshot.nodes[node].reschedule_cost.parts());
    (saved(other) * cost(one)).cmp(&(saved(one) * cost(other)))
}

/// How much of a node its pods ask for: the parts of CPU and memory together.
fn load(node: &Node) -> i128 {
    let part = |resource: &str| {
        let amount = |quantity: Option<Quantity>| quantity.map_or(0, |it| it.nanos());
        let asked = node.pods.iter().map(|bound| amount(bound.pod.shape.requests.get(resource)));
        let whole = amount(node.allocatable.get(resource)).max(1);
        asked.sum::<i128>() / (whole / PARTS).max(1)
    };
    part(CPU) + part(MEMORY)
}
