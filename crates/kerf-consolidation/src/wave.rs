//! How much of a plan can be carried out at once.

use kerf_scheduler::PreparedCluster;

use crate::plan::Plan;
use crate::snapshot::Snapshot;
use crate::visiting_order::{targets, visiting_order};

/// How many of the first moves of a plan, with at most so many nodes, can be carried out at the same
/// time. Each move fits once those before it are done; pods that are evicted all at once mix, and
/// kube-scheduler may come to another order. A move that launches something is a wave of its own.
#[must_use]
pub fn first_wave(
    snapshot: &Snapshot,
    cluster: &PreparedCluster<'_>,
    plan: &Plan,
    nodes_max: usize,
) -> usize {
    let removals = plan.moves.iter().take_while(|each| each.launches.is_empty());
    let mut ends = Vec::new();
    let mut nodes: Vec<usize> = Vec::new();
    for each in removals {
        nodes.extend(&each.removed);
        if nodes.len() > nodes_max {
            break;
        }
        ends.push(nodes.len());
    }
    let order = visiting_order(snapshot, &crate::node_price::node_prices(&snapshot.problem));
    let mut residual = cluster.residual(&targets(snapshot, &order));
    let mut fits = |moves: usize| residual.rehearse(&nodes[..ends[moves - 1]]).is_ok();
    if ends.is_empty() {
        let first = plan.moves.first();
        return usize::from(first.is_some_and(|each| each.removed.len() <= nodes_max));
    }
    // The first alone fits: that was rehearsed when it was planned.
    let (mut known, mut unknown) = (1, ends.len() + 1);
    while unknown - known > 1 {
        let tried = if unknown == ends.len() + 1 { ends.len() } else { known.midpoint(unknown) };
        if fits(tried) { known = tried } else { unknown = tried }
    }
    known
}
