//! Offering mode: what ARC says of the cluster, read for the controller.

use kerf_engine::observed::ShiftedZone;
use kerf_engine::time::Time;
use kerf_zonal::{Account, OfferingError, ShiftReader};
use serde_json::{Value, json};

use crate::answers::MANAGED;
use crate::place::{ARN, Place};

async fn account(place: &Place) -> Account {
    let answering = place.answering_session().await;
    Account {
        network: place.session.network(),
        clusters: answering.clusters(),
        zonal_shifts: answering.zonal_shifts(),
    }
}

fn shift(place: &Place, letter: &str, applied: &str) -> Value {
    let start = place.now().seconds();
    json!({
        "zonalShiftId": "9ac9ec1e", "resourceIdentifier": ARN, "awayFrom": place.zone_id(letter),
        "startTime": start, "expiryTime": start + 3600, "comment": "drill",
        "appliedStatus": applied, "shiftType": "ZONAL_SHIFT",
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn zones_with_an_applied_shift_are_shifted_and_a_failed_read_keeps_the_last_answer() {
    let place = Place::new().await;
    place.answers.set_managed(json!([shift(&place, "a", "APPLIED")]));
    let started = ShiftReader::of_account(account(&place).await, "prod", place.clock()).await;
    let (mut reader, mut shifted) = started.ok().unwrap();
    let at_start = Time::from_seconds(place.now().seconds());
    let zones = |letters: &[&str]| -> Vec<ShiftedZone> {
        let zone = |letter: &&str| ShiftedZone {
            name: crate::objects::zone(letter).into(),
            id: place.zone_id(letter).into(),
            origin: "manual".into(),
            since: at_start,
        };
        letters.iter().map(zone).collect()
    };
    assert_eq!(*shifted.borrow_and_update(), zones(&["a"]), "known before anything is launched");

    let two = json!([shift(&place, "b", "APPLIED"), shift(&place, "c", "NOT_APPLIED")]);
    place.answers.set_managed(two);
    assert!(reader.read().await.unwrap());
    assert!(shifted.has_changed().unwrap());
    assert_eq!(*shifted.borrow_and_update(), zones(&["b"]), "the whole set is replaced");

    place.answers.deny(MANAGED);
    let error = reader.read().await.unwrap_err().to_string();
    assert!(error.contains("arc-zonal-shift:GetManagedResource"), "{error}");
    assert!(!shifted.has_changed().unwrap());

    place.answers.set_managed(json!([shift(&place, "b", "APPLIED")]));
    assert!(reader.read().await.unwrap());
    assert!(!shifted.has_changed().unwrap(), "the same again is no news");
    place.answers.set_managed(json!([]));
    assert!(reader.read().await.unwrap());
    assert_eq!(*shifted.borrow_and_update(), zones(&[]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_that_arc_does_not_know_stops_the_start_and_names_how_to_register() {
    let place = Place::new().await;
    place.answers.forget(MANAGED);
    let started = ShiftReader::of_account(account(&place).await, "prod", place.clock()).await;
    let error = started.err().unwrap();
    assert!(matches!(error, OfferingError::NotRegistered(_)), "{error}");
    let message = error.to_string();
    assert!(message.starts_with("cluster not registered to Zonal Shift"), "{message}");
    assert!(message.contains("aws eks update-cluster-config"), "{message}");
}
