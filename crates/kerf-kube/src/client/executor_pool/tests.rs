//! What becomes of actions that wait.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::num::NonZeroU32;

use kerf_engine::action::{ActionClass, ActionId, ActionKind};
use kerf_engine::reason::Reason;
use kerf_engine::time::Time;
use kerf_runtime::metrics::Registry;
use kube::{Client, Config};
use tokio::net::TcpListener;

use super::*;
use crate::client::execute::Pace;
use crate::client::metrics::Shows;
use crate::client::provider::NoProvider;

/// The engine gives an action up after two minutes, and may then order it again.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(120);
const OFTEN: NonZeroU32 = NonZeroU32::new(100_000).unwrap();

/// An API server that never answers, and those who call it.
async fn hung() -> (TcpListener, ExecutorPool<NoProvider>, mpsc::Receiver<Event>) {
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", server.local_addr().unwrap());
    let client = Client::try_from(Config::new(address.parse().unwrap())).unwrap();
    let executor = Executor::new(client, Arc::new(NoProvider), Pace::new(OFTEN, OFTEN));
    let (sender, events) = mpsc::channel(1_000);
    let metrics = Metrics::new(Registry::default(), Shows::Totals);
    let pool = ExecutorPool::new(executor, sender, metrics, "none".into(), FailureLog::default());
    (server, pool, events)
}

fn deletion(number: u64, class: ActionClass) -> Action {
    let name: Arc<str> = format!("node-{number}").into();
    let kind = ActionKind::DeleteNode { uid: name.clone(), name };
    let (id, reason) = (ActionId(number), Reason::InstanceGone);
    Action { id, at: Time::default(), class, reason, kind }
}

#[tokio::test(start_paused = true)]
async fn a_backlog_is_answered_before_the_engine_would_order_it_again() {
    let (_server, mut pool, mut events) = hung().await;
    let since = Instant::now();
    (0..500).for_each(|number| pool.carry_out(deletion(number, ActionClass::Normal)));
    for _ in 0..500 {
        assert!(matches!(events.recv().await, Some(Event::Finished { .. })));
    }
    assert!(since.elapsed() < GIVEN_UP_AFTER, "{:?}", since.elapsed());
}

#[tokio::test(start_paused = true)]
async fn an_urgent_action_does_not_wait_for_calls_in_the_background_that_hang() {
    let (_server, mut pool, mut events) = hung().await;
    (0..500).for_each(|number| pool.carry_out(deletion(number, ActionClass::Background)));
    tokio::task::yield_now().await;
    pool.carry_out(deletion(1_000, ActionClass::Urgent));
    let mut before = 0;
    while let Some(Event::Finished { action, .. }) = events.recv().await
        && action != ActionId(1_000)
    {
        before += 1;
    }
    assert!(before <= WRITES_AT_ONCE, "its call went out with the first, not after {before}");
}
