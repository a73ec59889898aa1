//! The plan for people.

use std::collections::BTreeMap;
use std::fmt::Write;

use kerf_model::price::Price;

use super::fleet_table::FleetTable;
use super::report::Report;
use crate::commands::money;

/// Signs and colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Plain signs only.
    Ascii,
    /// Bars and arrows, no colour.
    Unicode,
    /// The same with colour.
    Coloured,
}

impl Style {
    /// Text in a colour, where this is a style with colours.
    pub(super) fn coloured(self, text: &str, colour: &str) -> String {
        match self {
            Style::Coloured if !colour.is_empty() => format!("{colour}{text}{RESET}"),
            _ => text.to_owned(),
        }
    }
}

/// How wide lines may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// So many columns.
    Columns(usize),
    /// As much as it takes.
    Wide,
}

impl Width {
    /// The most columns of a line.
    pub(super) fn most(self) -> usize {
        match self {
            Self::Columns(most) => most,
            Self::Wide => usize::MAX,
        }
    }
}

/// Pods named of a group that does not fit; the rest are counted.
const NAMES_MAX: usize = 3;
/// Nodes that exist listed in the ordinary table; the rest are counted.
const EXISTING_MAX: usize = 20;

pub(super) const BOLD: &str = "\u{1b}[1m";
pub(super) const DIM: &str = "\u{1b}[2m";
pub(super) const RED: &str = "\u{1b}[31m";
pub(super) const GREEN: &str = "\u{1b}[32m";
const RESET: &str = "\u{1b}[0m";

/// The whole plan as text.
pub(super) fn render(report: &Report, notes: &[String], style: Style, width: Width) -> String {
    let mut page = Page { text: String::new(), style, width };
    page.new_nodes(report);
    page.existing_nodes(report);
    page.unschedulable(report);
    page.summary(report);
    page.difference(report);
    for note in notes {
        page.wrapped("", note, DIM);
    }
    page.text
}

struct Page {
    text: String,
    style: Style,
    width: Width,
}

impl Page {
    fn new_nodes(&mut self, report: &Report) {
        let nodes = &report.new_nodes;
        if nodes.is_empty() {
            return;
        }
        let table = FleetTable::of(nodes, self.style, self.width);
        let place = table.region.as_ref().map(|region| format!(" in {region}"));
        let place = place.unwrap_or_default();
        self.heading(&format!("{} to launch{place}", counted(nodes.len(), "node")), BOLD);
        for line in table.lines(self.style) {
            let _ = writeln!(self.text, "{line}");
        }
        self.text.push('\n');
    }

    /// The nodes there are beside those there would be.
    fn difference(&mut self, report: &Report) {
        let Some(today) = report.today else { return };
        let after = today.price.checked_add(report.price).unwrap_or(today.price);
        let line = |when: &str, nodes: usize, price: Price| {
            let (hour, month) = (money::per_hour(price), money::per_month(price));
            format!("{when:<6} {:<12} {hour} $/h, {month} $/month\n", counted(nodes, "node"))
        };
        self.text.push_str(&line("today", today.nodes, today.price));
        self.text.push_str(&line("then", today.nodes + report.new_nodes.len(), after));
        self.text.push_str(&line("more", report.new_nodes.len(), report.price));
        if today.unpriced > 0 {
            let text = format!("{} of today's nodes have no known price", today.unpriced);
            self.wrapped("", &text, DIM);
        }
    }

    fn existing_nodes(&mut self, report: &Report) {
        let nodes = &report.existing_nodes;
        if nodes.is_empty() {
            return;
        }
        let pods: usize = nodes.iter().map(|node| node.pods.len()).sum();
        let (pods, count) = (counted(pods, "pod"), counted(nodes.len(), "node"));
        self.heading(&format!("{pods} on {count} that exist"), BOLD);
        let most = if self.width == Width::Wide { usize::MAX } else { EXISTING_MAX };
        let more = nodes.len().saturating_sub(most);
        let width = nodes.iter().map(|node| node.name.chars().count()).max().unwrap_or(0);
        for node in &nodes[..nodes.len() - more] {
            let gap = " ".repeat(width - node.name.chars().count());
            let _ =
                writeln!(self.text, "  {}{gap}  {}", node.name, counted(node.pods.len(), "pod"));
        }
        if more > 0 {
            let _ = writeln!(self.text, "  and {more} more");
        }
        self.text.push('\n');
    }

