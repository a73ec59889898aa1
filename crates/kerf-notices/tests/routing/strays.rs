//! What belongs to nobody, other accounts, poison, switches.

use kerf_notices::message::Record;
use kerf_notices::routing::{
    Batch, EntryOutcome, Limits, Router, RoutingSettings, Scope, StaticMap, Step,
};

use crate::account::{Account, I1, I2, I3, health, router, router_with, spot, url, verdicts};

#[test]
fn what_belongs_to_nobody_goes_to_its_own_queue_if_there_is_one() {
    let mut account = Account::with_clusters(&["a", "nobody"]);
    account.own(I1, "a");
    let unrouted = url("nobody");
    let mut router = router_with(&[("UNROUTED_QUEUE_URL", &unrouted)]);
    let report = account.route(&mut router, &[spot("e1", I2), health("e2", &[I1, I3])]);
    assert_eq!(verdicts(&report), ["unrouted: no-tag", "routed"]);
    assert_eq!(account.contents("nobody"), [spot("e1", I2), health("e2", &[I3])]);
    assert_eq!(account.contents("a"), [health("e2", &[I1])]);
}

#[test]
fn another_accounts_events_need_a_role_and_a_listed_queue() {
    let mut account = Account::with_clusters(&["a", "b"]);
    account.own(I1, "a");
    let home = Scope::new("999900001111", "eu-west-1");
    let mut settings = RoutingSettings { home, ..RoutingSettings::default() };
    let report = account.route(&mut Router::new(settings.clone()), &[spot("e1", I1)]);
    assert_eq!(verdicts(&report), ["unrouted: other-account"]);
    settings.has_account_role = true;
    let report = account.route(&mut Router::new(settings.clone()), &[spot("e1", I1)]);
    assert_eq!(verdicts(&report), ["unrouted: no-queue"], "a queue of that name is ours");
    assert_eq!(account.lookups.last().unwrap().scope.account, "111122223333");
    let map = format!(r#"{{"a":"{}"}}"#, url("b"));
    settings.static_map = StaticMap::from_json(&map).unwrap();
    let report = account.route(&mut Router::new(settings), &[spot("e1", I1)]);
    assert_eq!(verdicts(&report), ["routed"]);
}

#[test]
fn the_same_instance_id_in_two_regions_is_two_instances() {
    let mut account = Account::with_clusters(&["a"]);
    account.own(I1, "a");
    let elsewhere = spot("e2", I1).replace("eu-west-1", "us-east-1");
    let report = account.route(&mut router(), &[spot("e1", I1), elsewhere]);
    assert_eq!(report.lookup_calls, 2);
    assert_ne!(account.lookups[0].scope, account.lookups[1].scope);
}

#[test]
fn poison_is_counted_and_circles_only_on_request() {
    let mut account = Account::with_clusters(&["a"]);
    let poison = ["{".to_owned(), "[]".to_owned()];
    let report = account.route(&mut router(), &poison);
    assert_eq!(report.failures().count(), 0);
    assert_eq!(report.outcomes[0].verdict.reason(), "not-json");
    let report = account.route(&mut router_with(&[("POISON_TO_DLQ", "true")]), &poison);
    assert_eq!(report.failures().collect::<Vec<_>>(), ["m0", "m1"]);
}

#[test]
fn kinds_can_be_switched_off() {
    let mut account = Account::with_clusters(&["a"]);
    account.own(I1, "a");
    let body = spot("e", I1)
        .replace("Spot Instance Interruption Warning", "Instance Rebalance Recommendation");
    let report = account.route(&mut router_with(&[("FORWARD_REBALANCE", "false")]), &[body]);
    assert_eq!(verdicts(&report), ["dropped: not-forwarded"]);
}

#[test]
fn a_sender_fault_fails_the_message_and_its_neighbours_arrive() {
    let mut account = Account::with_clusters(&["a"]);
    account.own(I1, "a");
    account.entry_fault = Some(|body| {
        body.contains("\"e1\"").then(|| EntryOutcome::Failed {
            sender_fault: true,
            why: "InvalidMessageContents".to_owned(),
        })
    });
    let report = account.route(&mut router(), &[spot("e1", I1), spot("e2", I1)]);
    assert_eq!(report.failures().collect::<Vec<_>>(), ["m0"]);
    assert_eq!(account.contents("a"), [spot("e2", I1)]);
}

#[test]
fn a_batch_whose_time_is_over_fails_what_is_open() {
    let mut router = router();
    let record = Record { id: "m0".to_owned(), body: spot("e", I1) };
    let limits = Limits { deadline_ms: 100, seed: 0, time: None };
    let mut batch = Batch::open(&mut router, vec![record], limits, 0);
    assert!(matches!(batch.step(&mut router, 0), Step::Ask(_)));
    assert_eq!(batch.step(&mut router, 100), Step::Done);
    assert_eq!(batch.finish().failures().collect::<Vec<_>>(), ["m0"]);
}

#[test]
fn settings_say_what_is_wrong_with_them() {
    let table = [
        ("CLUSTER_QUEUES", "[]", "not a map"),
        ("CLUSTER_QUEUES", r#"{"a":"queue"}"#, "is not the URL of a queue"),
        (
            "CLUSTER_QUEUES",
            r#"{"a":[{"url":"https://x/y","kinds":["sport"]}]}"#,
            "the kinds are spot",
        ),
        ("QUEUE_NAME_TEMPLATE", "karpenter", "must contain {cluster}"),
        ("MAX_BATCH_BYTES", "1", "from 1024 to 1048576"),
        ("CACHE_SIZE", "many", "is not a whole number"),
        ("POISON_TO_DLQ", "yes", "neither true nor false"),
        ("UNROUTED_QUEUE_URL", "nobody", "is not the URL of a queue"),
    ];
    for (name, value, expected) in table {
        let get = |asked: &str| (asked == name).then(|| value.to_owned());
        let error = RoutingSettings::from_lookup(get).unwrap_err().to_string();
        assert!(error.starts_with(name) && error.contains(expected), "{error}");
    }
}
