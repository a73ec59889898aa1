//! A map that forgets: bounded in size and in time.

use std::collections::VecDeque;
use std::hash::Hash;

use rustc_hash::FxHashMap;

/// Keeps at most `capacity` entries, each for `ttl_ms`. All live equally long, so the oldest is
/// also the first to expire, and a queue in order of insertion is all the order it needs.
#[derive(Clone, Debug)]
pub(super) struct Expiring<K, V> {
    capacity: usize,
    ttl_ms: u64,
    entries: FxHashMap<K, Kept<V>>,
    order: VecDeque<(K, u64)>,
}

#[derive(Clone, Debug)]
struct Kept<V> {
    value: V,
    until_ms: u64,
}

impl<K: Clone + Eq + Hash, V> Expiring<K, V> {
    pub(super) fn new(capacity: usize, ttl_ms: u64) -> Self {
        let (entries, order) = (FxHashMap::default(), VecDeque::new());
        Self { capacity: capacity.max(1), ttl_ms, entries, order }
    }

    /// What is kept for a key, if its time has not come.
    pub(super) fn get(&self, key: &K, now_ms: u64) -> Option<&V> {
        self.entries.get(key).filter(|kept| now_ms < kept.until_ms).map(|kept| &kept.value)
    }

    /// Keeps a value from now on, forgetting what has expired and, if full, the oldest.
    pub(super) fn insert(&mut self, key: K, value: V, now_ms: u64) {
        let until_ms = now_ms.saturating_add(self.ttl_ms);
        self.order.push_back((key.clone(), until_ms));
        self.entries.insert(key, Kept { value, until_ms });
        while self.order.front().is_some_and(|(_, until_ms)| *until_ms <= now_ms)
            || self.order.len() > self.capacity
        {
            self.forget_oldest();
        }
    }

    pub(super) fn remove(&mut self, key: &K) {
        self.entries.remove(key);
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    fn forget_oldest(&mut self) {
        let Some((key, until_ms)) = self.order.pop_front() else { return };
        // A key that was inserted again lives on under its later place.
        if self.entries.get(&key).is_some_and(|kept| kept.until_ms <= until_ms) {
            self.entries.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Expiring;

    #[test]
    fn an_entry_is_there_until_its_time_and_not_a_moment_longer() {
        let mut map = Expiring::new(10, 100);
        map.insert("a", 1, 1_000);
        assert_eq!(map.get(&"a", 1_099), Some(&1));
        assert_eq!(map.get(&"a", 1_100), None);
    }

    #[test]
    fn the_oldest_makes_room_when_it_is_full() {
        let mut map = Expiring::new(3, 1_000);
        for (moment, key) in (0..).zip(["a", "b", "c", "d"]) {
            map.insert(key, (), moment);
        }
        assert_eq!(map.get(&"a", 5), None);
        assert!(["b", "c", "d"].iter().all(|key| map.get(key, 5).is_some()));
        assert_eq!(map.len(), 3);
    }

    #[test]
    fn what_is_inserted_again_lives_from_then_on() {
        let mut map = Expiring::new(10, 100);
        map.insert("a", 1, 0);
        map.insert("a", 2, 50);
        map.insert("b", 3, 120);
        assert_eq!(map.get(&"a", 149), Some(&2));
        assert_eq!(map.get(&"a", 150), None);
    }

    #[test]
    fn it_holds_no_more_than_its_capacity_however_often_one_key_comes() {
        let mut map = Expiring::new(4, 1_000_000);
        for moment in 0..1_000 {
            map.insert(moment % 7, moment, moment);
            assert!(map.len() <= 4 && map.order.len() <= 4);
        }
    }
}
