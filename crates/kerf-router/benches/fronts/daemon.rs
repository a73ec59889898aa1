//! The daemon, from a full central queue until every event is in its cluster's queue.

use std::time::{Duration, Instant};

use kerf_notices::routing::RoutingSettings;
use kerf_router::{Daemon, DaemonSettings, Executor, ExecutorSettings, Routing};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::watch;

use crate::account::Account;
use crate::process::used;

const EVENTS: usize = 1_000;

/// The default of `kerf router run`.
const WORKERS: usize = 4;

pub(crate) fn measure() -> Value {
    tokio::runtime::Runtime::new().unwrap().block_on(run())
}

async fn run() -> Value {
    let mut account = Account::new().await;
    let central = account.queue("central").await;
    let queues = account.session.queues();
    for chunk in account.notices(EVENTS).chunks(10) {
        let messages = chunk.iter().map(|body| (body.clone(), vec![])).collect();
        assert!(queues.send(&central, messages).await.unwrap().is_empty());
    }
    let executor = Executor::new(account.session.clone(), ExecutorSettings::default());
    let routing = Routing::new(RoutingSettings::default(), executor);
    let listen = "127.0.0.1:0".parse().unwrap();
    let settings = DaemonSettings { queue_url: central.clone(), listen, workers: WORKERS };
    let daemon = Daemon::new(settings, queues.clone(), routing).await.unwrap();
    let address = daemon.address();
    let (stop, stopped) = watch::channel(false);
    let stand_in = || account.aws.pids().into_iter().map(used).sum::<Duration>();
    let (own_before, stand_in_before) = (used(std::process::id()), stand_in());
    let started = Instant::now();
    let running = tokio::spawn(daemon.run(stopped));
    let page = loop {
        let page = page(address).await;
        if number(&page, r#"kerf_router_events_total{detail_type="spot",outcome="routed"} "#)
            >= Some(EVENTS as u64)
        {
            break page;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    let took = started.elapsed();
    let (own, stand_in) = (used(std::process::id()) - own_before, stand_in() - stand_in_before);
    stop.send(true).unwrap();
    running.await.unwrap();
    assert_eq!(account.delivered().await, EVENTS as u64);
    json!({
        "events": EVENTS, "micros": took.as_micros() as u64,
        "own_core_micros": own.as_micros() as u64,
        "stand_in_core_micros": stand_in.as_micros() as u64,
        "lookup_calls": number(&page, "kerf_router_lookup_calls_total "),
    })
}

async fn page(address: std::net::SocketAddr) -> String {
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream
        .write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        .await
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

fn number(page: &str, name: &str) -> Option<u64> {
    page.lines().find_map(|line| line.strip_prefix(name))?.trim().parse().ok()
}
