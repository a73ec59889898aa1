//! The acceptance list of the specification, by its numbers.

use kerf_notices::routing::{CallFailure, Discovery, RoutingVerdict, Unrouted, Via};

use crate::account::{
    Account, I1, I2, I3, event, health, router, router_with, spot, state, url, verdicts, zonal,
};

const THROTTLED: CallFailure = CallFailure::Throttled { retry_after_ms: 0 };

#[test]
fn check_1_a_spot_notice_arrives_unchanged_in_the_queue_of_its_cluster_only() {
    let mut account = Account::with_clusters(&["a", "b"]);
    account.own(I1, "a");
    let body = spot("e1", I1);
    let report = account.route(&mut router(), std::slice::from_ref(&body));
    assert_eq!(account.contents("a"), [body]);
    assert!(account.contents("b").is_empty());
    assert_eq!(verdicts(&report), ["routed"]);
    assert_eq!(report.outcomes[0].clusters[..], ["a".into()]);
}

#[test]
fn check_2_ten_notices_for_one_cluster_cost_one_lookup_and_one_send() {
    let mut account = Account::with_clusters(&["a", "b"]);
    let ids: Vec<_> = (0..10).map(|n| format!("i-0000000000000010{n}")).collect();
    ids.iter().for_each(|id| account.own(id, "b"));
    let bodies: Vec<_> = ids.iter().map(|id| spot(&format!("e{id}"), id)).collect();
    let report = account.route(&mut router(), &bodies);
    assert_eq!((report.lookup_calls, report.send_calls), (1, 1));
    assert_eq!((account.lookups.len(), account.sends.len()), (1, 1));
    assert_eq!(account.lookups[0].via, Via::Instances);
    assert_eq!(account.contents("b").len(), 10);
}

#[test]
fn check_3_a_health_event_for_two_clusters_and_a_stranger_is_split() {
    let mut account = Account::with_clusters(&["a", "b"]);
    account.own(I1, "a");
    account.own(I2, "b");
    let report = account.route(&mut router(), &[health("e", &[I1, I3, I2])]);
    assert_eq!(account.contents("a"), [health("e", &[I1])]);
    assert_eq!(account.contents("b"), [health("e", &[I2])]);
    assert_eq!(verdicts(&report), ["routed"]);
}

#[test]
fn a_health_event_for_one_cluster_stays_as_it_is() {
    let mut account = Account::with_clusters(&["a", "b"]);
    account.own(I1, "a");
    account.own(I2, "a");
    let body = health("e", &[I1, I2, I3]);
    account.route(&mut router(), std::slice::from_ref(&body));
    assert_eq!(account.contents("a"), [body]);
}

