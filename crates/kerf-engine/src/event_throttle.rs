//! What is said out loud: nothing twice within its silence, nothing faster than its rate.

use std::collections::BTreeMap;

use crate::event::Key;
use crate::kubernetes_event::{KubernetesEvent, Rate};
use crate::time::{Span, Time};

#[cfg(test)]
mod tests;

/// Remembers what was said.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventThrottle {
    said: BTreeMap<(Key, &'static str, String), Time>,
    forget_at: Time,
    buckets: BTreeMap<&'static str, Bucket>,
}

/// How much may be said at once, refilled as time passes.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// In thousandths of an announcement.
    tokens: u64,
    filled_at: Time,
}

/// Announcements remembered at most, so that they are not repeated; the oldest go first.
const SAID_MAX: usize = 20_000;
/// How often announcements that may be repeated are forgotten while there are that many.
const FORGET_EVERY: Span = Span::from_seconds(10);
/// What one announcement takes out of its bucket.
const TOKEN: u64 = 1_000;

impl EventThrottle {
    /// Whether this is to be said now. If so it counts as said.
    pub(crate) fn admits(&mut self, kubernetes_event: &KubernetesEvent, now: Time) -> bool {
        let words = if kubernetes_event.dedupe.is_empty() {
            kubernetes_event.message.clone()
        } else {
            kubernetes_event.dedupe.clone()
        };
        let key = (kubernetes_event.about.clone(), kubernetes_event.reason, words);
        if self.said.get(&key).is_some_and(|until| now < *until) {
            return false;
        }
        if let Some(rate) = kubernetes_event.rate
            && !self.takes_token(kubernetes_event.reason, rate, now)
        {
            return false;
        }
        // Walked over rarely, however much is said.
        if self.said.len() >= SAID_MAX && now >= self.forget_at {
            self.said.retain(|_, until| now < *until);
            self.forget_at = now + FORGET_EVERY;
        }
        if self.said.len() < SAID_MAX {
            self.said.insert(key, now + kubernetes_event.silence);
        }
        true
    }

    fn takes_token(&mut self, reason: &'static str, rate: Rate, now: Time) -> bool {
        let full = u64::from(rate.burst) * TOKEN;
        let bucket = self.buckets.entry(reason).or_insert(Bucket { tokens: full, filled_at: now });
        let passed = now.since(bucket.filled_at).millis();
        // One a second is a thousandth a millisecond.
        let gained = passed.saturating_mul(u64::from(rate.per_second));
        bucket.tokens = bucket.tokens.saturating_add(gained).min(full);
        bucket.filled_at = now;
        let has_one = bucket.tokens >= TOKEN;
        bucket.tokens -= if has_one { TOKEN } else { 0 };
        has_one
    }
}
