//! How full something is.

/// A gauge of `cells` signs: `▰▰▰▱▱▱`.
pub(super) fn gauge(permille: u32, cells: u32) -> String {
    // What is not empty shows, however little it is.
    let full = (permille.min(1_000) * cells + 500) / 1_000;
    let full = if permille > 0 { full.max(1) } else { 0 };
    (0..cells).map(|cell| if cell < full { '▰' } else { '▱' }).collect()
}

/// A gauge with its percentage: `▰▰▰▱▱▱  48%`.
pub(super) fn with_percent(permille: u32, cells: u32) -> String {
    format!("{} {:>3}%", gauge(permille, cells), (permille.min(9_990) + 5) / 10)
}
