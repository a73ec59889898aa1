//! Numbers that whoever runs the tests can set.

use std::time::{SystemTime, UNIX_EPOCH};

/// A number of the environment, or this one.
pub(crate) fn number(variable: &str, otherwise: u32) -> u32 {
    std::env::var(variable).map_or(otherwise, |text| text.parse().unwrap())
}

/// `KERF_SEED` repeats a run.
pub(crate) fn seed() -> u64 {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    std::env::var("KERF_SEED").map_or_else(|_| now() as u64, |seed| seed.parse().unwrap())
}
