//! The picture: how full and how dear the cluster is, pods, nodes, decisions.
//!
//! It fills the terminal: 80 columns and 24 rows hold everything there is to say, more of either show
//! more nodes and decisions and longer bars.

use kerf_sim::{NodeView, Phase, Scenario, View, WorkloadView};

use super::gauge::{gauge, with_percent};
use super::stage::Size;
use super::style::{Ink, Style};
use super::trace_lines::TraceLines;
use super::{money, simulate::clock};

/// Less than this cannot be drawn for.
const SIZE_MIN: Size = Size { columns: 80, rows: 24 };
/// Workloads listed; the rest are left out.
const WORKLOADS_MAX: usize = 4;
/// Decisions listed where rows are few; a third of what more rows there are goes to them.
const DECISIONS_MIN: usize = 4;
/// Columns of a node's row without its bars, its name and its pool.
const NODE_COLUMNS: usize = 64;

/// Everything a picture is made of.
pub(super) struct Frame<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) view: &'a View,
    pub(super) trace_lines: &'a TraceLines,
    pub(super) speed: u32,
    pub(super) is_paused: bool,
    pub(super) style: Style,
    pub(super) size: Size,
}

impl Frame<'_> {
    /// The lines, never more than there are rows.
    pub(super) fn lines(&self) -> Vec<String> {
        let rows = self.size.rows.max(SIZE_MIN.rows);
        let mut lines = vec![self.title()];
        if rows > SIZE_MIN.rows {
            lines.push(self.style.paint(Ink::Dim, &cut(&self.scenario.about, self.columns())));
            lines.push(String::new());
        }
        lines.extend(self.totals());
        lines.push(String::new());
        self.workloads(&mut lines);
        lines.push(String::new());
        // Two headings and the blank line between them.
        let free = rows.saturating_sub(lines.len() + 3);
        let decisions = DECISIONS_MIN + free.saturating_sub(12) / 3;
        self.nodes(&mut lines, free.saturating_sub(decisions));
        lines.push(String::new());
        self.decisions(&mut lines, decisions);
        lines.truncate(self.size.rows);
        lines
    }

    fn columns(&self) -> usize {
        self.size.columns.max(SIZE_MIN.columns)
    }

    /// What stands at the left and at the right of a line.
    fn ends(&self, left: &str, ink: Ink, right: &str, right_ink: Ink) -> String {
        let gap = self.columns().saturating_sub(columns(left) + columns(right)).max(1);
        let (left, right) = (self.style.paint(ink, left), self.style.paint(right_ink, right));
        format!("{left}{}{right}", " ".repeat(gap))
    }

    fn title(&self) -> String {
        let pace = if self.is_paused { "paused".to_owned() } else { format!("{}×", self.speed) };
        let time = format!("{} of {}", clock(self.view.elapsed), clock(self.scenario.length));
        let keys = "q ends it, space pauses";
        let name = format!("kerf demo: {}", self.scenario.name);
        self.ends(&name, Ink::Bold, &format!("{time}   {pace}   {keys}"), Ink::Dim)
    }

    /// Three lines of bars, counts and money.
    fn totals(&self) -> Vec<String> {
        let view = self.view;
        let ready: Vec<&NodeView> =
            view.nodes.iter().filter(|node| node.phase == Phase::Ready).collect();
        let is_coming = |node: &&NodeView| matches!(node.phase, Phase::Wanted | Phase::Booting);
        let coming = view.nodes.iter().filter(is_coming).count();
        let pods: usize = view.workloads.iter().map(|it| it.running + it.starting).sum();
        let pending: usize = view.workloads.iter().map(|it| it.pending).sum();
        let spot = ready.iter().filter(|node| node.capacity_type.as_deref() == Some("spot"));
        let spot_price: u64 = spot.clone().map(|node| micros(node)).sum();
        let cells = u32::try_from(12 + (self.columns() - SIZE_MIN.columns) / 4).unwrap_or(12);
        let bar = |name: &str, permille: u32, ink: Ink| {
            format!("{name:<8}{}", self.style.paint(ink, &with_percent(permille, cells)))
        };
        let width = 8 + cells as usize + 5;
        let line = |bar: String, count: String, money: String| {
            let gap = self.columns().saturating_sub(width + 3 + columns(&count) + columns(&money));
            let money = self.style.paint(Ink::Bold, &money);
            format!("{bar}   {count}{}{money}", " ".repeat(gap))
        };
        vec![
            line(
                bar("CPU", share(&ready, |node| node.cpu_permille), Ink::Green),
                format!("{} nodes, {coming} on their way", ready.len()),
                format!("{} $/h", money::per_hour(view.price)),
            ),
            line(
                bar("Memory", share(&ready, |node| node.memory_permille), Ink::Green),
                format!("{pods} pods, {pending} without a node"),
                format!("{} $/month", money::per_month(view.price)),
            ),
            line(
                bar("Spot", permille_of(spot_price, total_micros(&ready)), Ink::Cyan),
                format!("{} of {} nodes, by price", spot.count(), ready.len()),
                format!("{} $ so far", money::dollars(view.spent_micros)),
            ),
        ]
    }

    fn workloads(&self, lines: &mut Vec<String>) {
        let head = format!(
            "{:<20}{:>7}{:>9}{:>9}{:>9}{:>9}",
            "PODS", "wanted", "pending", "starting", "running", "leaving"
        );
        lines.push(self.style.paint(Ink::Bold, &head));
        let workloads = self.view.workloads.iter().take(WORKLOADS_MAX);
        lines.extend(workloads.map(|workload| self.workload(workload)));
    }

    fn workload(&self, workload: &WorkloadView) -> String {
        let wanted = workload.wanted.map_or_else(|| "each".to_owned(), |wanted| wanted.to_string());
        let counts = format!(
            "{:<20}{wanted:>7}{:>9}{:>9}{:>9}{:>9}",
            cut(&workload.name, 19),
            workload.pending,
            workload.starting,
            workload.running,
            workload.leaving
        );
        let Some(wanted @ 1..) = workload.wanted else { return counts };
        let running = u32::try_from(workload.running).unwrap_or(u32::MAX);
        let ink = if workload.pending > 0 { Ink::Yellow } else { Ink::Green };
        let cells = u32::try_from((self.columns() - columns(&counts) - 3).min(40)).unwrap_or(14);
        let bar = gauge(running.saturating_mul(1_000) / wanted, cells);
        format!("{counts}  {}", self.style.paint(ink, &bar))
    }

    fn nodes(&self, lines: &mut Vec<String>, rows: usize) {
        let columns = NodeColumns::of(self.columns());
        lines.push(self.style.paint(Ink::Bold, &columns.head()));
        let nodes = &self.view.nodes;
        let shown = if nodes.len() <= rows { rows } else { rows.saturating_sub(1) };
        lines.extend(nodes.iter().take(shown).map(|node| columns.row(node, self.style)));
        if nodes.len() > rows {
            lines.push(self.more(&nodes[shown..]));
        }
        lines.extend((nodes.len()..rows).map(|_| String::new()));
    }

    fn more(&self, rest: &[NodeView]) -> String {
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
        let text = format!("and {} more: {}", rest.len(), kinds.join(", "));
        self.style.paint(Ink::Dim, &cut(&text, self.columns()))
    }

    fn decisions(&self, lines: &mut Vec<String>, rows: usize) {
        lines.push(self.style.paint(Ink::Bold, "DECISIONS"));
        for line in self.trace_lines.last(rows) {
            let text = cut(&line.text(), self.columns() - 9);
            let time = self.style.paint(Ink::Dim, &clock(line.at));
            lines.push(format!("{time}  {}", self.style.paint(line.ink, &text)));
        }
    }
}

