//! How full something is, as a bar.

use super::table::Style;

/// The most that is shown; what is fuller than this fits nowhere.
const PERMILLE_SHOWN_MAX: u32 = 9_990;
/// Parts of a cell, from one eighth to seven.
const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// A bar of so many cells and its percentage: `████▌   75%`. Without cells the percentage alone.
pub(super) fn bar(permille: u32, cells: u32, style: Style) -> String {
    let shown = permille.min(1000);
    let percent = format!("{:>3}%", (permille.min(PERMILLE_SHOWN_MAX) + 5) / 10);
    let bar = match style {
        _ if cells == 0 => return percent,
        Style::Ascii => ascii(shown, cells),
        Style::Unicode | Style::Coloured => unicode(shown, cells),
    };
    format!("{bar} {percent}")
}

fn ascii(permille: u32, cells: u32) -> String {
    let full = (permille * cells + 500) / 1000;
    (0..cells).map(|cell| if cell < full { '#' } else { '.' }).collect()
}

fn unicode(permille: u32, cells: u32) -> String {
    let eighths = (permille * cells * 8 + 500) / 1000;
    let cell = |index: u32| match eighths.saturating_sub(index * 8) {
        0 => ' ',
        part @ 1..=7 => EIGHTHS[part as usize - 1],
        _ => '█',
    };
    (0..cells).map(cell).collect()
}
