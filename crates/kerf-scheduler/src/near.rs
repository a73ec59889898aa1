//! Taking back pods that no longer stand near the pods they need.
//!
//! Placing keeps every affinity, but a pod that others stand near may be taken back afterwards when
//! its own spread cannot be held. Then those others have nobody to be near, and go too.

use std::collections::BTreeSet;

use kerf_model::vocabulary::ValueId;

use crate::bin::{Bin, Content};
use crate::group::{Group, GroupId, Rule};
use crate::item::Item;
use crate::rounds::Placed;
use crate::solver::Solver;

/// Where pods stand, for one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Node(usize),
    Bin(usize),
    Domain(ValueId),
}

impl Solver<'_> {
    /// Takes back pods that need a neighbour and have none, until all have one; answers whether any
    /// were.
    pub(crate) fn repair_near(&mut self, placed: &mut Placed) -> bool {
        let unplaced_before = placed.unplaced.len();
        let near: Vec<GroupId> = self
            .groups
            .iter()
            .filter(|(_, group)| group.rule == Rule::Near)
            .map(|(id, _)| id)
            .collect();
        while near.iter().any(|group| self.repair_one(*group, placed)) {}
        placed.unplaced.len() > unplaced_before
    }

    /// Takes back what has no neighbour in one group; answers whether anything was.
    fn repair_one(&mut self, group: GroupId, placed: &mut Placed) -> bool {
        let lonely = self.lonely(group, &placed.bins);
        if lonely.is_empty() {
            return false;
        }
        let mut taken: Vec<(Item, i64)> = Vec::new();
        for index in 0..self.nodes.len() {
            let mut contents = std::mem::take(&mut self.nodes[index].contents);
            self.take_lonely(group, &lonely, Place::Node(index), &mut contents, &mut taken);
            self.nodes[index].contents = contents;
        }
        for (index, bin) in placed.bins.iter_mut().enumerate() {
            self.take_lonely(group, &lonely, Place::Bin(index), &mut bin.contents, &mut taken);
        }
        placed.bins.retain(|bin| !bin.contents.is_empty());
        for (item, count) in &taken {
            self.uncount(item.class, item.variant, &item.pins, *count);
            placed.unplaced.push((item.class, item.variant, *count));
        }
        !taken.is_empty()
    }

    /// The places where pods have the rule but nobody to be near. One place may start by itself if
    /// no matching pod stood anywhere before.
    fn lonely(&self, group: GroupId, bins: &[Bin]) -> BTreeSet<Place> {
        let read = self.groups.get(group);
        let mut held: Vec<(Place, bool)> = Vec::new();
        let mut anchored: BTreeSet<Place> = BTreeSet::new();
        let mut existed = self.counts.existed(group);
        let on_nodes =
            self.nodes.iter().enumerate().map(|(i, node)| (Place::Node(i), &node.contents));
        let on_bins = bins.iter().enumerate().map(|(i, bin)| (Place::Bin(i), &bin.contents));
        for (at, contents) in on_nodes.chain(on_bins) {
            for content in contents {
                let Some(place) = place(at, content, read) else { continue };
                let class = &self.classes[content.item.class];
                let carries = class.variants[content.item.variant].groups.contains(&group);
                match (carries, class.counts_in(group)) {
                    (true, starts) => held.push((place, starts)),
                    (false, true) => {
                        anchored.insert(place);
                    }
                    (false, false) => {}
                }
            }
        }
        for (index, node) in self.nodes.iter().enumerate() {
            if node.occupancy.existing(group) > 0 {
                existed = true;
                anchored.insert(Place::Node(index));
            }
        }
        let stood = |place: &Place| match place {
            Place::Domain(domain) => self.counts.existing(group, *domain) > 0,
            Place::Node(_) | Place::Bin(_) => false,
        };
        held.retain(|(place, _)| !anchored.contains(place) && !stood(place));
        let start = if existed { None } else { held.iter().find(|(_, starts)| *starts).copied() };
        // Pods that do not match themselves may follow those that started.
        held.retain(|(place, _)| start.is_none_or(|(start, _)| *place != start));
        held.into_iter().map(|(place, _)| place).collect()
    }

    fn take_lonely(
        &self,
        group: GroupId,
        lonely: &BTreeSet<Place>,
        at: Place,
        contents: &mut Vec<Content>,
        taken: &mut Vec<(Item, i64)>,
    ) {
        let read = self.groups.get(group);
        contents.retain(|content| {
            let variant = &self.classes[content.item.class].variants[content.item.variant];
            let is_lonely = variant.groups.contains(&group)
                && place(at, content, read).is_some_and(|place| lonely.contains(&place));
            if is_lonely {
                taken.push((content.item.clone(), content.count));
            }
            !is_lonely
        });
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
