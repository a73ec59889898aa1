//! Both fronts of the router, with real calls and injected faults.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use kerf_aws::Session;
use kerf_notices::routing::RoutingSettings;
use kerf_router::{
    Daemon, DaemonSettings, Executor, ExecutorSettings, Function, Routing, redrive, status,
};
use kerf_testbed::{Fault, FaultProxy, FaultRule};
use tokio::sync::watch;

use crate::place::{PATIENT, Place, REGION, TIME, aws, records, spot};

#[tokio::test]
async fn a_hundred_cold_notices_cost_one_lookup_and_warm_ones_none() {
    let place = Place::new("calls", 50).await;
    let ids: Vec<_> = place.instances.values().flatten().collect();
    let bodies = |round| ids.iter().map(|id| spot(&format!("{round}{id}"), id)).collect::<Vec<_>>();
    let mut routing = place.routing();
    let cold = routing.route(records(&bodies(1)), TIME).await;
    assert_eq!((cold.lookup_calls, cold.send_calls), (1, 10), "{:?}", cold.denied);
    let warm = routing.route(records(&bodies(2)), TIME).await;
    assert_eq!((warm.lookup_calls, warm.queue_calls), (0, 0));
    assert_eq!(place.contents("a").await.len() + place.contents("b").await.len(), 200);
}

#[tokio::test]
async fn the_function_answers_with_the_messages_to_deliver_again() {
    let place = Place::new("fn", 1).await;
    let proxy = FaultProxy::start(aws().endpoint_url()).unwrap();
    let session = Session::of_stand_in(&proxy.endpoint_url(), REGION, PATIENT).await;
    // Only what is meant for b is refused.
    proxy.set_rules(vec![FaultRule {
        contains: "fn-b-event".to_owned(),
        every: 1,
        at_most: u64::MAX,
        fault: Fault::Deny,
    }]);
    let mut function = Function::new(place.routing_over(&session));
    let bodies = [
        spot("fn-a-event", &place.instances["a"][0]),
        spot("fn-b-event", &place.instances["b"][0]),
    ];
    let batch: Vec<_> = bodies
        .iter()
        .enumerate()
        .map(|(index, body)| serde_json::json!({"messageId": format!("m{index}"), "body": body}))
        .collect();
    let payload = serde_json::json!({ "Records": batch }).to_string();
    let answer = function.handle(&payload, TIME).await.unwrap();
    assert_eq!(answer, serde_json::json!({"batchItemFailures": [{"itemIdentifier": "m1"}]}));
    assert!(function.handle(&bodies[1], TIME).await.is_err(), "a direct failure is an error");

    proxy.set_rules(vec![]);
    let answer = function.handle(&payload, TIME).await.unwrap();
    assert_eq!(answer, serde_json::json!({"batchItemFailures": []}));
    assert_eq!(place.contents("a").await, [bodies[0].clone()], "not repeated");
    assert_eq!(place.contents("b").await, [bodies[1].clone()]);
    let answer = function.handle("nonsense", TIME).await.unwrap();
    assert_eq!(answer, serde_json::json!({"batchItemFailures": []}), "it would only circle");
}

#[test]
fn the_functions_program_says_what_to_use_outside_lambda() {
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_kerf-router-lambda"));
    let output = program.env_clear().output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("`kerf router run`") && !said.contains("panicked"), "{said}");
}

#[tokio::test]
async fn faults_in_every_second_lookup_and_every_fifth_send_lose_and_double_nothing() {
    let place = Place::new("faults", 20).await;
    let proxy = FaultProxy::start(aws().endpoint_url()).unwrap();
    let session = Session::of_stand_in(&proxy.endpoint_url(), REGION, PATIENT).await;
    let rule = |contains: &str, every, fault| FaultRule {
        contains: contains.to_owned(),
        every,
        at_most: u64::MAX,
        fault,
    };
    proxy.set_rules(vec![
        rule("Action=DescribeInstances", 2, Fault::Throttle),
        rule("SendMessageBatch", 10, Fault::Unavailable),
        rule("SendMessageBatch", 10, Fault::Throttle),
        rule("GetQueueUrl", 2, Fault::Unavailable),
    ]);
    let mut routing = place.routing_over(&session);
    let mut waiting: Vec<String> = (0..15)
        .flat_map(|round| {
            place.instances.values().flatten().map(move |id| spot(&format!("{round}-{id}"), id))
        })
        .collect();
    let all = waiting.len();
    for _ in 0..10 {
        let report = routing.route(records(&waiting), TIME).await;
        let failed = waiting.iter().zip(&report.outcomes);
        waiting = failed
            .filter(|(_, outcome)| outcome.verdict.is_failure())
            .map(|(body, _)| body.clone())
            .collect();
        if waiting.is_empty() {
            break;
        }
    }
    assert!(waiting.is_empty() && proxy.injected() >= 5, "{} faults", proxy.injected());
    let mut arrived = place.contents("a").await;
    arrived.extend(place.contents("b").await);
    assert_eq!(arrived.len(), all);
    arrived.sort();
    arrived.dedup();
    assert_eq!(arrived.len(), all, "each once");
}

