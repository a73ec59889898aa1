//! The reader against a queue in memory, under virtual time.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::*;
use crate::failure_log::FailureLog;

/// A queue that hides nothing and remembers its calls. Copies share it.
#[derive(Clone, Default)]
struct Fake(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    waiting: VecDeque<Message>,
    in_flight: BTreeMap<String, Message>,
    receive_calls: usize,
    /// The sizes of the calls that deleted something.
    deletions: Vec<usize>,
    failing_receives: usize,
    failing_deletes: usize,
    /// How long an answer with messages takes.
    takes: Duration,
    /// Calls to receive under way, and the most there were at once.
    asking: (usize, usize),
}

#[derive(Debug)]
struct Denied;

impl fmt::Display for Denied {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("not allowed")
    }
}

impl Kind for Denied {
    fn kind(&self) -> &'static str {
        "denied"
    }
}

impl Queue for Fake {
    type Error = Denied;

    async fn receive(&self) -> Result<Vec<Message>, Denied> {
        let (messages, takes) = {
            let mut state = self.0.lock().unwrap();
            state.receive_calls += 1;
            if state.failing_receives > 0 {
                state.failing_receives -= 1;
                return Err(Denied);
            }
            let count = state.waiting.len().min(MESSAGES_PER_CALL);
            let messages: Vec<Message> = state.waiting.drain(..count).collect();
            for message in &messages {
                state.in_flight.insert(message.receipt.clone(), message.clone());
            }
            let asking = state.asking.0 + usize::from(!messages.is_empty());
            state.asking = (asking, state.asking.1.max(asking));
            (messages, state.takes)
        };
        if messages.is_empty() {
            sleep(Duration::from_secs(20)).await;
        } else {
            sleep(takes).await;
            self.0.lock().unwrap().asking.0 -= 1;
        }
        Ok(messages)
    }

    async fn delete(&self, receipts: Vec<String>) -> Result<Vec<String>, Denied> {
        let mut state = self.0.lock().unwrap();
        if state.failing_deletes > 0 {
            state.failing_deletes -= 1;
            return Err(Denied);
        }
        state.deletions.push(receipts.len());
        for receipt in &receipts {
            state.in_flight.remove(receipt);
        }
        Ok(Vec::new())
    }
}

impl Fake {
    fn holding(count: usize) -> Self {
        let fake = Self::default();
        fake.0.lock().unwrap().waiting = (0..count)
            .map(|number| Message {
                id: format!("m{number}"),
                receipt: format!("r{number}"),
                body: number.to_string(),
            })
            .collect();
        fake
    }

    fn left(&self) -> (usize, usize) {
        let state = self.0.lock().unwrap();
        (state.waiting.len(), state.in_flight.len())
    }
}

fn settings(receivers: usize, in_hand_max: usize) -> ReaderSettings {
    ReaderSettings { name: "the queue".to_owned(), receivers, in_hand_max }
}

#[tokio::test(start_paused = true)]
async fn everything_is_handled_once_deleted_in_batches_and_counted() {
    let fake = Fake::holding(57);
    let (reader, mut deliveries) =
        Reader::new(fake.clone(), settings(3, 40), FailureLog::default());
    let counted = Arc::new(Mutex::new(0));
    let count = Arc::clone(&counted);
    let reader = reader.on_deleted(move |deleted| *count.lock().unwrap() += deleted);
    let (stop, stopped) = watch::channel(false);
    let running = tokio::spawn(reader.run(stopped));
    let mut handled = Vec::new();
    while handled.len() < 57 {
        let delivery = deliveries.recv().await.unwrap();
        handled.push(delivery.id.clone());
        delivery.delete();
    }
    stop.send_replace(true);
    running.await.unwrap();
    assert!(deliveries.recv().await.is_none());
    handled.sort();
    handled.dedup();
    assert_eq!((handled.len(), fake.left(), *counted.lock().unwrap()), (57, (0, 0), 57));
    let calls = fake.0.lock().unwrap().deletions.len();
    assert!(calls <= 12, "{calls} calls for 57 messages");
}

