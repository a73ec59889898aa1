//! The table of nodes to launch. It takes the widest layout that fits; the name of an instance type
//! is never cut, because a type that is nearly right is another type.

use std::fmt::Write;

use kerf_model::price::Price;

use super::bar::bar;
use super::node_group::{NodeGroup, groups, region_of};
use super::report::{DeviceUse, NewNodeReport};
use super::table::{DIM, GREEN, Style, Width, cut};
use crate::commands::money;

/// Before a line of the table.
const INDENT: &str = "  ";
/// Between two columns.
const GAP: &str = "  ";
/// What the name of a pool keeps where the table is too wide.
const POOL_COLUMNS_MIN: usize = 8;
/// Types listed as options in the wide table.
const OPTIONS_MAX: usize = 5;

/// What a table has room for.
#[derive(Clone, Copy)]
struct Layout {
    bar_cells: u32,
    has_month: bool,
    /// Whether zones are written out, or only what comes after their region.
    has_regions: bool,
    /// The most that names of pools take; none where there is no room for them at all.
    pool_columns: Option<usize>,
}

/// From the widest to the narrowest.
const LAYOUTS: [Layout; 8] = [
    Layout { bar_cells: 12, has_month: true, has_regions: true, pool_columns: Some(usize::MAX) },
    Layout { bar_cells: 6, has_month: true, has_regions: true, pool_columns: Some(usize::MAX) },
    Layout { bar_cells: 6, has_month: false, has_regions: true, pool_columns: Some(usize::MAX) },
    Layout { bar_cells: 6, has_month: false, has_regions: false, pool_columns: Some(usize::MAX) },
    Layout { bar_cells: 3, has_month: false, has_regions: false, pool_columns: Some(usize::MAX) },
    Layout { bar_cells: 0, has_month: false, has_regions: false, pool_columns: Some(usize::MAX) },
    Layout {
        bar_cells: 0,
        has_month: false,
        has_regions: false,
        pool_columns: Some(POOL_COLUMNS_MIN),
    },
    Layout { bar_cells: 0, has_month: false, has_regions: false, pool_columns: None },
];

/// A table of nodes.
pub(super) struct FleetTable {
    columns: Vec<Column>,
    /// The region, where zones are written without it.
    pub(super) region: Option<String>,
}

struct Column {
    title: &'static str,
    cells: Vec<String>,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
    Bar,
}

impl FleetTable {
    /// The table of these nodes that fits best.
    pub(super) fn of(nodes: &[NewNodeReport], style: Style, width: Width) -> Self {
        let groups = groups(nodes);
        let region = region_of(nodes);
        let table = |layout: Layout| Self {
            columns: columns(&groups, layout, region.as_deref(), style, width),
            region: region.clone().filter(|_| !layout.has_regions),
        };
        let Width::Columns(most) = width else { return table(LAYOUTS[1]) };
        let mut tables = LAYOUTS.into_iter().map(table);
        let fitting = tables.find(|table| table.width() <= most);
        fitting.unwrap_or_else(|| table(LAYOUTS[LAYOUTS.len() - 1]))
    }

    /// The lines, the header first.
    pub(super) fn lines(&self, style: Style) -> Vec<String> {
        let rows = self.columns.first().map_or(0, |column| column.cells.len());
        let header = self
            .columns
            .iter()
            .map(|column| column.padded(column.title, |text| style.coloured(text, DIM)));
        let header = header.collect::<Vec<_>>().join(GAP);
        let row = |row: usize| {
            let cells = self.columns.iter().map(|column| {
                let colour = if column.kind == Kind::Bar { GREEN } else { "" };
                column.padded(&column.cells[row], |text| style.coloured(text, colour))
            });
            cells.collect::<Vec<_>>().join(GAP)
        };
        let lines = std::iter::once(header).chain((0..rows).map(row));
        lines.map(|line| format!("{INDENT}{}", line.trim_end())).collect()
    }

