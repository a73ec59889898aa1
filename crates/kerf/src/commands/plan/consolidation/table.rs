//! The plan for people.

use std::collections::BTreeMap;
use std::fmt::Write;

use kerf_consolidation::payback_text;
use kerf_model::price::Price;

use super::super::table::{BOLD, DIM, GREEN, Style, Width, counted, cut, lines_of};
use super::report::{KeptReport, LaunchReport, MoveReport, NodeReport, Report};

/// Moves listed in the ordinary table; the rest are counted.
const MOVES_MAX: usize = 20;
/// What the name of a node keeps at least where the table is too wide.
const NAME_COLUMNS_MIN: usize = 16;
/// Between two columns.
const GAP: &str = "  ";
/// Micro-dollars in the last decimal place that is shown.
const MICROS_SHOWN: u64 = 100;

/// The whole plan as text.
pub(super) fn render(report: &Report, notes: &[String], style: Style, width: Width) -> String {
    let mut page = Page { text: String::new(), style, width };
    page.outcome(report);
    page.moves(report);
    page.kept(report);
    notes.iter().for_each(|note| page.wrapped("", note, DIM));
    page.text
}

/// What becomes of one node, and why.
pub(super) fn render_node(report: &Report, name: &str, style: Style) -> Option<String> {
    let mut page = Page { text: String::new(), style, width: super::super::width() };
    let goes = |each: &&MoveReport| each.removed.iter().any(|node| node.name == name);
    if let Some(each) = report.moves.iter().find(goes) {
        page.going(each, each.removed.iter().find(|node| node.name == name)?);
    } else {
        page.staying(report.kept.iter().find(|kept| kept.node.name == name)?);
    }
    Some(page.text)
}

struct Page {
    text: String,
    style: Style,
    width: Width,
}

/// A row of the table of moves.
struct Row {
    cells: Vec<String>,
    is_launch: bool,
}

impl Page {
    fn outcome(&mut self, report: &Report) {
        let nodes = report.moves.iter().map(|each| each.removed.len()).sum::<usize>();
        let bound = report.saving_bound;
        if report.moves.is_empty() {
            let all = counted(report.kept.len(), "node");
            self.wrapped("", &format!("nothing to save: all of {all} stay"), BOLD);
            let (before, bound) = (money(report.price_before), money(bound));
            let line = format!("{before} $/h; no plan could save more than {bound} $/h");
            self.wrapped("", &line, "");
            return self.text.push('\n');
        }
        let all = nodes + report.kept.len();
        let come = match report.launched() {
            0 => "none comes".to_owned(),
            1 => "1 comes".to_owned(),
            count => format!("{count} come"),
        };
        let goes = if nodes == 1 { "goes" } else { "go" };
        let (before, after) = (money(report.price_before), money(report.price_after));
        let line = format!("{nodes} of {all} nodes {goes}, {come}: {before} $/h, then {after}");
        self.wrapped("", &line, BOLD);
        let (saving, month) = (report.saving(), crate::commands::money::per_month(report.saving()));
        let line =
            format!("saves {} of at most {} $/h, {month} $/month", money(saving), money(bound));
        self.wrapped("", &line, BOLD);
        let evictions = counted(report.evictions(), "eviction");
        let waves = counted(report.waves, "wave");
        let payback = payback_text(report.payback_seconds);
        self.wrapped("", &format!("{evictions} in {waves}; {payback}"), "");
        self.text.push('\n');
    }

    fn moves(&mut self, report: &Report) {
        if report.moves.is_empty() {
            return;
        }
        let is_wide = self.width == Width::Wide;
        let most = if is_wide { usize::MAX } else { MOVES_MAX };
        let more = report.moves.len().saturating_sub(most);
        let shown = &report.moves[..report.moves.len() - more];
        let mut rows = vec![Row { cells: header(is_wide), is_launch: false }];
        for each in shown {
            rows.extend(move_rows(each, is_wide));
        }
        self.rows(&rows);
        if more > 0 {
            let line = format!("and {} more; -o wide lists all", counted(more, "move"));
            self.wrapped("", &line, DIM);
        }
        if report.held() > 0 {
            let line = format!(
                "{} held back: the disruption budgets of the NodePool allow none now",
                counted(report.held(), "move")
            );
            self.wrapped("", &line, BOLD);
        }
        self.text.push('\n');
    }

