//! Operators and other tools that change pools while a shift lasts.

use kerf_notices::zonal_shift::*;
use serde_json::{Value, json};

use crate::world::*;

const START: &str = "Autoshift In Progress";
const END: &str = "Autoshift Completed";

fn with_min(mut entry: Value, min: u64) -> Value {
    entry["minValues"] = json!(min);
    entry
}

#[test]
fn what_an_operator_changes_during_the_shift_is_merged_with_the_original() {
    let three = || zones("In", &["a", "b", "c"]);
    // Before, while avoiding `a`, as the operator leaves it, after.
    let table: Vec<[Vec<Value>; 4]> = vec![
        [
            vec![three()],
            vec![zones("In", &["b", "c"])],
            vec![zones("In", &["b"])],
            vec![zones("In", &["a", "b"])],
        ],
        [
            vec![three()],
            vec![zones("In", &["b", "c"])],
            vec![zones("In", &["d", "c"])],
            vec![zones("In", &["a", "c", "d"])],
        ],
        // The requirement is taken out: so it stays.
        [vec![three(), arm()], vec![zones("In", &["b", "c"]), arm()], vec![arm()], vec![arm()]],
        // It becomes another: that one stays.
        [
            vec![three()],
            vec![zones("In", &["b", "c"])],
            vec![zones("NotIn", &["d"])],
            vec![zones("NotIn", &["d"])],
        ],
        // Other requirements come, go and move around it.
        [
            vec![arm(), three()],
            vec![arm(), zones("In", &["b", "c"])],
            vec![zones("In", &["b", "c"]), json!({"key": "x", "operator": "Exists"})],
            vec![three(), json!({"key": "x", "operator": "Exists"})],
        ],
        // `NotIn` merges the same way.
        [
            vec![zones("NotIn", &["b"])],
            vec![zones("NotIn", &["b", "a"])],
            vec![zones("NotIn", &["b", "a", "d"])],
            vec![zones("NotIn", &["b", "d"])],
        ],
        [
            vec![zones("NotIn", &["b"]), arm()],
            vec![zones("NotIn", &["b", "a"]), arm()],
            vec![zones("NotIn", &["a"]), arm()],
            vec![arm()],
        ],
        // The added entry: gone if untouched or taken out, an explicit list if changed.
        [vec![arm()], vec![arm(), zones("In", &["b", "c"])], vec![arm()], vec![arm()]],
        [
            vec![],
            vec![zones("In", &["b", "c"])],
            vec![zones("In", &["c"])],
            vec![zones("In", &["a", "c"])],
        ],
        // `minValues`: the original comes back unless the operator chose another.
        [
            vec![with_min(three(), 3)],
            vec![with_min(zones("In", &["b", "c"]), 2)],
            vec![with_min(zones("In", &["b", "c", "d"]), 2)],
            vec![with_min(zones("In", &["a", "b", "c", "d"]), 3)],
        ],
        [
            vec![with_min(three(), 3)],
            vec![with_min(zones("In", &["b", "c"]), 2)],
            vec![with_min(zones("In", &["b", "c"]), 1)],
            vec![with_min(three(), 1)],
        ],
        // More than remain would be refused by the API server.
        [
            vec![with_min(three(), 3)],
            vec![with_min(zones("In", &["b", "c"]), 2)],
            vec![with_min(zones("In", &["a", "b"]), 2)],
            vec![with_min(zones("In", &["a", "b"]), 2)],
        ],
    ];
    for [before, during, edited, after] in table {
        let mut world = World::new([pool("web", &before)]);
        world.happens(START, "a", 10);
        assert_eq!(*world.requirements("web"), json!(during), "during, {before:?}");
        *world.requirements_mut("web") = json!(edited);
        // Both ways: Kerf looks at the pool in between, or comes back only when it is over.
        let mut watched = world.clone();
        watched.now = at(100);
        watched.settle();
        for mut world in [world, watched] {
            world.happens(END, "a", 200);
            assert_eq!(*world.requirements("web"), json!(after), "after, {before:?}");
            assert_eq!(world.pool("web")["metadata"]["annotations"], json!({"team": "platform"}));
        }
    }
}

