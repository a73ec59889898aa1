//! The cluster as a search would see it, for those who ask without acting: `kerf plan --consolidate`.

use std::collections::BTreeSet;

use kerf_consolidation::Snapshot;

use super::hysteresis::Undone;
use super::snapshot::Painter;
use crate::decision::Decision;
use crate::planners::disruption::budgets::Budgets;
use crate::planners::disruption::candidates::Judge;
use crate::time::Time;
use crate::world::World;

/// What a search would be given now, empty nodes among those that may go. Budgets do not count yet:
/// they say how much of a plan goes at a time. Changes nothing.
#[must_use]
pub fn consolidation_snapshot(world: &World, now: Time) -> Snapshot {
    let (mut judge, budgets) = (Judge::new(world, now), Budgets::of(world, now));
    let none = BTreeSet::new();
    let undone = Undone::default();
    let (taken, closed, plans_empty) = (&none, &none, true);
    let painter = Painter { world, judge: &mut judge, taken, closed, plans_empty, undone, now };
    // What would be told about nodes stands in the snapshot as well.
    let (problem, asked) = painter.paint(&budgets, &mut Decision::default());
    Snapshot { problem, nodes: asked.nodes }
}