#[test]
fn check_4_each_form_of_tag_routes_and_stronger_forms_win() {
    type Case = (&'static [(&'static str, &'static str)], &'static [&'static str]);
    let table: [Case; 16] = [
        (&[("eks:eks-cluster-name", "a")], &["a"]),
        (&[("eks:cluster-name", "a")], &["a"]),
        (&[("aws:eks:cluster-name", "a")], &["a"]),
        (&[("kubernetes.io/cluster/a", "owned")], &["a"]),
        (&[("kubernetes.io/cluster/a", "shared")], &["a"]),
        (&[("kubernetes.io/cluster/a", "1")], &["a"]),
        (&[("alpha.eksctl.io/cluster-name", "a")], &["a"]),
        (&[("k8s.io/cluster/a", "anything")], &["a"]),
        (&[("KubernetesCluster", "a")], &["a"]),
        (&[("kubernetes.io/cluster/a", "owned"), ("kubernetes.io/cluster/b", "shared")], &["a"]),
        (
            &[("kubernetes.io/cluster/a", "owned"), ("kubernetes.io/cluster/b", "owned")],
            &["a", "b"],
        ),
        (&[("kubernetes.io/cluster/a", "shared"), ("kubernetes.io/cluster/b", "1")], &["a", "b"]),
        (&[("eks:eks-cluster-name", "a"), ("eks:cluster-name", "b")], &["a"]),
        (&[("aws:eks:cluster-name", "b"), ("eks:cluster-name", "a")], &["a"]),
        (&[("alpha.eksctl.io/cluster-name", "b"), ("kubernetes.io/cluster/a", "1")], &["a"]),
        (&[("KubernetesCluster", "b"), ("k8s.io/cluster/a", "")], &["a", "b"]),
    ];
    for (tags, expected) in table {
        let mut account = Account::with_clusters(&["a", "b"]);
        account.tag(I1, tags);
        let report = account.route(&mut router(), &[spot("e", I1)]);
        let reached: Vec<_> =
            ["a", "b"].into_iter().filter(|name| !account.contents(name).is_empty()).collect();
        assert_eq!(reached, expected, "{tags:?}");
        assert_eq!(report.outcomes[0].ambiguous, expected.len() > 1, "{tags:?}");
    }
    for tags in
        [&[("kubernetes.io/cluster/a", "no")][..], &[("Name", "a")], &[("eks:cluster-name", "")]]
    {
        let mut account = Account::with_clusters(&["a"]);
        account.tag(I1, tags);
        let report = account.route(&mut router(), &[spot("e", I1)]);
        assert_eq!(
            report.outcomes[0].verdict,
            RoutingVerdict::Unrouted(Unrouted::NoTag),
            "{tags:?}"
        );
    }
}

#[test]
fn check_5_running_is_dropped_and_a_forgotten_instance_is_remembered() {
    let mut account = Account::with_clusters(&["a"]);
    account.own(I1, "a");
    let mut router = router();
    let report = account.route(&mut router, &[state("e1", I1, "running"), spot("e2", I1)]);
    assert_eq!(verdicts(&report), ["dropped: other-state", "routed"]);
    account.tags.clear();
    account.now_ms += 3_600_000;
    let report = account.route(&mut router, &[state("e3", I1, "terminated")]);
    assert_eq!(verdicts(&report), ["routed"]);
    assert_eq!((report.lookup_calls, report.cache_hits), (0, 1));
}

#[test]
fn check_6_an_unknown_instance_among_fifty_hurts_nobody() {
    let mut account = Account::with_clusters(&["a"]);
    let ids: Vec<_> = (0..50).map(|n| format!("i-000000000000001{n:02}")).collect();
    ids.iter().skip(1).for_each(|id| account.own(id, "a"));
    let bodies: Vec<_> = ids.iter().map(|id| spot(&format!("e{id}"), id)).collect();
    let report = account.route(&mut router(), &bodies);
    assert_eq!(account.contents("a").len(), 49);
    assert_eq!(report.failures().count(), 0);
    assert_eq!(report.outcomes[0].verdict, RoutingVerdict::Unrouted(Unrouted::NoTag));
}

#[test]
fn check_7_a_missing_queue_is_no_failure_and_a_broken_one_fails_only_its_own() {
    let mut account = Account::with_clusters(&["a"]);
    account.own(I1, "a");
    account.own(I2, "b");
    let bodies = [spot("e1", I1), spot("e2", I2)];
    let report = account.route(&mut router(), &bodies);
    assert_eq!(verdicts(&report), ["routed", "unrouted: no-queue"]);

    let mut account = Account::with_clusters(&["a", "b"]);
    account.own(I1, "a");
    account.own(I2, "b");
    account.send_fault =
        Some(|queue, _| queue.ends_with("/b").then(|| CallFailure::Unavailable("down".to_owned())));
    let mut router = router();
    let report = account.route(&mut router, &bodies);
    assert_eq!(report.failures().collect::<Vec<_>>(), ["m1"]);
    assert_eq!(account.contents("a").len(), 1);
    // Only the failed one is delivered again, and then it arrives.
    account.send_fault = None;
    let report = account.route(&mut router, &bodies[1..]);
    assert_eq!(verdicts(&report), ["routed"]);
    assert_eq!((account.contents("a").len(), account.contents("b").len()), (1, 1));
}

#[test]
fn check_8_batches_are_split_by_bytes() {
    let mut account = Account::with_clusters(&["a"]);
    account.own(I1, "a");
    let padding = "x".repeat(100_000);
    let bodies: Vec<_> = (0..7)
        .map(|n| {
            let more = format!(r#""detail":{{"instance-id":"{I1}","x":"{padding}"}}"#);
            event(&format!("e{n}"), "aws.ec2", "EC2 Spot Instance Interruption Warning", &more)
        })
        .collect();
    account.route(&mut router(), &bodies);
    let sizes: Vec<_> = account.sends.iter().map(|send| send.entries.len()).collect();
    assert_eq!(sizes, [2, 2, 2, 1], "two of 100 kB fit in 262,144 bytes");
    assert_eq!(account.contents("a").len(), 7);

    let huge = event(
        "h",
        "aws.ec2",
        "EC2 Spot Instance Interruption Warning",
        &format!(r#""detail":{{"instance-id":"{I1}","x":"{}"}}"#, "x".repeat(262_000)),
    );
    account.route(&mut router(), &[huge]);
    assert_eq!(account.contents("a").len(), 8, "one that is over the bound goes alone");
}

#[test]
fn check_9_three_seconds_of_throttling_delay_a_batch_and_nothing_else() {
    let mut account = Account::with_clusters(&["a"]);
    account.own(I1, "a");
    account.lookup_fault = Some(|_, now_ms| (now_ms < 3_000).then_some(THROTTLED));
    let report = account.route(&mut router(), &[spot("e1", I1)]);
    assert_eq!(verdicts(&report), ["routed"]);
    assert!((3_000..5_000).contains(&account.now_ms), "{}", account.now_ms);
    assert!(report.lookup_calls <= 8, "back-off spares the service: {}", report.lookup_calls);
}

#[test]
fn a_service_that_says_how_long_to_wait_is_not_asked_before() {
    let mut account = Account::with_clusters(&["a"]);
    account.own(I1, "a");
    account.lookup_fault = Some(|_, now_ms| {
        (now_ms < 2_500).then_some(CallFailure::Throttled { retry_after_ms: 2_500 })
    });
    let report = account.route(&mut router(), &[spot("e1", I1)]);
    assert_eq!(verdicts(&report), ["routed"]);
    assert_eq!(report.lookup_calls, 2);
}

#[test]
fn credentials_that_are_renewed_in_time_delay_a_batch_and_nothing_else() {
    let mut account = Account::with_clusters(&["a"]);
    account.own(I1, "a");
    account.lookup_fault = Some(|_, now_ms| {
        (now_ms < 3_000).then(|| CallFailure::Credentials("ExpiredToken".to_owned()))
    });
    let report = account.route(&mut router(), &[spot("e1", I1)]);
    assert_eq!(verdicts(&report), ["routed"]);
    assert_eq!(report.credentials.as_deref(), Some("ExpiredToken"), "and people are told");
    assert!(
        account.lookups.iter().all(|lookup| lookup.via == Via::Instances),
        "no other way helps"
    );
}

#[test]
fn throttling_without_end_costs_half_the_time_and_fails_only_who_needs_the_answer() {
    let mut account = Account::with_clusters(&["a"]);
    account.own(I1, "a");
    let mut router = router();
    account.route(&mut router, &[spot("e0", I1)]);
    account.lookup_fault = Some(|_, _| Some(THROTTLED));
    let started_ms = account.now_ms;
    let report = account.route(&mut router, &[spot("e1", I1), spot("e2", I2)]);
    assert_eq!(report.failures().collect::<Vec<_>>(), ["m1"]);
    assert!(account.now_ms - started_ms <= 5_000);
    assert_eq!(account.contents("a").len(), 2);
}

#[test]
fn check_10_a_duplicate_is_delivered_once_in_one_batch_and_in_the_next() {
    let mut account = Account::with_clusters(&["a"]);
    account.own(I1, "a");
    let mut router = router();
    let twice = [spot("e1", I1), spot("e1", I1)];
    let report = account.route(&mut router, &twice);
    assert_eq!(verdicts(&report), ["routed", "routed"]);
    assert_eq!((report.outcomes[0].suppressed, report.outcomes[1].suppressed), (0, 1));
    account.now_ms += 599_000;
    account.route(&mut router, &twice[..1]);
    assert_eq!(account.contents("a").len(), 1);
    account.now_ms += 2_000;
    account.route(&mut router, &twice[..1]);
    assert_eq!(account.contents("a").len(), 2, "after ten minutes it is news again");
}

#[test]
fn a_duplicate_shares_the_fate_of_the_delivery_it_rides_on() {
    let mut account = Account::with_clusters(&["a"]);
    account.own(I1, "a");
    account.send_fault = Some(|_, _| Some(CallFailure::Denied("sqs:SendMessage".to_owned())));
    let report = account.route(&mut router(), &[spot("e1", I1), spot("e1", I1)]);
    assert_eq!(report.failures().count(), 2);
    assert_eq!(report.denied, ["sqs:SendMessage"], "one message for one missing permission");
}

#[test]
fn check_11_a_zonal_shift_reaches_every_known_queue_or_the_named_clusters() {
    let mut account = Account::with_clusters(&["a", "b", "c"]);
    let map = format!(r#"{{"z":"{}"}}"#, url("zed"));
    account.queues.insert("zed".to_owned(), vec![]);
    let mut router = router_with(&[("CLUSTER_QUEUES", &map)]);
    let report = account.route(&mut router, &[zonal("e1", "")]);
    assert_eq!(verdicts(&report), ["routed"]);
    assert!(account.queues.values().all(|queue| queue.len() == 1), "{:?}", account.queues);
    assert_eq!(account.discoveries, [Discovery::Tags]);

    let named = zonal("e2", r#""arn:aws:eks:eu-west-1:111122223333:cluster/b""#);
    account.route(&mut router, &[named, zonal("e3", "")]);
    assert_eq!((account.contents("a").len(), account.contents("b").len()), (2, 3));
    assert_eq!(account.discoveries.len(), 1, "what was found is believed for ten minutes");
}

#[test]
fn without_the_right_to_search_a_zonal_shift_reaches_the_clusters_that_are_listed() {
    let mut account = Account::with_clusters(&["a", "b"]);
    let map = format!(r#"{{"a":"{}"}}"#, url("a"));
    account.discovery_fault = Some(CallFailure::Denied("sqs:ListQueues on *".to_owned()));
    let report = account.route(&mut router_with(&[("CLUSTER_QUEUES", &map)]), &[zonal("e1", "")]);
    assert_eq!((account.contents("a").len(), account.contents("b").len()), (1, 0));
    assert_eq!(report.denied, ["sqs:ListQueues on *"]);
    let mut nobody = Account::default();
    let report = nobody.route(&mut router(), &[zonal("e1", "")]);
    assert_eq!(verdicts(&report), ["unrouted: no-clusters"]);
}
