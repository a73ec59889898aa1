//! What was lost is made good: by what ARC lists, by time, by hand.

use kerf_notices::zonal_shift::*;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::world::*;

const HOUR: i64 = 3600;

fn listed(origin: Origin, letter: &str, start: i64) -> ListedShift {
    let zone = zone_id(letter);
    ListedShift { zone, origin, start: at(start), expiry: None, is_applied: true }
}

fn listing(shifts: impl IntoIterator<Item = ListedShift>) -> Listing {
    let complete_for =
        [Origin::Autoshift, Origin::Fis, Origin::Manual, Origin::Practice].into_iter().collect();
    Listing { shifts: shifts.into_iter().collect(), complete_for }
}

fn after(events: &[(&str, &str, i64)]) -> ShiftState {
    let mut world = World::new([]);
    for (detail_type, letter, seconds) in events {
        world.now = at(*seconds);
        world.deliver(&message(detail_type, letter, *seconds));
    }
    world.state()
}

fn active(state: &ShiftState) -> Vec<(String, Origin)> {
    state.active().map(|(zone, origin, _)| (zone.to_string(), origin)).collect()
}

#[test]
fn a_shift_the_state_does_not_know_is_started_at_once() {
    let state = ShiftState::default();
    let state = state.reconcile(&listing([listed(Origin::Autoshift, "a", 5)]), at(10));
    assert_eq!(active(&state), [("usw2-az1".to_owned(), Origin::Autoshift)]);
    let mut overruled = listed(Origin::Practice, "b", 5);
    overruled.is_applied = false;
    let state = state.reconcile(&listing([listed(Origin::Autoshift, "a", 5), overruled]), at(40));
    assert_eq!(active(&state), [("usw2-az1".to_owned(), Origin::Autoshift)]);
}

#[test]
fn a_shift_not_listed_twice_in_a_row_is_over() {
    let state = after(&[("Autoshift In Progress", "a", 0)]);
    let once = state.reconcile(&listing([]), at(30));
    assert_eq!(active(&once).len(), 1);
    let listed_again = once.reconcile(&listing([listed(Origin::Autoshift, "a", 0)]), at(60));
    assert_eq!(active(&listed_again.reconcile(&listing([]), at(90))).len(), 1);
    let twice = once.reconcile(&listing([]), at(60));
    assert_eq!(active(&twice), []);
    let (_, _, shift) = twice.shifts().next().unwrap();
    assert_eq!(shift.ended, Some(Ended { noted_at: at(60), by: EndedBy::Listing }));
}

#[test]
fn nothing_follows_from_absence_where_the_listing_is_not_complete() {
    let mut state = after(&[("Manual Shift Started", "a", 0)]);
    let nothing = Listing::default();
    for read in 1..10 {
        state = state.reconcile(&nothing, at(30 * read));
    }
    assert_eq!(active(&state).len(), 1);
}

#[test]
fn an_end_by_event_is_believed_over_one_stale_listing_but_not_over_two() {
    let state = after(&[("Manual Shift Started", "a", 0), ("Manual Shift Canceled", "a", 60)]);
    let stale = listing([listed(Origin::Manual, "a", 0)]);
    let once = state.reconcile(&stale, at(90));
    assert_eq!(active(&once), []);
    let gone = once.reconcile(&listing([]), at(120)).reconcile(&stale, at(150));
    assert_eq!(active(&gone), []);
    assert_eq!(active(&once.reconcile(&stale, at(120))).len(), 1);
    let newer = listing([listed(Origin::Manual, "a", 80)]);
    assert_eq!(active(&state.reconcile(&newer, at(90))).len(), 1);
}

#[test]
fn a_start_that_trails_the_end_by_listing_changes_nothing() {
    let started = after(&[("Autoshift In Progress", "a", 0)]);
    let ended = started.reconcile(&listing([]), at(30)).reconcile(&listing([]), at(60));
    let mut world = World::new([]);
    world.stored = ended.to_json();
    world.now = at(70);
    assert_eq!(world.deliver(&message("Autoshift In Progress", "a", 0)).verdict, Verdict::Stale);
    assert_eq!(active(&world.state()), []);
}

#[test]
fn a_manual_shift_that_is_extended_lasts_until_its_new_expiry() {
    let until = |seconds: i64| {
        let expiry = Some(at(seconds));
        listing([ListedShift { expiry, ..listed(Origin::Manual, "a", 0) }])
    };
    let ageing = Ageing { can_ask_arc: true, max_age_seconds: None };
    let state = after(&[("Manual Shift Started", "a", 0)]).reconcile(&until(HOUR), at(30));
    assert_eq!(active(&state.aged(&ageing, at(HOUR))), []);

    // The update was heard of: the old expiry no longer holds.
    let mut world = World::new([]);
    world.stored = state.to_json();
    world.now = at(100);
    let updated = world.deliver(&message("Manual Shift Updated", "a", 100));
    assert_eq!(updated.verdict, Verdict::Refreshed);
    let state = updated.state.reconcile(&until(3 * HOUR), at(130));
    assert_eq!(active(&state.aged(&ageing, at(2 * HOUR))).len(), 1);
    let expired = state.aged(&ageing, at(3 * HOUR));
    assert_eq!(active(&expired), []);

    // It was not heard of and the shift has ended meanwhile: ARC's word starts it again at once.
    assert_eq!(active(&expired.reconcile(&until(5 * HOUR), at(3 * HOUR + 30))).len(), 1);
    assert_eq!(active(&expired.reconcile(&until(2 * HOUR), at(3 * HOUR + 30))), []);
}

