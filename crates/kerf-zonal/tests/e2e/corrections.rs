//! What was lost is made good: by ARC, by time, and by what is stored.

use serde_json::json;

use crate::daemon::Running;
use crate::objects::{pool, zones};
use crate::place::{ARN, Place};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_manual_shift_known_only_to_arc_starts_and_ends_at_its_expiry() {
    let place = Place::with(&[pool("web", &[zones("In", &["a", "b", "c"])])]).await;
    let before = place.snapshot("web").await;
    let start = place.now().seconds();
    let shift = json!({
        "zonalShiftId": "9ac9ec1e", "resourceIdentifier": ARN, "awayFrom": place.zone_id("a"),
        "startTime": start, "expiryTime": start + 3600, "comment": "drill",
        "appliedStatus": "APPLIED", "shiftType": "ZONAL_SHIFT",
    });
    let mut listed = shift.clone();
    listed["status"] = json!("ACTIVE");
    place.answers.set_managed(json!([shift]));
    place.answers.set(crate::answers::SHIFTS, json!({"items": [listed]}));
    let daemon = Running::start(&place).await;
    place.wait_for_requirements("web", &[zones("In", &["b", "c"])]).await;
    place.pass(3599);
    // ARC is asked again and still lists it; what happens a second later is its expiry.
    assert_eq!(place.away("web").await, "us-west-2a");
    place.pass(1);
    place.wait("it is as before", async || place.snapshot("web").await == before).await;
    assert!(place.stored().await.contains(r#""by":"expiry""#), "{}", place.stored().await);
    daemon.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_end_that_was_lost_is_believed_once_arc_lists_nothing_twice() {
    let place = Place::with(&[pool("web", &[zones("In", &["a", "b", "c"])])]).await;
    let before = place.snapshot("web").await;
    let daemon = Running::start(&place).await;
    place.announce("Autoshift In Progress", "a").await;
    place.wait_for_requirements("web", &[zones("In", &["b", "c"])]).await;
    place.pass(30);
    let once = async || place.stored().await.contains(r#""contradictions":1"#);
    place.wait("it was not listed once", once).await;
    assert_eq!(place.away("web").await, "us-west-2a");
    place.pass(30);
    place.wait("it is as before", async || place.snapshot("web").await == before).await;
    assert!(place.stored().await.contains(r#""by":"listing""#), "{}", place.stored().await);
    daemon.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pool_annotated_without_a_known_shift_is_given_back_after_the_time_of_grace() {
    let mut left_behind = pool("web", &[zones("In", &["b", "c"])]);
    left_behind["metadata"]["annotations"]["zonal-autoshift.eks.amazonaws.com/away-zones"] =
        json!("us-west-2a");
    let place = Place::with(&[left_behind]).await;
    let daemon = Running::start(&place).await;
    // A pool made now is seen and judged, so the other was, too.
    place.announce("Autoshift In Progress", "c").await;
    place.wait_for_requirements("web", &[zones("In", &["b"])]).await;
    assert_eq!(place.away("web").await, "us-west-2a,us-west-2c");
    place.announce("Autoshift Completed", "c").await;
    place.wait_for_requirements("web", &[zones("In", &["b", "c"])]).await;
    place.pass(300);
    place.wait_for_requirements("web", &[zones("In", &["b", "c", "a"])]).await;
    assert_eq!(place.away("web").await, "");
    daemon.end().await;
}
