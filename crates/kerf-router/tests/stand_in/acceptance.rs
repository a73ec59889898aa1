//! The acceptance list of the router's specification, by its numbers, with real calls and queues.
//! The same numbers stand in the tests of `kerf-notices`, where calls are data; check 12 only there.

use std::time::{Duration, Instant};

use kerf_aws::Session;
use kerf_notices::routing::Report;
use kerf_router::{Daemon, DaemonSettings};
use kerf_testbed::{Fault, FaultProxy, FaultRule};
use tokio::sync::watch;

use crate::place::{
    PATIENT, Place, REGION, TIME, aws, event, health, launch, records, spot, state,
};

fn verdicts(report: &Report) -> Vec<String> {
    report.outcomes.iter().map(|outcome| outcome.verdict.to_string()).collect()
}

/// A proxy with one rule.
async fn proxied(contains: &str, at_most: u64, fault: Fault) -> (FaultProxy, Session) {
    let proxy = FaultProxy::start(aws().endpoint_url()).unwrap();
    proxy.set_rules(vec![FaultRule { contains: contains.to_owned(), every: 1, at_most, fault }]);
    let session = Session::of_stand_in(&proxy.endpoint_url(), REGION, PATIENT).await;
    (proxy, session)
}

#[tokio::test]
async fn check_1_a_notice_arrives_unchanged_in_exactly_one_cluster_queue() {
    let place = Place::new("one", 1).await;
    let body = spot("e1", &place.instances["a"][0]);
    let report = place.routing().route(records(std::slice::from_ref(&body)), TIME).await;
    assert_eq!(verdicts(&report), ["routed"], "{report:#?}");
    assert_eq!(place.contents("a").await, [body]);
    assert!(place.contents("b").await.is_empty());
}

#[tokio::test]
async fn check_2_ten_notices_for_one_cluster_cost_one_lookup_and_one_send() {
    let place = Place::new("ten", 10).await;
    let ids = &place.instances["b"];
    let bodies: Vec<_> = ids.iter().map(|id| spot(&format!("e-{id}"), id)).collect();
    let report = place.routing().route(records(&bodies), TIME).await;
    assert_eq!((report.lookup_calls, report.send_calls), (1, 1), "{report:#?}");
    assert_eq!(place.contents("b").await.len(), 10);
}

#[tokio::test]
async fn check_3_a_health_event_for_two_clusters_and_a_stranger_is_split() {
    let place = Place::new("split", 1).await;
    let (a, b) = (&place.instances["a"][0], &place.instances["b"][0]);
    let stranger = &launch(&place.session, 1, &[("Name".to_owned(), "db".to_owned())]).await[0];
    let body = health("e1", &[a, stranger, b]);
    let report = place.routing().route(records(&[body]), TIME).await;
    assert_eq!(verdicts(&report), ["routed"], "{report:#?}");
    assert_eq!(place.contents("a").await, [health("e1", &[a])]);
    assert_eq!(place.contents("b").await, [health("e1", &[b])]);
}

#[tokio::test]
async fn check_4_each_form_of_tag_routes_and_owned_outweighs_shared() {
    let place = Place::new("tags", 0).await;
    let (a, b) = (place.named("a"), place.named("b"));
    let key = |prefix: &str, name: &str| format!("{prefix}{name}");
    let of = |pairs: &[(&str, &str)]| {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect::<Vec<_>>()
    };
    let kubernetes = |name: &str| key("kubernetes.io/cluster/", name);
    let forms = [
        (of(&[("eks:eks-cluster-name", &a)]), (1, 0)),
        (of(&[("eks:cluster-name", &a)]), (1, 0)),
        (of(&[(&kubernetes(&a), "owned")]), (1, 0)),
        (of(&[(&kubernetes(&a), "shared")]), (1, 0)),
        (of(&[("alpha.eksctl.io/cluster-name", &a)]), (1, 0)),
        (of(&[(&key("k8s.io/cluster/", &a), "x")]), (1, 0)),
        (of(&[("KubernetesCluster", &a)]), (1, 0)),
        (of(&[(&kubernetes(&a), "owned"), (&kubernetes(&b), "shared")]), (1, 0)),
        (of(&[(&kubernetes(&a), "owned"), (&kubernetes(&b), "owned")]), (1, 1)),
    ];
    let mut routing = place.routing();
    for (tags, expected) in forms {
        let id = &launch(&place.session, 1, &tags).await[0];
        let report = routing.route(records(&[spot(&format!("e-{id}"), id)]), TIME).await;
        assert_eq!(verdicts(&report), ["routed"], "{tags:?}");
        let reached = (place.contents("a").await.len(), place.contents("b").await.len());
        assert_eq!(reached, expected, "{tags:?}");
    }
}

