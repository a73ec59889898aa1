//! The picture: pods, nodes, decisions, in eighty columns and twenty-three lines.

use kerf_sim::{NodeView, Phase, Scenario, View, WorkloadView};

use super::gauge::{gauge, with_percent};
use super::simulate::{clock, dollars};
use super::style::{Ink, Style};
use super::trace_lines::TraceLines;

/// Columns that lines keep to.
const COLUMNS: usize = 79;
/// Workloads and nodes listed together; of more nodes the rest are counted.
const ROWS: usize = 10;
/// Workloads listed; the rest are left out.
const WORKLOADS_MAX: usize = 4;
/// Decisions listed.
const DECISIONS_MAX: usize = 6;
/// Cells of the gauges of nodes, and of workloads.
const CELLS: u32 = 6;
const CELLS_WIDE: u32 = 14;

/// The lines of one picture; always as many, so that each covers the last.
pub(super) fn frame(
    scenario: &Scenario,
    view: &View,
    trace_lines: &TraceLines,
    speed: u32,
    style: Style,
) -> Vec<String> {
    let mut lines = vec![title(scenario, view, speed, style), String::new()];
    workloads(&mut lines, view, style);
    lines.push(String::new());
    let rows = ROWS - scenario.workloads.len().min(WORKLOADS_MAX);
    nodes(&mut lines, view, rows, style);
    lines.push(String::new());
    decisions(&mut lines, trace_lines, style);
    lines
}

fn title(scenario: &Scenario, view: &View, speed: u32, style: Style) -> String {
    let name = format!("kerf demo: {}", scenario.name);
    let time = format!("{}   {speed}× as fast as life", clock(view.elapsed));
    let gap = COLUMNS.saturating_sub(columns(&name) + columns(&time));
    format!("{}{}{}", style.paint(Ink::Bold, &name), " ".repeat(gap), style.paint(Ink::Dim, &time))
}

fn workloads(lines: &mut Vec<String>, view: &View, style: Style) {
    let head = format!(
        "{:<20}{:>7}{:>9}{:>9}{:>9}{:>9}",
        "PODS", "wanted", "pending", "starting", "running", "leaving"
    );
    lines.push(style.paint(Ink::Bold, &head));
    for workload in view.workloads.iter().take(WORKLOADS_MAX) {
        lines.push(workload_line(workload, style));
    }
}

fn workload_line(workload: &WorkloadView, style: Style) -> String {
    let wanted = workload.wanted.map_or_else(|| "each".to_owned(), |wanted| wanted.to_string());
    let counts = format!(
        "{:<20}{wanted:>7}{:>9}{:>9}{:>9}{:>9}",
        cut(&workload.name, 19),
        workload.pending,
        workload.starting,
        workload.running,
        workload.leaving
    );
    let total = workload.wanted.unwrap_or(0).max(1);
    let running = u32::try_from(workload.running).unwrap_or(u32::MAX);
    let permille = running.saturating_mul(1_000) / total;
    let ink = if workload.pending > 0 { Ink::Yellow } else { Ink::Green };
    match workload.wanted {
        Some(0) | None => counts,
        Some(_) => format!("{counts}  {}", style.paint(ink, &gauge(permille, CELLS_WIDE))),
    }
}

fn nodes(lines: &mut Vec<String>, view: &View, rows: usize, style: Style) {
    let ready = view.nodes.iter().filter(|node| node.phase == Phase::Ready).count();
    let coming =
        view.nodes.iter().filter(|node| matches!(node.phase, Phase::Wanted | Phase::Booting));
    let counts = format!("  {ready} ready, {} on their way", coming.count());
    let money = format!(
        "{} $/hour   {} $ so far",
        dollars(view.price.micros_per_hour().into()),
        dollars(view.spent_micros)
    );
    let gap = COLUMNS.saturating_sub(5 + columns(&counts) + columns(&money));
    let head = style.paint(Ink::Bold, "NODES");
    lines.push(format!("{head}{counts}{}{}", " ".repeat(gap), style.paint(Ink::Bold, &money)));
    let titles = format!(
        "  {:<13} {:<12} {:<10} {:>6} {:<11} {:<6} {:>3}",
        "name", "type", "zone", "$/hour", "processors", "memory", "pods"
    );
    lines.push(style.paint(Ink::Dim, &titles));
    let fits = view.nodes.len() <= rows;
    let shown = if fits { rows } else { rows - 1 };
    for node in view.nodes.iter().take(shown) {
        lines.push(node_line(node, style));
    }
    if !fits {
        lines.push(more(&view.nodes[shown..], style));
    }
    for _ in view.nodes.len()..rows {
        lines.push(String::new());
    }
}

fn node_line(node: &NodeView, style: Style) -> String {
    let kind = node.instance_type.as_deref().unwrap_or("–");
    let zone = node.zone.as_deref().unwrap_or("–");
    let price =
        node.price.map_or_else(|| "–".to_owned(), |it| dollars(it.micros_per_hour().into()));
    let (word, ink) = match node.phase {
        Phase::Wanted => ("wanted", Ink::Dim),
        Phase::Booting => ("booting", Ink::Yellow),
        Phase::Ready => ("ready", Ink::Green),
        Phase::Lost => ("lost", Ink::Red),
        Phase::Leaving => ("leaving", Ink::Red),
    };
    let facts = format!(
        "  {:<13} {:<12} {:<10} {price:>6} ",
        cut(&node.name, 13),
        cut(kind, 12),
        cut(zone, 10)
    );
    let gauges = format!(
        "{} {} ",
        with_percent(node.cpu_permille, CELLS),
        gauge(node.memory_permille, CELLS)
    );
    let rest = format!("{:>4} ", node.pods);
    format!("{facts}{gauges}{rest}{}", style.paint(ink, word))
}

fn more(rest: &[NodeView], style: Style) -> String {
    let mut kinds: Vec<(String, usize)> = Vec::new();
    for node in rest {
        let kind = node.instance_type.clone().unwrap_or_else(|| "wanted".to_owned());
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += 1,
            None => kinds.push((kind, 1)),
        }
    }
    let kinds: Vec<String> =
        kinds.into_iter().map(|(kind, count)| format!("{count} × {kind}")).collect();
    let text = format!("  and {} more: {}", rest.len(), kinds.join(", "));
    style.paint(Ink::Dim, &cut(&text, COLUMNS))
}

fn decisions(lines: &mut Vec<String>, trace_lines: &TraceLines, style: Style) {
    lines.push(style.paint(Ink::Bold, "DECISIONS"));
    let last = trace_lines.last(DECISIONS_MAX);
    for line in last {
        let text = cut(&line.text(), COLUMNS - 11);
        let time = style.paint(Ink::Dim, &clock(line.at));
        lines.push(format!("  {time}  {}", style.paint(line.ink, &text)));
    }
    for _ in last.len()..DECISIONS_MAX {
        lines.push(String::new());
    }
}

fn columns(text: &str) -> usize {
    text.chars().count()
}

/// The text within so many columns.
fn cut(text: &str, most: usize) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most - 1).collect();
    format!("{kept}…")
}
