//! A fleet as Karpenter makes it, so that ours is never dearer.
//!
//! Pods come by size, the largest first. Each goes to the new node with the fewest pods that can
//! still hold it, else to another one. A node is open to every instance type that could hold what
//! stands on it, and becomes the cheapest of them in the end.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use kerf_model::bitset::BitSet;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::packing::bin::Bin;
use crate::packing::item::{Item, PackingContext};
use crate::packing::pack::{Packing, follows, prices};
use crate::packing::pack_state::PackState;
use crate::reading::demand::DemandId;
use crate::reading::group::{GroupId, Rule};
use crate::units::{self, Amounts};

/// A new node.
struct OpenNode {
    /// Filled for one of the instance types it may be.
    bin: Bin,
    pods: i64,
    /// When the last pod came. Of nodes with equally many pods the latest is tried first, those with
    /// their first pod in the order they were opened: so it is where a list is sorted anew by the
    /// number of pods each time, and what is equal stays as it was.
    last: i64,
    /// Demands that contradict what is asked of it already, and always will.
    refused: BitSet,
}

/// Where a node stands among those that are asked to take a pod: after those with fewer pods, and
/// after those to which one came later.
type Place = (i64, Reverse<i64>, usize);

/// A node that takes pods of an item.
struct Taker {
    /// Its place before it took any.
    before: Place,
    /// How many it can hold.
    most: i64,
    /// How many it was given and does not hold yet.
    given: i64,
}

struct Greedy<'a> {
    context: PackingContext<'a>,
    state: PackState,
    nodes: Vec<OpenNode>,
    by_pods: BTreeSet<Place>,
    /// By group whose domain is the node: how many nodes take no more of its pods.
    closed: Vec<usize>,
    /// Pods that came to nodes that were open.
    clock: i64,
    /// By demand and requests: the instance type that holds most. Limits that shrink may forbid it,
    /// but never make another the best while it is allowed.
    roomiest: FxHashMap<(DemandId, Amounts), usize>,
}

/// Packs items onto new nodes.
pub(crate) fn greedy(context: PackingContext<'_>, items: &[Item], state: &PackState) -> Packing {
    let closed = vec![0; context.groups.len()];
    let roomiest = FxHashMap::default();
    let mut greedy = Greedy {
        context,
        state: state.clone(),
        nodes: Vec::new(),
        by_pods: BTreeSet::new(),
        closed,
        clock: 0,
        roomiest,
    };
    let mut left: Vec<i64> = items.iter().map(|item| item.count).collect();
    for index in in_order(items, &context) {
        let (item, left) = (&items[index], &mut left[index]);
        greedy.use_slack(item, left);
        while *left > 0 && !context.limits.are_reached() && greedy.open(item, left) {}
    }
    let Greedy { mut state, nodes, .. } = greedy;
    let open: Vec<Bin> = nodes.into_iter().map(|node| node.bin).collect();
    let mut bins: Vec<Bin> = Vec::with_capacity(open.len());
    for index in 0..open.len() {
        let alike = Bin::like_the_last(&open, index).map(|last| bins[last].clone());
        bins.push(alike.unwrap_or_else(|| settled(&open[index], &context)));
        let made_of = |bin: &Bin| &context.instance_types.all[bin.instance_type];
        state.give_back(open[index].template, &made_of(&open[index]).capacity);
        state.take_one(open[index].template, &made_of(&bins[index]).capacity);
    }
    let prices = prices(&bins, &context);
    // It is made in any case, so it takes nothing off what may go into better ones.
    Packing { bins, left, state, prices, bins_filled: 0 }
}

/// Items by size; those that must follow others to their node come last.
fn in_order(items: &[Item], context: &PackingContext<'_>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_cached_key(|index| {
        let requests = &context.classes[items[*index].class].requests;
        let at = |resource| Reverse(requests.get(resource).copied().unwrap_or(0));
        (follows(&items[*index], context), at(0), at(1), *index)
    });
    order
}

impl OpenNode {
    fn place(&self, index: usize) -> Place {
        (self.pods, Reverse(self.last), index)
    }
}

