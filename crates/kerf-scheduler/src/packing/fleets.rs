//! The best of several fleets for the same pods.

use crate::packing::forced::all_stand_alone;
use crate::packing::greedy::greedy;
use crate::packing::item::Item;
use crate::packing::merge::merge;
use crate::packing::pack::{Order, Packing, pack};
use crate::packing::simulated_binding::{left_over, may_bind_anywhere};
use crate::problem::Binder;
use crate::solving::solver::Solver;

/// A way to make a fleet.
#[derive(Clone, Copy)]
enum Way {
    /// As Karpenter does.
    Greedy,
    /// Counting so many times a node's overhead for each node. More gives fewer and larger nodes.
    Packed(u64, Order),
}

/// Fleets are made in several ways and the best is kept.
const WAYS: [Way; 5] = [
    Way::Greedy,
    Way::Packed(1, Order::ByDualPrice),
    Way::Packed(3, Order::ByDualPrice),
    Way::Packed(30, Order::ByDualPrice),
    Way::Packed(300, Order::ByCpu),
];
/// Further ways where the nodes will be filled by somebody else.
const BLENDED_WAYS: [Way; 2] = [Way::Packed(3, Order::Blended), Way::Packed(30, Order::Blended)];
/// A fleet with fewer nodes may cost so much more than the cheapest, in thousandths of its price …
const FEWER_NODES_PREMIUM_PER_MILLE: u64 = 20;
/// … and so many times the overhead of each node saved.
const NODE_SAVED_PRICE: u64 = 5;
/// A fleet may have so many times the nodes of Karpenter's, in halves, unless each further node saves
/// more than its overhead.
const NODES_MAX_HALVES: u64 = 3;
/// How often a fleet is packed again with more headroom where pods were left over.
const SIMULATIONS_MAX: usize = 4;
/// With more kinds of pods nothing is simulated: it would take long, and where there are so many
/// some always fit into what others leave.
const KINDS_SIMULATED_MAX: usize = 128;
/// With fewer pods nothing is simulated: who comes first is chance, and whoever is left over fits
/// onto one small node more.
const PODS_SIMULATED_MIN: i64 = 50;
/// What pods left over cost, as a multiple of their share of the fleet's price: their nodes are
/// small ones, which are dear for what they hold.
const LEFT_OVER_COST: u128 = 2;
/// What it costs that anybody is left over and waits for a second wave of nodes, in thousandths of
/// the fleet's price.
const SECOND_WAVE_PER_MILLE: u64 = 20;

/// A fleet that may be chosen.
struct Candidate {
    packing: Packing,
    /// What it costs, with what it will cost to place those who are left over.
    cost_micros: u64,
    /// Whether it is a fleet as Karpenter makes it.
    is_greedy: bool,
}

impl Solver<'_> {
    /// The cheapest of several fleets, or one nearly as cheap with fewer nodes.
    pub(crate) fn best_packing(&self, items: &[Item], weight: Option<u32>) -> Packing {
        let settings = &self.base.problem.settings;
        let overhead = settings.node_overhead.micros_per_hour();
        let is_free = settings.binder == Binder::KubeScheduler && binding_may_differ(items, self);
        let blended = BLENDED_WAYS.into_iter().filter(|_| is_free);
        let mut candidates: Vec<Candidate> = Vec::new();
        let mut spent = 0;
        for way in WAYS.into_iter().chain(blended) {
            let is_greedy = matches!(way, Way::Greedy);
            if is_greedy && !self.is_greedy_of_use(items) {
                continue;
            }
            let packing = self.fleet(items, weight, way);
            spent += packing.bins_filled;
            if is_free {
                self.simulate_binding(packing, items, (weight, way), &mut spent, &mut candidates);
            } else {
                let cost_micros = packing.price_micros();
                candidates.push(Candidate { packing, cost_micros, is_greedy });
            }
            if spent > settings.improvement_effort || self.limits.are_reached() {
                break;
            }
        }
        best_of(candidates, overhead)
    }

    /// Whether a fleet as Karpenter makes it can be told, and be another than ours. Its rules for
    /// reserved capacity are its own.
    fn is_greedy_of_use(&self, items: &[Item]) -> bool {
        self.state.reservations.is_empty() && !all_stand_alone(items, &self.context())
    }

    /// A fleet made in one way.
    fn fleet(&self, items: &[Item], weight: Option<u32>, way: Way) -> Packing {
        let context = self.context_of(weight);
        let overhead = self.base.problem.settings.node_overhead.micros_per_hour();
        match way {
            Way::Greedy => greedy(context, items, &self.state),
            Way::Packed(factor, order) => {
                let counted = overhead.saturating_mul(factor);
                let mut packing = pack(context, items, &self.state, counted, order);
                merge(&mut packing, &context, overhead);
                packing
            }
        }
    }

    /// Simulates binding on a fleet, and packs again with more headroom as long as pods are left
    /// over. Each turn is a candidate: the headroom may be worth more than it saves.
    fn simulate_binding(
        &self,
        mut packing: Packing,
        items: &[Item],
        (weight, way): (Option<u32>, Way),
        spent: &mut u32,
        candidates: &mut Vec<Candidate>,
    ) {
        let mut asked = items.to_vec();
        for turn in 1..=SIMULATIONS_MAX {
            if !take_back(&mut packing, items, &asked) {
                return;
            }
            let left_over = left_over(&packing.bins, items, &self.context());
            let cost_micros = cost(&packing, items, &left_over);
            let is_greedy = matches!(way, Way::Greedy);
            candidates.push(Candidate { packing, cost_micros, is_greedy });
            let all_placed = left_over.iter().all(|left| *left == 0);
            let effort = self.base.problem.settings.improvement_effort;
            if all_placed || turn == SIMULATIONS_MAX || *spent > effort || self.limits.are_reached()
            {
                return;
            }
            for (asked, left) in asked.iter_mut().zip(left_over) {
                asked.count += left;
            }
            packing = self.fleet(&asked, weight, way);
            *spent += packing.bins_filled;
        }
    }
}

