//! What went wrong with a call, and how long to wait before the next.

use kerf_model::rng::SplitMix64;

/// Why a call to AWS did not give an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallFailure {
    /// Too many requests; the same call will work later.
    #[error("throttled")]
    Throttled {
        /// How long not to call again, where the service says so; 0 where it does not.
        retry_after_ms: u64,
    },
    /// Credentials have expired or are not accepted; the same call will work with others.
    #[error("{0}")]
    Credentials(String),
    /// A permission is missing; the text names the action and the resource.
    #[error("not allowed: {0}")]
    Denied(String),
    /// A time-out, a lost connection or an error of the service; may work later.
    #[error("{0}")]
    Unavailable(String),
    /// The request was refused and would be again.
    #[error("refused: {0}")]
    Refused(String),
    /// The queue that a message was sent to does not exist.
    #[error("the queue does not exist")]
    NoQueue,
}

/// First wait after a throttled call; each further one may be twice as long.
const FIRST_WAIT_MS: u64 = 100;

/// No single wait is longer: an interruption notice is worth two minutes at most.
const LONGEST_WAIT_MS: u64 = 5_000;

/// Exponential back-off with jitter: between half and the whole of `100 ms · 2^attempt`.
/// `rng` is any number; it only spreads callers apart.
pub(super) fn wait_ms(attempt: u32, rng: u64) -> u64 {
    let whole = FIRST_WAIT_MS.saturating_mul(1 << attempt.min(10)).min(LONGEST_WAIT_MS);
    whole / 2 + rng % (whole / 2 + 1)
}

impl CallFailure {
    /// How long to wait after so many tries: as above, and at least as long as the service asks.
    pub(super) fn wait_ms(&self, attempt: u32, rng: u64) -> u64 {
        let at_least = match self {
            Self::Throttled { retry_after_ms } => *retry_after_ms,
            _ => 0,
        };
        wait_ms(attempt, rng).max(at_least)
    }
}

/// A stream of numbers from a seed, so that waits differ and yet can be replayed.
#[derive(Clone, Debug)]
pub(super) struct Rng(SplitMix64);

impl Rng {
    pub(super) fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    pub(super) fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// True `per_mille` times out of a thousand.
    pub(super) fn chance(&mut self, per_mille: u64) -> bool {
        self.next_u64() % 1_000 < per_mille
    }

    /// A number below `bound`, which must not be zero.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next_u64() % bound
    }
}

#[cfg(test)]
mod tests {
    use super::{Rng, wait_ms};

    #[test]
    fn waits_double_up_to_a_limit_and_never_vanish() {
        let mut rng = Rng::new(7);
        for attempt in 0..40 {
            let whole = (100u64 << attempt.min(10)).min(5_000);
            for _ in 0..100 {
                let wait = wait_ms(attempt, rng.next_u64());
                assert!((whole / 2..=whole).contains(&wait), "{attempt}: {wait}");
            }
        }
    }
}
