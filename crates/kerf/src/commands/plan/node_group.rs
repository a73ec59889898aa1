//! New nodes that are alike.

use std::collections::{BTreeMap, BTreeSet};

use kerf_model::price::Price;

use super::report::NewNodeReport;

/// Nodes that differ in their zones at most.
pub(super) struct NodeGroup<'a> {
    /// The first of them.
    pub(super) node: &'a NewNodeReport,
    zones: BTreeSet<&'a str>,
    pub(super) count: usize,
}

/// Equal nodes together, in the order of their first.
pub(super) fn groups(nodes: &[NewNodeReport]) -> Vec<NodeGroup<'_>> {
    let mut groups: Vec<NodeGroup<'_>> = Vec::new();
    let mut places = BTreeMap::new();
    for node in nodes {
        let NewNodeReport { node_pool, instance_type, capacity_type, price, .. } = node;
        let devices: Vec<_> = node.devices.iter().map(|it| (&it.name, it.amount.asked)).collect();
        let fill = (node.cpu.permille(), node.memory.permille(), devices, node.pods.len());
        let key = (node_pool, instance_type, capacity_type, price, fill);
        let place = *places.entry(key).or_insert_with(|| {
            groups.push(NodeGroup { node, zones: BTreeSet::new(), count: 0 });
            groups.len() - 1
        });
        groups[place].zones.insert(&node.zone);
        groups[place].count += 1;
    }
    groups
}

/// The one region that the zones of all nodes share. What does not end in a number is none.
pub(super) fn region_of(nodes: &[NewNodeReport]) -> Option<String> {
    let mut regions = nodes.iter().map(|node| parted(&node.zone).0);
    let first =
        regions.next().filter(|region| region.ends_with(|end: char| end.is_ascii_digit()))?;
    regions.all(|region| region == first).then(|| first.to_owned())
}

impl NodeGroup<'_> {
    /// What they cost together.
    pub(super) fn price(&self) -> Option<Price> {
        self.node.price.checked_mul(self.count as u64)
    }

    /// Zones that differ in their last letter as `us-east-1a,b,c`, others by their number. Without
    /// the region, where that is said elsewhere.
    pub(super) fn zones_text(&self, region: Option<&str>) -> String {
        let Some(first) = self.zones.first() else { return String::new() };
        let common = parted(first).0;
        if self.zones.iter().any(|zone| parted(zone).0 != common) {
            return format!("{} zones", self.zones.len());
        }
        let letters: Vec<&str> = self.zones.iter().map(|zone| parted(zone).1).collect();
        let shown = if region == Some(common) { "" } else { common };
        format!("{shown}{}", letters.join(","))
    }
}

/// All but the last letter, and that.
fn parted(zone: &str) -> (&str, &str) {
    zone.split_at(zone.char_indices().last().map_or(0, |(place, _)| place))
}