#[tokio::test]
async fn the_daemon_empties_the_central_queue_serves_its_pages_and_stops_in_good_order() {
    let mut place = Place::new("daemon", 10).await;
    let central = place.queue("central", false).await;
    let bodies: Vec<_> =
        place.instances.values().flatten().map(|id| spot(&format!("d-{id}"), id)).collect();
    place.fill("central", &bodies).await;
    place.fill("central", &["{".to_owned()]).await;
    let settings = DaemonSettings {
        queue_url: central.clone(),
        listen: "127.0.0.1:0".parse().unwrap(),
        workers: 2,
    };
    let daemon = Daemon::new(settings, place.queues.clone(), place.routing()).await.unwrap();
    let address = daemon.address();
    let (stop, stopped) = watch::channel(false);
    let started = Instant::now();
    let running = tokio::spawn(daemon.run(stopped));
    let done = r#"kerf_router_events_total{detail_type="spot",outcome="routed"} 20"#;
    while !get(address, "/metrics").await.contains(done) {
        assert!(started.elapsed() < Duration::from_secs(120), "{}", get(address, "/metrics").await);
        tokio::task::yield_now().await;
    }
    assert!(get(address, "/healthz").await.starts_with("HTTP/1.1 200"));
    assert!(get(address, "/readyz").await.starts_with("HTTP/1.1 200"));
    assert!(get(address, "/metrics").await.contains("kerf_router_queue_answers 1"));
    assert!(get(address, "/other").await.starts_with("HTTP/1.1 404"));
    stop.send(true).unwrap();
    running.await.unwrap();
    let depth = place.queues.depth(&central).await.unwrap();
    assert_eq!((depth.visible, depth.in_flight), (0, 0), "everything was deleted, poison too");
    assert_eq!((place.contents("a").await.len(), place.contents("b").await.len()), (10, 10));
}

/// Ten thousand queues would take minutes one after the other; here each answer takes a while.
#[tokio::test]
async fn a_spot_notice_does_not_wait_for_a_zonal_shift_that_waits_for_the_clusters() {
    let place = Place::in_region("ap-south-1", "beside", 1).await;
    let proxy = FaultProxy::start(aws().endpoint_url()).unwrap();
    let session = Session::of_stand_in(&proxy.endpoint_url(), "ap-south-1", PATIENT).await;
    let rule = |contains: &str, fault| FaultRule {
        contains: contains.to_owned(),
        every: 1,
        at_most: u64::MAX,
        fault,
    };
    proxy.set_rules(vec![rule("AmazonSQS.ListQueues", Fault::Unavailable)]);
    let mut routing = place.routing_over(&session);
    let kind = "Autoshift In Progress";
    let shift = crate::place::event("beside-1", "aws.arc-zonal-shift", kind, "[]", "{}");
    let notice = spot("beside-2", &place.instances["a"][0]);
    let report = routing.route(records(&[shift.clone(), notice.clone()]), TIME).await;
    assert_eq!(report.failures().collect::<Vec<_>>(), ["m0"], "{report:#?}");
    assert_eq!(place.contents("a").await, [notice]);
    proxy.set_rules(vec![]);
    let started = Instant::now();
    loop {
        let report = routing.route(records(std::slice::from_ref(&shift)), TIME).await;
        if report.failures().count() == 0 {
            break;
        }
        assert!(started.elapsed() < Duration::from_secs(120), "{report:#?}");
    }
    assert_eq!(place.contents("a").await, [shift]);
}

#[tokio::test]
async fn a_queue_that_is_not_tagged_gets_nothing_unless_the_operator_says_so() {
    let mut place = Place::new("bare", 0).await;
    place.queue("payments", false).await;
    let tag = ("eks:eks-cluster-name".to_owned(), place.named("payments"));
    let id = &crate::place::launch(&place.session, 1, &[tag]).await[0];
    let body = spot("bare-1", id);
    let report = place.routing().route(records(std::slice::from_ref(&body)), TIME).await;
    assert_eq!(report.outcomes[0].verdict.to_string(), "unrouted: queue-not-tagged");
    assert!(place.contents("payments").await.is_empty());

    let settings = ExecutorSettings { require_queue_tag: false, ..ExecutorSettings::default() };
    let executor = Executor::new(place.session.clone(), settings);
    let mut routing = Routing::new(RoutingSettings::default(), executor);
    let report = routing.route(records(std::slice::from_ref(&body)), TIME).await;
    assert_eq!(report.outcomes[0].verdict.to_string(), "routed");
    assert_eq!(place.contents("payments").await, [body]);
}

