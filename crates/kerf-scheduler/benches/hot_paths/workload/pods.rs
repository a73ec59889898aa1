//! Pods, and problems whose pods are all alike.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_model::labels::well_known;
use kerf_model::pod::{Pod, PodAffinity, PodAffinityTerm, PodShape, SpreadConstraint};
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::requirements::{NodeAffinity, PodPlacement, PreferredTerm};
use kerf_model::selector::{LabelSelector, TermNamespaces};
use kerf_scheduler::PlacementProblem;

use super::catalogue::{ZONES, amounts, on_new_nodes};

const NAMESPACE: &str = "default";
const MEBIBYTE: i64 = 1 << 20;

/// One deployment of plain pods. With one pod it tells what reading the instance types costs.
pub(super) fn replicas(count: usize) -> PlacementProblem {
    on_new_nodes(alike("replica", plain(&[("app", "web")], 500, 1024), count))
}

/// Equal pods with a node preference that can be met, a zone anti-preference that cannot, and a
/// hostname anti-preference that can.
pub(super) fn preferences(count: usize) -> PlacementProblem {
    let labels = [("app", "nginx")];
    let preferred = PreferredTerm {
        weight: 1,
        expressions: vec![RequirementEntry::new(well_known::ZONE, Operator::In, [ZONES[0]])],
    };
    let shape = PodShape {
        placement: PodPlacement {
            node_affinity: NodeAffinity { preferred: vec![preferred], ..NodeAffinity::default() },
            ..PodPlacement::default()
        },
        anti_affinity: PodAffinity {
            preferred: vec![
                (10, term(well_known::ZONE, &labels)),
                (1, term(well_known::HOSTNAME, &labels)),
            ],
            ..PodAffinity::default()
        },
        ..plain(&labels, 500, 2048)
    };
    on_new_nodes(alike("prefers", shape, count))
}

fn alike(family: &str, shape: PodShape, count: usize) -> Vec<Pod> {
    let shape = Arc::new(shape);
    (0..count).map(|number| pod(family, number, shape.clone())).collect()
}

/// A pod of this shape with a name and an identity of its own.
pub(super) fn pod(family: &str, number: usize, shape: Arc<PodShape>) -> Pod {
    let name = format!("{family}-{number}");
    Pod { uid: name.clone(), name, created_at: 0, shape }
}

/// A pod that asks for processors and memory and nothing else.
pub(super) fn plain(labels: &[(&str, &str)], cpu_millis: i64, memory_mebibytes: i64) -> PodShape {
    PodShape {
        namespace: NAMESPACE.to_owned(),
        labels: owned(labels),
        requests: amounts(cpu_millis, memory_mebibytes * MEBIBYTE, 1),
        ..PodShape::default()
    }
}

/// A hard spread of pods with these labels over the domains of a key.
pub(super) fn spread(key: &str, labels: &[(&str, &str)]) -> SpreadConstraint {
    SpreadConstraint {
        topology_key: key.to_owned(),
        max_skew: 1,
        required: true,
        min_domains: None,
        selector: Some(selector(labels)),
        match_label_keys: Vec::new(),
        honours_affinity: true,
        honours_taints: false,
    }
}

/// Nearness, in the sense of a key, to pods with these labels.
pub(super) fn term(key: &str, labels: &[(&str, &str)]) -> PodAffinityTerm {
    PodAffinityTerm {
        topology_key: key.to_owned(),
        selector: Some(selector(labels)),
        namespaces: TermNamespaces::default(),
    }
}

fn selector(labels: &[(&str, &str)]) -> LabelSelector {
    LabelSelector { match_labels: owned(labels), match_expressions: Vec::new() }
}

fn owned(labels: &[(&str, &str)]) -> BTreeMap<String, String> {
    labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}
