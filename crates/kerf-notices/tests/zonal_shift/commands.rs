//! `status`, `start` and `end`.

use kerf_notices::zonal_shift::*;
use serde_json::{Value, json};

use crate::world::*;

#[test]
fn start_and_end_take_names_and_ids_and_say_what_they_did() {
    let outcome = |state: &ShiftState, asked, zone| {
        let outcome = state.apply_manual(asked, zone, &zone_table(), at(100)).unwrap();
        (outcome.state, outcome.answer)
    };
    let none = ShiftState::default();
    let (by_name, answer) = outcome(&none, ManualShift::Start, "us-west-2a");
    assert_eq!(answer, "us-west-2a (usw2-az1) is avoided until you end it");
    assert_eq!(by_name, outcome(&none, ManualShift::Start, "usw2-az1").0);
    let (same, answer) = outcome(&by_name, ManualShift::Start, "usw2-az1");
    assert_eq!(
        (same, answer.as_str()),
        (by_name.clone(), "us-west-2a (usw2-az1) was avoided by hand already")
    );

    let mut world = World::new([]);
    world.stored = by_name.to_json();
    world.deliver(&message("Autoshift In Progress", "a", 0));
    let (over, answer) = outcome(&world.state(), ManualShift::End, "us-west-2a");
    assert_eq!(answer, "us-west-2a (usw2-az1) is no longer avoided; this ended: autoshift, cli");
    assert!(over.away().is_empty());
    let (_, answer) = outcome(&over, ManualShift::End, "us-west-2a");
    assert_eq!(answer, "us-west-2a (usw2-az1) was not avoided");
}

#[test]
fn a_zone_nobody_knows_is_answered_with_those_there_are() {
    let error =
        ShiftState::default().apply_manual(ManualShift::Start, "us-west-2x", &zone_table(), at(0));
    assert_eq!(
        error.unwrap_err().to_string(),
        "\"us-west-2x\" is neither id nor name of a zone here; known are us-west-2a (usw2-az1), \
         us-west-2b (usw2-az2), us-west-2c (usw2-az3), us-west-2d (usw2-az4)"
    );
}

fn busy_world() -> World {
    let pools = [
        pool("web", &[zones("In", &["a", "b", "c"])]),
        auto_mode_pool("system", &[arm()]),
        pool("elsewhere", &[zones("In", &["c"])]),
    ];
    let mut world = World::new(pools);
    world.happens("Autoshift In Progress", "a", 0);
    world.happens("Practice Run Started", "b", 60);
    world.happens("Practice Run Succeeded", "b", 1860);
    let expiry = Some(at(4 * 3600));
    let manual = ListedShift {
        zone: zone_id("a"),
        origin: Origin::Manual,
        start: at(2000),
        expiry,
        is_applied: true,
    };
    let listing = Listing { shifts: vec![manual], ..Listing::default() };
    world.stored = world.state().reconcile(&listing, at(2000)).to_json();
    world.now = at(2 * 3600);
    world
}

fn status(world: &World) -> Status {
    Status::new(&world.state(), &zone_table(), &world.pools, world.now)
}

#[test]
fn status_shows_shifts_and_the_pools_they_changed() {
    assert_eq!(
        status(&busy_world()).text(),
        "\
ZONE        ID        ORIGIN     SINCE                 STATE
us-west-2a  usw2-az1  autoshift  2023-11-16T00:00:00Z  away for 2h00m
us-west-2a  usw2-az1  manual     2023-11-16T00:33:20Z  away for 1h26m, 2h00m left
us-west-2b  usw2-az2  practice   2023-11-16T00:01:00Z  over for 1h29m, said AWS

POOL        KEPT OUT OF  STANDS IN FOR
web         us-west-2a   -
system-kss  us-west-2a   system
"
    );
}

#[test]
fn status_of_a_quiet_cluster_is_one_line() {
    assert_eq!(status(&World::new([pool("web", &[])])).text(), "No zone is avoided.\n");
}

#[test]
fn status_is_json_for_scripts() {
    let json: Value = serde_json::from_str(&status(&busy_world()).json()).unwrap();
    assert_eq!(json["awayZones"], json!(["usw2-az1"]));
    assert_eq!(
        json["shifts"][2],
        json!({
            "zoneId": "usw2-az2", "zone": "us-west-2b", "origin": "practice",
            "since": "2023-11-16T00:01:00Z", "expiry": null,
            "ended": ["2023-11-16T00:31:00Z", "event"],
        })
    );
    let copy = json!({"name": "system-kss", "awayZones": ["us-west-2a"], "copyOf": "system"});
    assert_eq!(json["pools"][1], copy);
}
