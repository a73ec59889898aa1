//! Whether a queue answers.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
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
    /// Why the last call gave no answer.
    why: Mutex<Option<String>>,
}

impl QueueHealth {
    /// Something that is asked under this name; not yet.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let (name, started) = (name.to_owned(), Instant::now());
        let answered_millis = AtomicI64::new(-1);
        let silence_max_millis = AtomicU64::new(SILENCE_MAX_MILLIS);
        let why = Mutex::default();
        Self(Arc::new(State { name, started, answered_millis, silence_max_millis, why }))
    }

    /// What the queue is called.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The queue answered, or reading it starts.
    pub fn note(&self) {
        let now = i64::try_from(self.0.started.elapsed().as_millis()).unwrap_or(i64::MAX);
        self.0.answered_millis.store(now, Ordering::Relaxed);
        self.set_why(None);
    }

    /// A call failed.
    pub fn failed(&self, why: String) {
        self.set_why(Some(why));
    }

    fn set_why(&self, why: Option<String>) {
        *self.0.why.lock().unwrap_or_else(PoisonError::into_inner) = why;
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
            let why = self.0.why.lock().unwrap_or_else(PoisonError::into_inner);
            let why = why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
            let (name, seconds) = (&self.0.name, silent.as_secs());
            return Err(format!("{name} has not answered for {seconds} s{why}"));
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
        health.failed("the credentials are not accepted".to_owned());
        let told = health.check_after(late);
        assert!(told.is_err_and(|why| why.ends_with("62 s: the credentials are not accepted")));
        health.ends();
        assert_eq!(health.check_after(late), Ok(()));
    }
}