#[tokio::test]
async fn check_5_running_is_dropped_and_a_forgotten_instance_is_remembered() {
    let place = Place::new("states", 1).await;
    let id = &place.instances["a"][0];
    // Once it was asked for, EC2 knows nothing any more: every further call is refused.
    let (proxy, session) = proxied("nothing yet", 0, Fault::Deny).await;
    let mut routing = place.routing_over(&session);
    let first = [state("e1", id, "running"), state("e2", id, "shutting-down")];
    let report = routing.route(records(&first), TIME).await;
    assert_eq!(verdicts(&report), ["dropped: other-state", "routed"]);
    let contains = "Action=Describe".to_owned();
    let rule = FaultRule { contains, every: 1, at_most: u64::MAX, fault: Fault::Deny };
    proxy.set_rules(vec![rule]);
    let last = state("e3", id, "terminated");
    let report = routing.route(records(std::slice::from_ref(&last)), TIME).await;
    assert_eq!((verdicts(&report), proxy.injected()), (vec!["routed".to_owned()], 0));
    assert_eq!(place.contents("a").await, [first[1].clone(), last]);
}

#[tokio::test]
async fn check_6_an_unknown_instance_among_fifty_hurts_nobody() {
    let place = Place::new("fifty", 49).await;
    let ids = place.instances["a"].iter().map(String::as_str);
    let ids: Vec<_> = std::iter::once("i-0badbadbadbadbad0").chain(ids).collect();
    let bodies: Vec<_> = ids.iter().map(|id| spot(&format!("e-{id}"), id)).collect();
    let report = place.routing().route(records(&bodies), TIME).await;
    assert_eq!((report.failures().count(), report.lookup_calls), (0, 1));
    assert_eq!(report.outcomes[0].verdict.to_string(), "unrouted: no-tag");
    assert_eq!(place.contents("a").await.len(), 49);
}

#[tokio::test]
async fn check_7_a_missing_queue_is_no_failure_and_a_broken_one_fails_only_its_own() {
    let place = Place::new("broken", 1).await;
    let queueless = ("eks:eks-cluster-name".to_owned(), place.named("queueless"));
    let lone = &launch(&place.session, 1, &[queueless]).await[0];
    let bodies = [
        spot("broken-1", &place.instances["a"][0]),
        spot("broken-2", lone),
        spot("broken-3", &place.instances["b"][0]),
    ];
    let (proxy, session) = proxied("broken-3", u64::MAX, Fault::Unavailable).await;
    let mut routing = place.routing_over(&session);
    let report = routing.route(records(&bodies), TIME).await;
    assert_eq!(report.failures().collect::<Vec<_>>(), ["m2"]);
    assert_eq!(verdicts(&report)[..2], ["routed", "unrouted: no-queue"]);
    proxy.set_rules(vec![]);
    let report = routing.route(records(&bodies[2..]), TIME).await;
    assert_eq!(verdicts(&report), ["routed"]);
    assert_eq!(place.contents("a").await, bodies[..1]);
    assert_eq!(place.contents("b").await, bodies[2..]);
}

