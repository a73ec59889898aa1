//! Rules that force many nodes, however large they are.

use crate::packing::item::{Item, PackingContext};
use crate::reading::group::{GroupId, Rule};

/// A rule under which each node takes only a few of some pods.
pub(crate) struct Forced {
    pub(crate) group: GroupId,
    per_node: i64,
    pub(crate) pods_left: i64,
    pub(crate) items: Vec<usize>,
    /// Of each item whether it is one of those.
    pub(crate) is_forced: Vec<bool>,
}

/// The rule that forces the most nodes, if it forces more than one.
pub(crate) fn forced(
    items: &[Item],
    order: &[usize],
    context: &PackingContext<'_>,
) -> Option<Forced> {
    let mut worst: Option<Forced> = None;
    for group in context.hosts.all.iter().copied() {
        let per_node = match context.groups.get(group).rule {
            Rule::Spread { max_skew, .. } => i64::from(max_skew),
            Rule::AntiAffinity => 1,
            Rule::Affinity => continue,
        };
        let is_bound = |index: &usize| {
            let item = &items[*index];
            let class = &context.classes[item.class];
            class.counts_in(group) && class.variants[item.variant].groups.contains(&group)
        };
        let bound: Vec<usize> = order.iter().copied().filter(is_bound).collect();
        let pods_left: i64 = bound.iter().map(|index| items[*index].count).sum();
        let nodes = Forced::nodes;
        let mut is_forced = vec![false; items.len()];
        bound.iter().for_each(|index| is_forced[*index] = true);
        let candidate = Forced { group, per_node, pods_left, items: bound, is_forced };
        if nodes(&candidate) > worst.as_ref().map_or(1, nodes) {
            worst = Some(candidate);
        }
    }
    worst
}

/// Whether each pod gets a node of its own by one rule: then there is nothing to choose but the
/// cheapest instance type for each.
pub(crate) fn all_stand_alone(items: &[Item], context: &PackingContext<'_>) -> bool {
    context.hosts.all.iter().copied().any(|group| {
        let is_alone = match context.groups.get(group).rule {
            Rule::Spread { max_skew, .. } => max_skew == 1,
            Rule::AntiAffinity => true,
            Rule::Affinity => false,
        };
        is_alone
            && items.iter().all(|item| {
                let class = &context.classes[item.class];
                class.counts_in(group) && class.variants[item.variant].groups.contains(&group)
            })
    })
}

impl Forced {
    /// The fewest nodes the rule allows.
    pub(crate) fn nodes(&self) -> i64 {
        let per_node = self.per_node.max(1);
        (self.pods_left + per_node - 1) / per_node
    }
}
