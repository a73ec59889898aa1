//! How long a holder of the Lease may act.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Until when this process may act. Two processes may believe that they lead, one of them because
/// it was stopped or cut off; what it then sends must not be sent. Whoever sends asks here first.
#[derive(Clone, Debug)]
pub struct LeaseTerm(Arc<Mutex<Term>>);

#[derive(Clone, Copy, Debug)]
enum Term {
    /// No Lease is needed.
    Unlimited,
    /// Nobody else may hold the Lease before that.
    Until(Instant),
    /// The Lease is not held.
    Over,
}

impl LeaseTerm {
    /// For a process that needs no Lease.
    #[must_use]
    pub fn unlimited() -> Self {
        Self(Arc::new(Mutex::new(Term::Unlimited)))
    }

    /// For a candidate, which may not act yet.
    #[must_use]
    pub fn not_begun() -> Self {
        Self(Arc::new(Mutex::new(Term::Over)))
    }

    /// How long it lasts from now on; nothing if it is over.
    #[must_use]
    pub fn left(&self) -> Option<Duration> {
        match *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Term::Unlimited => Some(Duration::MAX),
            Term::Until(end) => Some(end.saturating_duration_since(Instant::now())),
            Term::Over => None,
        }
        .filter(|left| !left.is_zero())
    }

    /// The Lease was renewed by a request that was sent at that time.
    pub(crate) fn renewed(&self, sent: Instant, lasts: Duration) {
        self.set(Term::Until(sent + lasts));
    }

    /// The Lease was given back.
    pub(crate) fn end(&self) {
        self.set(Term::Over);
    }

    fn set(&self, term: Term) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = term;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_term_ends_so_long_after_the_last_renewal_was_sent() {
        let term = LeaseTerm::not_begun();
        assert_eq!(term.left(), None, "a candidate may not act");
        let sent = Instant::now();
        tokio::time::advance(Duration::from_secs(4)).await;
        term.renewed(sent, Duration::from_secs(15));
        assert_eq!(term.left(), Some(Duration::from_secs(11)), "the answer took four seconds");
        tokio::time::advance(Duration::from_secs(12)).await;
        assert_eq!(term.left(), None);
        assert!(LeaseTerm::unlimited().left().is_some());
    }
}
