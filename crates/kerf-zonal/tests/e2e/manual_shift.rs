//! A person's word, through the ConfigMap, without an AWS account.

use kerf_notices::zonal_shift::ManualShift;
use kerf_zonal::{Console, ConsoleError};

use crate::daemon::Running;
use crate::objects::{pool, zones};
use crate::place::Place;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_zone_is_avoided_and_given_back_by_hand_and_the_daemon_follows() {
    let place = Place::with(&[pool("web", &[zones("In", &["a", "b", "c"])])]).await;
    let before = place.snapshot("web").await;
    let nowhere = Console::open(place.client.clone(), "default").await.unwrap();
    assert_eq!(nowhere.status(place.now()).await.unwrap().text(), "No zone is avoided.\n");
    let mut nowhere = nowhere;
    let error = nowhere.apply(ManualShift::Start, "us-west-2a", place.now()).await.unwrap_err();
    assert!(matches!(error, ConsoleError::NoZones { .. }), "{error}");

    let daemon = Running::start(&place).await;
    place.wait("zones are stored", async || !place.stored().await.is_empty()).await;
    let mut console = Console::open(place.client.clone(), "default").await.unwrap();
    let error = console.apply(ManualShift::Start, "us-west-2z", place.now()).await.unwrap_err();
    assert!(error.to_string().contains("known are us-west-2"), "{error}");
    place.pass(1);
    let outcome = console.apply(ManualShift::Start, "us-west-2a", place.now()).await.unwrap();
    let id = place.zone_id("a");
    assert_eq!(outcome.answer, format!("us-west-2a ({id}) is avoided until you end it"));
    place.wait_for_requirements("web", &[zones("In", &["b", "c"])]).await;
    let console = Console::open(place.client.clone(), "default").await.unwrap();
    let text = console.status(place.now()).await.unwrap().text();
    assert!(text.contains("us-west-2a") && text.contains("cli") && text.contains("web"), "{text}");

    // An announcement and a person at the same time: both are kept.
    place.announce("Autoshift In Progress", "b").await;
    place.wait_for_requirements("web", &[zones("In", &["c"])]).await;
    let mut console = Console::open(place.client.clone(), "default").await.unwrap();
    place.pass(1);
    console.apply(ManualShift::End, id, place.now()).await.unwrap();
    place.wait_for_requirements("web", &[zones("In", &["a", "c"])]).await;
    place.announce("Autoshift Completed", "b").await;
    place.wait("it is as before", async || place.snapshot("web").await == before).await;
    daemon.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_state_somebody_deletes_or_damages_ends_no_shift() {
    let place = Place::with(&[pool("web", &[zones("In", &["a", "b", "c"])])]).await;
    let daemon = Running::start(&place).await;
    place.announce("Autoshift In Progress", "a").await;
    place.wait_for_requirements("web", &[zones("In", &["b", "c"])]).await;
    let id = place.zone_id("a");
    place.control_plane.kubectl(&["delete", "configmap", "kerf-zonal-shift"]).unwrap();
    place.announce("Practice Run Started", "a").await;
    let both = async || {
        let stored = place.stored().await;
        stored.contains(id) && stored.contains("autoshift") && stored.contains("practice")
    };
    place.wait("it is stored again, whole", both).await;
    let patch = r#"--patch={"data": {"state.json": "{"}}"#;
    let damage = ["patch", "configmap", "kerf-zonal-shift", "--type=merge", patch];
    place.control_plane.kubectl(&damage).unwrap();
    place.announce("Practice Run Failed", "a").await;
    let kept = async || place.stored().await.contains("autoshift");
    place.wait("what was known is stored again", kept).await;
    assert_eq!(place.away("web").await, "us-west-2a");
    daemon.end().await;
}