    fn unschedulable(&mut self, report: &Report) {
        let pods = &report.unschedulable;
        if pods.is_empty() {
            return;
        }
        let verb = if pods.len() == 1 { "does" } else { "do" };
        self.heading(&format!("{} {verb} not fit", counted(pods.len(), "pod")), RED);
        let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for it in pods {
            let place = *places.entry(&it.reason).or_insert_with(|| {
                by_reason.push((&it.reason, Vec::new()));
                by_reason.len() - 1
            });
            by_reason[place].1.push(&it.pod);
        }
        for (reason, pods) in by_reason {
            let more = pods.len().saturating_sub(NAMES_MAX);
            let mut names = pods[..pods.len() - more].join(", ");
            if more > 0 {
                let _ = write!(names, " and {more} more");
            }
            self.wrapped("  ", &names, BOLD);
            self.wrapped("    ", reason, "");
        }
        self.text.push('\n');
    }

    fn summary(&mut self, report: &Report) {
        let Report { price, lower_bound, .. } = report;
        if report.pod_count == 0 {
            self.wrapped("", "no pods to place", BOLD);
        } else if report.new_nodes.is_empty() && report.unschedulable.is_empty() {
            self.wrapped("", "everything fits on the nodes that exist", BOLD);
        }
        if report.new_nodes.is_empty() {
            return;
        }
        if !price.is_known() {
            self.wrapped("", "what the fleet costs is not known", BOLD);
            return;
        }
        let (hourly, monthly) = (money::per_hour(*price), money::per_month(*price));
        let line = format!("{hourly} $/hour, {monthly} $/month");
        self.wrapped("", &format!("{line}; {}", closeness(*price, *lower_bound)), BOLD);
    }

    fn heading(&mut self, text: &str, colour: &str) {
        let text = self.coloured(text, colour);
        let _ = writeln!(self.text, "{text}");
    }

    /// Words in lines that fit.
    fn wrapped(&mut self, indent: &str, text: &str, colour: &str) {
        for line in lines_of(text, self.width.most().saturating_sub(indent.len())) {
            let line = self.coloured(&line, colour);
            let _ = writeln!(self.text, "{indent}{line}");
        }
    }

    fn coloured(&self, text: &str, colour: &str) -> String {
        self.style.coloured(text, colour)
    }
}

/// Words in lines of at most so many columns.
pub(super) fn lines_of(text: &str, most: usize) -> Vec<String> {
    let mut line = String::new();
    let mut lines = Vec::new();
    for word in text.split_whitespace() {
        let length = line.chars().count() + 1 + word.chars().count();
        if !line.is_empty() && length > most {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

/// A text that is too long ends in two dots.
pub(super) fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(2)).collect();
    kept + ".."
}

pub(super) fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Up to here the least conceivable price says how good a plan is, in tenths of a percent. Beyond,
/// rules it leaves out, such as affinities, are what the plan pays for.
const CLOSE_TENTHS_MAX: u128 = 250;

/// How far the price is from the least it could be, in tenths of a percent, never understated.
fn closeness(price: Price, bound: Price) -> String {
    let (price, least) = (u128::from(price.micros_per_hour()), u128::from(bound.micros_per_hour()));
    if least == 0 {
        return "how cheap a fleet could be is not known".to_owned();
    }
    if price <= least {
        return "no fleet could be cheaper".to_owned();
    }
    let tenths = ((price - least) * 1000).div_ceil(least);
    if tenths > CLOSE_TENTHS_MAX {
        return format!("no fleet could cost less than {} $/hour", money::per_hour(bound));
    }
    let (whole, tenth, least) = (tenths / 10, tenths % 10, money::per_hour(bound));
    format!("within {whole}.{tenth} % of the cheapest conceivable fleet ({least} $/hour)")
}
