//! How much of a plan can be carried out at once.
//!
//! Each move fits once those before it are done. Pods that are evicted all at once mix, and
//! kube-scheduler may come to another order; so the moves of a wave are rehearsed together, beside
//! all the nodes that are launched for them.

use kerf_scheduler::{
    CancelFlag, Coming, Effort, Onto, PreparedCluster, Question, ResidualCluster,
};

use crate::node_price::node_prices;
use crate::plan::{Move, Plan};
use crate::snapshot::Snapshot;
use crate::visiting_order::Ranking;

/// A plan cut into waves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waves {
    /// Moves of the plan, by their place: those of each wave, in the order of the plan.
    pub waves: Vec<Vec<usize>>,
    /// Moves that were never let go.
    pub held: Vec<usize>,
}

/// How many of the first moves of a plan, with at most so many nodes, can be carried out at the same
/// time.
#[must_use]
pub fn first_wave(
    snapshot: &Snapshot,
    cluster: &PreparedCluster<'_>,
    plan: &Plan,
    nodes_max: usize,
) -> usize {
    let mut nodes = 0;
    let is_within = |each: &&Move| {
        nodes += each.removed.len();
        nodes <= nodes_max
    };
    let moves: Vec<&Move> = plan.moves.iter().take_while(is_within).collect();
    // The first alone was rehearsed when it was planned, with what it launches as it was then.
    fitting(&mut residual(snapshot, cluster), &moves).max(moves.len().min(1))
}

/// Cuts a plan into waves, one after the other. `may_go` is asked whether nodes may go at the same
/// time once others are gone: what budgets allow. A move that has to wait holds up no other.
#[must_use]
pub fn waves(
    snapshot: &Snapshot,
    cluster: &PreparedCluster<'_>,
    plan: &Plan,
    may_go: impl Fn(&[usize], &[usize]) -> bool,
) -> Waves {
    let mut residual = residual(snapshot, cluster);
    let mut rest: Vec<usize> = (0..plan.moves.len()).collect();
    let mut cut = Waves::default();
    let mut gone: Vec<usize> = Vec::new();
    while !rest.is_empty() {
        let mut together = Vec::new();
        let mut admitted: Vec<usize> = Vec::new();
        for place in rest.iter().copied() {
            let before = together.len();
            together.extend(&plan.moves[place].removed);
            match may_go(&gone, &together) {
                true => admitted.push(place),
                false => together.truncate(before),
            }
        }
        let moves: Vec<&Move> = admitted.iter().map(|place| &plan.moves[*place]).collect();
        // What comes next in the order of the plan was rehearsed when it was planned.
        let done: usize = cut.waves.iter().map(Vec::len).sum();
        let is_next = cut.held.is_empty() && rest[0] == done && admitted.first() == Some(&done);
        let count = fitting(&mut residual, &moves).max(usize::from(is_next));
        if count == 0 {
            // Those before it that were held back were needed for it, or nothing may go at all.
            let held = admitted.first().copied();
            cut.held.extend(held);
            rest.retain(|place| Some(*place) != held);
            if held.is_none() {
                cut.held.append(&mut rest);
            }
            continue;
        }
        admitted.truncate(count);
        for each in &moves[..count] {
            carry_out(&mut residual, each);
            gone.extend(&each.removed);
        }
        rest.retain(|place| !admitted.contains(place));
        cut.waves.push(admitted);
    }
    cut.held.sort_unstable();
    cut
}

/// The cluster before anything is carried out, as the search begins with it.
fn residual<'c>(snapshot: &Snapshot, cluster: &'c PreparedCluster<'_>) -> ResidualCluster<'c> {
    let prices = node_prices(&snapshot.problem);
    let ranking = Ranking::of(snapshot, cluster, &prices);
    let order = ranking.order(snapshot, &ranking.regrets, &prices);
    cluster.residual(&ranking.targets(snapshot, &order))
}

/// How many of the first of these moves fit together.
fn fitting(residual: &mut ResidualCluster<'_>, moves: &[&Move]) -> usize {
    let mut fits = |count: usize| {
        let moves = &moves[..count];
        let nodes: Vec<usize> = moves.iter().flat_map(|each| each.removed.clone()).collect();
        let coming: Vec<Coming<'_>> = moves.iter().flat_map(|each| coming(each)).collect();
        residual.rehearse(&nodes, &coming).is_ok()
    };
    if moves.is_empty() || fits(moves.len()) {
        return moves.len();
    }
    let (mut known, mut unknown) = (0, moves.len());
    while unknown - known > 1 {
        let tried = known.midpoint(unknown);
        if fits(tried) { known = tried } else { unknown = tried }
    }
    known
}

/// What is launched for a move.
fn coming(each: &Move) -> impl Iterator<Item = Coming<'_>> {
    each.launches.iter().filter_map(|launch| {
        let instance_type = launch.node.options.first()?.instance_type;
        Some(Coming { pool: launch.node.pool, instance_type, pods: &launch.pods })
    })
}

/// Has a move done, as it was planned; where others than then are left, as it would be planned now.
fn carry_out(residual: &mut ResidualCluster<'_>, each: &Move) {
    if each.launches.is_empty() && residual.remove(&each.removed).is_ok() {
        return;
    }
    for onto in [Onto::AnyNode, Onto::NewNodes] {
        let (effort, cancel) = (Effort::UNLIMITED, CancelFlag::default());
        let question = Question { nodes: &each.removed, onto, effort, cancel };
        if residual.take_if(&question, |_| Some(())).is_ok() {
            return;
        }
    }
}