#[test]
fn without_arc_each_kind_of_shift_has_its_longest_age() {
    let table = [
        ("Practice Run Started", Some(HOUR)),
        ("FIS Experiment Autoshift In Progress", Some(12 * HOUR)),
        ("Manual Shift Started", Some(72 * HOUR)),
        ("Autoshift In Progress", None),
    ];
    let ageing = Ageing::default();
    for (detail_type, age) in table {
        let state = after(&[(detail_type, "a", 0)]);
        let last = age.map_or(10_000 * HOUR, |age| age - 1);
        assert_eq!(active(&state.aged(&ageing, at(last))).len(), 1, "{detail_type}");
        assert_eq!(state.next_change(&ageing), age.map(at), "{detail_type}");
        if let Some(age) = age {
            assert_eq!(active(&state.aged(&ageing, at(age))), [], "{detail_type}");
        }
        let shorter = Ageing { max_age_seconds: Some(60), ..ageing };
        assert_eq!(active(&state.aged(&shorter, at(60))), [], "{detail_type}");
        let asked = Ageing { can_ask_arc: true, max_age_seconds: Some(60) };
        assert_eq!(active(&state.aged(&asked, at(100 * HOUR))).len(), 1, "{detail_type}");
    }
}

#[test]
fn an_update_makes_a_manual_shift_young_again() {
    let state =
        after(&[("Manual Shift Started", "a", 0), ("Manual Shift Updated", "a", 70 * HOUR)]);
    assert_eq!(active(&state.aged(&Ageing::default(), at(80 * HOUR))).len(), 1);
}

#[test]
fn what_is_over_is_forgotten_after_a_day() {
    let state = after(&[("Autoshift Completed", "a", 0)]);
    let ageing = Ageing::default();
    assert_eq!(state.next_change(&ageing), Some(at(TOMBSTONE_SECONDS)));
    assert_ne!(state.aged(&ageing, at(TOMBSTONE_SECONDS - 1)), ShiftState::default());
    assert_eq!(state.aged(&ageing, at(TOMBSTONE_SECONDS)), ShiftState::default());
}

#[test]
fn a_warning_comes_after_six_hours_and_then_hourly() {
    let state = after(&[("Autoshift In Progress", "a", 0)]);
    let warnings = |from: i64, to: i64, ageing: Ageing| {
        let minutes = (from * 60..to * 60).map(|minute| minute * 60);
        let due = minutes.filter(|&at_second| {
            !state.suspiciously_old(&ageing, at(at_second - 60), at(at_second)).is_empty()
        });
        due.map(|second| second / HOUR).collect::<Vec<_>>()
    };
    assert_eq!(warnings(1, 9, Ageing::default()), [6, 7, 8]);
    let asked = Ageing { can_ask_arc: true, max_age_seconds: None };
    assert!(warnings(1, 9, asked).is_empty());
}

#[test]
fn by_hand_a_zone_is_avoided_and_given_back() {
    let state = ShiftState::default().start_manually(&zone_id("a"), at(0));
    assert_eq!(active(&state), [("usw2-az1".to_owned(), Origin::Cli)]);
    assert_eq!(state, state.start_manually(&zone_id("a"), at(50)));
    // Neither ARC nor age has a say in it.
    let twice = state.reconcile(&listing([]), at(30)).reconcile(&listing([]), at(60));
    let old = twice.aged(&Ageing { can_ask_arc: false, max_age_seconds: Some(1) }, at(HOUR));
    assert_eq!(active(&old).len(), 1);
    assert_eq!(active(&old.end_manually(&zone_id("a"), at(2 * HOUR))), []);
}

#[test]
fn an_end_manually_holds_against_old_news_but_not_against_new() {
    let state = after(&[("Autoshift In Progress", "a", 0), ("Manual Shift Started", "a", 10)]);
    let mut ended = state.end_manually(&zone_id("a"), at(100));
    assert_eq!(active(&ended), []);
    let still = listing([listed(Origin::Autoshift, "a", 0)]);
    for read in 0..200 {
        let now = at(130 + read * HOUR);
        ended = ended.reconcile(&still, now).aged(&Ageing::default(), now);
        assert_eq!(active(&ended), [], "after {read} hours");
    }
    let mut world = World::new([]);
    world.stored = ended.to_json();
    world.now = at(200 * HOUR);
    world.deliver(&message("Autoshift In Progress", "a", 0));
    assert_eq!(active(&world.state()), []);
    world.deliver(&message("Autoshift In Progress", "a", 200 * HOUR));
    assert_eq!(active(&world.state()).len(), 1);
}

