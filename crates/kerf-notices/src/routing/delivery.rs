//! Messages on their way to queues.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::backoff::{CallFailure, Rng};
use super::delivered::DeliveryKey;
use super::queue_search::again_at_ms;
use super::{RoutedCluster, Router};
use crate::message::EventId;

/// The most messages SendMessageBatch takes.
const ENTRIES_PER_BATCH_MAX: usize = 10;

/// How often a message is tried again after a failure that is not the sender's fault.
const RETRIES_MAX: u32 = 3;

/// Names and types of the three attributes: `kerf-router`, `event-id`, `event-source`, `String`
/// thrice, and the value `1`. SQS counts them as part of the message.
const ATTRIBUTE_BYTES: usize = 11 + 8 + 12 + 3 * 6 + 1;

/// Said of messages beyond what a queue may get.
const FLOODED: &str = "the queue got as many messages as it may within a minute";

/// A message in a batch to send; also the entry's id in the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(pub usize);

/// Messages for one queue, within the limits of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendBatch {
    /// The URL of the queue.
    pub queue: Arc<str>,
    /// At most ten.
    pub entries: Vec<EntryId>,
}

/// A message to send, with its attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing<'a> {
    /// The text.
    pub body: &'a str,
    /// The attribute `event-id`, if the event has an id.
    pub event_id: Option<&'a EventId>,
    /// The attribute `event-source`.
    pub source: &'static str,
}

/// What a queue said about one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryOutcome {
    /// It is stored.
    Accepted,
    /// It is not. `sender_fault`: it would be refused again.
    Failed {
        /// Whether the message itself is at fault.
        sender_fault: bool,
        /// What the queue said.
        why: String,
    },
}

/// One message to one queue.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) item: usize,
    pub(super) queue: Arc<str>,
    /// Whose queue it is; `None` for the queue of unrouted messages.
    pub(super) cluster: Option<RoutedCluster>,
    /// The text, where it is not the event's own.
    pub(super) split: Option<String>,
    pub(super) key: Option<DeliveryKey>,
    pub(super) bytes: usize,
    attempts: u32,
    refreshed: bool,
    pub(super) state: EntryState,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EntryState {
    /// To be sent, not before this moment.
    Ready(u64),
    /// Handed out.
    Sent,
    /// The queue has it.
    Accepted,
    /// The queue has it from before.
    Suppressed,
    /// The same delivery is in this batch already and decides for both.
    Rides(EntryId),
    /// The queue's URL is being asked for again.
    Refreshing,
    /// The cluster has no queue after all.
    NoQueue,
    Failed(String),
}

impl Entry {
    pub(super) fn new(item: usize, queue: Arc<str>, cluster: Option<RoutedCluster>) -> Self {
        let state = EntryState::Ready(0);
        let (split, key, bytes) = (None, None, 0);
        Self { item, queue, cluster, split, key, bytes, attempts: 0, refreshed: false, state }
    }
}

/// The deliveries of one batch.
#[derive(Clone, Debug, Default)]
pub(super) struct Deliveries {
    entries: Vec<Entry>,
    /// The first entry with the digest of its key.
    digests: FxHashMap<u64, EntryId>,
    pub(super) failures: u64,
}

