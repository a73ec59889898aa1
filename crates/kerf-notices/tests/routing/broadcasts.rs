//! Events for every cluster, while nobody knows which there are.

use kerf_notices::message::Record;
use kerf_notices::routing::{Batch, CallFailure, Discovery, Limits, Step};

use crate::account::{Account, I1, router, router_with, spot, verdicts, zonal};

#[test]
fn a_spot_notice_is_sent_while_clusters_are_still_being_searched_for() {
    let mut account = Account::with_clusters(&["a"]);
    account.own(I1, "a");
    account.searches_hang = true;
    let report = account.route(&mut router(), &[zonal("e1", ""), spot("e2", I1)]);
    let searching = "failed: could not look up the queue of a cluster: \
                     the clusters are still being searched for";
    assert_eq!(verdicts(&report), [searching, "routed"]);
    assert_eq!(account.contents("a"), [spot("e2", I1)]);
    assert!(account.now_ms <= 3_000, "it waited {} ms", account.now_ms);
}

#[test]
fn a_search_is_asked_for_once_however_many_batches_wait_for_it() {
    let mut router = router();
    let limits = Limits { deadline_ms: 10_000, seed: 0, time: None };
    for number in 0..5 {
        let record = Record { id: "m".to_owned(), body: zonal(&format!("e{number}"), "") };
        let mut batch = Batch::open(&mut router, vec![record], limits, 0);
        assert!(matches!(batch.step(&mut router, 0), Step::WaitUntil(3_000)));
        assert!(batch.awaits_clusters());
        let due = router.searches_due(0);
        assert_eq!(due, if number == 0 { vec![Discovery::Tags] } else { vec![] });
    }
}

#[test]
fn what_was_found_is_used_while_it_is_searched_for_again() {
    let mut account = Account::with_clusters(&["a"]);
    let mut router = router();
    account.route(&mut router, &[zonal("e1", "")]);
    account.searches_hang = true;
    account.now_ms += 1_800_000;
    let before_ms = account.now_ms;
    let report = account.route(&mut router, &[zonal("e2", "")]);
    assert_eq!((verdicts(&report), account.now_ms), (vec!["routed".to_owned()], before_ms));
    account.now_ms += 7_200_000;
    let report = account.route(&mut router, &[zonal("e3", "")]);
    assert!(report.outcomes[0].verdict.is_failure(), "hours are too old");
}

#[test]
fn a_search_that_fails_is_made_again_within_the_batch() {
    let mut account = Account::with_clusters(&["a"]);
    account.discovery_fault = Some(CallFailure::Throttled { retry_after_ms: 0 });
    let mut router = router();
    let report = account.route(&mut router, &[zonal("e1", "")]);
    assert!(report.outcomes[0].verdict.is_failure());
    assert!(account.discoveries.len() > 1, "{:?}", account.discoveries);
    account.discovery_fault = None;
    account.now_ms += 60_000;
    assert_eq!(verdicts(&account.route(&mut router, &[zonal("e1", "")])), ["routed"]);
}

#[test]
fn nobody_searches_where_zonal_shifts_are_not_forwarded() {
    let mut router = router_with(&[("FORWARD_ZONAL_SHIFT", "false"), ("CLUSTER_TABLE", "t")]);
    assert_eq!((router.searches_due(0), router.next_search_ms()), (vec![], None));
}
