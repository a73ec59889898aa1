//! What came of a simulation, for scripts. The same scenario and seed give the same bytes.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use kerf_sim::Scenario;
use serde::Serialize;

use super::Run;

/// The version of the shape. A field may be added without a new version; none is taken away.
const VERSION: u32 = 1;
/// Micro-dollars in a dollar.
const MICROS_PER_DOLLAR: f64 = 1_000_000.0;

#[derive(Serialize)]
struct Output<'a> {
    version: u32,
    scenario: &'a str,
    runs: Vec<RunOutput<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunOutput<'a> {
    seed: u64,
    lasted_seconds: u64,
    steps: u64,
    launches: u64,
    spent_dollars: f64,
    nodes: usize,
    nodes_max: usize,
    pods_ready: usize,
    pods_pending: usize,
    pods_bound: u64,
    wait_seconds_mean: u64,
    wait_seconds_max: u64,
    evictions: u64,
    consolidation_evictions: u64,
    decisions: &'a BTreeMap<&'static str, u64>,
    events: &'a BTreeMap<&'static str, u64>,
    failures: &'a BTreeMap<&'static str, u64>,
    faults: &'a BTreeMap<&'static str, u64>,
    violations: Vec<ViolationOutput<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ViolationOutput<'a> {
    after_seconds: u64,
    rule: String,
    what: &'a str,
}

pub(super) fn json(scenario: &Scenario, runs: &[Run]) -> Result<String> {
    let runs = runs.iter().map(of_run).collect();
    let output = Output { version: VERSION, scenario: &scenario.name, runs };
    let mut text = serde_json::to_string_pretty(&output).context("a report is plain data")?;
    text.push('\n');
    Ok(text)
}

fn of_run(run: &Run) -> RunOutput<'_> {
    let report = &run.report;
    let violations = report.violations.iter().map(|violation| ViolationOutput {
        after_seconds: violation.at.since(run.began_at).seconds(),
        rule: violation.rule.to_string(),
        what: &violation.what,
    });
    RunOutput {
        seed: run.seed,
        lasted_seconds: report.lasted.seconds(),
        steps: report.steps,
        launches: report.launches,
        spent_dollars: report.spent_micros as f64 / MICROS_PER_DOLLAR,
        nodes: report.nodes,
        nodes_max: report.nodes_max,
        pods_ready: report.running,
        pods_pending: report.pending,
        pods_bound: report.waits.pods,
        wait_seconds_mean: report.waits.mean().seconds(),
        wait_seconds_max: report.waits.longest.seconds(),
        evictions: report.actions.get("evict pod").copied().unwrap_or(0),
        consolidation_evictions: report.consolidation_evictions,
        decisions: &report.actions,
        events: &report.kubernetes_events,
        failures: &report.failures,
        faults: &report.faults,
        violations: violations.collect(),
    }
}
