//! Claims that are decided on are stored, or their pods are set free.

#![allow(clippy::unwrap_used)]

mod cluster;

use cluster::Cluster;
use kerf_engine::action::ActionKind;
use kerf_engine::event::{Failure, Key};
use kerf_engine::time::Span;

const CREATED: &str = "karpenter_nodeclaims_created_total";

fn creations(cluster: &Cluster) -> usize {
    cluster.count(|kind| matches!(kind, ActionKind::CreateClaim(_)))
}

#[test]
fn a_claim_is_stored_once_and_counted_once() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.pend("a", "1");
    cluster.seconds(10);
    assert_eq!(cluster.claims().len(), 1);
    assert_eq!(creations(&cluster), 1);
    assert_eq!(cluster.counted(CREATED, "provisioned"), 1);
    assert!(cluster.engine.world().memory.creating.is_empty());
}

#[test]
fn a_claim_that_cannot_be_stored_now_is_tried_again_under_the_same_name() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.refuses = |kind| {
        let message = "the server is away".to_owned();
        matches!(kind, ActionKind::CreateClaim(_)).then_some(Failure::Unavailable { message })
    };
    cluster.pend("a", "1");
    cluster.seconds(10);
    let target = cluster.target_of("a").unwrap();
    cluster.refuses = |_| None;
    cluster.seconds(60);
    let claims = cluster.claims();
    assert_eq!(claims.len(), 1);
    assert_eq!(claims[0].meta.name, target);
    assert!(creations(&cluster) > 3, "it was tried again and again");
}

#[test]
fn a_server_that_asks_for_time_is_given_it_but_not_for_ever() {
    for (asked_seconds, waited_seconds) in [(40, 40), (86_400, 300)] {
        let mut cluster = Cluster::with_pool(|_| {});
        cluster.refuses = match asked_seconds {
            40 => |kind| throttled(kind, 40),
            _ => |kind| throttled(kind, 86_400),
        };
        cluster.pend("a", "1");
        cluster.seconds(waited_seconds - 2);
        assert_eq!(creations(&cluster), 1, "{asked_seconds} s");
        cluster.refuses = |_| None;
        cluster.seconds(6);
        assert_eq!(cluster.claims().len(), 1, "{asked_seconds} s");
    }
}

fn throttled(kind: &ActionKind, seconds: u64) -> Option<Failure> {
    let (message, retry_after) = ("too many".to_owned(), Span::from_seconds(seconds));
    matches!(kind, ActionKind::CreateClaim(_))
        .then_some(Failure::Throttled { message, retry_after })
}

#[test]
fn a_claim_that_can_never_be_stored_sets_its_pods_free() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.refuses = |kind| {
        let message = "spec.requirements[0]: bad".to_owned();
        matches!(kind, ActionKind::CreateClaim(_)).then_some(Failure::Invalid { message })
    };
    cluster.pend("a", "1");
    cluster.seconds(3);
    let refused = cluster.messages("FailedScheduling");
    assert!(refused.iter().any(|text| text.contains("spec.requirements[0]: bad")), "{refused:?}");
    assert!(cluster.engine.world().memory.creating.is_empty());
    cluster.refuses = |_| None;
    cluster.seconds(60);
    assert_eq!(cluster.claims().len(), 1, "the pod is served by another claim");
}

#[test]
fn a_claim_of_a_pool_that_is_gone_is_not_stored() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.ignores = |kind| matches!(kind, ActionKind::CreateClaim(_));
    cluster.pend("a", "1");
    cluster.seconds(5);
    assert_eq!(creations(&cluster), 1);
    cluster.remove(&Key::Pool("pool".into()));
    cluster.seconds(300);
    assert_eq!(creations(&cluster), 1, "nobody owns it any more");
    assert!(cluster.engine.world().memory.creating.is_empty());
}
