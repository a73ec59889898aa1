//! 400 instance types from 1 to 400 processors, and the one pool that may use them all.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_model::budget::BudgetList;
use kerf_model::duration::NillableDuration;
use kerf_model::instance_type::{InstanceType, Offering, Overhead};
use kerf_model::labels::{LabelRules, ProviderLabels, kwok, well_known};
use kerf_model::node_spec::{NodeClassRef, NodeSpec};
use kerf_model::pod::Pod;
use kerf_model::pool::{ConsolidationPolicy, Disruption, NodePool, NodeTemplate, Sizing};
use kerf_model::price::Price;
use kerf_model::quantity::Quantity;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::resources::{CPU, MEMORY, PODS, ResourceList};
use kerf_scheduler::{PlacementProblem, PoolWithTypes, SchedulerSettings};

pub(super) const POOL: &str = "default";
pub(super) const ZONES: [&str; 3] = ["test-zone-1", "test-zone-2", "test-zone-3"];

const TYPES: i64 = 400;
const MEMORY_BYTES_PER_CPU: i64 = 2 << 30;
const PODS_PER_CPU: i64 = 10;
/// A processor and a billion bytes cost 0.1 dollars an hour each.
const MICROS_PER_CPU: i64 = 100_000;
const BYTES_PER_MICRO: i64 = 10_000;
/// More processors than this make an instance type large.
const SMALL_CPUS_MAX: i64 = 4;
/// Spot is not sold in the last zone.
const SOLD: [(&str, &str); 5] = [
    (well_known::SPOT, ZONES[0]),
    (well_known::SPOT, ZONES[1]),
    (well_known::ON_DEMAND, ZONES[0]),
    (well_known::ON_DEMAND, ZONES[1]),
    (well_known::ON_DEMAND, ZONES[2]),
];
/// Labels that only these instance types have.
const OWN_LABELS: [&str; 3] = ["integer", "size", "special"];

/// Pods to place on new instance types of the pool.
pub(super) fn on_new_nodes(pods: Vec<Pod>) -> PlacementProblem {
    let provider = ProviderLabels::new().well_known(OWN_LABELS);
    PlacementProblem {
        pods,
        daemons: Vec::new(),
        daemon_names: Vec::new(),
        nodes: Vec::new(),
        pools: vec![PoolWithTypes {
            pool: Arc::new(pool()),
            instance_types: instance_types().into(),
        }],
        held: Default::default(),
        namespaces: Default::default(),
        settings: SchedulerSettings {
            label_rules: LabelRules::core().with(&provider),
            ..SchedulerSettings::default()
        },
    }
}

/// The instance types; the first has one processor, each next one more.
fn instance_types() -> Vec<InstanceType> {
    (1..=TYPES).map(instance_type).collect()
}

fn instance_type(cpus: i64) -> InstanceType {
    let name = format!("fake-it-{}", cpus - 1);
    let large = cpus > SMALL_CPUS_MAX;
    let entry = |key, values: &[&str]| RequirementEntry::new(key, Operator::In, values.to_vec());
    let special = match large {
        true => entry("special", &["optional"]),
        false => RequirementEntry::new("special", Operator::DoesNotExist, []),
    };
    let requirements = vec![
        entry(well_known::INSTANCE_TYPE, &[&name]),
        entry(well_known::ARCH, &[well_known::ARCH_AMD64]),
        entry(well_known::OS, &["darwin", well_known::OS_LINUX, well_known::OS_WINDOWS]),
        entry(well_known::ZONE, &ZONES),
        entry(well_known::CAPACITY_TYPE, &[well_known::ON_DEMAND, well_known::SPOT]),
        entry("integer", &[&cpus.to_string()]),
        entry("size", &[if large { "large" } else { "small" }]),
        special,
    ];
    InstanceType {
        name,
        requirements: requirements.into(),
        capacity: amounts(cpus * 1000, cpus * MEMORY_BYTES_PER_CPU, cpus * PODS_PER_CPU).into(),
        overhead: Overhead { kube_reserved: amounts(100, 10 << 20, 0), ..Overhead::default() }
            .into(),
        offerings: SOLD.map(|(paid, zone)| offering(paid, zone, cpus)).into(),
    }
}

fn offering(capacity_type: &str, zone: &str, cpus: i64) -> Offering {
    let micros = cpus * MICROS_PER_CPU + cpus * MEMORY_BYTES_PER_CPU / BYTES_PER_MICRO;
    Offering {
        requirements: [
            RequirementEntry::new(well_known::CAPACITY_TYPE, Operator::In, [capacity_type]),
            RequirementEntry::new(well_known::ZONE, Operator::In, [zone]),
        ]
        .into(),
        price: Price::from_micros_per_hour(micros.unsigned_abs()),
        available: true,
        reservation: None,
        capacity_override: ResourceList::new(),
        overhead_override: None,
    }
}

/// Processors, memory and a number of pods.
pub(super) fn amounts(cpu_millis: i64, memory_bytes: i64, pods: i64) -> ResourceList {
    ResourceList::from_iter([
        (CPU, Quantity::from_milli(cpu_millis)),
        (MEMORY, Quantity::from_bytes(memory_bytes)),
        (PODS, Quantity::from_int(pods)),
    ])
}

/// Anything goes, under limits that are never reached.
fn pool() -> NodePool {
    NodePool {
        name: POOL.to_owned(),
        weight: 0,
        sizing: Sizing::Dynamic,
        limits: ResourceList::from_iter([
            (CPU, Quantity::from_int(10_000_000)),
            (MEMORY, Quantity::from_bytes(10_000_000 << 30)),
        ]),
        disruption: Disruption {
            policy: ConsolidationPolicy::default(),
            consolidate_after: NillableDuration::default(),
            budgets: BudgetList::default(),
        },
        template: NodeTemplate {
            labels: BTreeMap::new(),
            annotations: BTreeMap::new(),
            spec: NodeSpec {
                requirements: Vec::new(),
                taints: Vec::new(),
                startup_taints: Vec::new(),
                node_class: NodeClassRef {
                    group: kwok::DOMAIN.to_owned(),
                    kind: "KWOKNodeClass".to_owned(),
                    name: "default".to_owned(),
                },
                termination_grace: None,
                expire_after: NillableDuration::default(),
            },
        },
        hash: "0".to_owned(),
    }
}
