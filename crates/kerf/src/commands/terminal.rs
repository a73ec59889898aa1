//! Standard output, and the terminal it goes to, if it is one.

use std::io::Write;

use anyhow::{Context, Result};
use terminal_size::Width;

/// What everybody has.
const COLUMNS_DEFAULT: usize = 80;
/// Narrower than this nothing fits, and what says so is not believed.
const COLUMNS_MIN: usize = 40;

/// Prints to standard output. Where nobody reads any more, the error says so and the command ends
/// quietly; `print!` would panic.
pub(crate) fn print(text: &str) -> Result<()> {
    std::io::stdout().write_all(text.as_bytes()).context("could not write to standard output")
}

/// How many columns a line may have: what the terminal says; where there is none, what `COLUMNS`
/// says, and 80 otherwise.
pub(crate) fn columns() -> usize {
    match terminal_size::terminal_size_of(std::io::stdout()) {
        // Some terminals do not know.
        Some((Width(columns), _)) if columns > 0 => usize::from(columns).max(COLUMNS_MIN),
        _ => columns_wanted(),
    }
}

fn columns_wanted() -> usize {
    let named = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    named.filter(|columns| *columns >= COLUMNS_MIN).unwrap_or(COLUMNS_DEFAULT)
}
