//! What it all came to.

use std::collections::BTreeMap;
use std::fmt::Write;

use kerf_model::price::Price;
use kerf_sim::{Report, Simulation, View};

use super::money;
use super::simulate::clock;
use super::style::{Ink, Style};
use super::trace_lines::TraceLines;

/// The most there ever was at once.
#[derive(Default)]
pub(super) struct Peak {
    nodes: usize,
    running: usize,
    price: Price,
    /// What a greedy packer would pay for the pods there were at the time of the highest price.
    greedy: Price,
    /// How many instances of each type there were then.
    kinds: BTreeMap<String, usize>,
    /// How many ready pods there were then.
    priced_pods: usize,
    /// How much of the price was for spot.
    spot_permille: u64,
}

/// Columns behind the names of rows, and how a row goes on below.
const COLUMNS: usize = 67;
const NEXT_LINE: &str = "\n            ";
/// Decisions shown.
const DECISIONS_MAX: usize = 8;

impl Peak {
    /// Looks whether there is more than ever.
    pub(super) fn update(&mut self, simulation: &Simulation) {
        let view = simulation.view();
        let running: usize = view.workloads.iter().map(|workload| workload.running).sum();
        self.nodes = self.nodes.max(view.nodes.len());
        self.running = self.running.max(running);
        // Nodes that come in the place of others run beside them for a while: that is no fleet to
        // compare. At the same number of pods a later one is settled better.
        let is_news = running > self.priced_pods || view.price != self.price;
        if running >= self.priced_pods && running > 0 && is_news && is_settled(&view) {
            self.priced_pods = running;
            self.price = view.price;
            self.greedy = simulation.greedy_price();
            self.kinds.clear();
            for kind in view.nodes.iter().filter_map(|node| node.instance_type.as_ref()) {
                *self.kinds.entry(kind.clone()).or_default() += 1;
            }
            let spot = view.nodes.iter();
            let spot = spot.filter(|node| node.capacity_type.as_deref() == Some("spot"));
            let spot: u64 = spot.filter_map(|node| Some(node.price?.micros_per_hour())).sum();
            self.spot_permille = spot * 1_000 / view.price.micros_per_hour().max(1);
        }
    }
}

/// Whether every pod runs and every node is ready.
fn is_settled(view: &View) -> bool {
    let pods = view.workloads.iter().all(|it| it.pending + it.starting + it.leaving == 0);
    pods && view.nodes.iter().all(|node| node.phase == kerf_sim::Phase::Ready)
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
    let _ = writeln!(text, "{}", style.paint(Ink::Bold, "SUMMARY"));
    let mut row = |name: &str, value: String| {
        let _ = writeln!(text, "  {name:<9} {value}");
    };
    row("time", format!("{} of a cluster's life", clock(report.lasted)));
    row("pods", format!("{} at most at once, {} without a place", peak.running, report.pending));
    let (launches, nodes) = (report.launches, report.nodes);
    row("nodes", format!("{launches} launched, {} at most at once, {nodes} left", peak.nodes));
    row("cost", format!("{} $ in all", money::dollars(report.spent_micros)));
    if peak.priced_pods > 0 {
        row("peak", listed(&format!("{} pods on ", peak.priced_pods), &kinds));
        let (hour, month) = (money::per_hour(peak.price), money::per_month(peak.price));
        let spot = (peak.spot_permille + 5) / 10;
        row("", format!("{hour} $/h, {month} $/month, {spot} % of it spot"));
        row("greedy", greedy(peak));
    }
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

/// A list after its beginning, in lines that fit.
fn listed(beginning: &str, parts: &[String]) -> String {
    let mut text = beginning.to_owned();
    let mut columns = text.chars().count();
    for (place, part) in parts.iter().enumerate() {
        let part = if place + 1 < parts.len() { format!("{part}, ") } else { part.clone() };
        if columns + part.trim_end().chars().count() > COLUMNS {
            text.truncate(text.trim_end().len());
            text.push_str(NEXT_LINE);
            columns = 0;
        }
        columns += part.chars().count();
        text.push_str(&part);
    }
    text
}

/// What a packer that fills one large node after the other would pay.
fn greedy(peak: &Peak) -> String {
    let (ours, theirs) = (peak.price.micros_per_hour(), peak.greedy.micros_per_hour());
    let price = format!("{} $/h for the same pods in the same zones", money::per_hour(peak.greedy));
    match theirs.checked_sub(ours) {
        Some(more) if more > 0 => {
            let percent = more * 100 / ours.max(1);
            let month = money::per_month(Price::from_micros_per_hour(more));
            format!("{price}:{NEXT_LINE}{percent} % more, {month} $/month")
        }
        _ => format!("{price}: no more than Kerf pays"),
    }
}
