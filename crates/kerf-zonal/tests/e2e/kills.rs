//! The process may die between any two steps; whoever comes next does the rest.

use kerf_testbed::{Fault, FaultRule};

use crate::answers::{AUTOSHIFTS, MANAGED, SHIFTS};
use crate::daemon::{Running, settings};
use crate::objects::{pool, zones};
use crate::place::{ACCOUNT, Place, READER, apply_manifest};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_killed_between_state_and_pools_is_followed_by_one_that_edits_them() {
    let place = Place::with(&[pool("web", &[zones("In", &["a", "b", "c"])])]).await;
    let before = place.snapshot("web").await;
    // It may store the state but not change a pool: as if it died in between.
    let first = Running::start_as(&place, READER, settings()).await.leading();
    place.announce("Autoshift In Progress", "a").await;
    let id = place.zone_id("a");
    place.wait("the state is stored", async || place.stored().await.contains(id)).await;
    place.wait_until_deleted().await;
    let refused = async || first.get("/healthz").await.contains("changing pools: not allowed");
    place.wait("it tried and was refused", refused).await;
    first.kill().await;
    assert_eq!(place.snapshot("web").await, before);

    let second = Running::start(&place).await;
    place.wait_for_requirements("web", &[zones("In", &["b", "c"])]).await;
    // The end is stored by one that dies, too, and needs no time of grace.
    second.kill().await;
    let third = Running::start_as(&place, READER, settings()).await.leading();
    place.announce("Autoshift Completed", "a").await;
    place.wait("the end is stored", async || place.stored().await.contains("ended")).await;
    third.kill().await;
    assert_eq!(place.away("web").await, "us-west-2a");
    let fourth = Running::start(&place).await;
    place.wait("it is as before", async || place.snapshot("web").await == before).await;
    fourth.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_killed_between_the_edit_and_the_deletion_is_followed_by_one_that_deletes() {
    let place = Place::with(&[pool("web", &[zones("In", &["a", "b", "c"])])]).await;
    place.proxy.set_rules(vec![FaultRule {
        contains: "DeleteMessageBatch".to_owned(),
        every: 1,
        at_most: u64::MAX,
        fault: Fault::Unavailable,
    }]);
    // Its word would be stored beside the shift.
    [MANAGED, SHIFTS, AUTOSHIFTS].iter().for_each(|path| place.answers.deny(path));
    let first = Running::start(&place).await;
    place.announce("Autoshift In Progress", "a").await;
    place.wait_for_requirements("web", &[zones("In", &["b", "c"])]).await;
    first.kill().await;
    let depth = place.depth().await;
    assert_eq!(depth.visible + depth.in_flight, 1, "the message is still there");
    let (pool, stored) = (place.pool("web").await, place.stored().await);

    place.proxy.set_rules(vec![]);
    let second = Running::start(&place).await;
    place.wait_until_deleted().await;
    let stale =
        r#"kerf_zonal_shift_events_total{detail_type="Autoshift In Progress",result="stale"} 1"#;
    assert!(second.counts(stale).await, "{}", second.get("/metrics").await);
    assert_eq!((place.pool("web").await, place.stored().await), (pool, stored));
    second.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_stays_in_the_queue_while_its_effect_cannot_be_stored() {
    let place = Place::with(&[pool("web", &[zones("In", &["a", "b", "c"])])]).await;
    place.control_plane.kubectl(&["delete", "rolebinding", "karpenter-sqs-subscriber"]).unwrap();
    let may_read = ["auth", "can-i", "get", "configmaps/kerf-zonal-shift"];
    let may_read = async || place.control_plane.kubectl_as(ACCOUNT, &may_read).is_ok();
    place.wait("the right is gone", async || !may_read().await).await;
    let daemon = Running::start(&place).await;
    let refused = async || daemon.get("/healthz").await.contains("watching configmaps");
    place.wait("the state cannot be read", refused).await;
    place.announce("Autoshift In Progress", "a").await;
    assert_eq!(place.depth().await.visible, 1, "nothing is received that cannot be kept");
    assert_eq!(place.away("web").await, "");
    apply_manifest(place.control_plane);
    place.wait_for_requirements("web", &[zones("In", &["b", "c"])]).await;
    place.wait_until_deleted().await;
    daemon.end().await;
}