#[test]
fn arc_s_answers_are_read_by_what_they_cover() {
    let item = |away: &str, kind: &str, resource: &str| {
        json!({"awayFrom": away, "startTime": 1_700_000_000.25, "shiftType": kind,
            "status": "ACTIVE", "resourceIdentifier": resource})
    };
    let over = json!({"awayFrom": "usw2-az4", "startTime": 1, "status": "EXPIRED"});
    let shifts = [
        item("usw2-az1", "PRACTICE_RUN", "arn:lb"),
        item("usw2-az2", "FIS_EXPERIMENT", "arn:other"),
        item("usw2-az3", "ZONAL_SHIFT", "arn:other"),
        over,
        json!("nonsense"),
        json!({"awayFrom": 7}),
    ];
    let autoshifts = [json!({"awayFrom": "usw2-az1", "startTime": 1_700_000_000})];
    let managed = json!({"zonalShifts": [], "autoshifts": autoshifts});
    let all = ArcReplies {
        managed_resource: Some(&managed),
        zonal_shifts: Some(&shifts),
        autoshifts: Some(&autoshifts),
    };
    let origins = |listing: &Listing| listing.shifts.iter().map(|s| s.origin).collect::<Vec<_>>();
    let of_resources = [Origin::Fis, Origin::Manual, Origin::Practice];

    let any = Listing::read(all, &Matching::Any);
    use Origin::*;
    assert_eq!(origins(&any), [Autoshift, Practice, Fis, Manual, Autoshift]);
    assert_eq!(any.complete_for.len(), 4);
    let only_lists = ArcReplies { managed_resource: None, autoshifts: None, ..all };
    assert!(Listing::read(only_lists, &Matching::Any).complete_for.iter().eq(&of_resources));
    let only_resource = ArcReplies { zonal_shifts: None, autoshifts: None, ..all };
    assert!(Listing::read(only_resource, &Matching::Any).complete_for.is_empty());

    let strict = Matching::Cluster { also: ["arn:lb".to_owned()].into() };
    assert_eq!(origins(&Listing::read(all, &strict)), [Autoshift, Practice, Autoshift]);
    assert!(Listing::read(only_resource, &strict).complete_for.is_empty());
    let own = Matching::Cluster { also: Default::default() };
    assert!(Listing::read(only_resource, &own).complete_for.iter().eq(&of_resources));
}

#[test]
fn of_several_listed_shifts_the_longest_lasting_decides() {
    let until = |seconds: Option<i64>| ListedShift {
        expiry: seconds.map(at),
        ..listed(Origin::Manual, "a", 0)
    };
    let expiry = |shifts: Vec<ListedShift>| {
        let state = ShiftState::default().reconcile(&listing(shifts), at(10));
        state.active().next().unwrap().2.expiry
    };
    assert_eq!(expiry(vec![until(Some(60)), until(Some(90)), until(Some(70))]), Some(at(90)));
    assert_eq!(expiry(vec![until(None), until(Some(90))]), None);
}

#[test]
fn the_state_is_stored_as_readable_json_and_read_back() {
    let state = after(&[("Autoshift In Progress", "a", 0), ("Practice Run Failed", "b", 5)]);
    let stored: Value = serde_json::from_str(&state.to_json()).unwrap();
    assert_eq!(
        stored,
        json!({"version": 1, "zones": {
            "usw2-az1": {"autoshift": {
                "since": "2023-11-16T00:00:00Z", "lastEventTime": "2023-11-16T00:00:00Z",
                "eventId": "Autoshift In Progress/a/0",
            }},
            "usw2-az2": {"practice": {
                "since": "2023-11-16T00:00:05Z", "lastEventTime": "2023-11-16T00:00:05Z",
                "eventId": "Practice Run Failed/b/5",
                "ended": {"notedAt": "2023-11-16T00:00:05Z", "by": "event"},
            }},
        }})
    );
    assert_eq!(ShiftState::from_json(&state.to_json()).unwrap(), state);
}

#[test]
fn a_newer_layout_is_refused_rather_than_overwritten() {
    let newer = r#"{"version": 2, "zones": ["another layout"]}"#;
    let error = ShiftState::from_json(newer).unwrap_err();
    assert!(matches!(error, StateUnreadable::Newer { found: 2 }), "{error}");
    assert!(matches!(ShiftState::from_json("{}"), Err(StateUnreadable::Malformed(_))));
}

proptest! {
    #[test]
    fn any_listing_of_any_json_never_panics(text in "[\\[\\]{}\",:a-z0-9 ]{0,80}", seconds in any::<i64>()) {
        let odd: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
        let item = json!({"awayFrom": "usw2-az1", "startTime": seconds, "expiryTime": odd});
        let resource = json!({"zonalShifts": [item, odd], "autoshifts": odd});
        let replies = ArcReplies { managed_resource: Some(&resource), ..ArcReplies::default() };
        let listing = Listing::read(replies, &Matching::Any);
        let state = ShiftState::default().reconcile(&listing, at(0));
        prop_assert_eq!(ShiftState::from_json(&state.to_json()).unwrap(), state);
    }
}
