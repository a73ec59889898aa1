//! The acceptance checks of the specification, as far as no queue and no server is needed.

use kerf_notices::zonal_shift::*;
use serde_json::{Value, json};

use crate::world::*;

const START: &str = "Autoshift In Progress";
const END: &str = "Autoshift Completed";

/// Text for text, as the server would send it.
fn assert_same(before: &Value, after: &Value) {
    assert_eq!(before.to_string(), after.to_string());
}

/// Shifts zone `a` and back, looking at the pool in between.
fn there_and_back(requirements: &[Value], look: impl Fn(&World)) {
    let before = pool("web", requirements);
    let mut world = World::new([before.clone()]);
    world.happens(START, "a", 10);
    look(&world);
    world.happens(END, "a", 20);
    assert_same(&before, world.pool("web"));
}

#[test]
fn a01_a_three_zone_pool_is_as_before_byte_for_byte_after_start_and_end() {
    there_and_back(&[arm(), zones("In", &["a", "b", "c"])], |world| {
        assert_eq!(*world.requirements("web"), json!([arm(), zones("In", &["b", "c"])]));
        assert_eq!(world.away_annotation("web"), "us-west-2a");
    });
}

#[test]
fn a02_a_pool_without_the_key_gets_it_with_healthy_zones_and_loses_it_again() {
    there_and_back(&[arm()], |world| {
        assert_eq!(*world.requirements("web"), json!([arm(), zones("In", &["b", "c"])]));
        assert_eq!(world.pool("web")["metadata"]["annotations"][ORIGINAL_ZONES], "null");
    });
}

#[test]
fn a02_exists_keeps_its_entry_beside_the_added_one() {
    let exists = json!({"key": "topology.kubernetes.io/zone", "operator": "Exists"});
    there_and_back(&[exists.clone(), arm()], |world| {
        assert_eq!(*world.requirements("web"), json!([exists, arm(), zones("In", &["b", "c"])]));
    });
}

#[test]
fn a03_not_in_grows_by_the_zone_and_shrinks_again() {
    there_and_back(&[zones("NotIn", &["b"])], |world| {
        assert_eq!(*world.requirements("web"), json!([zones("NotIn", &["b", "a"])]));
    });
}

#[test]
fn a04_min_values_is_lowered_to_what_remains_and_raised_again() {
    let with_min = |letters: &[&str], min: u64| {
        let mut entry = zones("In", letters);
        entry["minValues"] = json!(min);
        entry
    };
    there_and_back(&[with_min(&["a", "b", "c"], 3)], |world| {
        assert_eq!(*world.requirements("web"), json!([with_min(&["b", "c"], 2)]));
    });
}

#[test]
fn a05_a_single_zone_pool_stays_and_somebody_is_told() {
    let before = pool("web", &[zones("In", &["a"])]);
    let mut world = World::new([before.clone()]);
    world.happens(START, "a", 10);
    assert_same(&before, world.pool("web"));
    assert_eq!(world.skips(), [("web", SkipReason::WouldEmpty)]);
    let event = world.notes[0].event().unwrap();
    assert!(event.is_warning);
    assert_eq!(event.reason, "ZonalShiftSkipped");
    assert_eq!(
        event.message,
        "Zonal shift: this NodePool is not kept out of us-west-2a: it would have no zone left"
    );
}

#[test]
fn a06_budgets_with_schedule_and_reasons_survive() {
    let before = pool("web", &[zones("In", &["a", "b", "c"])]);
    let mut world = World::new([before.clone()]);
    world.happens(START, "a", 10);
    assert_same(&before["spec"]["disruption"], &world.pool("web")["spec"]["disruption"]);
    assert_same(&before["spec"]["limits"], &world.pool("web")["spec"]["limits"]);
}