impl Greedy<'_> {
    /// Gives pods to nodes that are open, each to the one with the fewest pods. Nodes are asked in
    /// that order, and no further than there are pods.
    fn use_slack(&mut self, item: &Item, left: &mut i64) {
        let class = &self.context.classes[item.class];
        let mut own = class.variants[item.variant].groups.iter();
        // Where every node has one of them already, nobody needs to look at each.
        if own.any(|group| class.counts_in(*group) && self.closed[*group] == self.nodes.len()) {
            return;
        }
        let mut by_pods = std::mem::take(&mut self.by_pods);
        let mut takers: Vec<Taker> = Vec::new();
        // Those that take more, by the place they have moved to.
        let mut again: BinaryHeap<Reverse<(Place, usize)>> = BinaryHeap::new();
        let mut not_asked = by_pods.iter().copied().peekable();
        while *left > 0 {
            let known = again.peek().map(|Reverse((place, _))| *place);
            let next = not_asked.peek().copied();
            let taker = match (known, next) {
                (None, None) => break,
                (Some(known), next) if next.is_none_or(|next| known < next) => {
                    again.pop().map_or(0, |Reverse((_, taker))| taker)
                }
                (_, next) => {
                    not_asked.next();
                    let before = next.expect("there is one, or those known would go first");
                    let most = self.headroom(before.2, item, *left);
                    if most == 0 {
                        continue;
                    }
                    takers.push(Taker { before, most, given: 0 });
                    takers.len() - 1
                }
            };
            self.clock += 1;
            *left -= 1;
            let Taker { before: (_, _, index), most, given } = &mut takers[taker];
            let node = &mut self.nodes[*index];
            node.last = self.clock;
            *given += 1;
            let place = (node.pods + *given, Reverse(self.clock), *index);
            if *given == *most {
                // Full as one instance type, it may become another and hold more.
                self.add(*index, item, std::mem::take(given));
                *most = self.headroom(*index, item, *left);
            }
            if *most > 0 {
                again.push(Reverse((place, taker)));
            }
        }
        for Taker { before, given, .. } in takers {
            let index = before.2;
            if given > 0 {
                self.add(index, item, given);
            }
            by_pods.remove(&before);
            by_pods.insert(self.nodes[index].place(index));
        }
        self.by_pods = by_pods;
    }

    /// How many pods of an item a node can still hold. Where it holds none as what it was filled
    /// for, it may become something else.
    fn headroom(&mut self, index: usize, item: &Item, most: i64) -> i64 {
        let (context, started) = (&self.context, &self.state.started);
        let bin = &self.nodes[index].bin;
        let asked = &context.classes[item.class].requests;
        let demand = u32::try_from(item.demand).expect("the place of a demand");
        if self.nodes[index].refused.contains(demand) {
            return 0;
        }
        if units::fits(asked, &bin.free) && bin.is_offered(item, context) {
            let headroom = bin.headroom(item, context, started, most);
            if headroom == 0 && bin.contradicts(item.demand, context) {
                self.nodes[index].refused.insert(demand);
            }
            return headroom;
        }
        let Some(other) = self.roomier(bin, item) else { return 0 };
        let headroom = other.headroom(item, context, started, most);
        if headroom > 0 {
            self.nodes[index].bin = other;
        }
        headroom
    }

    /// The same node as another instance type of its pool that has what the item asks for.
    fn roomier(&self, bin: &Bin, item: &Item) -> Option<Bin> {
        let context = &self.context;
        let asked = &context.classes[item.class].requests;
        let template = &context.instance_types.templates[bin.template];
        let mut requests: Amounts = bin.requests.clone();
        units::add(&mut requests, asked, 1);
        // A pool with limits has counted what the node was filled for.
        if !template.limits.is_empty() || !units::fits(&requests, &template.most) {
            return None;
        }
        let demand = context.demands.get(item.demand);
        let fitting = template.instance_types.clone().find(|index| {
            let instance_type = u32::try_from(*index).expect("the index of an instance type");
            *index != bin.instance_type
                && units::fits(&requests, &context.instance_types.all[*index].free)
                && demand.instance_types.contains(instance_type)
        })?;
        bin.become_type(fitting, context, &self.state.started)
    }

    /// Opens a node for an item; false if nothing holds it.
    fn open(&mut self, item: &Item, left: &mut i64) -> bool {
        let requests = &self.context.classes[item.class].requests;
        let key = (item.demand, requests.clone());
        let all = &self.context.instance_types.all;
        let known = self.roomiest.get(&key).copied();
        let known = known.filter(|known| self.state.allows(&all[*known]));
        let Some(instance_type) = known.or_else(|| self.roomiest(item)) else { return false };
        self.roomiest.insert(key, instance_type);
        self.context.limits.spend_one();
        let bin = Bin::empty(instance_type, &self.context);
        let headroom = bin.headroom(item, &self.context, &self.state.started, *left);
        if headroom == 0 {
            return false;
        }
        let made_of = &self.context.instance_types.all[instance_type];
        let alike = (*left / headroom).min(self.state.times_allowed(made_of));
        // The first of them may change what the next may hold.
        let alike = if self.has_neighbours(item) { 1 } else { alike.max(1) };
        let first = self.nodes.len();
        let last = self.first_stamp(headroom);
        self.nodes.push(OpenNode { bin, pods: 0, last, refused: BitSet::new() });
        self.add(first, item, headroom);
        for _ in 1..alike {
            let bin = self.nodes[first].bin.clone();
            let last = self.first_stamp(headroom);
            self.nodes.push(OpenNode { bin, pods: headroom, last, refused: BitSet::new() });
        }
        let opened = self.nodes[first..].iter().zip(first..);
        self.by_pods.extend(opened.map(|(node, index)| node.place(index)));
        for group in self.context.classes[item.class].matched_hosts.iter().copied() {
            let more = usize::try_from(alike - 1).expect("at least one was opened");
            self.closed[group] += if self.is_closed(first, group) { more } else { 0 };
        }
        (0..alike).for_each(|_| self.state.take_one(made_of.template, &made_of.capacity));
        *left -= headroom * alike;
        true
    }

    /// When the last pod came to a node that is opened with so many.
    fn first_stamp(&mut self, pods: i64) -> i64 {
        self.clock += pods - 1;
        let opened = i64::try_from(self.nodes.len()).unwrap_or(i64::MAX);
        if pods > 1 { self.clock } else { -opened }
    }

    /// Whether pods of an item stand on a node only near others.
    fn has_neighbours(&self, item: &Item) -> bool {
        let groups = &self.context.classes[item.class].variants[item.variant].groups;
        groups.iter().any(|group| {
            self.context.hosts.contains(*group)
                && self.context.groups.get(*group).rule == Rule::Affinity
        })
    }

    /// The instance type that holds most pods of an item, of equals the largest.
    fn roomiest(&self, item: &Item) -> Option<usize> {
        let asked = &self.context.classes[item.class].requests;
        let all = &self.context.instance_types.all;
        let priced = self.context.demands.get(item.demand).priced.iter();
        let open = priced.map(|(index, _)| *index as usize).filter(|index| {
            self.context.is_open(*index)
                && units::fits(asked, &all[*index].free)
                && self.state.allows(&all[*index])
        });
        open.max_by_key(|index| {
            let free = &all[*index].free;
            (units::times_fitting(asked, free), free, Reverse(*index))
        })
    }

    fn add(&mut self, index: usize, item: &Item, count: i64) {
        let matched: &[GroupId] = &self.context.classes[item.class].matched_hosts;
        let before: SmallVec<[bool; 4]> =
            matched.iter().map(|group| self.is_closed(index, *group)).collect();
        let node = &mut self.nodes[index];
        node.bin.add(item, &self.context, count);
        node.pods += count;
        for (group, was_closed) in matched.iter().copied().zip(before) {
            self.state.started[group] = true;
            self.closed[group] += usize::from(!was_closed && self.is_closed(index, group));
        }
    }

    /// Whether a node takes no more pods that count in a group and hold to its rule.
    fn is_closed(&self, index: usize, group: GroupId) -> bool {
        self.nodes[index].bin.occupancy.is_closed(group, self.context.groups.get(group).rule)
    }
}

/// The node as the cheapest instance type that holds what stands on it, if its pool has limits:
/// what counts against these is what will be launched.
fn settled(bin: &Bin, context: &PackingContext<'_>) -> Bin {
    if context.instance_types.templates[bin.template].limits.is_empty() {
        return bin.clone();
    }
    let nobody_started = vec![false; context.groups.len()];
    let other = bin.become_type(bin.cheapest_type(context), context, &nobody_started);
    other.unwrap_or_else(|| bin.clone())
}
