//! What was not meant for this router: too old, of another place.

use kerf_notices::routing::{Router, RoutingSettings, Scope};
use kerf_notices::zonal_shift::UnixSeconds;

use crate::account::{Account, I1, I2, health, router, router_with, spot, state, verdicts, zonal};

/// An event with the time at which it happened.
fn at(time: &str, event: &str) -> String {
    event.replacen(r#""account""#, &format!(r#""time":"{time}","account""#), 1)
}

#[test]
fn an_event_is_dropped_when_it_is_too_old_for_its_kind_or_has_not_happened_yet() {
    let mut account = Account::with_clusters(&["a"]);
    account.own(I1, "a");
    account.time = UnixSeconds::parse("2026-11-15T12:00:00Z");
    let table = [
        ("2026-11-15T11:50:00Z", spot("e1", I1), "routed"),
        ("2026-11-15T11:49:59Z", spot("e2", I1), "dropped: too-old"),
        ("2026-11-15T12:04:00Z", spot("e3", I1), "routed"),
        ("2026-11-15T12:06:00Z", spot("e4", I1), "dropped: not-yet"),
        ("2026-11-15T11:00:00Z", state("e5", I1, "stopped"), "routed"),
        ("2026-11-15T10:59:00Z", state("e6", I1, "stopped"), "dropped: too-old"),
        ("2026-11-02T12:00:00Z", health("e7", &[I1]), "routed"),
        ("2026-11-02T12:00:00Z", zonal("e8", ""), "routed"),
        ("some day", spot("e9", I1), "routed"),
    ];
    let mut router = router();
    for (time, event, expected) in table {
        let report = account.route(&mut router, &[at(time, &event)]);
        assert_eq!(verdicts(&report), [expected], "{time} {event}");
    }
    account.time = None;
    let report = account.route(&mut router, &[at("1999-01-01T00:00:00Z", &spot("e0", I1))]);
    assert_eq!(verdicts(&report), ["routed"], "without a clock nothing is old");
}

#[test]
fn events_of_other_accounts_and_regions_need_to_be_allowed() {
    let of = |account: &str, region: &str, more: &[(&str, &str)]| {
        let more = more.to_vec();
        let get = |name: &str| {
            more.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        let home = Scope::new(account, region);
        Router::new(RoutingSettings { home, ..RoutingSettings::from_lookup(get).unwrap() })
    };
    // The events are of account 111122223333 in eu-west-1.
    let hub: &[(&str, &str)] = &[("ACCOUNT_ROLE_NAME", "r"), ("ACCOUNT_EXTERNAL_ID", "x")];
    let listed = |more: &[(&'static str, &'static str)]| [hub, more].concat();
    let table = [
        (of("111122223333", "eu-west-1", &[]), "routed"),
        (of("", "", &[]), "routed"),
        (of("999900001111", "eu-west-1", &[]), "unrouted: other-account"),
        (of("111122223333", "us-east-1", &[]), "unrouted: other-region"),
        (of("111122223333", "us-east-1", &[("ALLOWED_REGIONS", "eu-west-1, eu-west-2")]), "routed"),
        (of("111122223333", "us-east-1", hub), "routed"),
        (
            of("111122223333", "us-east-1", &listed(&[("ALLOWED_REGIONS", "eu-west-2")])),
            "unrouted: other-region",
        ),
        (
            of("999900001111", "eu-west-1", &listed(&[("ALLOWED_ACCOUNTS", "222233334444")])),
            "unrouted: other-account",
        ),
        (
            of("999900001111", "eu-west-1", &listed(&[("ALLOWED_ACCOUNTS", "111122223333")])),
            "unrouted: no-queue",
        ),
    ];
    for (mut router, expected) in table {
        let mut account = Account::with_clusters(&["a"]);
        account.own(I1, "a");
        let home = router.settings().home.clone();
        assert_eq!(verdicts(&account.route(&mut router, &[spot("e", I1)])), [expected], "{home:?}");
    }
}

#[test]
fn a_zonal_shift_of_another_region_reaches_nobody_here() {
    let mut account = Account::with_clusters(&["a"]);
    let home = Scope::new("111122223333", "us-east-1");
    let mut router = Router::new(RoutingSettings { home, ..RoutingSettings::default() });
    let report = account.route(&mut router, &[zonal("e", "")]);
    assert_eq!(verdicts(&report), ["unrouted: other-region"]);
    assert!(account.contents("a").is_empty());
}

#[test]
fn a_role_in_other_accounts_is_bounded_by_an_organisation_or_an_external_id() {
    let role = ("ACCOUNT_ROLE_NAME", "kerf-lookup");
    let refused = RoutingSettings::from_lookup(|name| (name == role.0).then(|| role.1.to_owned()));
    assert!(refused.unwrap_err().to_string().starts_with("ACCOUNT_ROLE_NAME: "));
    for bound in [("ORGANIZATION_ID", "o-1234567890"), ("ACCOUNT_EXTERNAL_ID", "secret")] {
        assert!(router_with(&[role, bound]).settings().has_account_role);
    }
}

#[test]
fn a_flood_of_events_reaches_a_queue_no_faster_than_it_may_and_nothing_is_lost() {
    let mut account = Account::with_clusters(&["a", "b"]);
    account.own(I1, "a");
    account.own(I2, "b");
    let mut router = router_with(&[("MESSAGES_PER_MINUTE_MAX", "3")]);
    for number in 0..3 {
        let report = account.route(&mut router, &[spot(&format!("e{number}"), I1)]);
        assert_eq!(verdicts(&report), ["routed"]);
    }
    let report = account.route(&mut router, &[spot("e3", I1), spot("e4", I2)]);
    assert_eq!(report.failures().collect::<Vec<_>>(), ["m0"], "{:?}", verdicts(&report));
    assert_eq!((account.contents("a").len(), account.contents("b").len()), (3, 1));
    account.now_ms += 60_000;
    let report = account.route(&mut router, &[spot("e3", I1)]);
    assert_eq!(verdicts(&report), ["routed"], "it came again a minute later");
}
