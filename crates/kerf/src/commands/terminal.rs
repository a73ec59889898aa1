//! The terminal that standard output goes to, if it is one.

use terminal_size::Width;

/// What everybody has.
const COLUMNS_DEFAULT: usize = 80;
/// Narrower than this nothing fits, and what says so is not believed.
const COLUMNS_MIN: usize = 40;

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
