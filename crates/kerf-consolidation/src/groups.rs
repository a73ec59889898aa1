//! Groups of nodes that might be replaced together.
//!
//! A node's regret is its price less what its pods are worth at the dual prices of the cluster:
//! what is paid for nothing. Where no node alone can be replaced by a cheaper one, several with a
//! high regret often can.

use kerf_model::labels::well_known;
use kerf_model::price::Price;

use crate::replacements::Found;
use crate::search::Search;

/// Nodes of one pool in one zone: most pods of one could stand on another.
type Coupling<'a> = (Option<usize>, &'a str);

impl Search<'_> {
    /// Sets of nodes that can still be replaced: each alone, and groups with the largest regret
    /// together. Of two sets one holds the other or they share no node, and smaller ones come first.
    pub(crate) fn sets(&self, round: usize) -> Vec<Vec<usize>> {
        let mut open: Vec<usize> =
            self.order.iter().copied().filter(|node| self.is_open(*node)).collect();
        open.sort_by_cached_key(|node| {
            (self.coupling(*node), std::cmp::Reverse(self.regret_micros(*node)), *node)
        });
        // Those that stood at the end of one group stand in the middle of another next time.
        let shift = round * self.settings.group_max / 2;
        let mut sets: Vec<Vec<usize>> = Vec::new();
        let mut size = 1;
        while size <= self.settings.group_max.max(1) {
            let smaller = sets.len();
            for coupled in open.chunk_by(|a, b| self.coupling(*a) == self.coupling(*b)) {
                let (first, rest) = coupled.split_at(shift.min(coupled.len()));
                for group in first.chunks(size).chain(rest.chunks(size)) {
                    let is_new = group.len() > size / 2;
                    if is_new && self.is_within_limits(group) && self.may_pay(group, round) {
                        sets.push(group.to_vec());
                    }
                }
            }
            sets[smaller..].sort_by_key(|set| set.iter().map(|node| self.turns[*node]).min());
            size *= 2;
        }
        sets.iter_mut().for_each(|set| set.sort_unstable());
        sets
    }

    /// Of the sets that were found to save something, those that share no node and save most
    /// together. Smaller sets come first, so whatever is known of the parts of one is known before.
    pub(crate) fn choose(&mut self) {
        let mut chosen: Vec<Found> = Vec::new();
        for found in std::mem::take(&mut self.found) {
            let is_part = |known: &Found| found.nodes.binary_search(&known.nodes[0]).is_ok();
            let parts: u128 = chosen.iter().filter(|it| is_part(it)).map(|it| it.gain).sum();
            if found.gain > parts {
                chosen.retain(|known| !is_part(known));
                chosen.push(found);
            }
        }
        self.found = chosen;
    }

    fn coupling(&self, node: usize) -> Coupling<'_> {
        let labels = &self.snapshot.problem.nodes[node].labels;
        (self.judge.pool(node), labels.get(well_known::ZONE).map_or("", String::as_str))
    }

    /// Whether a group could pay for its evictions in time: a node alone with its whole price,
    /// because its pods may fit into what is free elsewhere, several with what is paid for nothing.
    fn may_pay(&self, group: &[usize], round: usize) -> bool {
        let saving = match group {
            [node] => return round == 0 && self.judge.could_pay(group, self.judge.prices[*node]),
            _ => group.iter().map(|node| self.regret_micros(*node)).sum(),
        };
        self.judge.could_pay(group, Price::from_micros_per_hour(saving))
    }
}
