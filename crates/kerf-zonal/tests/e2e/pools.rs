//! What a shift does to pools, and that nothing of it stays.

use serde_json::{Value, json};

use crate::answers::{AUTOSHIFTS, MANAGED, SHIFTS};
use crate::daemon::Running;
use crate::objects::{arm, node_class, pool, zones, zones_at_least};
use crate::place::Place;

const START: &str = "Autoshift In Progress";
const END: &str = "Autoshift Completed";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_shape_of_pool_avoids_the_zone_and_comes_back_byte_for_byte() {
    let exists = json!({"key": "topology.kubernetes.io/zone", "operator": "Exists"});
    let mut in_two_zones = pool("by-class", &[arm()]);
    in_two_zones["spec"]["template"]["spec"]["nodeClassRef"]["name"] = json!("two-zones");
    let shapes: [(&str, Value, Vec<Value>); 7] = [
        (
            "three",
            pool("three", &[arm(), zones("In", &["a", "b", "c"])]),
            vec![arm(), zones("In", &["b", "c"])],
        ),
        ("open", pool("open", &[arm()]), vec![arm(), zones("In", &["b", "c"])]),
        ("not-in", pool("not-in", &[zones("NotIn", &["b"])]), vec![zones("NotIn", &["b", "a"])]),
        (
            "exists",
            pool("exists", &[exists.clone(), arm()]),
            vec![exists, arm(), zones("In", &["b", "c"])],
        ),
        (
            "at-least",
            pool("at-least", &[zones_at_least(3, &["a", "b", "c"])]),
            vec![zones_at_least(2, &["b", "c"])],
        ),
        ("by-class", in_two_zones, vec![arm(), zones("In", &["b"])]),
        ("elsewhere", pool("elsewhere", &[zones("In", &["c"])]), vec![zones("In", &["c"])]),
    ];
    let mut objects: Vec<_> = shapes.iter().map(|(_, object, _)| object.clone()).collect();
    objects.extend([pool("single", &[zones("In", &["a"])]), node_class("two-zones")]);
    let place = Place::with(&objects).await;
    tell_subnets(&place, "two-zones", &["a", "b"]);
    let mut before = Vec::new();
    for (name, ..) in &shapes {
        before.push(place.snapshot(name).await);
    }
    let single = place.snapshot("single").await;
    let daemon = Running::start(&place).await;

    place.announce(START, "a").await;
    for (name, _, expected) in &shapes {
        place.wait_for_requirements(name, expected).await;
    }
    assert_eq!(place.away("three").await, "us-west-2a");
    assert_eq!(place.away("elsewhere").await, "", "it does not reach the zone");
    place.wait_until_deleted().await;
    tells_of_the_shift(&place, &daemon).await;
    assert_eq!(place.snapshot("single").await, single, "it would have no zone left");

    place.announce(END, "a").await;
    for ((name, ..), before) in shapes.iter().zip(&before) {
        let is_back = async || place.snapshot(name).await == *before;
        place.wait(&format!("{name} is as before"), is_back).await;
    }
    let is_recorded = async || !place.events("three", "ZonalShiftCleared").await.is_empty();
    place.wait("the end is recorded", is_recorded).await;
    let page = daemon.get("/metrics").await;
    assert!(!page.contains("kerf_zonal_shift_active{"), "{page}");
    daemon.end().await;
}

async fn tells_of_the_shift(place: &Place, daemon: &Running) {
    let is_recorded = async || !place.events("single", "ZonalShiftSkipped").await.is_empty();
    place.wait("an Event says why a pool is not kept out", is_recorded).await;
    let id = place.zone_id("a");
    let detected = format!(
        "Zonal shift detected: offerings in zone us-west-2a ({id}) are unavailable for this NodePool"
    );
    assert_eq!(place.events("three", "ZonalShiftActive").await, [detected]);
    assert_eq!(
        place.events("single", "ZonalShiftSkipped").await,
        ["Zonal shift: this NodePool is not kept out of us-west-2a: it would have no zone left"]
    );
    let active = format!(
        r#"kerf_zonal_shift_active{{zone="us-west-2a",zone_id="{id}",origin="autoshift"}} 1"#
    );
    let lines = [
        &active,
        r#"kerf_zonal_shift_events_total{detail_type="Autoshift In Progress",result="started"} 1"#,
        r#"kerf_zonal_shift_nodepool_edits_total{action="restrict"} 6"#,
        r#"kerf_zonal_shift_skipped_total{reason="would-empty"} 1"#,
        "kerf_zonal_shift_problems 0",
    ];
    for line in lines {
        assert!(daemon.counts(line).await, "{line}\n{}", daemon.get("/metrics").await);
    }
    assert!(daemon.get("/healthz").await.ends_with("\r\n\r\nok\n"));
}

