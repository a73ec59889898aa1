//! Whether a loop still turns: what a liveness probe asks.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// When a loop last turned. Copies share it.
#[derive(Clone, Debug)]
pub struct Heartbeat(Arc<State>);

#[derive(Debug)]
struct State {
    name: &'static str,
    within: Duration,
    started: Instant,
    /// Milliseconds after the start.
    beat_millis: AtomicU64,
}

impl Heartbeat {
    /// A loop of that name, which hangs if it does not turn within that time.
    pub fn new(name: &'static str, within: Duration) -> Self {
        let (started, beat_millis) = (Instant::now(), AtomicU64::new(0));
        Self(Arc::new(State { name, within, started, beat_millis }))
    }

    /// The loop turned.
    pub fn note(&self) {
        let now = u64::try_from(self.0.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.0.beat_millis.store(now, Ordering::Relaxed);
    }

    /// Whether the loop turns; if not, since when.
    ///
    /// # Errors
    /// A line for a probe.
    pub fn check(&self) -> Result<(), String> {
        self.check_after(self.0.started.elapsed())
    }

    fn check_after(&self, elapsed: Duration) -> Result<(), String> {
        let beat = Duration::from_millis(self.0.beat_millis.load(Ordering::Relaxed));
        let still = elapsed.saturating_sub(beat);
        if still > self.0.within {
            return Err(format!("{} has stood still for {} s", self.0.name, still.as_secs()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_that_does_not_turn_in_time_hangs() {
        let beat = Heartbeat::new("routing", Duration::from_secs(60));
        assert_eq!(beat.check_after(Duration::from_secs(60)), Ok(()));
        let hangs = Err("routing has stood still for 61 s".to_owned());
        assert_eq!(beat.check_after(Duration::from_secs(61)), hangs);
        beat.note();
        assert_eq!(beat.check(), Ok(()));
    }
}