/// Takes the pods that were only asked for to get headroom off the nodes; the headroom stays.
/// Answers whether all could be: a node with nobody else on it would be bought for nobody.
fn take_back(packing: &mut Packing, items: &[Item], asked: &[Item]) -> bool {
    for (index, (item, asked)) in items.iter().zip(asked).enumerate() {
        let mut surplus = asked.count - item.count;
        let left = &mut packing.left[index];
        let unplaced = surplus.min(*left);
        *left -= unplaced;
        surplus -= unplaced;
        // One from each node in turn, so that there is some headroom everywhere.
        while surplus > 0 {
            let before = surplus;
            for bin in packing.bins.iter_mut().rev() {
                if surplus > 0 && bin.keep_headroom(item) {
                    surplus -= 1;
                }
            }
            if surplus == before {
                return false;
            }
        }
    }
    true
}

/// Whether pods of several kinds may be mixed otherwise than planned. Pods that are all alike fit
/// wherever one of them was meant to go.
fn binding_may_differ(items: &[Item], solver: &Solver<'_>) -> bool {
    let context = solver.context();
    let unbound = || items.iter().filter(|item| may_bind_anywhere(item, &context));
    let pods: i64 = unbound().map(|item| item.count).sum();
    (2..=KINDS_SIMULATED_MAX).contains(&unbound().count()) && pods >= PODS_SIMULATED_MIN
}

fn cost(packing: &Packing, items: &[Item], left_over: &[i64]) -> u64 {
    let price = packing.price_micros();
    let placed: i64 = items.iter().zip(&packing.left).map(|(item, left)| item.count - left).sum();
    let (placed, left_over) = (placed.max(1).unsigned_abs(), left_over.iter().sum::<i64>());
    if left_over == 0 {
        return price;
    }
    let later = u128::from(price) * u128::from(left_over.unsigned_abs()) / u128::from(placed);
    let later = u64::try_from(later * LEFT_OVER_COST).unwrap_or(u64::MAX);
    price.saturating_add(later).saturating_add(price / 1000 * SECOND_WAVE_PER_MILLE)
}

/// The cheapest of the fleets that leave the fewest pods without a place, or one nearly as cheap
/// with fewer nodes; never dearer than Karpenter's, nor of many more nodes that are not worth it.
fn best_of(candidates: Vec<Candidate>, overhead_micros: u64) -> Packing {
    let unplaced = |candidate: &Candidate| candidate.packing.left.iter().sum::<i64>();
    let least_unplaced = candidates.iter().map(unplaced).min().expect("there is at least one");
    let complete = candidates.into_iter().filter(|it| unplaced(it) == least_unplaced);
    let mut complete: Vec<Candidate> = complete.collect();
    let mut most = u64::MAX;
    if let Some(greedy) = complete.iter().filter(|it| it.is_greedy).min_by_key(|it| it.cost_micros)
    {
        let (cost_micros, nodes) = (greedy.cost_micros, greedy.nodes());
        complete.retain(|it| {
            let more = it.nodes().saturating_sub(nodes);
            let saved = cost_micros.saturating_sub(it.cost_micros);
            2 * (nodes + more) <= NODES_MAX_HALVES * nodes
                || saved > overhead_micros.saturating_mul(more)
        });
        most = cost_micros;
    }
    let cheapest = complete.iter().map(|it| it.cost_micros).min();
    let cheapest = cheapest.expect("Karpenter's own fleet is worth its nodes");
    let premium = cheapest / 1000 * FEWER_NODES_PREMIUM_PER_MILLE;
    let most = most.min(cheapest.saturating_add(premium));
    let affordable = complete.into_iter().filter(|it| it.cost_micros <= most);
    let node_price = overhead_micros.saturating_mul(NODE_SAVED_PRICE);
    let best = affordable
        .min_by_key(|it| it.cost_micros.saturating_add(node_price.saturating_mul(it.nodes())));
    best.expect("the cheapest is affordable").packing
}

impl Candidate {
    fn nodes(&self) -> u64 {
        self.packing.bins.len() as u64
    }
}