    fn width(&self) -> usize {
        let widths: usize = self.columns.iter().map(Column::width).sum();
        INDENT.len() + widths + GAP.len() * self.columns.len().saturating_sub(1)
    }
}

impl Column {
    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|cell| cell.chars().count());
        cells.max().unwrap_or(0).max(self.title.chars().count())
    }

    /// Numbers to the right, texts to the left.
    fn padded(&self, text: &str, coloured: impl Fn(&str) -> String) -> String {
        let gap = " ".repeat(self.width() - text.chars().count());
        match self.kind {
            Kind::Number => gap + &coloured(text),
            Kind::Text | Kind::Bar => coloured(text) + &gap,
        }
    }
}

fn columns(
    groups: &[NodeGroup<'_>],
    layout: Layout,
    region: Option<&str>,
    style: Style,
    width: Width,
) -> Vec<Column> {
    let mut columns = Vec::new();
    let mut add = |title, kind, cell: &dyn Fn(&NodeGroup<'_>) -> String| {
        columns.push(Column { title, kind, cells: groups.iter().map(cell).collect() });
    };
    let times = if style == Style::Ascii { 'x' } else { '×' };
    add("", Kind::Number, &|group| format!("{times}{}", group.count));
    add("TYPE", Kind::Text, &|group| group.node.instance_type.clone());
    let region = region.filter(|_| !layout.has_regions);
    add("ZONE", Kind::Text, &|group| group.zones_text(region));
    add("CAPACITY", Kind::Text, &|group| group.node.capacity_type.clone());
    if width == Width::Wide {
        add("$/NODE", Kind::Number, &|group| price_text(Some(group.node.price), money::per_hour));
    }
    add("$/HOUR", Kind::Number, &|group| price_text(group.price(), money::per_hour));
    if layout.has_month {
        add("$/MONTH", Kind::Number, &|group| price_text(group.price(), money::per_month));
    }
    if let Some(title) = devices_title(groups) {
        add(title, Kind::Text, &|group| devices(&group.node.devices, title));
    }
    let cells = layout.bar_cells;
    add("CPU", Kind::Bar, &|group| bar(group.node.cpu.permille(), cells, style));
    add("MEMORY", Kind::Bar, &|group| bar(group.node.memory.permille(), cells, style));
    add("PODS", Kind::Number, &|group| group.node.pods.len().to_string());
    if let Some(most) = layout.pool_columns {
        add("POOL", Kind::Text, &|group| cut(&group.node.node_pool, most));
    }
    if width == Width::Wide {
        add("CPU ASKED", Kind::Text, &|group| group.node.cpu.to_string());
        add("MEMORY ASKED", Kind::Text, &|group| group.node.memory.to_string());
        add("OPTIONS", Kind::Text, &|group| options(&group.node.options));
    }
    columns
}

fn price_text(price: Option<Price>, text: impl Fn(Price) -> String) -> String {
    price.filter(|price| price.is_known()).map_or_else(|| "unknown".to_owned(), text)
}

/// The title of the column for devices, if any node has some that are asked for.
fn devices_title(groups: &[NodeGroup<'_>]) -> Option<&'static str> {
    let mut devices = groups.iter().flat_map(|group| &group.node.devices).peekable();
    devices.peek()?;
    Some(if devices.all(DeviceUse::is_gpu) { "GPU" } else { "DEVICES" })
}

/// `1/4`, or `1/4 gpu, 2/2 neuron` where there are not only GPUs.
fn devices(devices: &[DeviceUse], title: &str) -> String {
    let text = |device: &DeviceUse| match title {
        "GPU" => format!("{}/{}", device.amount.asked, device.amount.of),
        _ => format!("{}/{} {}", device.amount.asked, device.amount.of, device.short_name()),
    };
    devices.iter().map(text).collect::<Vec<_>>().join(", ")
}

fn options(options: &[String]) -> String {
    let more = options.len().saturating_sub(OPTIONS_MAX);
    let mut text = options[..options.len() - more].join(" ");
    if more > 0 {
        let _ = write!(text, " and {more} more");
    }
    text
}
