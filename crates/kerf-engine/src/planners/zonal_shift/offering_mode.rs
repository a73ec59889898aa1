//! Zones the cluster is shifted away from: pools that reach one are told when a shift begins and
//! when it is over.
//!
//! That nothing is taken away there is seen to where things are taken away, and that nothing is
//! launched there by the cloud, which offers nothing.

use kerf_model::labels::aws::ZONE_ID;
use kerf_model::labels::well_known::ZONE;
use kerf_model::requirement::{Operator, RequirementEntry};

use crate::decision::Decision;
use crate::event::Key;
use crate::kubernetes_event::KubernetesEvent;
use crate::memory::{RecordedShift, Update};
use crate::observed::{Pool, ShiftedZone};
use crate::sample::Sample;
use crate::time::Time;
use crate::world::World;

/// How long a shift lasted.
const DURATION: &str = "karpenter_cloudprovider_zonal_shift_duration";

/// Tells of what has begun and what is over.
pub(super) fn plan(world: &World, now: Time) -> Decision {
    let mut decision = Decision::default();
    let known_shifts = &world.memory.recorded_shifts;
    for (name, recorded) in known_shifts {
        // One that ended and began anew between two looks is another.
        if world.shifted.get(name).is_none_or(|zone| zone.since != recorded.zone.since) {
            end(world, recorded, now, &mut decision);
        }
    }
    for zone in world.shifted.values() {
        let known =
            known_shifts.get(&zone.name).filter(|recorded| recorded.zone.since == zone.since);
        begin(world, zone, known, &mut decision);
    }
    decision
}

fn end(world: &World, recorded: &RecordedShift, now: Time, decision: &mut Decision) {
    let zone = &recorded.zone;
    let message = format!(
        "Zonal shift cleared: offerings in zone {} ({}) are restored for this NodePool",
        zone.name, zone.id
    );
    for pool in recorded.pools.iter().filter(|pool| world.pools.contains_key(*pool)) {
        let about = Key::Pool(pool.clone());
        decision.record(KubernetesEvent::normal(about, "ZonalShiftCleared", &message));
    }
    let labels = vec![("zone", zone.name.to_string()), ("type", zone.origin.to_string())];
    decision.samples.push(Sample::Took { metric: DURATION, labels, span: now.since(zone.since) });
    decision.remember(Update::ShiftOver(zone.name.clone()));
}

/// A pool made, or given the zone, while the shift lasts is told when it is seen.
fn begin(
    world: &World,
    zone: &ShiftedZone,
    known: Option<&RecordedShift>,
    decision: &mut Decision,
) {
    let mut recorded = known.cloned().unwrap_or_else(|| RecordedShift::new(zone.clone()));
    let message = format!(
        "Zonal shift detected: offerings in zone {} ({}) are unavailable for this NodePool",
        zone.name, zone.id
    );
    for (name, _) in world.pools.iter().filter(|(_, pool)| reaches(world, pool, zone)) {
        if recorded.pools.insert(name.clone()) {
            let about = Key::Pool(name.clone());
            decision.record(KubernetesEvent::warning(about, "ZonalShiftActive", &message));
        }
    }
    if known != Some(&recorded) {
        decision.remember(Update::ShiftRecorded(Box::new(recorded)));
    }
}

/// Whether a pool may have nodes in a zone, by its name and id, and its cloud offers some there.
fn reaches(world: &World, pool: &Pool, zone: &ShiftedZone) -> bool {
    let template = &pool.spec.template;
    if pool.meta.is_deleting() || !world.is_supported(&template.spec.node_class) {
        return false;
    }
    let there = [(ZONE, &zone.name), (ZONE_ID, &zone.id)]
        .map(|(key, value)| RequirementEntry::new(key, Operator::In, [&**value]));
    let is_label_elsewhere = there.iter().any(|entry| {
        template.labels.get(&entry.key).is_some_and(|label| !entry.values.contains(label))
    });
    let mut wanted = template.spec.requirements.iter();
    if is_label_elsewhere || wanted.any(|own| there.iter().any(|entry| own.rules_out(entry))) {
        return false;
    }
    let instance_types = world.instance_types.get(&pool.meta.name);
    let mut offerings = instance_types
        .into_iter()
        .flat_map(|instance_types| instance_types.iter())
        .flat_map(|it| it.offerings.iter());
    offerings.any(|offering| !offering.requirements.iter().any(|own| own.rules_out(&there[0])))
}
