//! Taking back pods that no longer stand near the pods they need.
//!
//! Pods may be taken back after placing, because their spread cannot be held or because a node was
//! not to be had. Then those that stood near them have nobody to be near, and go too. What stays is
//! what can be placed one by one in some order: a pod that needs a neighbour comes after one.

use std::collections::BTreeSet;

use kerf_model::vocabulary::ValueId;

use crate::packing::bin::Content;
use crate::reading::group::{Group, GroupId};
use crate::solving::rounds::Placed;
use crate::solving::solver::Solver;

/// Where pods stand, for one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Node(usize),
    Bin(usize),
    Domain(ValueId),
}

/// Which places have a matching pod, for one group.
struct Neighbourhood {
    group: GroupId,
    inhabited: BTreeSet<Place>,
    /// Whether a matching pod stands anywhere, with a place known or not.
    is_settled: bool,
}

impl Solver<'_> {
    /// Takes back pods that need a neighbour and have none; answers whether any were.
    pub(crate) fn repair_affinity(&mut self, placed: &mut Placed) -> bool {
        let near: Vec<GroupId> = self.followed.iter().map(|group| group as GroupId).collect();
        if near.is_empty() {
            return false;
        }
        let unmatched = self.unmatched(&near, placed);
        for (at, index) in unmatched.iter().rev().copied() {
            let content = match at {
                Place::Bin(bin) => placed.bins[bin].contents.remove(index),
                Place::Node(node) => self.nodes.headroom_mut(node).contents.remove(index),
                Place::Domain(_) => unreachable!("contents lie on nodes"),
            };
            let Content { item, count } = content;
            self.uncount(item.class, item.variant, &item.pins, count);
            placed.unplaced.push((item.class, item.variant, count));
        }
        self.drop_empty(&mut placed.bins);
        !unmatched.is_empty()
    }

    /// What cannot be placed in any order: where it lies, and at which index.
    fn unmatched(&self, near: &[GroupId], placed: &Placed) -> Vec<(Place, usize)> {
        let mut neighbourhoods: Vec<Neighbourhood> =
            near.iter().map(|group| self.neighbourhood(*group)).collect();
        let changed = self.nodes.changed().into_iter();
        let on_nodes = changed.map(|i| (Place::Node(i), &self.nodes.headroom(i).contents));
        let on_bins = placed.bins.iter().enumerate().map(|(i, bin)| (Place::Bin(i), &bin.contents));
        let mut waiting: Vec<(Place, usize, &Content)> = on_nodes
            .chain(on_bins)
            .flat_map(|(at, contents)| {
                contents.iter().enumerate().map(move |(index, content)| (at, index, content))
            })
            .collect();
        loop {
            let before = waiting.len();
            waiting.retain(|(at, _, content)| {
                let may_stand = neighbourhoods.iter().all(|near| self.joins(near, *at, content));
                if may_stand {
                    for near in &mut neighbourhoods {
                        self.settle(near, *at, content);
                    }
                }
                !may_stand
            });
            if waiting.len() == before {
                return waiting.into_iter().map(|(at, index, _)| (at, index)).collect();
            }
        }
    }

    /// Where matching pods stood before.
    fn neighbourhood(&self, group: GroupId) -> Neighbourhood {
        let nodes = self.nodes.iter();
        let on_nodes = nodes
            .filter(|(_, node)| node.occupancy.existing(group) > 0)
            .map(|(index, _)| Place::Node(index));
        let in_domains = self.counts.inhabited(group).map(Place::Domain);
        let inhabited: BTreeSet<Place> = on_nodes.chain(in_domains).collect();
        Neighbourhood { group, is_settled: !inhabited.is_empty(), inhabited }
    }

    /// Whether pods may come to a place, as far as one group is concerned.
    fn joins(&self, near: &Neighbourhood, at: Place, content: &Content) -> bool {
        let class = &self.base.classes[content.item.class];
        if !class.variants[content.item.variant].groups.contains(&near.group) {
            return true;
        }
        let place = place(at, content, self.base.groups.get(near.group));
        place.is_some_and(|place| near.inhabited.contains(&place))
            || (class.counts_in(near.group) && !near.is_settled)
    }

    /// Notes that pods came to a place.
    fn settle(&self, near: &mut Neighbourhood, at: Place, content: &Content) {
        if self.base.classes[content.item.class].counts_in(near.group) {
            near.is_settled = true;
            near.inhabited.extend(place(at, content, self.base.groups.get(near.group)));
        }
    }
}

/// Where pods stand as one group sees it.
fn place(at: Place, content: &Content, group: &Group) -> Option<Place> {
    if group.is_hostname() {
        return Some(at);
    }
    let pin = content.item.pins.iter().find(|(key, _)| *key == group.key);
    pin.map(|(_, domain)| Place::Domain(*domain))
}