/// Puts subnets into the status of a node class, as its controller would.
fn tell_subnets(place: &Place, class: &str, letters: &[&str]) {
    let subnet = |letter: &&str| {
        json!({"id": format!("subnet-{letter}"), "zone": crate::objects::zone(letter),
            "zoneID": place.zone_id(letter)})
    };
    let subnets: Vec<_> = letters.iter().map(subnet).collect();
    let patch = format!("--patch={}", json!({"status": {"subnets": subnets}}));
    let kind = "ec2nodeclasses";
    place
        .control_plane
        .kubectl(&["patch", kind, class, "--subresource=status", "--type=merge", &patch])
        .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_zones_are_avoided_and_given_back_one_by_one_in_either_order() {
    let place = Place::with(&[pool("web", &[zones("In", &["a", "b", "c"])])]).await;
    let before = place.snapshot("web").await;
    let daemon = Running::start(&place).await;
    for (first, second) in [("a", "c"), ("c", "a")] {
        place.announce(START, "a").await;
        place.announce(START, "c").await;
        place.wait_for_requirements("web", &[zones("In", &["b"])]).await;
        place.announce(END, first).await;
        let back = if first == "a" { ["a", "b"] } else { ["b", "c"] };
        place.wait_for_requirements("web", &[zones("In", &back)]).await;
        assert_eq!(place.away("web").await, crate::objects::zone(second));
        place.announce(END, second).await;
        place.wait("it is as before", async || place.snapshot("web").await == before).await;
    }
    daemon.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pool_made_during_the_shift_is_kept_out_too() {
    let place = Place::new().await;
    let daemon = Running::start(&place).await;
    place.announce("Practice Run Started", "b").await;
    place.wait_until_deleted().await;
    place.apply(&[pool("new", &[zones("In", &["a", "b"])])]);
    place.wait_for_requirements("new", &[zones("In", &["a"])]).await;
    place.announce("Practice Run Succeeded", "b").await;
    place.wait_for_requirements("new", &[zones("In", &["a", "b"])]).await;
    daemon.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pool_reset_by_a_gitops_tool_is_edited_again_after_thirty_seconds_and_still_restored() {
    let original = pool("web", &[zones("In", &["a", "b", "c"])]);
    let place = Place::with(std::slice::from_ref(&original)).await;
    let before = place.snapshot("web").await;
    // It would list nothing and so end the shift while time passes.
    [MANAGED, SHIFTS, AUTOSHIFTS].iter().for_each(|path| place.answers.deny(path));
    let daemon = Running::start(&place).await;
    place.announce(START, "a").await;
    place.wait_for_requirements("web", &[zones("In", &["b", "c"])]).await;
    // A tool that replaces the whole object, annotations included.
    let reset = || {
        let file = std::env::temp_dir().join(format!("kerf-reset-{}.json", std::process::id()));
        std::fs::write(&file, original.to_string()).unwrap();
        let path = file.to_str().unwrap();
        place.control_plane.kubectl(&["replace", "--filename", path]).unwrap();
        std::fs::remove_file(&file).unwrap();
    };
    reset();
    assert_eq!(place.snapshot("web").await, before);
    // Nothing happens while time stands still: a turn comes every second, so a change of another
    // pool that is answered proves that the daemon looked.
    place.apply(&[pool("witness", &[zones("In", &["a", "b"])])]);
    place.wait_for_requirements("witness", &[zones("In", &["b"])]).await;
    assert_eq!(place.snapshot("web").await, before, "the two must not chase each other");
    place.pass(30);
    place.wait_for_requirements("web", &[zones("In", &["b", "c"])]).await;
    reset();
    place.pass(30);
    place.wait_for_requirements("web", &[zones("In", &["b", "c"])]).await;
    place.announce(END, "a").await;
    place.wait("it is as before", async || place.snapshot("web").await == before).await;
    daemon.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_zone_an_operator_adds_during_the_shift_is_kept() {
    let place = Place::with(&[pool("web", &[arm(), zones("In", &["a", "b", "c"])])]).await;
    let daemon = Running::start(&place).await;
    place.announce(START, "a").await;
    place.wait_for_requirements("web", &[arm(), zones("In", &["b", "c"])]).await;
    let edited = json!([arm(), zones("In", &["b", "c", "d"])]);
    let patch = json!({"spec": {"template": {"spec": {"requirements": edited}}}});
    let patch = format!("--patch={patch}");
    place.control_plane.kubectl(&["patch", "nodepool", "web", "--type=merge", &patch]).unwrap();
    place.announce(END, "a").await;
    place.wait_for_requirements("web", &[arm(), zones("In", &["a", "b", "c", "d"])]).await;
    assert_eq!(place.pool("web").await["metadata"]["annotations"], json!({"team": "platform"}));
    daemon.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pool_somebody_wants_left_alone_is() {
    let mut ignored = pool("mine", &[zones("In", &["a", "b"])]);
    ignored["metadata"]["annotations"]["zonal-autoshift.eks.amazonaws.com/ignore"] = json!("true");
    let place = Place::with(&[ignored, pool("web", &[zones("In", &["a", "b"])])]).await;
    let before = place.snapshot("mine").await;
    let daemon = Running::start(&place).await;
    place.announce(START, "a").await;
    place.wait_for_requirements("web", &[zones("In", &["b"])]).await;
    assert_eq!(place.snapshot("mine").await, before);
    daemon.end().await;
}
