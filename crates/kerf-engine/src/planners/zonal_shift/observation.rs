//! What NodePool mode sees in the objects of the world, and which of their changes matter to it.

use std::collections::{BTreeMap, BTreeSet};

use kerf_model::taint::UNSCHEDULABLE_KEY;
use kerf_notices::zonal_shift::{
    AWAY_ZONE_TAINT, NodeClassKey, NodeView, Origin, ZoneId, ZoneName, ZoneTable, node_class_zones,
};

use crate::decision::Decision;
use crate::event::{Key, Object};
use crate::observed::{Node, ShiftConfigMap, ShiftText};
use crate::reading::ActiveShift;
use crate::world::World;
use crate::zonal_shift::{Change, ShiftReport, ShiftSettings, StepKey};

/// What to remember when an object is about to become this.
pub(crate) fn on_change(world: &World, object: &Object) -> Decision {
    let mut decision = Decision::default();
    let Some(settings) = &world.settings.zonal_shift else { return decision };
    match object {
        Object::Node(node) if matters(world, node) => {
            decision.shift_changes.push(Change::NodeChanged);
        }
        Object::ShiftConfigMap(map) => read_state(world, settings, map, &mut decision),
        _ => {}
    }
    decision
}

/// What to remember when an object is about to be gone.
pub(crate) fn on_delete(world: &World, key: &Key) -> Decision {
    let mut decision = Decision::default();
    let Some(settings) = &world.settings.zonal_shift else { return decision };
    match key {
        Key::Node(_) => decision.shift_changes.push(Change::NodeChanged),
        Key::ShiftConfigMap(key) if *key == settings.config_map() => {
            decision.shift_changes.push(Change::StoredGone);
        }
        _ => {}
    }
    decision
}

/// Whether a node changes in what a shift looks at, or a change to it failed: nodes are written
/// every few seconds, and most of that is of no interest here.
fn matters(world: &World, node: &Node) -> bool {
    let name = &node.meta.name;
    if world.zonal_shift.failed.contains(&StepKey::Node(name.to_string())) {
        return true;
    }
    world.nodes.get(name).is_none_or(|before| view(before) != view(node))
}

fn read_state(
    world: &World,
    settings: &ShiftSettings,
    map: &ShiftConfigMap,
    decision: &mut Decision,
) {
    if map.key != settings.config_map() {
        return;
    }
    let known = &world.zonal_shift.stored;
    let stored = known.with(map);
    let is_own = known.revision == stored.revision;
    if matches!(map.state, ShiftText::Damaged(_)) && !is_own {
        decision.shift_reports.push(ShiftReport::StateDamaged);
    }
    // What this process wrote itself is reported where it was decided.
    let away = stored.state.away();
    if known.revision.is_none() && stored.state != known.state && !away.is_empty() {
        let away = away.into_iter().collect();
        decision.shift_reports.push(ShiftReport::StateRead { away });
    }
    decision.shift_changes.push(Change::Stored(Box::new(map.clone())));
}

/// A node, as the rules of zonal shifts read it.
pub(super) fn view(node: &Node) -> NodeView {
    let is_cordoned = node.taints.iter().any(|taint| taint.key == UNSCHEDULABLE_KEY);
    let ours = node.taints.iter().filter(|taint| taint.key == AWAY_ZONE_TAINT);
    let taints = ours.map(|taint| (taint.key.as_str(), taint.effect.as_str()));
    NodeView::of(&node.meta.name, &node.labels, &node.annotations, is_cordoned, taints)
}

/// The zones of node classes.
pub(super) type ClassZones = BTreeMap<NodeClassKey, BTreeSet<ZoneName>>;

/// Ids and names of zones from every source; the first that knows one is believed. Beside them,
/// the zones of node classes.
pub(super) fn zones(world: &World, nodes: &[NodeView]) -> (ZoneTable, ClassZones) {
    let mut zones = world.zonal_shift.network.zones.clone();
    let mut by_class = ClassZones::new();
    for (key, class) in &world.node_class_subnets {
        let of_class = by_class.entry(NodeClassKey::new(&key.group, &key.name)).or_default();
        of_class.extend(node_class_zones(&class.object, &mut zones));
    }
    for node in nodes {
        if let (Some(id), Some(name)) = (&node.zone_id, &node.zone) {
            zones.learn(id, name);
        }
    }
    for (id, name) in world.zonal_shift.stored.zones.pairs() {
        zones.learn(id, name);
    }
    (zones, by_class)
}

/// The shifts that are not over, with names of zones.
pub(crate) fn active_shifts(world: &World) -> Vec<ActiveShift> {
    let state = world.zonal_shift.state();
    if state.active().next().is_none() {
        return Vec::new();
    }
    let nodes: Vec<_> = world.nodes.values().map(|node| view(node)).collect();
    let (zones, _) = zones(world, &nodes);
    let shift = |(id, origin): (&ZoneId, Origin)| ActiveShift {
        zone: zones.name(id).map(ToString::to_string).unwrap_or_default(),
        zone_id: id.to_string(),
        origin: origin.to_string(),
    };
    state.active().map(|(id, origin, _)| shift((id, origin))).collect()
}
