//! What it all came to.

use std::collections::BTreeMap;
use std::fmt::Write;

use kerf_model::price::Price;
use kerf_sim::{Report, Simulation, View};

use super::simulate::{clock, dollars};
use super::style::{Ink, Style};
use super::trace_lines::TraceLines;

/// The most there ever was at once.
#[derive(Default)]
pub(super) struct Peak {
    nodes: usize,
    running: usize,
    price: Price,
    /// How many instances of each type there were, at the time of the highest price.
    kinds: BTreeMap<String, usize>,
}

/// Decisions shown; the rest are counted in the table above.
const DECISIONS_MAX: usize = 8;

impl Peak {
    /// Looks whether there is more than ever.
    pub(super) fn update(&mut self, view: &View) {
        let running = view.workloads.iter().map(|workload| workload.running).sum();
        self.nodes = self.nodes.max(view.nodes.len());
        self.running = self.running.max(running);
        // At the same price a later view knows more of the instances.
        if view.price >= self.price {
            self.price = view.price;
            self.kinds.clear();
            for kind in view.nodes.iter().filter_map(|node| node.instance_type.as_ref()) {
                *self.kinds.entry(kind.clone()).or_default() += 1;
            }
        }
    }
}

/// The summary as text.
pub(super) fn text(
    simulation: &Simulation,
    peak: &Peak,
    trace_lines: &TraceLines,
    style: Style,
) -> String {
    let report = Report::of(simulation);
    let mut text = String::new();
    let kinds: Vec<String> =
        peak.kinds.iter().map(|(kind, count)| format!("{count} × {kind}")).collect();
    let _ = writeln!(text, "\n{}", style.paint(Ink::Bold, "SUMMARY"));
    let mut row = |name: &str, value: String| {
        let _ = writeln!(text, "  {name:<9} {value}");
    };
    row("time", format!("{} of a cluster's life", clock(report.lasted)));
    row("pods", format!("{} at most at once, {} without a place", peak.running, report.pending));
    let (launches, nodes) = (report.launches, report.nodes);
    row("nodes", format!("{launches} launched, {} at most at once, {nodes} left", peak.nodes));
    row("fleet", format!("{} at the peak", kinds.join(", ")));
    let (spent, hourly) =
        (dollars(report.spent_micros), dollars(peak.price.micros_per_hour().into()));
    row("cost", format!("{spent} $ spent, {hourly} $/hour at the peak"));
    let _ = writeln!(text, "  decided");
    for (what, count) in trace_lines.decisions().iter().take(DECISIONS_MAX) {
        let _ = writeln!(text, "    {count:>4} × {what}");
    }
    let verdict = match report.violations.first() {
        None => style.paint(Ink::Green, "every rule held, checked after every step"),
        Some(first) => style.paint(Ink::Red, &format!("broken: {}: {}", first.rule, first.what)),
    };
    let _ = writeln!(text, "  rules     {verdict}");
    text
}
