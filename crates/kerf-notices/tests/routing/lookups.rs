//! Whose an instance is: lookups, their cost, and what happens when they fail.

use kerf_notices::routing::{CallFailure, Router, RoutingSettings, Via};

use crate::account::{Account, I1, I2, health, router, router_with, spot, verdicts};

#[test]
fn a_failed_lookup_is_tried_by_tags_and_then_one_by_one() {
    let mut account = Account::with_clusters(&["a"]);
    account.own(I1, "a");
    account.own(I2, "a");
    account.lookup_fault = Some(|lookup, _| {
        (lookup.via != Via::Tags).then(|| CallFailure::Unavailable("zone impaired".to_owned()))
    });
    let report = account.route(&mut router(), &[spot("e1", I1), spot("e2", I2)]);
    assert_eq!(verdicts(&report), ["routed", "routed"]);

    let mut account = Account::with_clusters(&["a"]);
    account.own(I1, "a");
    account.own(I2, "a");
    account.lookup_fault = Some(|lookup, _| {
        let hopeless = lookup.ids.contains(&I2.parse().unwrap());
        (lookup.via != Via::Single || hopeless).then(|| CallFailure::Unavailable("503".to_owned()))
    });
    let report = account.route(&mut router(), &[spot("e1", I1), spot("e2", I2)]);
    assert_eq!(report.failures().collect::<Vec<_>>(), ["m1"]);
    let ways: Vec<_> = account.lookups.iter().map(|lookup| lookup.via).collect();
    assert_eq!(ways, [Via::Instances, Via::Tags, Via::Single, Via::Single]);
}

#[test]
fn a_service_that_is_down_is_not_asked_for_each_of_two_hundred() {
    let mut account = Account::with_clusters(&["a"]);
    account.lookup_fault = Some(|_, _| Some(CallFailure::Unavailable("503".to_owned())));
    let bodies: Vec<_> =
        (0..200).map(|n| spot(&format!("e{n}"), &format!("i-00000000000000{n:03}"))).collect();
    let report = account.route(&mut router(), &bodies);
    assert_eq!(report.failures().count(), 200);
    // One call each way, then one round of singles.
    assert_eq!(report.lookup_calls, 2 + 10);
}

#[test]
fn five_hundred_instances_are_three_lookups_and_strangers_are_not_asked_for_again_at_once() {
    let mut account = Account::with_clusters(&["a"]);
    let bodies: Vec<_> =
        (0..500).map(|n| spot(&format!("e{n}"), &format!("i-00000000000000{n:03}"))).collect();
    let mut router = router();
    assert_eq!(account.route(&mut router, &bodies).lookup_calls, 3);
    account.now_ms += 29_000;
    assert_eq!(account.route(&mut router, &bodies).lookup_calls, 0);
    account.now_ms += 2_000;
    assert_eq!(account.route(&mut router, &bodies).lookup_calls, 3, "tags may have followed");
}

#[test]
fn a_thousand_instances_together_cost_five_lookups_cold_and_none_warm() {
    let mut account = Account::with_clusters(&["a"]);
    let ids: Vec<_> = (0..1_000).map(|n| format!("i-00000000000000{n:03}")).collect();
    ids.iter().for_each(|id| account.own(id, "a"));
    let bodies =
        |round: u32| ids.iter().map(|id| spot(&format!("{round}{id}"), id)).collect::<Vec<_>>();
    let mut router = router();
    assert_eq!(account.route(&mut router, &bodies(1)).lookup_calls, 5);
    assert_eq!(account.route(&mut router, &bodies(2)).lookup_calls, 0);
    // A batch asks for its own misses only: ten batches of a hundred are ten calls.
    let mut fresh = Router::new(RoutingSettings::default());
    let few = bodies(3);
    let calls = few.chunks(100).map(|few| account.route(&mut fresh, few).lookup_calls);
    assert_eq!(calls.sum::<u64>(), 10);
}

#[test]
fn a_cache_for_one_instance_still_routes_a_batch_of_many() {
    let mut account = Account::with_clusters(&["a"]);
    let ids: Vec<_> = (0..9).map(|n| format!("i-0000000000000010{n}")).collect();
    ids.iter().for_each(|id| account.own(id, "a"));
    let bodies: Vec<_> = ids.iter().map(|id| spot(&format!("e{id}"), id)).collect();
    let report = account.route(&mut router_with(&[("CACHE_SIZE", "1")]), &bodies);
    assert_eq!((account.contents("a").len(), report.lookup_calls), (9, 1));
}

#[test]
fn a_health_event_with_a_failed_lookup_is_not_sent_in_part() {
    let mut account = Account::with_clusters(&["a", "b"]);
    account.own(I1, "a");
    account.own(I2, "b");
    let mut router = router();
    account.route(&mut router, &[spot("e0", I1)]);
    account.lookup_fault = Some(|_, _| Some(CallFailure::Unavailable("503".to_owned())));
    let body = health("e1", &[I1, I2]);
    let report = account.route(&mut router, std::slice::from_ref(&body));
    assert_eq!((report.failures().count(), account.contents("a").len()), (1, 1));
    account.lookup_fault = None;
    account.route(&mut router, &[body]);
    assert_eq!((account.contents("a").len(), account.contents("b").len()), (2, 1));
}

#[test]
fn check_12_a_core_routes_far_more_than_two_thousand_events_a_second() {
    let mut account = Account::with_clusters(&["a"]);
    let ids: Vec<_> = (0..200).map(|n| format!("i-00000000000000{n:03}")).collect();
    ids.iter().for_each(|id| account.own(id, "a"));
    let bodies = |round: u32| {
        let body = |id: &String| spot(&format!("{round}-{id}"), id);
        ids.iter().map(body).collect::<Vec<_>>()
    };
    let mut router = router();
    account.route(&mut router, &bodies(0));
    let rounds: Vec<_> = (1..=20).map(bodies).collect();
    // The fastest round: whatever else the machine does must not decide.
    let fastest = rounds.iter().map(|bodies| {
        let started = std::time::Instant::now();
        assert_eq!(account.route(&mut router, bodies).lookup_calls, 0, "the cache is warm");
        started.elapsed()
    });
    let fastest = fastest.min().unwrap();
    assert!(fastest < std::time::Duration::from_millis(100), "200 events took {fastest:?}");
    assert_eq!(account.contents("a").len(), 21 * 200);
}
