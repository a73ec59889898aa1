//! Which nodes have so much free, found without a look at each.
//!
//! Nodes stand in the order in which a plan fills them, their free amounts side by side. Of each
//! block of nodes the most that any has free is known, so that blocks of full nodes are passed over
//! at once. Beside that they are sorted by how much of them is in use, because kube-scheduler gives
//! a pod to the node that is least in use.

use std::collections::BTreeSet;

use crate::reading::base::Base;
use crate::units::Amounts;

/// Nodes in a block; about the square root of the thousands there are.
const BLOCK: usize = 64;
/// How finely it is told how much of a node is in use.
const PARTS: i128 = 1 << 20;
/// The resources by which kube-scheduler tells: CPU and memory, as they are numbered.
const TELLING: [usize; 2] = [0, 1];

/// The nodes that may take pods.
pub(super) struct TargetIndex {
    /// How many resources there are.
    width: usize,
    /// Nodes by their place in filling order, those that are filled first first.
    order: Vec<u32>,
    /// Of each node one more than its place in `order`; zero for those that take no pods.
    places: Vec<u32>,
    /// What is free on each node of `order`, resource by resource; the first is below zero where
    /// nothing fits.
    free: Vec<i64>,
    /// At least the most that is free on any node of a block.
    most: Vec<i64>,
    /// What pods may use of each node: the telling resources.
    whole: Vec<[i64; TELLING.len()]>,
    by_use: BTreeSet<(i64, u32)>,
}

impl TargetIndex {
    /// `order` lists the nodes that may take pods.
    pub(super) fn new(base: &Base<'_>, order: impl Iterator<Item = usize>) -> Self {
        let order: Vec<u32> =
            order.map(|index| u32::try_from(index).expect("fewer than 2³² nodes")).collect();
        let width = base.units.len().max(1);
        let mut units = base.units.clone();
        let mut places = vec![0; base.cluster.len()];
        let mut whole = Vec::with_capacity(order.len());
        for (place, index) in (1..).zip(&order) {
            places[*index as usize] = place;
            let node = &base.problem.nodes[base.cluster.nodes[*index as usize].place];
            let offered = units.offered(&node.allocatable);
            whole.push(TELLING.map(|resource| offered.get(resource).copied().unwrap_or(0)));
        }
        let mut index = Self {
            width,
            free: vec![-1; order.len() * width],
            most: vec![-1; order.len().div_ceil(BLOCK) * width],
            order,
            places,
            whole,
            by_use: BTreeSet::new(),
        };
        for node in index.order.clone() {
            index.set(node as usize, &base.cluster.nodes[node as usize].free);
        }
        index
    }

    /// Notes what is free on a node.
    pub(super) fn set(&mut self, node: usize, free: &Amounts) {
        let Some(place) = self.places[node].checked_sub(1).map(|place| place as usize) else {
            return;
        };
        let number = self.order[place];
        self.by_use.remove(&(self.in_use(place), number));
        let row = &mut self.free[place * self.width..][..self.width];
        row.fill(0);
        row.iter_mut().zip(free).for_each(|(known, free)| *known = *free);
        if free.iter().any(|free| *free < 0) {
            row[0] = -1;
            return;
        }
        let most = &mut self.most[place / BLOCK * self.width..][..self.width];
        most.iter_mut().zip(&*row).for_each(|(most, free)| *most = (*most).max(*free));
        self.by_use.insert((self.in_use(place), number));
    }

    /// The first node in order on which so much is free and that suits.
    pub(super) fn first(
        &self,
        asked: &Amounts,
        mut suits: impl FnMut(usize) -> bool,
    ) -> Option<usize> {
        for block in 0..self.most.len() / self.width {
            if !holds(&self.most[block * self.width..][..self.width], asked) {
                continue;
            }
            for place in block * BLOCK..((block + 1) * BLOCK).min(self.order.len()) {
                let node = self.order[place] as usize;
                if holds(&self.free[place * self.width..][..self.width], asked) && suits(node) {
                    return Some(node);
                }
            }
        }
        None
    }

    /// The node least in use on which so much is free and that suits.
    pub(super) fn least_in_use(
        &self,
        asked: &Amounts,
        mut suits: impl FnMut(usize) -> bool,
    ) -> Option<usize> {
        let by_use = self.by_use.iter().map(|(_, node)| *node as usize);
        let mut fitting = by_use.filter(|node| {
            let place = self.places[*node] as usize - 1;
            holds(&self.free[place * self.width..][..self.width], asked)
        });
        fitting.find(|node| suits(*node))
    }

    /// How much of a node is in use that may take pods.
    pub(super) fn use_of(&self, node: usize) -> i64 {
        self.places[node].checked_sub(1).map_or(i64::MAX, |place| self.in_use(place as usize))
    }

    fn in_use(&self, place: usize) -> i64 {
        in_use(&self.whole[place], &self.free[place * self.width..][..self.width])
    }
}

/// How much of a node is in use, of which so much is free.
pub(super) fn in_use(whole: &[i64], free: &[i64]) -> i64 {
    let part = |resource: usize| {
        let at = |amounts: &[i64]| i128::from(amounts.get(resource).copied().unwrap_or(0));
        let whole = at(whole).max(1);
        (whole - at(free)) * PARTS / whole
    };
    i64::try_from(TELLING.into_iter().map(part).sum::<i128>()).unwrap_or(i64::MAX)
}

/// Whether what is asked fits into what is free.
fn holds(free: &[i64], asked: &Amounts) -> bool {
    free[0] >= 0
        && asked
            .iter()
            .enumerate()
            .all(|(index, asked)| *asked <= 0 || *asked <= free.get(index).copied().unwrap_or(0))
}
