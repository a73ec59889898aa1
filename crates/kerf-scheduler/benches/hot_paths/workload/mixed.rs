//! The mix of Karpenter's own benchmark: five kinds of pods, a fifth each.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_model::labels::well_known;
use kerf_model::pod::{Pod, PodAffinity, PodShape};
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_scheduler::PlacementProblem;

use super::catalogue::on_new_nodes;
use super::pods::{plain, pod, spread, term};
use super::rng::Rng;

pub(super) const CPU_MILLIS: [i64; 5] = [100, 250, 500, 1000, 1500];
pub(super) const MEMORY_MEBIBYTES: [i64; 6] = [100, 256, 512, 1024, 2048, 4096];
/// As Karpenter's documentation advises for spot.
const INSTANCE_TYPES_MIN: u32 = 15;
const LABEL_VALUES: [&str; 7] = ["a", "b", "c", "d", "e", "f", "g"];

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Plain,
    ZoneSpread,
    HostSpread,
    ZoneAffinity,
    HostApart,
}

const KINDS: [Kind; 5] =
    [Kind::Plain, Kind::ZoneSpread, Kind::HostSpread, Kind::ZoneAffinity, Kind::HostApart];

/// Everything that is drawn for a pod. Pods with equal draws are replicas and share a shape.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Draw {
    kind: Kind,
    cpu_millis: i64,
    memory_mebibytes: i64,
    label: &'static str,
    /// What a spread counts: mostly the label of other pods.
    counted: &'static str,
}

/// So many pods of the mix. What does not divide by five is plain.
pub(super) fn mixed(count: usize) -> PlacementProblem {
    let rng = &mut Rng::new();
    let fifth = count / KINDS.len();
    let mut shapes: BTreeMap<Draw, Arc<PodShape>> = BTreeMap::new();
    let mut pods: Vec<Pod> = Vec::with_capacity(count);
    for kind in KINDS {
        let rest = if kind == Kind::Plain { count % KINDS.len() } else { 0 };
        for _ in 0..fifth + rest {
            let draw = draw(rng, kind);
            let shape = shapes.entry(draw).or_insert_with(|| Arc::new(shape(&draw)));
            pods.push(pod("mixed", pods.len(), shape.clone()));
        }
    }
    on_new_nodes(pods)
}

/// The same from a pool that keeps 15 instance types open for every node.
pub(super) fn min_values(count: usize) -> PlacementProblem {
    let mut problem = mixed(count);
    let pool = Arc::make_mut(&mut problem.pools[0].pool);
    let any_type = RequirementEntry::new(well_known::INSTANCE_TYPE, Operator::Exists, []);
    let enough = RequirementEntry { min_values: Some(INSTANCE_TYPES_MIN), ..any_type };
    pool.template.spec.requirements.push(enough);
    problem
}

fn draw(rng: &mut Rng, kind: Kind) -> Draw {
    let counts = matches!(kind, Kind::ZoneSpread | Kind::HostSpread);
    Draw {
        kind,
        cpu_millis: rng.pick(&CPU_MILLIS),
        memory_mebibytes: rng.pick(&MEMORY_MEBIBYTES),
        label: if kind == Kind::HostApart { "nginx" } else { rng.pick(&LABEL_VALUES) },
        counted: if counts { rng.pick(&LABEL_VALUES) } else { "" },
    }
}

fn shape(draw: &Draw) -> PodShape {
    let labels = match draw.kind {
        Kind::Plain | Kind::ZoneSpread | Kind::HostSpread => [("my-label", draw.label)],
        Kind::ZoneAffinity => [("my-affinity", draw.label)],
        Kind::HostApart => [("app", draw.label)],
    };
    let near = |key| PodAffinity { required: vec![term(key, &labels)], ..PodAffinity::default() };
    let plain = plain(&labels, draw.cpu_millis, draw.memory_mebibytes);
    let spread = |key| vec![spread(key, &[("my-label", draw.counted)])];
    match draw.kind {
        Kind::Plain => plain,
        Kind::ZoneSpread => PodShape { spreads: spread(well_known::ZONE), ..plain },
        Kind::HostSpread => PodShape { spreads: spread(well_known::HOSTNAME), ..plain },
        Kind::ZoneAffinity => PodShape { affinity: near(well_known::ZONE), ..plain },
        Kind::HostApart => PodShape { anti_affinity: near(well_known::HOSTNAME), ..plain },
    }
}