#[tokio::test(start_paused = true)]
async fn one_receiver_asks_a_quiet_queue_and_all_of_them_a_full_one() {
    let most = async |messages: usize| {
        let fake = Fake::holding(messages);
        fake.0.lock().unwrap().takes = Duration::from_millis(10);
        let (reader, mut deliveries) =
            Reader::new(fake.clone(), settings(4, 100), FailureLog::default());
        let (stop, stopped) = watch::channel(false);
        let running = tokio::spawn(reader.run(stopped));
        for _ in 0..messages {
            deliveries.recv().await.unwrap().delete();
        }
        sleep(Duration::from_secs(3_600)).await;
        let quiet = fake.0.lock().unwrap().receive_calls;
        stop.send_replace(true);
        running.await.unwrap();
        (fake.0.lock().unwrap().asking.1, quiet)
    };
    assert_eq!(most(5).await.0, 1, "five messages are one call");
    let (at_once, calls) = most(200).await;
    assert_eq!(at_once, 4);
    assert!(calls < 230, "{calls} calls: twenty for the messages, then one every twenty seconds");
}

#[tokio::test(start_paused = true)]
async fn what_a_handler_drops_stays_in_the_queue() {
    let fake = Fake::holding(2);
    let (reader, mut deliveries) =
        Reader::new(fake.clone(), settings(1, 10), FailureLog::default());
    let (stop, stopped) = watch::channel(false);
    let running = tokio::spawn(reader.run(stopped));
    deliveries.recv().await.unwrap().delete();
    drop(deliveries.recv().await.unwrap());
    stop.send_replace(true);
    running.await.unwrap();
    assert_eq!(fake.left(), (0, 1), "one was deleted");
}

#[tokio::test(start_paused = true)]
async fn nothing_more_is_received_while_too_much_is_in_hand() {
    let fake = Fake::holding(25);
    let (reader, mut deliveries) =
        Reader::new(fake.clone(), settings(1, 10), FailureLog::default());
    let (_stop, stopped) = watch::channel(false);
    let _running = tokio::spawn(reader.run(stopped));
    let mut held = Vec::new();
    for _ in 0..10 {
        held.push(deliveries.recv().await.unwrap());
    }
    let more = timeout(Duration::from_secs(3_600), deliveries.recv()).await;
    assert!(more.is_err(), "the effect of ten is not stored yet");
    assert_eq!(fake.left(), (15, 10));
    // Others that are handed on do not stand in the way.
    let handed_on: Vec<_> = held.drain(..).map(Delivery::handed_on).collect();
    assert!(deliveries.recv().await.is_some());
    handed_on.into_iter().for_each(Delivery::delete);
}

#[tokio::test(start_paused = true)]
async fn a_queue_that_refuses_is_asked_ever_less_often_and_told_of_once() {
    let fake = Fake::holding(1);
    fake.0.lock().unwrap().failing_receives = 10;
    let failures = FailureLog::default();
    let (reader, mut deliveries) = Reader::new(fake.clone(), settings(1, 10), failures.clone());
    let (_stop, stopped) = watch::channel(false);
    let _running = tokio::spawn(reader.run(stopped));
    let started = tokio::time::Instant::now();
    deliveries.recv().await.unwrap().delete();
    // 0.5 + 1 + 2 + 4 + 8 seconds, then 15 for each of the other five.
    assert_eq!(started.elapsed().as_millis(), 90_500);
    assert_eq!((failures.logged_total(), failures.lines()), (1, vec![]));
}

#[tokio::test(start_paused = true)]
async fn a_deletion_that_fails_is_told_and_leaves_room_for_the_message_to_come_again() {
    let fake = Fake::holding(1);
    fake.0.lock().unwrap().failing_deletes = 1;
    let failures = FailureLog::default();
    let (reader, mut deliveries) = Reader::new(fake.clone(), settings(1, 10), failures.clone());
    let (stop, stopped) = watch::channel(false);
    let running = tokio::spawn(reader.run(stopped));
    deliveries.recv().await.unwrap().delete();
    stop.send_replace(true);
    running.await.unwrap();
    assert_eq!(fake.left(), (0, 1));
    assert_eq!(failures.lines(), ["the queue: deleting messages: not allowed"]);
}
