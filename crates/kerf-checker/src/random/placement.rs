//! Where made-up pods want to stand: selectors, node affinity, tolerations.

use kerf_model::labels::{kwok, well_known};
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::requirements::{NodeAffinity, PodPlacement, PreferredTerm};
use kerf_model::taint::{TaintEffect, Toleration, TolerationOperator};

use super::names::{FAMILIES, RACK, RACKS, TEAM, TEAMS};
use super::rng::Rng;

pub(super) fn placement(rng: &mut Rng, zones: &[&str]) -> PodPlacement {
    let mut placement = PodPlacement::default();
    if rng.chance(20) {
        let (key, value) = label(rng, zones);
        placement.node_selector.insert(key, value);
    }
    let mut affinity = NodeAffinity::default();
    if rng.chance(20) {
        let terms = rng.between(1, 3);
        affinity.required = (0..terms).map(|_| term(rng, zones)).collect();
    }
    if rng.chance(15) {
        let terms = rng.between(1, 2);
        let preferred =
            |_| PreferredTerm { weight: rng.between(1, 100) as i32, expressions: term(rng, zones) };
        affinity.preferred = (0..terms).map(preferred).collect();
    }
    placement.node_affinity = affinity;
    placement
}

fn label(rng: &mut Rng, zones: &[&str]) -> (String, String) {
    let (key, value) = match rng.between(0, 9) {
        0..=3 => (well_known::ZONE, rng.word(zones)),
        4 => (well_known::CAPACITY_TYPE, well_known::ON_DEMAND),
        5 => (well_known::ARCH, well_known::ARCH_AMD64),
        6 => (RACK, rng.word(&RACKS)),
        7 => (TEAM, rng.word(&TEAMS)),
        8 => (well_known::ZONE, "nowhere"),
        _ => (kwok::INSTANCE_FAMILY, rng.word(&FAMILIES)),
    };
    (key.to_owned(), value.to_owned())
}

fn term(rng: &mut Rng, zones: &[&str]) -> Vec<RequirementEntry> {
    let count = rng.between(1, 2);
    (0..count).map(|_| expression(rng, zones)).collect()
}

fn expression(rng: &mut Rng, zones: &[&str]) -> RequirementEntry {
    let entry = |key, operator, values: Vec<&str>| RequirementEntry::new(key, operator, values);
    let bound = rng.between(0, 20).to_string();
    match rng.between(0, 11) {
        0..=2 => entry(well_known::ZONE, Operator::In, rng.some(zones)),
        3 => entry(well_known::ZONE, Operator::NotIn, vec![rng.word(zones)]),
        4 => entry(well_known::CAPACITY_TYPE, Operator::NotIn, vec![well_known::SPOT]),
        5 => entry(kwok::INSTANCE_CPU, Operator::Gt, vec![bound.as_str()]),
        6 => entry(kwok::INSTANCE_CPU, Operator::Lt, vec![bound.as_str()]),
        7 => entry(RACK, Operator::In, rng.some(&RACKS)),
        8 => entry(RACK, Operator::NotIn, vec![rng.word(&RACKS)]),
        9 => entry(TEAM, Operator::DoesNotExist, vec![]),
        10 => entry(TEAM, Operator::Exists, vec![]),
        _ => entry(well_known::ARCH, Operator::In, vec![well_known::ARCH_ARM64]),
    }
}

pub(super) fn tolerations(rng: &mut Rng) -> Vec<Toleration> {
    if rng.chance(5) {
        return vec![Toleration::of_everything()];
    }
    if !rng.chance(45) {
        return Vec::new();
    }
    let exists = rng.chance(40);
    vec![Toleration {
        key: "dedicated".to_owned(),
        operator: if exists { TolerationOperator::Exists } else { TolerationOperator::Equal },
        value: if exists { String::new() } else { rng.word(&TEAMS).to_owned() },
        effect: if rng.chance(50) { Some(TaintEffect::NoSchedule) } else { None },
    }]
}
