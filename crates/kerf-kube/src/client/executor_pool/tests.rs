//! What becomes of actions that wait.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicUsize, Ordering};

use kerf_engine::action::{ActionClass, ActionId, ActionKind, Launch};
use kerf_engine::event::Instance;
use kerf_engine::observed::{Name, NodeClass};
use kerf_engine::provider::ProviderInfo;
use kerf_engine::reason::Reason;
use kerf_engine::time::Time;
use kerf_model::instance_type::InstanceType;
use kerf_model::labels::LabelRules;
use kerf_runtime::metrics::Registry;
use kube::{Client, Config};
use tokio::net::TcpListener;

use super::*;
use crate::client::execute::Pace;
use crate::client::metrics::Shows;
use crate::client::provider::{Ending, NoProvider};

/// The engine gives an action up after two minutes, and may then order it again.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(120);
const OFTEN: NonZeroU32 = NonZeroU32::new(100_000).unwrap();

/// An API server that never answers, and those who call it.
async fn hung() -> (TcpListener, ExecutorPool<NoProvider>, mpsc::Receiver<Event>) {
    hung_with(NoProvider).await
}

/// The same with a provider.
async fn hung_with<P: Provider>(
    provider: P,
) -> (TcpListener, ExecutorPool<P>, mpsc::Receiver<Event>) {
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", server.local_addr().unwrap());
    let client = Client::try_from(Config::new(address.parse().unwrap())).unwrap();
    let executor = Executor::new(client, Arc::new(provider), Pace::new(OFTEN, OFTEN));
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

/// A cloud that hangs in its first calls, as many as there may be at once, and then works.
#[derive(Default)]
struct Hanging(AtomicUsize);

impl Provider for Hanging {
    fn info(&self) -> ProviderInfo {
        NoProvider.info()
    }

    fn label_rules(&self) -> LabelRules {
        NoProvider.label_rules()
    }

    async fn instance_types(&self, class: &NodeClass) -> Result<Arc<[InstanceType]>, Failure> {
        NoProvider.instance_types(class).await
    }

    async fn launch(&self, launch: &Launch) -> Result<Instance, Failure> {
        NoProvider.launch(launch).await
    }

    async fn terminate(&self, _: &Name, _: Option<&str>) -> Result<Ending, Failure> {
        if self.0.fetch_add(1, Ordering::Relaxed) < CLOUD_CALLS_AT_ONCE {
            std::future::pending::<()>().await;
        }
        Ok(Ending::Gone)
    }

    async fn instances(&self) -> Result<Vec<Instance>, Failure> {
        NoProvider.instances().await
    }
}

fn termination(number: u64, class: ActionClass) -> Action {
    let kind = ActionKind::Terminate { claim: format!("claim-{number}").into(), provider_id: None };
    Action { kind, ..deletion(number, class) }
}

#[tokio::test(start_paused = true)]
async fn calls_that_hang_in_the_cloud_are_given_up_and_leave_their_turns_to_others() {
    let (_server, mut pool, mut events) = hung_with(Hanging::default()).await;
    let hanging = u64::try_from(CLOUD_CALLS_AT_ONCE).unwrap();
    let since = Instant::now();
    (0..hanging).for_each(|number| pool.carry_out(termination(number, ActionClass::Urgent)));
    tokio::task::yield_now().await;
    pool.carry_out(termination(1_000, ActionClass::Normal));
    let (mut unknown, mut done) = (0, 0);
    for _ in 0..=hanging {
        match events.recv().await {
            Some(Event::Finished { outcome: Outcome::NotFound, .. }) => done += 1,
            Some(Event::Finished {
                outcome: Outcome::Failed(Failure::Unavailable { message }),
                ..
            }) => {
                assert!(message.contains("no answer"), "neither done nor not begun: {message}");
                unknown += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((unknown, done), (CLOUD_CALLS_AT_ONCE, 1));
    assert!(since.elapsed() < GIVEN_UP_AFTER, "before the engine would order them again");
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
