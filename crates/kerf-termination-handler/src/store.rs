//! Events that are under way or were handled: the same event, delivered again, is no new one.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

/// Handled events that are remembered. SQS hands a message out again within minutes where its
/// deletion was lost, and a thousand nodes have a few events each.
const REMEMBERED_MAX: usize = 10_000;

/// What becomes of the message of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The event is through: as far as it goes, the message may be deleted.
    Finished,
    /// The message stays and comes again.
    Kept,
}

/// All events. Copies share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Store(Arc<Mutex<Events>>);

#[derive(Debug, Default)]
struct Events {
    under_way: BTreeMap<String, watch::Receiver<Option<Fate>>>,
    handled: BTreeMap<String, Fate>,
    handled_in_order: VecDeque<String>,
    /// Nodes whose drain was told of, by uid, until it is over.
    draining: BTreeSet<String>,
}

/// What an event is to the store.
pub(crate) enum Entry {
    /// It was not known, and is under way until the ticket is gone.
    New(Ticket),
    /// It is under way already, or through; its fate comes here.
    Known(watch::Receiver<Option<Fate>>),
}

/// An event under way. Dropped without a fate, its message is kept.
pub(crate) struct Ticket {
    store: Store,
    event_id: String,
    fate: watch::Sender<Option<Fate>>,
}

impl Store {
    /// Adds an event, if it is not there.
    pub(crate) fn add(&self, event_id: &str) -> Entry {
        let mut events = self.events();
        if let Some(fate) = events.handled.get(event_id) {
            return Entry::Known(watch::channel(Some(*fate)).1);
        }
        if let Some(fate) = events.under_way.get(event_id) {
            return Entry::Known(fate.clone());
        }
        let (fate, receiver) = watch::channel(None);
        events.under_way.insert(event_id.to_owned(), receiver);
        Entry::New(Ticket { store: self.clone(), event_id: event_id.to_owned(), fate })
    }

    /// Whether an event is under way or was handled.
    pub(crate) fn knows(&self, event_id: &str) -> bool {
        let events = self.events();
        events.under_way.contains_key(event_id) || events.handled.contains_key(event_id)
    }

    /// Whether the drain of a node is told of for the first time. Events that come together find it
    /// not begun, each of them.
    pub(crate) fn begins_drain(&self, node_uid: &str) -> bool {
        self.events().draining.insert(node_uid.to_owned())
    }

    /// Notes that the drain of a node is over.
    pub(crate) fn ends_drain(&self, node_uid: &str) {
        self.events().draining.remove(node_uid);
    }

    /// How many events are under way.
    pub(crate) fn under_way(&self) -> usize {
        self.events().under_way.len()
    }

    fn events(&self) -> MutexGuard<'_, Events> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ticket {
    /// The event is handled, and is not handled again.
    pub(crate) fn handled(self, fate: Fate) {
        {
            let mut events = self.store.events();
            events.handled.insert(self.event_id.clone(), fate);
            events.handled_in_order.push_back(self.event_id.clone());
            if events.handled_in_order.len() > REMEMBERED_MAX
                && let Some(oldest) = events.handled_in_order.pop_front()
            {
                events.handled.remove(&oldest);
            }
        }
        self.fate.send_replace(Some(fate));
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.store.events().under_way.remove(&self.event_id);
        self.fate.send_if_modified(|fate| {
            let is_open = fate.is_none();
            fate.get_or_insert(Fate::Kept);
            is_open
        });
    }
}

/// Waits for the fate of an event that another delivery is about.
pub(crate) async fn fate_of(mut known: watch::Receiver<Option<Fate>>) -> Fate {
    let fate = known.wait_for(Option::is_some).await;
    fate.ok().and_then(|fate| *fate).unwrap_or(Fate::Kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticket(store: &Store, event_id: &str) -> Ticket {
        match store.add(event_id) {
            Entry::New(ticket) => ticket,
            Entry::Known(_) => panic!("{event_id} is known"),
        }
    }

    fn known(store: &Store, event_id: &str) -> watch::Receiver<Option<Fate>> {
        match store.add(event_id) {
            Entry::New(_) => panic!("{event_id} is not known"),
            Entry::Known(fate) => fate,
        }
    }

    #[tokio::test]
    async fn an_event_delivered_twice_is_handled_once_and_both_messages_share_its_fate() {
        let store = Store::default();
        let first = ticket(&store, "a");
        let second = known(&store, "a");
        assert_eq!(store.under_way(), 1);
        first.handled(Fate::Finished);
        assert_eq!(fate_of(second).await, Fate::Finished);
        assert_eq!(fate_of(known(&store, "a")).await, Fate::Finished, "its deletion was lost");
        assert_eq!(store.under_way(), 0);
    }

    #[tokio::test]
    async fn an_event_that_failed_is_handled_anew_when_it_comes_again() {
        let store = Store::default();
        let first = ticket(&store, "a");
        let second = known(&store, "a");
        drop(first);
        assert_eq!(fate_of(second).await, Fate::Kept);
        ticket(&store, "a");
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let store = Store::default();
        for number in 0..=REMEMBERED_MAX {
            ticket(&store, &number.to_string()).handled(Fate::Finished);
        }
        ticket(&store, "0");
        known(&store, "1");
    }
}
