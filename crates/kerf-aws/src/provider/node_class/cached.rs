//! Answers that stay good for a while.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The most answers kept of one sort. A cluster has some tens of node classes, each with a handful
/// of images and parameters; beyond this, those that end soonest make room.
const ENTRIES_MAX: usize = 2_000;

/// Answers by what was asked, each kept for the same time.
#[derive(Debug)]
pub(super) struct Cached<K, V> {
    keep_for: Duration,
    entries: Mutex<HashMap<K, Entry<V>>>,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    until: Instant,
}

impl<K: Eq + Hash + Clone, V: Clone> Cached<K, V> {
    /// Keeps answers for so long.
    pub(super) fn new(keep_for: Duration) -> Self {
        Self { keep_for, entries: Mutex::default() }
    }

    /// The answer, if it is still good.
    pub(super) fn get(&self, key: &K) -> Option<V> {
        self.get_at(key, Instant::now())
    }

    /// Keeps an answer from now on.
    pub(super) fn put(&self, key: K, value: V) {
        self.put_at(key, value, Instant::now());
    }

    /// Whether no answer is good any more.
    pub(super) fn is_empty(&self) -> bool {
        let now = Instant::now();
        !self.entries().values().any(|entry| now < entry.until)
    }

    /// Forgets an answer.
    pub(super) fn forget(&self, key: &K) {
        self.entries().remove(key);
    }

    /// Forgets every answer whose key is not to be kept.
    pub(super) fn retain(&self, is_kept: impl Fn(&K) -> bool) {
        self.entries().retain(|key, _| is_kept(key));
    }

    /// The answer that is there, or that of the call. A failure is not kept.
    pub(super) async fn or_ask<E>(
        &self,
        key: K,
        ask: impl Future<Output = Result<V, E>>,
    ) -> Result<V, E> {
        if let Some(value) = self.get(&key) {
            return Ok(value);
        }
        let value = ask.await?;
        self.put(key, value.clone());
        Ok(value)
    }

    fn get_at(&self, key: &K, now: Instant) -> Option<V> {
        let entries = self.entries();
        entries.get(key).filter(|entry| now < entry.until).map(|entry| entry.value.clone())
    }

    fn put_at(&self, key: K, value: V, now: Instant) {
        let mut entries = self.entries();
        entries.retain(|_, entry| now < entry.until);
        if entries.len() >= ENTRIES_MAX {
            let soonest = entries.iter().min_by_key(|(_, entry)| entry.until);
            if let Some(key) = soonest.map(|(key, _)| key.clone()) {
                entries.remove(&key);
            }
        }
        entries.insert(key, Entry { value, until: now + self.keep_for });
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<K, Entry<V>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn an_answer_is_good_for_its_time_and_no_longer() {
        let (cached, now) = (Cached::new(MINUTE), Instant::now());
        cached.put_at("subnets", 3, now);
        assert_eq!(cached.get_at(&"subnets", now + MINUTE / 2), Some(3));
        assert_eq!(cached.get_at(&"subnets", now + MINUTE), None);
        assert_eq!(cached.get_at(&"groups", now), None);
        cached.forget(&"subnets");
        assert_eq!(cached.get_at(&"subnets", now), None);
    }

    #[test]
    fn no_more_answers_are_kept_than_there_is_room_for() {
        let (cached, now) = (Cached::new(MINUTE), Instant::now());
        for number in 0..ENTRIES_MAX {
            cached.put_at(number, (), now + Duration::from_millis(number as u64));
        }
        cached.put_at(ENTRIES_MAX, (), now + MINUTE / 2);
        assert_eq!(cached.entries().len(), ENTRIES_MAX);
        assert_eq!(cached.get_at(&0, now), None, "the one that would have gone first");
        cached.put_at(0, (), now + MINUTE * 3);
        assert_eq!(cached.entries().len(), 1, "what has ended is not kept");
    }

    #[tokio::test]
    async fn a_failure_is_not_kept() {
        let cached: Cached<&str, u8> = Cached::new(MINUTE);
        assert_eq!(cached.or_ask("subnets", async { Err("throttled") }).await, Err("throttled"));
        assert_eq!(cached.or_ask("subnets", async { Ok::<_, &str>(1) }).await, Ok(1));
        assert_eq!(cached.or_ask("subnets", async { Err("asked again") }).await, Ok(1));
    }
}
