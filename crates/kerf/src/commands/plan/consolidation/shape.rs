//! The plan for programs. `docs/disruption.md` documents the shape.

use anyhow::Result;
use serde::Serialize;
use serde_json::Number;

use super::super::shape::{dollars, json, yaml};
use super::report::{KeptReport, LaunchReport, MoveReport, NodeReport, Report};

/// Changes when a field is taken away or changes its meaning.
const VERSION: u32 = 1;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shape<'a> {
    version: u32,
    price_before_per_hour: Option<Number>,
    price_after_per_hour: Option<Number>,
    saving_per_hour: Option<Number>,
    saving_bound_per_hour: Option<Number>,
    evictions: usize,
    payback_seconds: u64,
    waves: usize,
    moves: Vec<MoveShape<'a>>,
    kept: Vec<KeptShape<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MoveShape<'a> {
    wave: Option<usize>,
    removed: Vec<NodeShape<'a>>,
    launched: Vec<LaunchShape<'a>>,
    saving_per_hour: Option<Number>,
    saving_at_least_per_hour: Option<Number>,
    evictions: usize,
    eviction_cost_millis: u64,
    payback_seconds: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NodeShape<'a> {
    name: &'a str,
    node_pool: &'a str,
    instance_type: &'a str,
    zone: &'a str,
    capacity_type: &'a str,
    price_per_hour: Option<Number>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pods: Vec<PodShape<'a>>,
}

#[derive(Serialize)]
struct PodShape<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LaunchShape<'a> {
    node_pool: &'a str,
    instance_type: &'a str,
    zone: &'a str,
    capacity_type: &'a str,
    price_per_hour: Option<Number>,
    worst_price_per_hour: Option<Number>,
    instance_type_options: usize,
    pods: &'a [String],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct KeptShape<'a> {
    name: &'a str,
    node_pool: &'a str,
    price_per_hour: Option<Number>,
    cause: &'a str,
    message: &'a str,
}

/// One JSON object.
pub(super) fn to_json(report: &Report) -> Result<String> {
    json(&shape(report))
}

/// The same as YAML.
pub(super) fn to_yaml(report: &Report) -> Result<String> {
    yaml(&shape(report))
}

fn shape(report: &Report) -> Shape<'_> {
    Shape {
        version: VERSION,
        price_before_per_hour: dollars(report.price_before),
        price_after_per_hour: dollars(report.price_after),
        saving_per_hour: dollars(report.saving()),
        saving_bound_per_hour: dollars(report.saving_bound),
        evictions: report.evictions(),
        payback_seconds: report.payback_seconds,
        waves: report.waves,
        moves: report.moves.iter().map(move_shape).collect(),
        kept: report.kept.iter().map(kept_shape).collect(),
    }
}

fn move_shape(each: &MoveReport) -> MoveShape<'_> {
    MoveShape {
        wave: each.wave,
        removed: each.removed.iter().map(node_shape).collect(),
        launched: each.launched.iter().map(launch_shape).collect(),
        saving_per_hour: dollars(each.saving),
        saving_at_least_per_hour: dollars(each.saving_at_least),
        evictions: each.evictions(),
        eviction_cost_millis: each.eviction_cost_millis,
        payback_seconds: each.payback_seconds,
    }
}

fn node_shape(node: &NodeReport) -> NodeShape<'_> {
    let pods = node.pods.iter().map(|(name, to)| PodShape { name, to: to.as_deref() });
    NodeShape {
        name: &node.name,
        node_pool: &node.node_pool,
        instance_type: &node.instance_type,
        zone: &node.zone,
        capacity_type: &node.capacity_type,
        price_per_hour: dollars(node.price),
        pods: pods.collect(),
    }
}

fn launch_shape(launch: &LaunchReport) -> LaunchShape<'_> {
    LaunchShape {
        node_pool: &launch.node_pool,
        instance_type: &launch.instance_type,
        zone: &launch.zone,
        capacity_type: &launch.capacity_type,
        price_per_hour: dollars(launch.price),
        worst_price_per_hour: dollars(launch.worst_price),
        instance_type_options: launch.options,
        pods: &launch.pods,
    }
}

fn kept_shape(kept: &KeptReport) -> KeptShape<'_> {
    KeptShape {
        name: &kept.node.name,
        node_pool: &kept.node.node_pool,
        price_per_hour: dollars(kept.node.price),
        cause: kept.cause,
        message: &kept.text,
    }
}
