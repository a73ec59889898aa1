//! In which order nodes are looked at, and in which order they take pods.

use std::cmp::Ordering;

use kerf_model::node::Node;
use kerf_model::price::Price;
use kerf_model::quantity::Quantity;
use kerf_model::resources::{CPU, MEMORY};

use crate::snapshot::Snapshot;

/// How finely it is told how much of a node is asked for.
const PARTS: i128 = 1 << 20;

/// Nodes that may go, the one that saves most per eviction first. Of two that save the same the
/// emptier comes first: never is the busy node taken where the idle one would do.
pub(crate) fn visiting_order(snapshot: &Snapshot, prices: &[Price]) -> Vec<usize> {
    let nodes = &snapshot.problem.nodes;
    let loads: Vec<i128> = nodes.iter().map(|node| load(node)).collect();
    let mut order: Vec<usize> =
        (0..nodes.len()).filter(|node| snapshot.nodes[*node].may_go.is_ok()).collect();
    order.sort_by(|one, other| {
        by_saving_per_eviction(*one, *other, snapshot, prices)
            .then(loads[*one].cmp(&loads[*other]))
            .then_with(|| nodes[*one].name.cmp(&nodes[*other].name))
    });
    order
}

/// Nodes that may take pods, those first that stay in any case, the fullest before the others; then
/// those that may go, the last to be looked at first.
pub(crate) fn targets(snapshot: &Snapshot, visited: &[usize]) -> Vec<usize> {
    let nodes = &snapshot.problem.nodes;
    let facts = &snapshot.nodes;
    let mut staying: Vec<usize> =
        (0..nodes.len()).filter(|node| facts[*node].may_go.is_err()).collect();
    staying.sort_by_cached_key(|node| (-load(&nodes[*node]), *node));
    let going = visited.iter().rev().copied();
    staying.into_iter().chain(going).filter(|node| facts[*node].may_receive).collect()
}

fn by_saving_per_eviction(
    one: usize,
    other: usize,
    snapshot: &Snapshot,
    prices: &[Price],
) -> Ordering {
    let price = |node: usize| u128::from(prices[node].micros_per_hour());
    let cost = |node: usize| u128::from(snapshot.nodes[node].reschedule_cost.parts());
    let more = (price(other) * cost(one)).cmp(&(price(one) * cost(other)));
    more.then(cost(one).cmp(&cost(other)))
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