#[test]
fn a07_two_zones_away_end_in_either_order() {
    for (first, second) in [("a", "c"), ("c", "a")] {
        let before = pool("web", &[zones("In", &["a", "b", "c"])]);
        let mut world = World::new([before.clone()]);
        world.happens(START, "a", 10);
        world.happens(START, "c", 20);
        assert_eq!(*world.requirements("web"), json!([zones("In", &["b"])]));
        assert_eq!(world.away_annotation("web"), "us-west-2a,us-west-2c");
        world.happens(END, first, 30);
        let back = if first == "a" { ["a", "b"] } else { ["b", "c"] };
        assert_eq!(*world.requirements("web"), json!([zones("In", &back)]));
        assert_eq!(world.away_annotation("web"), zone(second));
        world.happens(END, second, 40);
        assert_same(&before, world.pool("web"));
    }
}

#[test]
fn a08_a_practice_run_cut_short_by_an_autoshift_leaves_the_zone_away_until_the_last() {
    let before = pool("web", &[zones("In", &["a", "b", "c"])]);
    let mut world = World::new([before.clone()]);
    world.happens("Practice Run Started", "a", 10);
    world.happens("Autoshift In Progress", "a", 20);
    world.happens("Practice Run Interrupted", "a", 30);
    assert_eq!(world.away_annotation("web"), "us-west-2a");
    world.happens("Autoshift Completed", "a", 40);
    assert_same(&before, world.pool("web"));
}

#[test]
fn a09_an_end_before_its_start_leaves_the_zone_usable() {
    let before = pool("web", &[zones("In", &["a", "b", "c"])]);
    let mut world = World::new([before.clone()]);
    world.happens(END, "a", 20);
    world.happens(START, "a", 10);
    assert_same(&before, world.pool("web"));
    world.happens(START, "a", 30);
    assert_eq!(world.away_annotation("web"), "us-west-2a");
}

#[test]
fn a09_a_start_told_twice_is_one_start() {
    let mut world = World::new([pool("web", &[zones("In", &["a", "b", "c"])])]);
    world.happens(START, "a", 10);
    let once = world.clone();
    let again = world.deliver(&message(START, "a", 10));
    assert_eq!(again.verdict, Verdict::Stale);
    assert_eq!(again.disposal, Disposal::Delete);
    assert_eq!(once.stored, world.stored);
    assert_eq!(world.plan().steps, []);
}

#[test]
fn a10_a_kill_between_state_and_patch_costs_nothing() {
    let mut world = World::new([pool("web", &[zones("In", &["a", "b", "c"])])]);
    world.now = at(10);
    world.deliver(&message(START, "a", 10));
    // Killed here: the state is stored, no pool is touched. A new leader starts.
    world.memory = EditMemory::default();
    world.options.grace_until = at(10 + GRACE_SECONDS);
    world.settle();
    assert_eq!(*world.requirements("web"), json!([zones("In", &["b", "c"])]));
}

#[test]
fn a10_a_kill_between_patch_and_delete_costs_nothing() {
    let mut world = World::new([pool("web", &[zones("In", &["a", "b", "c"])])]);
    world.happens(START, "a", 10);
    // Killed here: the message was not deleted and comes again.
    world.memory = EditMemory::default();
    let (stored, pools) = (world.stored.clone(), world.pools.clone());
    let again = world.deliver(&message(START, "a", 10));
    assert_eq!(again.disposal, Disposal::Delete);
    world.settle();
    assert_eq!((stored, pools), (world.stored, world.pools));
}

#[test]
fn a10_a_kill_between_the_end_and_the_restore_needs_no_grace() {
    let before = pool("web", &[zones("In", &["a", "b", "c"])]);
    let mut world = World::new([before.clone()]);
    world.happens(START, "a", 10);
    world.now = at(20);
    world.deliver(&message(END, "a", 20));
    world.memory = EditMemory::default();
    world.options.grace_until = at(20 + GRACE_SECONDS);
    world.settle();
    assert_same(&before, world.pool("web"));
}