/// Which columns of nodes there is room for.
struct NodeColumns {
    cells: u32,
    has_names: bool,
}

impl NodeColumns {
    fn of(columns: usize) -> Self {
        let has_names = columns >= 110;
        let free = columns.saturating_sub(NODE_COLUMNS + if has_names { 32 } else { 0 });
        Self { cells: u32::try_from((free / 2).clamp(5, 24)).unwrap_or(5), has_names }
    }

    fn head(&self) -> String {
        let cells = self.cells as usize;
        let names =
            if self.has_names { format!("{:<20}{:<12}", "NODES", "POOL") } else { String::new() };
        let first = if self.has_names { "TYPE" } else { "NODES" };
        format!(
            "{names}{first:<18}{:<11}{:<10}{:>7}  {:<cpu$} {:<memory$} {:>4}  STATE",
            "ZONE",
            "CAPACITY",
            "$/H",
            "CPU",
            "MEMORY",
            "PODS",
            cpu = cells,
            memory = cells
        )
    }

    fn row(&self, node: &NodeView, style: Style) -> String {
        let (word, ink) = match node.phase {
            Phase::Wanted => ("wanted", Ink::Dim),
            Phase::Booting => ("booting", Ink::Yellow),
            Phase::Ready => ("ready", Ink::Green),
            Phase::Lost => ("lost", Ink::Red),
            Phase::Leaving => ("leaving", Ink::Red),
        };
        let price = node.price.map_or_else(|| "–".to_owned(), money::per_hour);
        let names = if self.has_names {
            format!("{:<20}{:<12}", cut(&node.name, 19), cut(&node.pool, 11))
        } else {
            String::new()
        };
        let facts = format!(
            "{names}{:<18}{:<11}{:<10}{price:>7}  ",
            node.instance_type.as_deref().unwrap_or("–"),
            node.zone.as_deref().unwrap_or("–"),
            node.capacity_type.as_deref().unwrap_or("–"),
        );
        let bars = format!(
            "{} {}",
            gauge(node.cpu_permille, self.cells),
            gauge(node.memory_permille, self.cells)
        );
        format!("{facts}{bars} {:>4}  {}", node.pods, style.paint(ink, word))
    }
}

fn micros(node: &NodeView) -> u64 {
    node.price.map_or(0, |price| price.micros_per_hour())
}

fn total_micros(nodes: &[&NodeView]) -> u64 {
    nodes.iter().map(|node| micros(node)).sum()
}

/// The mean over nodes, each by its price: what of the money is used.
fn share(nodes: &[&NodeView], permille: impl Fn(&NodeView) -> u32) -> u32 {
    let used = nodes.iter().map(|node| micros(node) * u64::from(permille(node)) / 1_000);
    permille_of(used.sum(), total_micros(nodes))
}

fn permille_of(part: u64, whole: u64) -> u32 {
    u32::try_from(part.saturating_mul(1_000) / whole.max(1)).unwrap_or(u32::MAX)
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