    fn rows(&mut self, rows: &[Row]) {
        let count = rows[0].cells.len();
        let widest = |column: usize| {
            let cells = rows.iter().map(|row| row.cells[column].chars().count());
            cells.max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = (0..count).map(widest).collect();
        let together = |widths: &[usize]| widths.iter().sum::<usize>() + GAP.len() * (count - 1);
        while together(&widths) > self.width.most() && widths[NAME] > NAME_COLUMNS_MIN {
            widths[NAME] -= 1;
        }
        for (index, row) in rows.iter().enumerate() {
            let cells = row.cells.iter().zip(&widths).enumerate();
            let cells = cells.map(|(column, (cell, width))| {
                let cell = cut(cell, *width);
                let gap = " ".repeat(width - cell.chars().count());
                if NUMBERS.contains(&column) { gap + &cell } else { cell + &gap }
            });
            let line = cells.collect::<Vec<_>>().join(GAP);
            let colour = match index {
                0 => DIM,
                _ if row.is_launch => GREEN,
                _ => "",
            };
            let line = self.coloured(line.trim_end(), colour);
            let _ = writeln!(self.text, "{line}");
        }
    }

    fn kept(&mut self, report: &Report) {
        if report.kept.is_empty() {
            return;
        }
        let stays = if report.kept.len() == 1 { "stays" } else { "stay" };
        let heading = format!("{} {stays}", counted(report.kept.len(), "node"));
        self.wrapped("", &heading, BOLD);
        if self.width == Width::Wide {
            for kept in &report.kept {
                let price = money(kept.node.price);
                let _ = writeln!(self.text, "  {}  {price}  {}", kept.node.name, kept.text);
            }
            return self.text.push('\n');
        }
        let mut causes: BTreeMap<&str, usize> = BTreeMap::new();
        for kept in &report.kept {
            *causes.entry(kept.summary).or_default() += 1;
        }
        let mut causes: Vec<(&str, usize)> = causes.into_iter().collect();
        causes.sort_by_key(|(summary, count)| (std::cmp::Reverse(*count), *summary));
        for (summary, count) in causes {
            let _ = writeln!(self.text, "{count:>6}  {summary}");
        }
        self.wrapped("", "--node NAME says it of one node, -o wide of all", DIM);
        self.text.push('\n');
    }

    fn going(&mut self, each: &MoveReport, node: &NodeReport) {
        let when = match each.wave {
            Some(wave) => format!("goes in wave {wave}"),
            None => "would go, but the disruption budgets allow none now".to_owned(),
        };
        self.wrapped("", &format!("{} {when}", node.name), BOLD);
        self.about(node);
        let together: Vec<&NodeReport> =
            each.removed.iter().filter(|other| other.name != node.name).collect();
        for other in together {
            let line = format!("together with {} ({} $/h)", other.name, money(other.price));
            self.wrapped("  ", &line, "");
        }
        for launch in &each.launched {
            self.wrapped("  ", &launch_line(launch), GREEN);
        }
        self.wrapped("  ", &arithmetic(each), "");
        for (pod, to) in &node.pods {
            let to = to.as_deref().unwrap_or("the new node");
            self.wrapped("  ", &format!("pod {pod} goes to {to}"), "");
        }
    }

    fn staying(&mut self, kept: &KeptReport) {
        self.wrapped("", &format!("{} stays: {}", kept.node.name, kept.text), BOLD);
        self.about(&kept.node);
    }

    fn about(&mut self, node: &NodeReport) {
        let NodeReport { node_pool, instance_type, zone, capacity_type, .. } = node;
        let known = [instance_type, zone, capacity_type].map(String::as_str);
        let known: Vec<&str> = known.into_iter().filter(|text| !text.is_empty()).collect();
        let pool = if node_pool.is_empty() { "no NodePool" } else { node_pool };
        let line = format!(
            "{}, {} $/h, {}, pool {pool}",
            known.join(" "),
            money(node.price),
            counted(node.pods.len(), "pod")
        );
        self.wrapped("  ", &line, "");
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

/// The column of names.
const NAME: usize = 1;
/// Columns of numbers.
const NUMBERS: [usize; 4] = [0, 3, 4, 5];

fn header(is_wide: bool) -> Vec<String> {
    let mut titles = vec!["WAVE", "NODE", "TYPE", "$/H", "PODS", "SAVES", "PAYS BACK"];
    if is_wide {
        titles.extend(["ZONE", "CAPACITY", "POOL", "OPTIONS"]);
    }
    titles.into_iter().map(str::to_owned).collect()
}

/// The nodes that go, what the move saves beside the first, and what comes.
fn move_rows(each: &MoveReport, is_wide: bool) -> Vec<Row> {
    let mut rows = Vec::new();
    for (index, node) in each.removed.iter().enumerate() {
        let wave = each.wave.map_or("-".to_owned(), |wave| wave.to_string());
        let payback = payback_text(each.payback_seconds);
        let payback = payback.strip_prefix("pays back ").unwrap_or(&payback).to_owned();
        let of_move = [wave, money(each.saving), payback];
        let [wave, saves, payback] = if index == 0 { of_move } else { Default::default() };
        let mut cells = vec![
            wave,
            node.name.clone(),
            node.instance_type.clone(),
            money(node.price),
            node.pods.len().to_string(),
            saves,
            payback,
        ];
        if is_wide {
            let NodeReport { zone, capacity_type, node_pool, .. } = node;
            let (zone, capacity_type) = (zone.clone(), capacity_type.clone());
            cells.extend([zone, capacity_type, node_pool.clone(), String::new()]);
        }
        rows.push(Row { cells, is_launch: false });
    }
    for launch in &each.launched {
        let mut cells = vec![
            String::new(),
            "+ new node".to_owned(),
            launch.instance_type.clone(),
            money(launch.price),
            launch.pods.len().to_string(),
            String::new(),
            String::new(),
        ];
        if is_wide {
            let LaunchReport { zone, capacity_type, node_pool, options, .. } = launch;
            let (zone, capacity_type) = (zone.clone(), capacity_type.clone());
            cells.extend([zone, capacity_type, node_pool.clone(), options.to_string()]);
        }
        rows.push(Row { cells, is_launch: true });
    }
    rows
}

fn launch_line(launch: &LaunchReport) -> String {
    let LaunchReport { instance_type, zone, capacity_type, options, .. } = launch;
    format!(
        "launched for it: {instance_type} {zone} {capacity_type}, {} $/h, at most {} $/h as any \
         of {}, for {}",
        money(launch.price),
        money(launch.worst_price),
        counted(*options, "instance type"),
        counted(launch.pods.len(), "pod")
    )
}

/// What a move saves, and what it takes.
fn arithmetic(each: &MoveReport) -> String {
    let whole = each.removed.iter().map(|node| money(node.price)).collect::<Vec<_>>().join(" + ");
    let paid: String =
        each.launched.iter().map(|launch| format!(" - {}", money(launch.price))).collect();
    let least = match each.saving_at_least == each.saving {
        true => String::new(),
        false => format!(" (at least {})", money(each.saving_at_least)),
    };
    let sum = if each.removed.len() + each.launched.len() > 1 {
        format!("{whole}{paid} = {}", money(each.saving))
    } else {
        whole
    };
    let evictions = counted(each.evictions(), "eviction");
    format!("saves {sum} $/h{least}; {evictions}, {}", payback_text(each.payback_seconds))
}

/// Dollars with two to four decimal places.
fn money(price: Price) -> String {
    let shown = (price.micros_per_hour() + MICROS_SHOWN / 2) / MICROS_SHOWN;
    let text = format!("{}.{:04}", shown / 10_000, shown % 10_000);
    let short = text.strip_suffix("00").or_else(|| text.strip_suffix('0'));
    short.unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_has_two_to_four_decimals() {
        let table = [
            (0, "0.00"),
            (96_000, "0.096"),
            (10_859, "0.0109"),
            (1_500_000, "1.50"),
            (49, "0.00"),
            (3_071_999_999, "3072.00"),
        ];
        for (micros, text) in table {
            assert_eq!(money(Price::from_micros_per_hour(micros)), text);
        }
    }
}
