//! Failures, logged once: until the same thing works again, or fails in another way.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tracing::{info, warn};

/// What does not work now. Copies share it.
///
/// A call that fails is tried again and again. Its first failure is worth a line in the log, and so
/// is the first of another kind; the hundredth of the same kind is not.
#[derive(Clone, Debug, Default)]
pub struct FailureLog(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    current: BTreeMap<String, Failure>,
    logged_total: u64,
}

#[derive(Debug)]
struct Failure {
    kind: &'static str,
    message: String,
}

/// An error that knows its kind, by which failures are told apart.
pub trait Kind {
    /// A short word, the same for errors with the same remedy: `denied`, `throttled`.
    fn kind(&self) -> &'static str;

    /// How long not to try again, where the other side said so.
    fn retry_after(&self) -> Option<Duration> {
        None
    }
}

impl FailureLog {
    /// Something failed. It is logged, and true is returned, if that was not known.
    pub fn failed(&self, what: &str, kind: &'static str, message: impl Into<String>) -> bool {
        let mut state = self.state();
        if state.current.get(what).is_some_and(|known| known.kind == kind) {
            return false;
        }
        let message = message.into();
        warn!(what, kind, "{message}");
        state.logged_total += 1;
        state.current.insert(what.to_owned(), Failure { kind, message });
        true
    }

    /// Something works. That is logged if it did not before.
    pub fn recovered(&self, what: &str) {
        if self.state().current.remove(what).is_some() {
            info!(what, "works again");
        }
    }

    /// What does not work now, a line each.
    pub fn lines(&self) -> Vec<String> {
        let state = self.state();
        state.current.iter().map(|(what, it)| format!("{what}: {}", it.message)).collect()
    }

    /// How many failures were logged so far.
    pub fn logged_total(&self) -> u64 {
        self.state().logged_total
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_fails_is_logged_once_for_each_way_it_fails() {
        let failures = FailureLog::default();
        assert!(failures.failed("receiving", "denied", "grant it"));
        assert!(!failures.failed("receiving", "denied", "grant it"), "it is known");
        assert!(failures.failed("deleting", "denied", "grant it"), "another call");
        assert!(failures.failed("receiving", "throttled", "too many calls"), "another way");
        assert_eq!(failures.lines(), ["deleting: grant it", "receiving: too many calls"]);
        failures.recovered("receiving");
        assert!(failures.failed("receiving", "throttled", "too many calls"), "again");
        assert_eq!(failures.logged_total(), 4);
    }
}