#[test]
fn a11_a_pool_that_appears_during_the_shift_is_kept_out_too() {
    let mut world = World::new([]);
    world.happens(START, "a", 10);
    let new = pool("new", &[zones("In", &["a", "b"])]);
    world.pools.push(new.clone());
    world.settle();
    assert_eq!(*world.requirements("new"), json!([zones("In", &["b"])]));
    world.happens(END, "a", 60);
    assert_same(&new, world.pool("new"));
}

#[test]
fn a11_a_pool_overwritten_during_the_shift_is_edited_again_after_thirty_seconds() {
    let before = pool("web", &[zones("In", &["a", "b", "c"])]);
    for does_reset_annotations in [true, false] {
        let mut world = World::new([before.clone()]);
        world.happens(START, "a", 10);
        let annotations = world.pool("web")["metadata"]["annotations"].clone();
        *world.pool_mut("web") = before.clone();
        if !does_reset_annotations {
            world.pool_mut("web")["metadata"]["annotations"] = annotations;
        }
        world.now = at(20);
        let plan = world.plan();
        assert_eq!((plan.steps, plan.look_again_at), (vec![], Some(at(40))));
        world.now = at(40);
        world.settle();
        assert_eq!(*world.requirements("web"), json!([zones("In", &["b", "c"])]));
        world.happens(END, "a", 50);
        assert_same(&before, world.pool("web"));
    }
}

#[test]
fn a12_a_zone_an_operator_adds_during_the_shift_is_kept() {
    let mut world = World::new([pool("web", &[arm(), zones("In", &["a", "b", "c"])])]);
    world.happens(START, "a", 10);
    *world.requirements_mut("web") = json!([arm(), zones("In", &["b", "c", "d"])]);
    world.happens(END, "a", 20);
    assert_eq!(*world.requirements("web"), json!([arm(), zones("In", &["a", "b", "c", "d"])]));
    assert_eq!(world.pool("web")["metadata"]["annotations"], json!({"team": "platform"}));
}

#[test]
fn a14_an_unknown_zone_leaves_the_message_in_the_queue_and_edits_nothing() {
    let mut world = World::new([pool("web", &[zones("In", &["a", "b", "c"])])]);
    let mut body = message(START, "a", 0);
    body["detail"]["metadata"]["awayFrom"] = json!("use1-az6");
    let received = world.deliver(&body);
    assert_eq!(received.disposal, Disposal::LeaveForRedelivery);
    assert_eq!(received.verdict.label(), "unknown-zone");
    assert_eq!(received.state, ShiftState::default());
    assert_eq!(world.plan().steps, []);
}

#[test]
fn a15_a_manual_shift_known_only_to_arc_starts_and_ends_at_its_expiry() {
    let before = pool("web", &[zones("In", &["a", "b", "c"])]);
    let mut world = World::new([before.clone()]);
    let reply = json!({"arn": "arn:aws:eks:us-west-2:111122223333:cluster/prod", "zonalShifts": [{
        "zonalShiftId": "9ac9ec1e", "awayFrom": "usw2-az1", "startTime": at(5).seconds(),
        "expiryTime": at(3600).seconds(), "appliedStatus": "APPLIED", "shiftType": "ZONAL_SHIFT",
    }]});
    let replies = ArcReplies { managed_resource: Some(&reply), ..ArcReplies::default() };
    let listing = Listing::read(replies, &Matching::Any);
    world.now = at(30);
    world.stored = world.state().reconcile(&listing, world.now).to_json();
    world.settle();
    assert_eq!(world.away_annotation("web"), "us-west-2a");

    let ageing = Ageing { can_ask_arc: true, max_age_seconds: None };
    assert_eq!(world.state().next_change(&ageing), Some(at(3600)));
    world.now = at(3599);
    world.stored = world.state().aged(&ageing, world.now).to_json();
    assert!(!world.state().away().is_empty());
    world.now = at(3600);
    world.stored = world.state().aged(&ageing, world.now).to_json();
    world.settle();
    assert_same(&before, world.pool("web"));
}
