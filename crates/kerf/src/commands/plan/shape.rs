//! The plan for programs. `docs/plan.md` documents the shape.

use anyhow::{Context, Result};
use kerf_model::price::Price;
use serde::Serialize;
use serde_json::Number;

use super::report::Report;

/// Changes when a field is taken away or changes its meaning.
const VERSION: u32 = 1;
/// Micro-dollars in a dollar.
const MICROS_PER_DOLLAR: f64 = 1e6;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shape<'a> {
    version: u32,
    new_nodes: Vec<NewNodeShape<'a>>,
    existing_nodes: Vec<ExistingNodeShape<'a>>,
    unschedulable: Vec<UnschedulableShape<'a>>,
    price_per_hour: Option<Number>,
    lower_bound_per_hour: Option<Number>,
    /// With `--diff`.
    #[serde(skip_serializing_if = "Option::is_none")]
    today: Option<TodayShape>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TodayShape {
    nodes: usize,
    nodes_without_price: usize,
    price_per_hour: Option<Number>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NewNodeShape<'a> {
    node_pool: &'a str,
    instance_type: &'a str,
    zone: &'a str,
    capacity_type: &'a str,
    price_per_hour: Option<Number>,
    instance_type_options: usize,
    pods: &'a [String],
}

#[derive(Serialize)]
struct ExistingNodeShape<'a> {
    name: &'a str,
    pods: &'a [String],
}

#[derive(Serialize)]
struct UnschedulableShape<'a> {
    pod: &'a str,
    reason: &'a str,
}

/// One JSON object.
pub(super) fn to_json(report: &Report) -> Result<String> {
    json(&shape(report))
}

/// The same as YAML.
pub(super) fn to_yaml(report: &Report) -> Result<String> {
    yaml(&shape(report))
}

/// Any plan as one JSON object.
pub(super) fn json(shape: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string_pretty(shape).context("a plan is plain data")?;
    Ok(text + "\n")
}

/// Any plan as YAML.
pub(super) fn yaml(shape: &impl Serialize) -> Result<String> {
    serde_saphyr::to_string(shape).context("a plan is plain data")
}

fn shape(report: &Report) -> Shape<'_> {
    let new_nodes = report.new_nodes.iter().map(|node| NewNodeShape {
        node_pool: &node.node_pool,
        instance_type: &node.instance_type,
        zone: &node.zone,
        capacity_type: &node.capacity_type,
        price_per_hour: dollars(node.price),
        instance_type_options: node.options.len(),
        pods: &node.pods,
    });
    let existing = report.existing_nodes.iter();
    let unschedulable = report.unschedulable.iter();
    Shape {
        version: VERSION,
        new_nodes: new_nodes.collect(),
        existing_nodes: existing
            .map(|node| ExistingNodeShape { name: &node.name, pods: &node.pods })
            .collect(),
        unschedulable: unschedulable
            .map(|it| UnschedulableShape { pod: &it.pod, reason: &it.reason })
            .collect(),
        price_per_hour: dollars(report.price),
        lower_bound_per_hour: dollars(report.lower_bound),
        today: report.today.map(|today| TodayShape {
            nodes: today.nodes,
            nodes_without_price: today.unpriced,
            price_per_hour: dollars(today.price),
        }),
    }
}

/// Dollars as a number. The division is only for printing, and prints every micro-dollar exactly
/// up to nine billion dollars an hour.
pub(super) fn dollars(price: Price) -> Option<Number> {
    let known = Some(price).filter(|price| price.is_known())?;
    Number::from_f64(known.micros_per_hour() as f64 / MICROS_PER_DOLLAR)
}
