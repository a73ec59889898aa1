//! What follows from the stored state: edits of pools, stand-ins and nodes.

use std::collections::BTreeSet;

use kerf_notices::zonal_shift::{
    Cluster, CopyEdit, GRACE_SECONDS, NodeAction, NodeView, Note, Options, Plan, PoolEvent, Step,
    UnixSeconds, ZoneName, ZoneTable,
};

use super::node_pool_mode::{remember, time};
use super::observation::{ClassZones, view, zones as all_zones};
use crate::action::ActionKind;
use crate::decision::Decision;
use crate::event::{Key, Kind, Outcome};
use crate::kubernetes_event::KubernetesEvent;
use crate::observed::{Name, PoolManifestKey};
use crate::reason::Reason;
use crate::sample::Sample;
use crate::time::Span;
use crate::world::World;
use crate::zonal_shift::{
    self, Change, CopyStep, NodePoolMode, ShiftReport, ShiftSettings, StepKey, node_patch,
};

/// Ids and names of zones, and the zones of node classes.
type Zones<'a> = (&'a ZoneTable, &'a ClassZones);

/// Plans from the stored state and from what is there. Nothing before everything was listed: what
/// is not known yet would look like it is not there.
pub(super) fn plan(
    world: &World,
    settings: &ShiftSettings,
    (zones, node_class_zones): Zones<'_>,
    nodes: &[NodeView],
    now: UnixSeconds,
    decision: &mut Decision,
) {
    if !world.has_listed(&zonal_shift::KINDS) || !world.has_listed(&[Kind::Node]) {
        return;
    }
    let known = &world.zonal_shift;
    let pools: Vec<_> = world.pool_manifests.values().map(|pool| &*pool.object).collect();
    let nodes: Vec<_> = nodes.iter().collect();
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
        grace_until: known.leads_since.unwrap_or(now).plus(GRACE_SECONDS),
    };
    let plan = Plan::new(known.state(), cluster, &options, &known.edits, now);
    if let Some(at) = plan.look_again_at {
        decision.wake(time(at));
    }
    for note in known.edits.clone().unheard(&plan.notes) {
        report_note(note, decision);
    }
    remember(decision, Change::Noted(plan.notes));
    let steps = plan.steps.into_iter().filter(|step| !is_going(world, step)).collect();
    for step in in_turn(steps, &known.failed) {
        act(world, step, decision);
    }
}

/// Whether a step is the deletion of a stand-in that is on its way out.
fn is_going(world: &World, step: &Step) -> bool {
    let Step::Copy(CopyEdit::Delete { pool }) = step else { return false };
    let pool = world.pool_manifests.get(&PoolManifestKey::from(pool));
    pool.is_some_and(|pool| pool.meta.is_deleting())
}

fn act(world: &World, step: Step, decision: &mut Decision) {
    match step {
        Step::Pool(edit) => {
            decision.act(ActionKind::EditPool(Box::new(edit)), Reason::ZonalShift);
        }
        Step::Copy(edit) => {
            let uid = match &edit {
                CopyEdit::Delete { pool } => {
                    let pool = world.pool_manifests.get(&PoolManifestKey::from(pool));
                    pool.map(|pool| pool.meta.uid.clone())
                }
                CopyEdit::Create { .. } | CopyEdit::Replace { .. } => None,
            };
            let step = Box::new(CopyStep { edit, uid });
            decision.act(ActionKind::EditPoolCopy(step), Reason::ZonalShift);
        }
        Step::Node(edit) => {
            let Some(node) = world.nodes.get(edit.node.as_str()) else { return };
            let (name, uid) = (node.meta.name.clone(), node.meta.uid.clone());
            let patch = node_patch(&edit, node);
            let reason = Reason::ZonalShiftNode(edit.action);
            decision.act(ActionKind::PatchNode { name, uid, patch }, reason);
        }
    }
}

fn report_note(note: Note, decision: &mut Decision) {
    if let Note::Skipped { reason, .. } = &note {
        let labels = vec![("reason", reason.label().to_owned())];
        decision.samples.push(Sample::one("kerf_zonal_shift_skipped_total", labels));
    }
    note.event().into_iter().for_each(|event| record(event, decision));
    decision.shift_reports.push(ShiftReport::Noted(note));
}

/// Each is about one change, so none repeats another.
fn record(event: PoolEvent, decision: &mut Decision) {
    let about = Key::PoolManifest(PoolManifestKey::from(&event.pool));
    let event = match event.is_warning {
        true => KubernetesEvent::warning(about, event.reason, event.message),
        false => KubernetesEvent::normal(about, event.reason, event.message),
    };
    decision.record(event.silent_for(Span::default()));
}

/// What to remember and report of a change to a pool or its stand-in.
pub(super) fn concluded(
    step: Step,
    outcome: &Outcome,
    now: UnixSeconds,
    world: &World,
    decision: &mut Decision,
) {
    let is_gone = matches!(step, Step::Copy(CopyEdit::Delete { .. }));
    let has_failed = match outcome {
        Outcome::Stored(_) | Outcome::Done => false,
        Outcome::NotFound => !is_gone,
        _ => true,
    };
    remember(decision, Change::Tried { step: StepKey::of(&step), has_failed });
    if has_failed {
        return;
    }
    let action = match &step {
        Step::Pool(edit) => {
            remember(decision, Change::Edited(Box::new(edit.clone()), now));
            let nodes: Vec<_> = world.nodes.values().map(|node| view(node)).collect();
            let (zones, _) = all_zones(world, &nodes);
            let events = PoolEvent::of_edit(edit, &zones).into_iter();
            events.for_each(|event| record(event, decision));
            edit.action.label()
        }
        Step::Copy(edit) => edit.action().label(),
        Step::Node(edit) => edit.action.label(),
    };
    count("kerf_zonal_shift_nodepool_edits_total", action, decision);
    decision.shift_reports.push(ShiftReport::Applied(Box::new(step)));
}

/// What to remember and report of a change to a node.
pub(super) fn node_concluded(
    node: &Name,
    action: NodeAction,
    outcome: &Outcome,
    decision: &mut Decision,
) {
    let is_done = matches!(outcome, Outcome::Stored(_));
    let step = StepKey::Node(node.to_string());
    remember(decision, Change::Tried { step, has_failed: !is_done });
    if is_done {
        count("kerf_zonal_shift_node_edits_total", action.label(), decision);
        decision.shift_reports.push(ShiftReport::NodeChanged { node: node.clone(), action });
    }
}

fn count(metric: &'static str, action: &str, decision: &mut Decision) {
    decision.samples.push(Sample::one(metric, vec![("action", action.to_owned())]));
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
    node_class_zones: &ClassZones,
    zones: &ZoneTable,
    nodes: &[&NodeView],
) -> BTreeSet<ZoneName> {
    let mut used = known.network.subnet_zones(&settings.cluster_name, known.is_auto_mode);
    used.extend(node_class_zones.values().flatten().cloned());
    if !used.is_empty() {
        used.extend(nodes.iter().filter_map(|node| node.zone_in(zones).cloned()));
    }
    used
}
