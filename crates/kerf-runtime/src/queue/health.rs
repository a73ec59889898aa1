//! Whether a queue answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Without an answer for this long a reader is not well: three long polls of SQS.
const SILENCE_MAX_MILLIS: u64 = 60_000;

/// How long a queue has not answered. Copies share it.
#[derive(Clone, Debug)]
pub struct QueueHealth(Arc<State>);

#[derive(Debug)]
struct State {
    name: String,
    started: Instant,
    /// Milliseconds after the start; negative while nobody reads.
    answered_millis: AtomicI64,
    silence_max_millis: AtomicU64,
}

impl QueueHealth {
    pub(super) fn new(name: &str) -> Self {
        let (name, started) = (name.to_owned(), Instant::now());
        let answered_millis = AtomicI64::new(-1);
        let silence_max_millis = AtomicU64::new(SILENCE_MAX_MILLIS);
        Self(Arc::new(State { name, started, answered_millis, silence_max_millis }))
    }

    /// The queue answered, or reading it starts.
    pub(super) fn note(&self) {
        let now = i64::try_from(self.0.started.elapsed().as_millis()).unwrap_or(i64::MAX);
        self.0.answered_millis.store(now, Ordering::Relaxed);
    }

    /// Nobody reads any more, so nothing is missing.
    pub(super) fn ends(&self) {
        self.0.answered_millis.store(-1, Ordering::Relaxed);
    }

    /// Sets how long the queue may be silent.
    pub fn silent_after(&self, silence: Duration) {
        let millis = u64::try_from(silence.as_millis()).unwrap_or(u64::MAX);
        self.0.silence_max_millis.store(millis, Ordering::Relaxed);
    }

    /// Whether the queue answers; if not, since when.
    ///
    /// # Errors
    /// A line for a probe.
    pub fn check(&self) -> Result<(), String> {
        self.check_after(self.0.started.elapsed())
    }

    fn check_after(&self, elapsed: Duration) -> Result<(), String> {
        let answered = u64::try_from(self.0.answered_millis.load(Ordering::Relaxed));
        let Ok(answered) = answered else { return Ok(()) };
        let silent = elapsed.saturating_sub(Duration::from_millis(answered));
        let most = Duration::from_millis(self.0.silence_max_millis.load(Ordering::Relaxed));
        if silent > most {
            return Err(format!("{} has not answered for {} s", self.0.name, silent.as_secs()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_polls_without_an_answer_are_too_many_while_somebody_reads() {
        let health = QueueHealth::new("the queue");
        let most = Duration::from_millis(SILENCE_MAX_MILLIS);
        let late = most + Duration::from_secs(2);
        assert_eq!(health.check_after(late), Ok(()), "nobody reads yet");
        health.note();
        assert_eq!(health.check_after(most), Ok(()));
        let silent = Err("the queue has not answered for 62 s".to_owned());
        assert_eq!(health.check_after(late), silent);
        health.ends();
        assert_eq!(health.check_after(late), Ok(()));
    }
}
