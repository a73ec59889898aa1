//! Fewer nodes for nearly the same money: two nodes' pods on one larger node.

use rustc_hash::FxHashSet;

use crate::packing::bin::Bin;
use crate::packing::item::PackingContext;
use crate::packing::pack::Packing;
use crate::units::{self, Amounts};

/// Pairs of nodes looked at, at most.
const PAIRS_MAX: usize = 2_048;
/// Nodes each node is paired with, the cheapest first.
const PARTNERS_MAX: usize = 64;

/// Merges pairs of nodes, the cheapest first, while each costs no more than the two and what a node
/// is worth avoiding.
pub(crate) fn merge(packing: &mut Packing, context: &PackingContext<'_>, overhead_micros: u64) {
    let bins = std::mem::take(&mut packing.bins);
    let priced = bins.into_iter().zip(std::mem::take(&mut packing.prices));
    let mut merger = Merger {
        context,
        started: &packing.state.started,
        nodes: priced.map(Some).collect(),
        pairs_left: PAIRS_MAX,
        overhead_micros,
        hopeless: FxHashSet::default(),
        merged: Vec::new(),
    };
    merger.run();
    let Merger { nodes, merged, .. } = merger;
    (packing.bins, packing.prices) = nodes.into_iter().flatten().unzip();
    for (template, instance_type) in merged {
        packing.state.give_back(template, &context.instance_types.all[instance_type].capacity);
    }
}

struct Merger<'a, 'w> {
    context: &'a PackingContext<'w>,
    started: &'a [bool],
    /// Nodes with their prices; merged ones leave a gap.
    nodes: Vec<Option<(Bin, u64)>>,
    pairs_left: usize,
    overhead_micros: u64,
    /// Pairs of alike nodes that were tried in vain: instance type and requests of both.
    hopeless: FxHashSet<(usize, Amounts, usize, Amounts)>,
    /// Nodes that are no longer needed: template and instance type.
    merged: Vec<(usize, usize)>,
}

impl Merger<'_, '_> {
    fn run(&mut self) {
        let is_free = |node: &Option<(Bin, u64)>| {
            node.as_ref().is_some_and(|(bin, _)| is_free(bin, self.context))
        };
        let mut order: Vec<usize> =
            (0..self.nodes.len()).filter(|index| is_free(&self.nodes[*index])).collect();
        order.sort_by_key(|index| self.nodes[*index].as_ref().map(|(_, price)| *price));
        for place in 0..order.len() {
            for partner in order[place + 1..].iter().take(PARTNERS_MAX) {
                if self.pairs_left == 0 {
                    return;
                }
                if self.try_pair(order[place], *partner) {
                    break;
                }
            }
        }
    }

    /// Puts the pods of the first onto a larger second.
    fn try_pair(&mut self, first: usize, second: usize) -> bool {
        let (Some((a, price_a)), Some((b, price_b))) = (&self.nodes[first], &self.nodes[second])
        else {
            return false;
        };
        let key = (a.instance_type, a.requests.clone(), b.instance_type, b.requests.clone());
        if a.template != b.template || self.hopeless.contains(&key) {
            return false;
        }
        self.pairs_left -= 1;
        let most = price_a + price_b + self.overhead_micros;
        match self.together(a, b, most) {
            Some(both) => {
                self.merged.push((a.template, a.instance_type));
                self.nodes[first] = None;
                self.nodes[second] = Some(both);
                true
            }
            None => {
                self.hopeless.insert(key);
                false
            }
        }
    }

    /// The cheapest node for the pods of both, at most that dear.
    fn together(&self, a: &Bin, b: &Bin, most_micros: u64) -> Option<(Bin, u64)> {
        let mut requests = a.requests.clone();
        units::add(&mut requests, &b.requests, 1);
        let demands = a.demands().iter().chain(b.demands());
        let demands: Vec<_> = demands.map(|id| self.context.demands.get(*id)).collect();
        let instance_types = &self.context.instance_types.all;
        let fitting = demands.first()?.priced.iter().copied().filter(|(instance_type, price)| {
            *price <= most_micros
                && instance_types[*instance_type as usize].template == a.template
                && units::fits(&requests, &instance_types[*instance_type as usize].free)
                && demands.iter().all(|demand| demand.instance_types.contains(*instance_type))
        });
        let (instance_type, _) =
            fitting.min_by_key(|(instance_type, price)| (*price, *instance_type))?;
        let both = self.filled(instance_type as usize, a, b)?;
        let price = both.price_micros(self.context);
        (price <= most_micros).then_some((both, price))
    }

    fn filled(&self, instance_type: usize, a: &Bin, b: &Bin) -> Option<Bin> {
        let mut both = Bin::empty(instance_type, self.context);
        for content in a.contents.iter().chain(&b.contents) {
            if both.headroom(&content.item, self.context, self.started, content.count)
                < content.count
            {
                return None;
            }
            both.add(&content.item, self.context, content.count);
        }
        Some(both)
    }
}

/// Whether nothing but its pods decides what a node may be.
fn is_free(bin: &Bin, context: &PackingContext<'_>) -> bool {
    let template = &context.instance_types.templates[bin.template];
    bin.reserved.is_none() && template.limits.is_empty() && !template.has_min_values
}
