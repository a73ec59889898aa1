//! Where pods without a place could go: one zone, several, or none.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kerf_engine::World;
use kerf_engine::observed::Pod;
use kerf_model::labels::well_known::ZONE;
use kerf_model::pod::PodShape;
use kerf_model::requirement::{Operator, RequirementEntry};

use super::zone_neighbours::Neighbours;

/// How pods that could go to several zones are shown.
const FLEXIBLE: &str = "flexible";
/// And those no zone would do for.
const NONE: &str = "none";

/// How many pods could go where. Replicas go alike, so each shape is looked at once.
pub(super) fn counted<'a>(
    world: &'a World,
    pods: impl Iterator<Item = &'a Pod>,
) -> BTreeMap<String, usize> {
    let zones = zones(world);
    let mut neighbours = Neighbours::new(world);
    let mut known: BTreeMap<*const PodShape, String> = BTreeMap::new();
    let mut counts = BTreeMap::new();
    for pod in pods {
        let word = known.entry(Arc::as_ptr(&pod.shape)).or_insert_with(|| {
            let mut fitting: BTreeSet<&str> = zones.clone();
            fitting.retain(|zone| admits(&pod.shape, zone));
            neighbours.leave_valid(&pod.shape, &zones, &mut fitting);
            let mut fitting = fitting.into_iter();
            match (fitting.next(), fitting.next()) {
                (None, _) => NONE.to_owned(),
                (Some(only), None) => only.to_owned(),
                (Some(_), Some(_)) => FLEXIBLE.to_owned(),
            }
        });
        *counts.entry(word.clone()).or_default() += 1;
    }
    counts
}

/// The zones instances are sold in.
fn zones(world: &World) -> BTreeSet<&str> {
    let types = world.instance_types.values().flat_map(|types| types.iter());
    let entries = types.flat_map(|it| it.offerings.iter()).flat_map(|it| it.requirements.iter());
    let zones = entries.filter(|entry| entry.key == ZONE && entry.operator == Operator::In);
    zones.flat_map(|entry| entry.values.iter().map(String::as_str)).collect()
}

/// Whether nothing the pod or its volumes demand of nodes rules the zone out.
pub(super) fn admits(shape: &PodShape, zone: &str) -> bool {
    let placement = &shape.placement;
    let selected = placement.node_selector.get(ZONE).is_none_or(|wanted| wanted == zone);
    selected
        && one_admits(&placement.node_affinity.required, zone)
        && shape.volumes.iter().all(|volume| one_admits(&volume.reachable_from, zone))
}

/// Whether one of the alternatives leaves the zone; no alternatives leave everything.
fn one_admits(alternatives: &[Vec<RequirementEntry>], zone: &str) -> bool {
    let all_hold = |term: &Vec<RequirementEntry>| {
        term.iter().filter(|entry| entry.key == ZONE).all(|entry| holds(entry, zone))
    };
    alternatives.is_empty() || alternatives.iter().any(all_hold)
}

fn holds(entry: &RequirementEntry, zone: &str) -> bool {
    let listed = entry.values.iter().any(|value| value == zone);
    match entry.operator {
        Operator::In => listed,
        Operator::NotIn => !listed,
        Operator::DoesNotExist => false,
        // Zones are names, not numbers.
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use kerf_model::pod::PodVolume;

    use super::*;

    fn entry(operator: Operator, zones: &[&str]) -> RequirementEntry {
        RequirementEntry::new(ZONE, operator, zones.iter().copied())
    }

    fn fitting(shape: &PodShape) -> Vec<&'static str> {
        ["a", "b", "c"].into_iter().filter(|zone| admits(shape, zone)).collect()
    }

    #[test]
    fn a_pod_that_says_nothing_may_go_anywhere() {
        assert_eq!(fitting(&PodShape::default()), ["a", "b", "c"]);
    }

    #[test]
    fn selector_affinity_and_volumes_must_all_agree() {
        let mut shape = PodShape::default();
        let required = &mut shape.placement.node_affinity.required;
        required.push(vec![entry(Operator::In, &["a", "b"])]);
        required.push(vec![entry(Operator::NotIn, &["a", "b"])]);
        assert_eq!(fitting(&shape), ["a", "b", "c"], "one alternative is enough");
        shape.placement.node_affinity.required.pop();
        assert_eq!(fitting(&shape), ["a", "b"]);
        shape.volumes.push(PodVolume {
            claim: "default/data".to_owned(),
            driver: None,
            reachable_from: vec![vec![entry(Operator::In, &["b", "c"])]],
        });
        assert_eq!(fitting(&shape), ["b"]);
        shape.placement.node_selector.insert(ZONE.to_owned(), "c".to_owned());
        assert_eq!(fitting(&shape), [""; 0]);
    }
}
