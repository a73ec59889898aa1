//! How made-up pods want to stand to each other: spreads, affinity, anti-affinity.

use kerf_model::labels::well_known;
use kerf_model::pod::{PodAffinity, PodAffinityTerm, SpreadConstraint};
use kerf_model::selector::{LabelSelector, SelectorExpression, TermNamespaces};

use super::names::{APP, APPS, NAMESPACES, RACK, VERSION};
use super::rng::Rng;

pub(super) fn spreads(rng: &mut Rng, app: &str) -> Vec<SpreadConstraint> {
    if !rng.chance(35) {
        return Vec::new();
    }
    let count = if rng.chance(25) { 2 } else { 1 };
    (0..count).map(|_| spread(rng, app)).collect()
}

fn spread(rng: &mut Rng, app: &str) -> SpreadConstraint {
    let key = match rng.between(0, 9) {
        0..=4 => well_known::ZONE,
        5..=7 => well_known::HOSTNAME,
        8 => well_known::CAPACITY_TYPE,
        _ => RACK,
    };
    let by_version = rng.chance(15);
    SpreadConstraint {
        topology_key: key.to_owned(),
        max_skew: rng.between(1, 3) as u32,
        required: rng.chance(75),
        min_domains: rng.chance(20).then(|| rng.between(1, 4) as u32),
        selector: selector(rng, app),
        match_label_keys: if by_version { vec![VERSION.to_owned()] } else { Vec::new() },
        honours_affinity: rng.chance(75),
        honours_taints: rng.chance(25),
    }
}

pub(super) fn affinity(rng: &mut Rng, app: &str, percent: u64) -> PodAffinity {
    let mut affinity = PodAffinity::default();
    if rng.chance(percent) {
        affinity.required.push(term(rng, app));
        if rng.chance(15) {
            affinity.required.push(term(rng, app));
        }
    }
    if rng.chance(percent / 2) {
        let weight = rng.between(1, 100) as i32;
        affinity.preferred.push((weight, term(rng, app)));
    }
    affinity
}

fn term(rng: &mut Rng, app: &str) -> PodAffinityTerm {
    let key = match rng.between(0, 19) {
        0..=9 => well_known::HOSTNAME,
        10..=17 => well_known::ZONE,
        18 => well_known::CAPACITY_TYPE,
        _ => RACK,
    };
    PodAffinityTerm {
        topology_key: key.to_owned(),
        selector: selector(rng, app),
        namespaces: namespaces(rng),
    }
}

fn namespaces(rng: &mut Rng) -> TermNamespaces {
    let stage = || LabelSelector {
        match_labels: [("stage".to_owned(), "live".to_owned())].into(),
        match_expressions: Vec::new(),
    };
    let (names, selector) = match rng.between(0, 9) {
        0 => (vec![rng.pick(&NAMESPACES).0.to_owned()], None),
        1 => (Vec::new(), Some(LabelSelector::default())),
        2 => (vec!["lab".to_owned()], Some(stage())),
        _ => (Vec::new(), None),
    };
    TermNamespaces { names, selector }
}

/// Mostly the pod's own app, so that replicas mean each other.
fn selector(rng: &mut Rng, app: &str) -> Option<LabelSelector> {
    let expression = |key: &str, operator: &str, values: &[&str]| SelectorExpression {
        key: key.to_owned(),
        operator: operator.to_owned(),
        values: values.iter().map(|value| (*value).to_owned()).collect(),
    };
    let labels = |app: &str| LabelSelector {
        match_labels: [(APP.to_owned(), app.to_owned())].into(),
        match_expressions: Vec::new(),
    };
    let expressions = |expressions| LabelSelector {
        match_labels: Default::default(),
        match_expressions: expressions,
    };
    match rng.between(0, 19) {
        0..=12 => Some(labels(app)),
        13..=15 => Some(labels(rng.word(&APPS))),
        16 => Some(expressions(vec![expression(APP, "In", &rng.some(&APPS))])),
        17 => Some(expressions(vec![expression(APP, "NotIn", &[app])])),
        18 => Some(expressions(vec![expression(VERSION, "Exists", &[])])),
        _ if rng.chance(50) => Some(LabelSelector::default()),
        _ => None,
    }
}
