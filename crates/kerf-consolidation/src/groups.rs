//! Groups of nodes that might be replaced together.
//!
//! A node's regret is its price less what its pods are worth at the dual prices of the cluster:
//! what is paid for nothing. Where no node alone can be replaced by a cheaper one, several with a
//! high regret often can.

use kerf_model::labels::well_known;
use kerf_model::price::Price;

use crate::search::Search;

/// Nodes of one pool in one zone: most pods of one could stand on another.
type Coupling<'a> = (Option<usize>, &'a str);

impl Search<'_> {
    /// Groups of nodes that can still be replaced, the largest regret together; those of each size
    /// share no node. The largest groups come first.
    pub(crate) fn groups(&self) -> Vec<Vec<usize>> {
        let mut open: Vec<usize> =
            self.order.iter().copied().filter(|node| self.is_open(*node)).collect();
        open.sort_by_cached_key(|node| {
            (self.coupling(*node), std::cmp::Reverse(self.regret_micros(*node)), *node)
        });
        let mut groups = Vec::new();
        let mut size = self.settings.group_max;
        while size >= 2 {
            for coupled in open.chunk_by(|a, b| self.coupling(*a) == self.coupling(*b)) {
                let sized = coupled.chunks(size).filter(|group| group.len() > size / 2);
                groups.extend(sized.filter(|group| self.may_pay(group)).map(<[usize]>::to_vec));
            }
            size /= 2;
        }
        groups.iter_mut().for_each(|group| group.sort_unstable());
        groups
    }

    fn coupling(&self, node: usize) -> Coupling<'_> {
        let labels = &self.snapshot.problem.nodes[node].labels;
        (self.judge.pool(node), labels.get(well_known::ZONE).map_or("", String::as_str))
    }

    fn regret_micros(&self, node: usize) -> u64 {
        self.regrets[node].micros_per_hour()
    }

    /// Whether what is paid for nothing could pay for the evictions in time.
    fn may_pay(&self, group: &[usize]) -> bool {
        let regret = group.iter().map(|node| self.regret_micros(*node)).sum();
        group.len() > 1 && self.judge.could_pay(group, Price::from_micros_per_hour(regret))
    }
}
