//! How far a simulation is, for whoever waits for it.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use kerf_engine::time::Span;

/// What takes less is over before anybody wonders.
const QUIET: Duration = Duration::from_secs(2);
/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Simulated time that is to be played, and has been.
pub(super) struct Progress {
    total_millis: u64,
    played_millis: AtomicU64,
    is_over: AtomicBool,
}

impl Progress {
    pub(super) fn new(length: Span, seeds: u64) -> Self {
        let total_millis = length.millis().saturating_mul(seeds).max(1);
        Self { total_millis, played_millis: AtomicU64::new(0), is_over: AtomicBool::new(false) }
    }

    /// So much more was played.
    pub(super) fn add(&self, played: Span) {
        self.played_millis.fetch_add(played.millis(), Ordering::Relaxed);
    }

    /// Does the work, and shows on a terminal how far it is while it takes long.
    pub(super) fn shown<T>(&self, work: impl FnOnce() -> T) -> T {
        if !std::io::stderr().is_terminal() {
            return work();
        }
        std::thread::scope(|scope| {
            scope.spawn(|| self.show());
            let _end = EndOnDrop(&self.is_over);
            work()
        })
    }

    fn show(&self) {
        let began = Instant::now();
        let mut is_shown = false;
        while !self.is_over.load(Ordering::Relaxed) {
            std::thread::sleep(LOOK_EVERY);
            if began.elapsed() >= QUIET {
                let played = self.played_millis.load(Ordering::Relaxed);
                let percent = played.saturating_mul(100) / self.total_millis;
                eprint!("\rplaying: {percent} %");
                is_shown = true;
            }
        }
        if is_shown {
            // Leaves nothing behind.
            eprint!("\r\u{1b}[K");
        }
        let _ = std::io::stderr().flush();
    }
}

/// Ends the show, also where the work panics.
struct EndOnDrop<'a>(&'a AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