impl Deliveries {
    /// Nearly every record becomes one delivery, so room is made for that at once.
    pub(super) fn with_room_for(records: usize) -> Self {
        let digests = FxHashMap::with_capacity_and_hasher(records, FxBuildHasher);
        Self { entries: Vec::with_capacity(records), digests, failures: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn of(&self, range: Range<usize>) -> &[Entry] {
        &self.entries[range]
    }

    pub(super) fn entry(&self, id: EntryId) -> Option<&Entry> {
        self.entries.get(id.0)
    }

    /// Adds a delivery, unless the queue has it or is about to have it.
    pub(super) fn add(
        &mut self,
        router: &Router,
        mut entry: Entry,
        body_bytes: usize,
        now_ms: u64,
    ) {
        let id = EntryId(self.entries.len());
        let id_bytes = entry.key.as_ref().map_or(0, |key| key.event_id.text_bytes());
        entry.bytes = body_bytes + ATTRIBUTE_BYTES + id_bytes;
        if let Some(key) = &entry.key {
            let first = *self.digests.entry(key.digest).or_insert(id);
            if router.was_delivered(key, now_ms) {
                entry.state = EntryState::Suppressed;
            } else if self.entry(first).is_some_and(|first| first.key.as_ref() == Some(key)) {
                entry.state = EntryState::Rides(first);
            }
        }
        if matches!(entry.state, EntryState::Ready(_)) && router.is_flooded(&entry.queue, now_ms) {
            entry.state = EntryState::Failed(FLOODED.to_owned());
        }
        self.entries.push(entry);
    }

    /// What can be sent now, by queue and within the limits of a call. A message larger than the
    /// bound goes alone: the queue's own limit may have been raised, and only the queue can tell.
    pub(super) fn due(&mut self, bytes_max: usize, now_ms: u64) -> Vec<SendBatch> {
        let mut batches: Vec<SendBatch> = Vec::new();
        // The batch of each queue that may have room left, and its bytes.
        let mut filling: FxHashMap<Arc<str>, (usize, usize)> = FxHashMap::default();
        for (index, entry) in self.entries.iter_mut().enumerate() {
            if !matches!(entry.state, EntryState::Ready(at_ms) if at_ms <= now_ms) {
                continue;
            }
            entry.state = EntryState::Sent;
            if let Some((place, bytes)) = filling.get_mut(&entry.queue)
                && batches[*place].entries.len() < ENTRIES_PER_BATCH_MAX
                && *bytes + entry.bytes <= bytes_max
            {
                *bytes += entry.bytes;
                batches[*place].entries.push(EntryId(index));
                continue;
            }
            filling.insert(Arc::clone(&entry.queue), (batches.len(), entry.bytes));
            let entries = vec![EntryId(index)];
            batches.push(SendBatch { queue: Arc::clone(&entry.queue), entries });
        }
        batches
    }

    /// When the next delivery may be tried.
    pub(super) fn next_ms(&self) -> Option<u64> {
        let waiting = self.entries.iter().filter_map(|entry| match entry.state {
            EntryState::Ready(at_ms) => Some(at_ms),
            _ => None,
        });
        waiting.min()
    }

    pub(super) fn accepted(&mut self, router: &mut Router, id: EntryId, now_ms: u64) {
        let Some(entry) = self.entries.get_mut(id.0) else { return };
        entry.state = EntryState::Accepted;
        router.note_message(&entry.queue, now_ms);
        if let Some(key) = &entry.key {
            router.note_delivery(key.clone(), now_ms);
        }
    }

    /// Decides what follows a message that was not taken. Gives the cluster whose queue has to be
    /// asked for again.
    pub(super) fn refused(
        &mut self,
        router: &mut Router,
        id: EntryId,
        failure: &CallFailure,
        rng: &mut Rng,
        times: (u64, u64),
    ) -> Option<RoutedCluster> {
        let entry = self.entries.get_mut(id.0)?;
        self.failures += 1;
        let again = again_at_ms(failure, entry.attempts, rng, times);
        if entry.attempts < RETRIES_MAX
            && let Some(at_ms) = again
        {
            entry.attempts += 1;
            entry.state = EntryState::Ready(at_ms);
            return None;
        }
        let outdated = matches!(failure, CallFailure::NoQueue | CallFailure::Refused(_));
        if outdated
            && !entry.refreshed
            && let Some(cluster) = entry.cluster.clone()
            && router.forget_queue(&cluster)
        {
            entry.refreshed = true;
            entry.state = EntryState::Refreshing;
            return Some(cluster);
        }
        entry.state = EntryState::Failed(failure.to_string());
        None
    }

    /// The entries whose queue is being asked for again.
    pub(super) fn refreshing(&self) -> Vec<(EntryId, RoutedCluster)> {
        let entries = self.entries.iter().enumerate();
        let refreshing = entries.filter(|(_, entry)| entry.state == EntryState::Refreshing);
        refreshing
            .filter_map(|(index, entry)| Some((EntryId(index), entry.cluster.clone()?)))
            .collect()
    }

    /// Ends the search for an entry's queue: send there, there is none, or the search failed.
    pub(super) fn refreshed(&mut self, id: EntryId, found: Result<Option<Arc<str>>, &CallFailure>) {
        let Some(entry) = self.entries.get_mut(id.0) else { return };
        match found {
            Ok(Some(queue)) => {
                let key = entry.key.as_ref();
                entry.key = key.map(|key| key.to(Arc::clone(&queue)));
                entry.queue = queue;
                entry.state = EntryState::Ready(0);
            }
            Ok(None) => entry.state = EntryState::NoQueue,
            Err(failure) => entry.state = EntryState::Failed(failure.to_string()),
        }
    }

    /// Gives up whatever is still under way.
    pub(super) fn expire(&mut self) {
        for entry in &mut self.entries {
            if matches!(
                entry.state,
                EntryState::Ready(_) | EntryState::Sent | EntryState::Refreshing
            ) {
                entry.state = EntryState::Failed("there was no time left".to_owned());
            }
        }
    }
}
