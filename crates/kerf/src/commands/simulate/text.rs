//! What came of a simulation, for people: the outcome first, what happened inside on demand.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use kerf_engine::time::Span;
use kerf_sim::{Report, Scenario};

use super::Run;
use crate::commands::money;

/// Broken rules shown of each seed.
const VIOLATIONS_SHOWN: usize = 5;

pub(super) fn text(scenario: &Scenario, runs: &[Run], is_verbose: bool) -> String {
    let mut text = String::new();
    match runs {
        [run] => one(&mut text, scenario, run),
        _ => many(&mut text, scenario, runs),
    }
    if is_verbose {
        runs.iter().for_each(|run| internals(&mut text, run));
    }
    text
}

fn one(text: &mut String, scenario: &Scenario, run: &Run) {
    let Run { seed, report, .. } = run;
    let held = verdict(report.violations.len());
    let _ = writeln!(text, "{}, seed {seed}, {}: {held}", scenario.name, clock(report.lasted));
    violations(text, run);
    let mut row = |name: &str, value: String| {
        let _ = writeln!(text, "  {name:<10} {value}");
    };
    let Report { launches, nodes_max, nodes, .. } = report;
    row("nodes", format!("{launches} launched, {nodes_max} at most at once, {nodes} at the end"));
    row("cost", format!("{} $", money::dollars(report.spent_micros)));
    row(
        "pods",
        format!("{} ready and {} without a node at the end", report.running, report.pending),
    );
    row("waiting", waiting(report));
    row("evictions", evictions(report));
}

fn waiting(report: &Report) -> String {
    let waits = report.waits;
    match waits.pods {
        0 => "no pod found a node".to_owned(),
        pods => format!(
            "{} on average and {} at most until a pod had a node, {pods} pods",
            seconds(waits.mean()),
            seconds(waits.longest)
        ),
    }
}

fn evictions(report: &Report) -> String {
    let all = report.actions.get("evict pod").copied().unwrap_or(0);
    match report.consolidation_evictions {
        0 => all.to_string(),
        saving => format!("{all}, {saving} of them to save money"),
    }
}

fn many(text: &mut String, scenario: &Scenario, runs: &[Run]) {
    let broken: Vec<&Run> = runs.iter().filter(|run| !run.report.violations.is_empty()).collect();
    let (name, count, bad) = (&scenario.name, runs.len(), broken.len());
    let _ = writeln!(text, "{name}: {count} seeds, {bad} broke a rule");
    for run in &broken {
        let _ = writeln!(text, "  seed {}: {}", run.seed, verdict(run.report.violations.len()));
        violations(text, run);
    }
    let sum = |number: fn(&Report) -> u64| runs.iter().map(|run| number(&run.report)).sum::<u64>();
    let launches = sum(|report| report.launches);
    let faults = sum(|report| report.faults.values().sum());
    let failures = sum(|report| report.failures.values().sum());
    let _ = writeln!(text, "  {launches} nodes launched, {faults} faults, {failures} calls failed");
}

/// What happened inside.
fn internals(text: &mut String, run: &Run) {
    let Run { seed, report, took, .. } = run;
    let _ = writeln!(text, "seed {seed}, played in {:.1} s", took.as_secs_f32());
    for (name, counted) in [
        ("decisions", &report.actions),
        ("events", &report.kubernetes_events),
        ("failures", &report.failures),
        ("faults", &report.faults),
    ] {
        let _ = writeln!(text, "  {name:<10} {}", counts(counted));
    }
}

fn violations(text: &mut String, run: &Run) {
    for violation in run.report.violations.iter().take(VIOLATIONS_SHOWN) {
        let at = clock(violation.at.since(run.began_at));
        let _ = writeln!(text, "    {at}  {}: {}", violation.rule, violation.what);
    }
    let more = run.report.violations.len().saturating_sub(VIOLATIONS_SHOWN);
    if more > 0 {
        let _ = writeln!(text, "    and {more} more");
    }
}

fn verdict(violations: usize) -> String {
    match violations {
        0 => "every rule held".to_owned(),
        1 => "a rule was broken".to_owned(),
        count => format!("rules were broken {count} times"),
    }
}

fn counts(counts: &BTreeMap<&'static str, u64>) -> String {
    if counts.is_empty() {
        return "none".to_owned();
    }
    let each: Vec<String> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
    each.join(", ")
}

/// `1:02:03`.
pub(crate) fn clock(span: Span) -> String {
    let seconds = span.seconds();
    format!("{}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

/// `34 s`, or `12:05` from two minutes on.
fn seconds(span: Span) -> String {
    match span.seconds() {
        seconds @ 0..120 => format!("{seconds} s"),
        _ => clock(span),
    }
}
