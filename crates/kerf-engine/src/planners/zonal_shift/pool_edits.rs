//! What follows from the stored state: edits of pools, stand-ins and nodes.

use std::collections::{BTreeMap, BTreeSet};

use kerf_notices::zonal_shift::{
    Cluster, GRACE_SECONDS, NodeClassKey, NodeView, Options, Plan, Step, UnixSeconds, ZoneName,
    ZoneTable,
};

use super::node_pool_mode::{call, remember, time};
use crate::decision::Decision;
use crate::reason::Reason;
use crate::zonal_shift::{Change, NodePoolMode, ShiftCall, ShiftReport, ShiftSettings, StepKey};

/// Ids and names of zones, and the zones of node classes.
type Zones<'a> = (&'a ZoneTable, &'a BTreeMap<NodeClassKey, BTreeSet<ZoneName>>);

/// Plans from the stored state and from what is there. Nothing before everything was listed: what
/// is not known yet would look like it is not there.
pub(super) fn plan(
    known: &NodePoolMode,
    settings: &ShiftSettings,
    (zones, node_class_zones): Zones<'_>,
    now: UnixSeconds,
    decision: &mut Decision,
) {
    let Some(stored) = known.stored.as_ref().filter(|_| known.is_listed()) else { return };
    let pools: Vec<_> = known.pools.values().flat_map(|pools| pools.by_name.values()).collect();
    let nodes: Vec<_> = known.nodes.by_name.values().collect();
    let cluster = Cluster {
        zones,
        used_zones: &used_zones(known, settings, node_class_zones, zones, &nodes),
        node_class_zones,
        pools: &pools,
        nodes: &nodes,
    };
    let options = Options {
        do_not_disrupt: settings.do_not_disrupt,
        taint_away_nodes: settings.taint_away_nodes,
        auto_mode_revert: settings.auto_mode_revert,
        grace_until: known.started_at.unwrap_or(now).plus(GRACE_SECONDS),
    };
    let plan = Plan::new(&stored.state, cluster, &options, &known.edits, now);
    if let Some(at) = plan.look_again_at {
        decision.wake(time(at));
    }
    let unheard = known.edits.clone().unheard(&plan.notes);
    decision.shift_reports.extend(unheard.into_iter().map(ShiftReport::Noted));
    remember(decision, Change::Noted(plan.notes));
    for step in in_turn(plan.steps, &known.failed) {
        call(decision, ShiftCall::Apply(Box::new(step)), Reason::ZonalShift);
    }
}

/// What to remember and tell of a change that was made.
pub(super) fn applied(
    known: &NodePoolMode,
    step: &Step,
    now: UnixSeconds,
    decision: &mut Decision,
) {
    if let Step::Pool(edit) = step {
        remember(decision, Change::Edited(Box::new(edit.clone()), now));
    }
    let (step, zones) = (Box::new(step.clone()), known.zones().0);
    decision.shift_reports.push(ShiftReport::Applied { step, zones });
}

/// The steps whose turn it is: a phase begins when those before are done or were tried in vain, for
/// nodes are protected before their pools change and emptied only when their pods have a stand-in to
/// go to.
fn in_turn(steps: Vec<Step>, failed: &BTreeSet<StepKey>) -> Vec<Step> {
    let untried = steps.iter().filter(|step| !failed.contains(&StepKey::of(step)));
    let phase = untried.map(Step::phase).min();
    steps.into_iter().filter(|step| phase.is_none_or(|phase| step.phase() <= phase)).collect()
}

/// Zones in which the cluster has subnets or nodes; empty when its subnets are not known.
fn used_zones(
    known: &NodePoolMode,
    settings: &ShiftSettings,
    node_class_zones: &BTreeMap<NodeClassKey, BTreeSet<ZoneName>>,
    zones: &ZoneTable,
    nodes: &[&NodeView],
) -> BTreeSet<ZoneName> {
    let mut used = known.subnet_zones(&settings.cluster_name);
    used.extend(node_class_zones.values().flatten().cloned());
    if !used.is_empty() {
        used.extend(nodes.iter().filter_map(|node| node.zone_in(zones).cloned()));
    }
    used
}
