//! How many messages each queue got lately: a bound on what a flood of events can do to a cluster.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// The time within which messages are counted.
const WINDOW_MS: u64 = 60_000;
/// Queues that are counted for; more than this many do not all get messages within a minute.
const QUEUES_MAX: usize = 10_000;

/// Messages that queues got in the minute that runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Pace {
    began_ms: u64,
    counts: FxHashMap<Arc<str>, u32>,
}

impl Pace {
    /// How many messages a queue got in the minute that runs.
    pub(super) fn count(&self, queue: &str, now_ms: u64) -> u32 {
        let runs = now_ms < self.began_ms.saturating_add(WINDOW_MS);
        if runs { self.counts.get(queue).copied().unwrap_or_default() } else { 0 }
    }

    /// A queue got a message.
    pub(super) fn note(&mut self, queue: &Arc<str>, now_ms: u64) {
        if now_ms >= self.began_ms.saturating_add(WINDOW_MS) || self.counts.len() >= QUEUES_MAX {
            *self = Self { began_ms: now_ms, counts: FxHashMap::default() };
        }
        match self.counts.get_mut(queue) {
            Some(count) => *count = count.saturating_add(1),
            None => drop(self.counts.insert(Arc::clone(queue), 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_count_for_their_queue_until_the_minute_is_over() {
        let mut pace = Pace::default();
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        (0..3).for_each(|_| pace.note(&a, 1_000));
        pace.note(&b, 2_000);
        assert_eq!((pace.count("a", 59_999), pace.count("b", 2_000)), (3, 1));
        assert_eq!(pace.count("a", 60_000), 0);
        pace.note(&a, 61_000);
        assert_eq!((pace.count("a", 61_000), pace.count("b", 61_000)), (1, 0));
    }
}
