//! What becomes of a plan when somebody else puts the pods onto the nodes.
//!
//! The cluster's scheduler does not know which pod is meant for which node. It gives each pod to
//! the node that is least in use, so a plan that fits like a puzzle comes apart: memory is left
//! where processors are gone. A simulated binding fills the new nodes in that way and tells who is
//! left over.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::limits::Limits;
use crate::packing::bin::{Bin, Content};
use crate::packing::item::{Item, PackingContext};
use crate::units::{self, Amounts};

/// How finely it is told how much of a node is in use.
const PARTS: i128 = 1 << 20;
/// The resources by which the cluster's scheduler tells: CPU and memory, as they are numbered.
const TELLING: [usize; 2] = [0, 1];

/// The order in which pods come is not known, so several are tried.
#[derive(Clone, Copy)]
enum Arrival {
    /// The smallest first: later much is left in pieces too small for the others.
    SmallestFirst,
    LargestFirst,
    /// Mixed well: the same part of each kind in each turn.
    InTurn,
    /// As when they are made at the same time: as many of each kind in each turn, while there are.
    SideBySide,
}

impl Arrival {
    const ALL: [Self; 4] =
        [Self::SmallestFirst, Self::LargestFirst, Self::InTurn, Self::SideBySide];
}

/// In how many turns pods come that come in turn.
const TURNS: i64 = 128;

/// A node at the simulated binding.
#[derive(Clone)]
struct SimulatedNode {
    /// What pods may use of it.
    whole: Amounts,
    free: Amounts,
}

/// Pods of one kind at the simulated binding.
struct PodGroup<'a> {
    /// Which item they are.
    item: usize,
    requests: &'a Amounts,
    count: i64,
    /// The nodes they may stand on.
    nodes: Vec<usize>,
}

/// How many pods of each item find no place in the worst case.
pub(crate) fn left_over(bins: &[Bin], items: &[Item], context: &PackingContext<'_>) -> Vec<i64> {
    let nodes = nodes(bins, context);
    let mut pod_groups = pod_groups(bins, items, context);
    pod_groups.sort_by(|a, b| (a.requests, a.item).cmp(&(b.requests, b.item)));
    let simulated =
        Arrival::ALL.map(|arrival| simulate(nodes.clone(), &pod_groups, arrival, context.limits));
    let worst = simulated.into_iter().max_by_key(|left| left.iter().sum::<i64>());
    let mut left_over = vec![0; items.len()];
    for (pod_group, left) in pod_groups.iter().zip(worst.into_iter().flatten()) {
        left_over[pod_group.item] = left;
    }
    left_over
}

/// Lets the pods come; answers how many of each kind find no place.
fn simulate(
    mut nodes: Vec<SimulatedNode>,
    pod_groups: &[PodGroup<'_>],
    arrival: Arrival,
    limits: &Limits,
) -> Vec<i64> {
    let mut left = vec![0; pod_groups.len()];
    let turns = match arrival {
        Arrival::SmallestFirst | Arrival::LargestFirst => 1,
        Arrival::InTurn | Arrival::SideBySide => TURNS,
    };
    let most = pod_groups.iter().map(|pod_group| pod_group.count).max().unwrap_or(0);
    for turn in (0..turns).take_while(|_| !limits.is_stopped()) {
        for place in 0..pod_groups.len() {
            let place = match arrival {
                Arrival::LargestFirst => pod_groups.len() - 1 - place,
                _ => place,
            };
            let PodGroup { requests, count, nodes: open, .. } = &pod_groups[place];
            let by_now = |turn: i64| match arrival {
                Arrival::SideBySide => (most * turn / turns).min(*count),
                _ => count * turn / turns,
            };
            let come = by_now(turn + 1) - by_now(turn);
            left[place] += come - fill(&mut nodes, open, requests, come);
        }
    }
    left
}

/// The pods that may go astray, by kind.
fn pod_groups<'a>(bins: &[Bin], items: &[Item], context: &PackingContext<'a>) -> Vec<PodGroup<'a>> {
    let mut counts: Vec<i64> = vec![0; items.len()];
    for Content { item, count } in bins.iter().flat_map(|bin| &bin.contents) {
        if let Some(index) = items.iter().position(|known| known.is_same(item)) {
            counts[index] += count;
        }
    }
    let unbound = items
        .iter()
        .zip(counts)
        .enumerate()
        .filter(|(_, (item, count))| *count > 0 && may_bind_anywhere(item, context));
    unbound
        .map(|(index, (item, count))| PodGroup {
            item: index,
            requests: &context.classes[item.class].requests,
            count,
            nodes: (0..bins.len()).filter(|bin| bins[*bin].accepts(item, context)).collect(),
        })
        .collect()
}

/// Whether the cluster's scheduler may put an item's pods onto any node: no rule about other pods
/// says where they go.
pub(crate) fn may_bind_anywhere(item: &Item, context: &PackingContext<'_>) -> bool {
    let class = &context.classes[item.class];
    item.pins.is_empty()
        && class.matched.is_empty()
        && class.variants[item.variant].groups.is_empty()
        && class.shape.host_ports.is_empty()
}

/// The nodes with those pods on them that stay where they are planned.
fn nodes(bins: &[Bin], context: &PackingContext<'_>) -> Vec<SimulatedNode> {
    let mut nodes: Vec<SimulatedNode> = Vec::with_capacity(bins.len());
    for (index, bin) in bins.iter().enumerate() {
        let whole = match Bin::like_the_last(bins, index) {
            Some(last) => nodes[last].whole.clone(),
            None => context.instance_types.all[bin.cheapest_type(context)].free.clone(),
        };
        let mut free = whole.clone();
        for Content { item, count } in &bin.contents {
            if !may_bind_anywhere(item, context) {
                units::subtract(&mut free, &context.classes[item.class].requests, *count);
            }
        }
        nodes.push(SimulatedNode { whole, free });
    }
    nodes
}

/// Gives pods that are alike to the nodes, each to the one least in use; answers how many found
/// one.
fn fill(nodes: &mut [SimulatedNode], open: &[usize], requests: &Amounts, count: i64) -> i64 {
    let with_use = |index: &usize| Reverse((nodes[*index].in_use(), *index));
    let mut by_use: BinaryHeap<Reverse<(i128, usize)>> = open.iter().map(with_use).collect();
    for placed in 0..count {
        let index = loop {
            let Some(Reverse((_, index))) = by_use.pop() else { return placed };
            if units::fits(requests, &nodes[index].free) {
                break index;
            }
        };
        units::subtract(&mut nodes[index].free, requests, 1);
        by_use.push(Reverse((nodes[index].in_use(), index)));
    }
    count
}

impl SimulatedNode {
    /// How much of it is in use.
    fn in_use(&self) -> i128 {
        let part = |resource: usize| {
            let at = |amounts: &Amounts| i128::from(amounts.get(resource).copied().unwrap_or(0));
            let whole = at(&self.whole).max(1);
            (whole - at(&self.free)) * PARTS / whole
        };
        TELLING.into_iter().map(part).sum()
    }
}