#[tokio::test]
async fn a_central_queue_that_is_away_is_not_ready_and_no_reason_to_restart() {
    let place = Place::new("away", 0).await;
    let central = format!("{}/123456789012/away-nowhere", aws().endpoint_url());
    let listen = "127.0.0.1:0".parse().unwrap();
    let settings = DaemonSettings { queue_url: central, listen, workers: 1 };
    let daemon = Daemon::new(settings, place.queues.clone(), place.routing()).await.unwrap();
    let daemon = daemon.silent_after(Duration::from_millis(1));
    let address = daemon.address();
    let (stop, stopped) = watch::channel(false);
    let running = tokio::spawn(daemon.run(stopped));
    let started = Instant::now();
    while !get(address, "/readyz").await.starts_with("HTTP/1.1 503") {
        assert!(started.elapsed() < Duration::from_secs(120), "{}", get(address, "/readyz").await);
        tokio::task::yield_now().await;
    }
    let alive = get(address, "/healthz").await;
    assert!(alive.starts_with("HTTP/1.1 200") && alive.contains("has not answered"), "{alive}");
    assert!(get(address, "/metrics").await.contains("kerf_router_queue_answers 0"));
    stop.send(true).unwrap();
    running.await.unwrap();
}

#[tokio::test]
async fn credentials_that_have_expired_make_no_dead_letters() {
    let mut place = Place::new("expired", 3).await;
    let central = place.queue_with_dead_letters("central").await;
    let bodies: Vec<_> =
        place.instances.values().flatten().map(|id| spot(&format!("x-{id}"), id)).collect();
    place.fill("central", &bodies).await;
    let proxy = FaultProxy::start(aws().endpoint_url()).unwrap();
    let session = Session::of_stand_in(&proxy.endpoint_url(), REGION, PATIENT).await;
    let rule = |contains: &str| FaultRule {
        contains: contains.to_owned(),
        every: 1,
        at_most: u64::MAX,
        fault: Fault::Expire,
    };
    proxy.set_rules(vec![rule("Action=Describe"), rule("SendMessage")]);
    let settings =
        DaemonSettings { queue_url: central, listen: "127.0.0.1:0".parse().unwrap(), workers: 1 };
    let routing = place.routing_over(&session);
    let daemon = Daemon::new(settings, place.queues.clone(), routing).await.unwrap();
    let address = daemon.address();
    let (stop, stopped) = watch::channel(false);
    let running = tokio::spawn(daemon.run(stopped));
    // So many tries take longer than a message needs to come again three times.
    let tries = |at_least: u64| {
        let proxy = &proxy;
        async move {
            while proxy.injected() < at_least {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    };
    let many = tokio::time::timeout(TIME, tries(32)).await;
    assert!(many.is_ok(), "it tries again: {}", proxy.injected());
    let ready = get(address, "/readyz").await;
    assert!(ready.starts_with("HTTP/1.1 503") && ready.contains("ExpiredToken"), "{ready}");
    assert!(get(address, "/healthz").await.starts_with("HTTP/1.1 200"), "a new start helps nobody");
    let metrics = get(address, "/metrics").await;
    assert!(metrics.contains("kerf_router_credentials_rejected 1"), "{metrics}");

    proxy.set_rules(vec![]);
    let routed = async {
        // One delivery or several: what was received while nothing worked may be received again.
        while place.depth("a").await.0 + place.depth("b").await.0 < 6
            || !get(address, "/metrics").await.contains("kerf_router_credentials_rejected 0")
        {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let routed = tokio::time::timeout(TIME, routed).await;
    assert!(routed.is_ok(), "{}", get(address, "/metrics").await);
    let ready = get(address, "/readyz").await;
    assert!(ready.starts_with("HTTP/1.1 200"), "{ready}");
    stop.send(true).unwrap();
    running.await.unwrap();
    assert_eq!((place.contents("a").await.len(), place.contents("b").await.len()), (3, 3));
    assert_eq!(place.depth("central-dead").await, (0, 0));
}

#[tokio::test]
async fn dead_letters_go_back_and_status_tells_how_full_queues_are() {
    let mut place = Place::new("dead", 1).await;
    let (central, dead) = (place.queue("central", false).await, place.queue("dlq", false).await);
    for index in 0..3 {
        let messages = (0..7).map(|n| (spot(&format!("{index}{n}"), "i-00000001"), vec![]));
        place.queues.send(&dead, messages.collect()).await.unwrap();
    }
    let before = status(&place.queues, &central, Some(&dead)).await;
    assert_eq!(before.error, None);
    assert_eq!(before.queues[1].depth.as_ref().unwrap().visible, 21);
    assert!(before.queues.iter().any(|queue| queue.role == "dead-a"));
    let redriven = redrive(&place.queues, &dead, &central, 1_000).await.unwrap();
    assert_eq!((redriven.moved, redriven.stayed), (21, 0));
    let after = status(&place.queues, &central, Some(&dead)).await;
    assert_eq!(after.queues[0].depth.as_ref().unwrap().visible, 21);
    assert_eq!(after.queues[1].depth.as_ref().unwrap().visible, 0);
}

/// One request, one answer.
async fn get(address: SocketAddr, path: &str) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream
        .write_all(
            format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").as_bytes(),
        )
        .await
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}