#[test]
fn a_zone_the_operator_adds_is_avoided_too_when_its_turn_comes() {
    let mut world = World::new([pool("web", &[zones("In", &["a", "b", "c"])])]);
    world.used_zones = names(&["a", "b", "c", "d"]);
    world.happens(START, "a", 10);
    *world.requirements_mut("web") = json!([zones("In", &["b", "c", "d"])]);
    world.happens(START, "d", 20);
    assert_eq!(*world.requirements("web"), json!([zones("In", &["b", "c"])]));
    world.happens(END, "a", 30);
    assert_eq!(*world.requirements("web"), json!([zones("In", &["a", "b", "c"])]));
    world.happens(END, "d", 40);
    assert_eq!(*world.requirements("web"), json!([zones("In", &["a", "b", "c", "d"])]));
}

#[test]
fn another_tool_s_edit_is_undone_by_appending_its_zones_to_the_first_list() {
    for annotation in ["us-west-2a", "usw2-az1", " us-west-2a , "] {
        let mut foreign = pool("web", &[arm(), zones("In", &["b", "c"]), zones("In", &["b"])]);
        foreign["metadata"]["annotations"][AWAY_ZONES] = json!(annotation);
        let mut world = World::new([foreign]);
        world.settle();
        let expected = json!([arm(), zones("In", &["b", "c", "a"]), zones("In", &["b"])]);
        assert_eq!(*world.requirements("web"), expected, "{annotation}");
        assert_eq!(world.away_annotation("web"), "");
    }
}

#[test]
fn another_tool_s_edit_stays_while_the_zone_is_away() {
    let mut foreign = pool("web", &[zones("In", &["b", "c"])]);
    foreign["metadata"]["annotations"][AWAY_ZONES] = json!("us-west-2a");
    let mut world = World::new([foreign.clone()]);
    world.happens(START, "a", 10);
    assert_eq!(foreign, *world.pool("web"));
    world.happens(START, "c", 20);
    assert_eq!(*world.requirements("web"), json!([zones("In", &["b"])]));
    world.happens(END, "c", 30);
    world.happens(END, "a", 40);
    assert_eq!(*world.requirements("web"), json!([zones("In", &["b", "c", "a"])]));
}

#[test]
fn a_damaged_memory_is_remarked_and_the_zones_still_come_back() {
    for damage in ["", "[]", "{\"index\": 1}", "[{\"index\":0}]", "nonsense"] {
        let mut world = World::new([pool("web", &[zones("In", &["a", "b", "c"])])]);
        world.happens(START, "a", 10);
        world.pool_mut("web")["metadata"]["annotations"][ORIGINAL_ZONES] = json!(damage);
        world.happens(END, "a", 50);
        assert_eq!(*world.requirements("web"), json!([zones("In", &["b", "c", "a"])]));
        assert_eq!(world.pool("web")["metadata"]["annotations"], json!({"team": "platform"}));
        assert!(matches!(world.notes[..], [Note::MemoryDamaged(_)]), "{:?}", world.notes);
    }
}

#[test]
fn an_annotated_pool_without_a_known_shift_is_restored_after_five_minutes() {
    let before = pool("web", &[zones("In", &["a", "b", "c"])]);
    let mut world = World::new([before.clone()]);
    world.happens(START, "a", 10);
    // The stored state is lost and a new leader starts.
    world.stored = ShiftState::default().to_json();
    world.memory = EditMemory::default();
    world.now = at(1000);
    world.options.grace_until = at(1000 + GRACE_SECONDS);
    let plan = world.plan();
    assert_eq!((plan.steps, plan.look_again_at), (vec![], Some(at(1300))));
    // Another zone meanwhile: the first stays away as well.
    let mut other = world.clone();
    other.happens(START, "c", 1010);
    assert_eq!(*other.requirements("web"), json!([zones("In", &["b"])]));
    world.now = at(1300);
    world.settle();
    assert_eq!(before, *world.pool("web"));
}
