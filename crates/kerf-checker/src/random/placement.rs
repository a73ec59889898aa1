//! Where made-up pods want to stand: selectors, node affinity, tolerations.

use kerf_model::labels::{kwok, well_known};
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::requirements::{NodeAffinity, PodPlacement, PreferredTerm};
use kerf_model::taint::{TaintEffect, Toleration, TolerationOperator};

use super::dice::Dice;
use super::words::{FAMILIES, RACK, RACKS, TEAM, TEAMS};

pub(super) fn placement(dice: &mut Dice, zones: &[&str]) -> PodPlacement {
    let mut placement = PodPlacement::default();
    if dice.chance(20) {
        let (key, value) = label(dice, zones);
        placement.node_selector.insert(key, value);
    }
    let mut affinity = NodeAffinity::default();
    if dice.chance(20) {
        let terms = dice.between(1, 3);
        affinity.required = (0..terms).map(|_| term(dice, zones)).collect();
    }
    if dice.chance(15) {
        let terms = dice.between(1, 2);
        let preferred = |_| PreferredTerm {
            weight: dice.between(1, 100) as i32,
            expressions: term(dice, zones),
        };
        affinity.preferred = (0..terms).map(preferred).collect();
    }
    placement.node_affinity = affinity;
    placement
}

fn label(dice: &mut Dice, zones: &[&str]) -> (String, String) {
    let (key, value) = match dice.between(0, 9) {
        0..=3 => (well_known::ZONE, dice.word(zones)),
        4 => (well_known::CAPACITY_TYPE, well_known::ON_DEMAND),
        5 => (well_known::ARCH, well_known::ARCH_AMD64),
        6 => (RACK, dice.word(&RACKS)),
        7 => (TEAM, dice.word(&TEAMS)),
        8 => (well_known::ZONE, "nowhere"),
        _ => (kwok::INSTANCE_FAMILY, dice.word(&FAMILIES)),
    };
    (key.to_owned(), value.to_owned())
}

fn term(dice: &mut Dice, zones: &[&str]) -> Vec<RequirementEntry> {
    let count = dice.between(1, 2);
    (0..count).map(|_| expression(dice, zones)).collect()
}

fn expression(dice: &mut Dice, zones: &[&str]) -> RequirementEntry {
    let entry = |key, operator, values: Vec<&str>| RequirementEntry::new(key, operator, values);
    let bound = dice.between(0, 20).to_string();
    match dice.between(0, 11) {
        0..=2 => entry(well_known::ZONE, Operator::In, dice.some(zones)),
        3 => entry(well_known::ZONE, Operator::NotIn, vec![dice.word(zones)]),
        4 => entry(well_known::CAPACITY_TYPE, Operator::NotIn, vec![well_known::SPOT]),
        5 => entry(kwok::INSTANCE_CPU, Operator::Gt, vec![bound.as_str()]),
        6 => entry(kwok::INSTANCE_CPU, Operator::Lt, vec![bound.as_str()]),
        7 => entry(RACK, Operator::In, dice.some(&RACKS)),
        8 => entry(RACK, Operator::NotIn, vec![dice.word(&RACKS)]),
        9 => entry(TEAM, Operator::DoesNotExist, vec![]),
        10 => entry(TEAM, Operator::Exists, vec![]),
        _ => entry(well_known::ARCH, Operator::In, vec![well_known::ARCH_ARM64]),
    }
}

pub(super) fn tolerations(dice: &mut Dice) -> Vec<Toleration> {
    if dice.chance(5) {
        return vec![Toleration::of_everything()];
    }
    if !dice.chance(45) {
        return Vec::new();
    }
    let exists = dice.chance(40);
    vec![Toleration {
        key: "dedicated".to_owned(),
        operator: if exists { TolerationOperator::Exists } else { TolerationOperator::Equal },
        value: if exists { String::new() } else { dice.word(&TEAMS).to_owned() },
        effect: if dice.chance(50) { Some(TaintEffect::NoSchedule) } else { None },
    }]
}
