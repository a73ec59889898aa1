//! How full something is, as a bar.

use super::table::Style;

/// The most that is shown; what is fuller than this fits nowhere.
const PERMILLE_SHOWN_MAX: u32 = 9_990;
/// Cells of a bar.
const CELLS: u32 = 6;
/// Parts of a cell, from one eighth to seven.
const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// A bar of a fixed width and its percentage: `████▌   75%`.
pub(super) fn bar(permille: u32, style: Style) -> String {
    let shown = permille.min(1000);
    let cells: String = match style {
        Style::Ascii => ascii(shown),
        Style::Unicode | Style::Coloured => unicode(shown),
    };
    format!("{cells} {:>3}%", (permille.min(PERMILLE_SHOWN_MAX) + 5) / 10)
}

fn ascii(permille: u32) -> String {
    let full = (permille * CELLS + 500) / 1000;
    (0..CELLS).map(|cell| if cell < full { '#' } else { '.' }).collect()
}

fn unicode(permille: u32) -> String {
    let eighths = (permille * CELLS * 8 + 500) / 1000;
    let cell = |index: u32| match eighths.saturating_sub(index * 8) {
        0 => ' ',
        part @ 1..=7 => EIGHTHS[part as usize - 1],
        _ => '█',
    };
    (0..CELLS).map(cell).collect()
}