#[tokio::test]
async fn check_8_large_events_are_sent_in_batches_that_fit() {
    let place = Place::new("large", 1).await;
    let id = &place.instances["a"][0];
    let large = |n: usize, bytes: usize| {
        let detail = format!(r#"{{"instance-id":"{id}","x":"{}"}}"#, "x".repeat(bytes));
        let kind = "EC2 Spot Instance Interruption Warning";
        event(&format!("large-{n}"), "aws.ec2", kind, "[]", &detail)
    };
    // The last one is as large as EventBridge lets an event be, and goes alone.
    let mut bodies: Vec<_> = (0..5).map(|n| large(n, 100_000)).collect();
    bodies.push(large(5, 262_144 - 600));
    let report = place.routing().route(records(&bodies), TIME).await;
    assert_eq!(verdicts(&report), ["routed"; 6], "{:?}", report.denied);
    assert_eq!(report.send_calls, 4, "two and two, one, one");
    let mut arrived = place.contents("a").await;
    arrived.sort_by_key(String::len);
    assert_eq!(arrived.len(), 6);
    assert_eq!(arrived[5], bodies[5]);
}

#[tokio::test]
async fn check_9_a_throttled_lookup_delays_a_batch_and_nothing_else() {
    let place = Place::new("throttled", 1).await;
    let (proxy, session) = proxied("Action=DescribeInstances", 4, Fault::Throttle).await;
    let body = spot("e1", &place.instances["a"][0]);
    let report = place.routing_over(&session).route(records(&[body]), TIME).await;
    assert_eq!(verdicts(&report), ["routed"]);
    assert_eq!((proxy.injected(), report.lookup_calls), (4, 5));
}

#[tokio::test]
async fn check_10_a_duplicate_is_delivered_once() {
    let place = Place::new("twice", 1).await;
    let body = spot("e1", &place.instances["a"][0]);
    let mut routing = place.routing();
    let report = routing.route(records(&[body.clone(), body.clone()]), TIME).await;
    assert_eq!(verdicts(&report), ["routed", "routed"]);
    routing.route(records(std::slice::from_ref(&body)), TIME).await;
    assert_eq!(place.contents("a").await, [body]);
}

#[tokio::test]
async fn check_11_a_zonal_shift_reaches_every_known_queue_or_the_clusters_it_names() {
    let place = Place::in_region("eu-west-2", "zonal", 0).await;
    let mut routing = place.routing();
    let shift = |id: &str, resources: &str| {
        event(id, "aws.arc-zonal-shift", "Autoshift In Progress", resources, "{}")
    };
    let all = shift("e1", "[]");
    let report = routing.route(records(std::slice::from_ref(&all)), TIME).await;
    assert_eq!(verdicts(&report), ["routed"], "{report:#?}");
    let arn = format!(r#"["arn:aws:eks:eu-west-2:123456789012:cluster/{}"]"#, place.named("b"));
    let named = shift("e2", &arn);
    let report = routing.route(records(std::slice::from_ref(&named)), TIME).await;
    assert_eq!((verdicts(&report), report.queue_calls), (vec!["routed".to_owned()], 0));
    assert_eq!(place.contents("a").await, std::slice::from_ref(&all));
    let mut at_b = place.contents("b").await;
    at_b.sort();
    assert_eq!(at_b, [all, named]);
}

/// Check 13 as far as the router is concerned: what the controller of a cluster reads is there.
#[tokio::test]
async fn check_13_an_event_on_the_central_queue_is_in_its_clusters_queue_within_three_seconds() {
    let mut place = Place::new("whole", 1).await;
    let central = place.queue("central", false).await;
    let listen = "127.0.0.1:0".parse().unwrap();
    let settings = DaemonSettings { queue_url: central, listen, workers: 2 };
    let daemon = Daemon::new(settings, place.queues.clone(), place.routing()).await.unwrap();
    let (stop, stopped) = watch::channel(false);
    let running = tokio::spawn(daemon.run(stopped));
    // The first event is also the first call of everything.
    let mut waits = Vec::new();
    for round in 0..3 {
        let body = spot(&format!("whole-{round}"), &place.instances["a"][0]);
        let started = Instant::now();
        place.fill("central", std::slice::from_ref(&body)).await;
        let arrived = place.queues.receive(&place.urls["a"], Duration::from_secs(20)).await;
        assert_eq!(arrived.unwrap()[0].body, body);
        waits.push(started.elapsed());
    }
    stop.send(true).unwrap();
    running.await.unwrap();
    assert!(waits.iter().any(|wait| *wait < Duration::from_secs(3)), "{waits:?}");
    assert_eq!(place.depth("b").await, (0, 0));
    assert_eq!(place.depth("central").await, (0, 0));
}
