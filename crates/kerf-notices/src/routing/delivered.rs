//! Deliveries that are not repeated.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHasher};

use crate::message::{EventId, InstanceId};

/// What makes two deliveries the same: the event, its page, the instances it was cut down to, and
/// the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DeliveryKey {
    /// Of all the rest, taken once: a key is looked up several times.
    pub(super) digest: u64,
    pub(super) event_id: EventId,
    page: u32,
    /// `None` for the whole event.
    only: Option<Arc<[InstanceId]>>,
    queue: Arc<str>,
}

impl DeliveryKey {
    pub(super) fn new(
        event_id: EventId,
        page: u32,
        only: Option<Arc<[InstanceId]>>,
        queue: Arc<str>,
    ) -> Self {
        let mut hasher = FxHasher::default();
        (&event_id, page, &only, &queue).hash(&mut hasher);
        Self { digest: hasher.finish(), event_id, page, only, queue }
    }

    /// The same delivery to another queue.
    pub(super) fn to(&self, queue: Arc<str>) -> Self {
        Self::new(self.event_id.clone(), self.page, self.only.clone(), queue)
    }
}

/// The latest deliveries: at most `capacity`, each for `ttl_ms`.
///
/// Keys lie in the order they came, where they are written and forgotten one after the other; only
/// their digests are in a table. Two keys of one digest share a place there: the older one is then
/// forgotten early and may be delivered again, which is allowed, while none is ever mistaken for
/// another, which would lose it.
#[derive(Clone, Debug)]
pub(super) struct Delivered {
    capacity: usize,
    ttl_ms: u64,
    /// The number of the latest delivery with a digest; the first one ever has number 0.
    numbers: FxHashMap<u64, u64>,
    kept: VecDeque<(DeliveryKey, u64)>,
    /// How many were kept once and are not any more, which is the number of the first one kept.
    forgotten: u64,
}

impl Delivered {
    pub(super) fn new(capacity: usize, ttl_ms: u64) -> Self {
        let (numbers, kept) = (FxHashMap::default(), VecDeque::new());
        Self { capacity: capacity.max(1), ttl_ms, numbers, kept, forgotten: 0 }
    }

    /// Whether this very delivery was made and its time is not over.
    pub(super) fn contains(&self, key: &DeliveryKey, now_ms: u64) -> bool {
        let Some(number) = self.numbers.get(&key.digest) else { return false };
        let place = number.checked_sub(self.forgotten).and_then(|place| place.try_into().ok());
        let kept = place.and_then(|place: usize| self.kept.get(place));
        kept.is_some_and(|(known, until_ms)| now_ms < *until_ms && known == key)
    }

    /// Remembers a delivery, forgetting what has expired and, if full, the oldest.
    pub(super) fn insert(&mut self, key: DeliveryKey, now_ms: u64) {
        let number = self.forgotten + self.kept.len() as u64;
        self.numbers.insert(key.digest, number);
        self.kept.push_back((key, now_ms.saturating_add(self.ttl_ms)));
        while self.kept.front().is_some_and(|(_, until_ms)| *until_ms <= now_ms)
            || self.kept.len() > self.capacity
        {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        let Some((key, _)) = self.kept.pop_front() else { return };
        // A digest that came again stands for the later delivery.
        if self.numbers.get(&key.digest) == Some(&self.forgotten) {
            self.numbers.remove(&key.digest);
        }
        self.forgotten += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{Delivered, DeliveryKey};
    use crate::message::EventId;

    fn key(event: &str, queue: &str) -> DeliveryKey {
        DeliveryKey::new(EventId::new(event), 0, None, queue.into())
    }

    #[test]
    fn a_delivery_is_known_until_its_time_and_not_a_moment_longer() {
        let mut delivered = Delivered::new(10, 100);
        delivered.insert(key("e", "q"), 1_000);
        assert!(delivered.contains(&key("e", "q"), 1_099));
        assert!(!delivered.contains(&key("e", "q"), 1_100));
        assert!(!delivered.contains(&key("e", "other"), 1_000));
    }

    #[test]
    fn the_oldest_makes_room_when_it_is_full_and_what_came_again_lives_on() {
        let mut delivered = Delivered::new(3, 1_000);
        for (moment, event) in (0..).zip(["a", "b", "a", "c", "d"]) {
            delivered.insert(key(event, "q"), moment);
            assert!(delivered.kept.len() <= 3 && delivered.numbers.len() <= 3);
        }
        let known = |event: &str| delivered.contains(&key(event, "q"), 10);
        assert_eq!(["a", "b", "c", "d"].map(known), [true, false, true, true]);
    }

    #[test]
    fn another_delivery_of_the_same_digest_is_never_taken_for_this_one() {
        let mut delivered = Delivered::new(10, 1_000);
        let first = key("a", "q");
        let second = DeliveryKey { digest: first.digest, ..key("b", "q") };
        delivered.insert(first.clone(), 0);
        assert!(!delivered.contains(&second, 1));
        delivered.insert(second.clone(), 1);
        assert!(delivered.contains(&second, 2) && !delivered.contains(&first, 2));
    }

    #[test]
    fn it_holds_no_more_than_what_has_not_expired() {
        let mut delivered = Delivered::new(1_000, 50);
        for moment in 0..500 {
            delivered.insert(key(&format!("e{moment}"), "q"), moment);
            assert!(delivered.kept.len() <= 50 && delivered.numbers.len() <= 50);
        }
    }
}
