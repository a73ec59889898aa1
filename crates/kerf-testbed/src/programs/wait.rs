//! Waiting for something outside this process, always with a deadline.

use std::thread;
use std::time::{Duration, Instant};

/// How often a condition is looked at: short beside every wait here, long beside a cheap probe.
const LOOK_EVERY: Duration = Duration::from_millis(25);

/// Looks at `condition` until it holds or `at_most` has passed; says whether it came to hold.
///
/// For tests that watch real processes: they cannot be handed a clock, and a fixed sleep is either
/// too long or too short.
pub fn wait_until(at_most: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + at_most;
    loop {
        if condition() {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        thread::sleep(LOOK_EVERY);
    }
}
