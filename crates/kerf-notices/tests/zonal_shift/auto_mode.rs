//! EKS Auto Mode: stand-ins for pools nobody may edit.

use kerf_notices::zonal_shift::*;
use serde_json::{Value, json};

use crate::world::*;

const START: &str = "Autoshift In Progress";
const END: &str = "Autoshift Completed";

fn system() -> Value {
    let mut object = auto_mode_pool("system", &[arm()]);
    object["spec"]["template"]["spec"]["taints"] =
        json!([{"key": "CriticalAddonsOnly", "effect": "NoSchedule"}]);
    object
}

fn built_in() -> Vec<Value> {
    vec![auto_mode_pool("general-purpose", &[arm()]), system()]
}

fn taints(world: &World, node: &str) -> Value {
    let node = world.nodes.iter().find(|n| n["metadata"]["name"] == node).unwrap();
    node["spec"]["taints"].clone()
}

#[test]
fn a13_stand_ins_carry_everything_but_weight_and_zone_and_go_at_the_end() {
    let before = built_in();
    let mut world = World::new(before.clone());
    world.happens(START, "a", 10);
    assert_eq!(world.pools[..2], before, "built-in pools are not touched");
    let copy = world.pool("system-kss");
    let mut expected = system()["spec"].clone();
    expected["weight"] = json!(50);
    expected["template"]["spec"]["requirements"] = json!([arm(), zones("In", &["b", "c"])]);
    assert_eq!(copy["spec"], expected);
    assert_eq!(copy["metadata"]["labels"], json!({COPY_OF: "system"}));
    assert_eq!(copy["metadata"]["annotations"], json!({AWAY_ZONES: "us-west-2a"}));
    assert_eq!(copy["apiVersion"], "karpenter.sh/v1");
    assert_eq!(world.pool("general-purpose-kss")["metadata"]["labels"][COPY_OF], "general-purpose");
    world.happens(END, "a", 20);
    assert_eq!(world.pools, before);
}

#[test]
fn a_stand_in_is_tried_before_every_other_pool_as_far_as_the_api_allows() {
    for (highest, expected) in [(0, 50), (49, 50), (50, 51), (99, 100), (100, 100)] {
        let mut other = auto_mode_pool("web", &[zones("In", &["b"])]);
        other["spec"]["weight"] = json!(highest);
        let mut world = World::new(built_in().into_iter().chain([other]));
        world.happens(START, "a", 10);
        assert_eq!(world.pool("system-kss")["spec"]["weight"], expected, "beside {highest}");
    }
}

#[test]
fn custom_pools_of_auto_mode_are_edited_in_place() {
    let custom = auto_mode_pool("web", &[zones("In", &["a", "b"])]);
    let mut world = World::new([custom]);
    world.happens(START, "a", 10);
    assert_eq!(world.pools.len(), 1);
    assert_eq!(*world.requirements("web"), json!([zones("In", &["b"])]));
}

#[test]
fn a_pool_called_system_outside_auto_mode_is_a_pool_like_any_other() {
    let mut world = World::new([pool("system", &[zones("In", &["a", "b"])])]);
    world.happens(START, "a", 10);
    assert_eq!(world.pools.len(), 1);
    assert_eq!(*world.requirements("system"), json!([zones("In", &["b"])]));
}

#[test]
fn a_stand_in_follows_the_zones_and_undoes_what_others_did_to_it() {
    let mut world = World::new(built_in());
    world.happens(START, "a", 10);
    world.pool_mut("system-kss")["spec"]["limits"] = json!({"cpu": "1"});
    world.happens(START, "c", 20);
    let requirements = json!([arm(), zones("In", &["b"])]);
    assert_eq!(*world.requirements("system-kss"), requirements);
    assert_eq!(world.away_annotation("system-kss"), "us-west-2a,us-west-2c");
    assert_eq!(world.pool("system-kss")["spec"]["limits"], system()["spec"]["limits"]);
    world.happens(END, "a", 30);
    assert_eq!(world.away_annotation("system-kss"), "us-west-2c");
}

#[test]
fn a_stand_in_of_an_older_tool_is_taken_over_and_a_stranger_is_not() {
    let mut older = auto_mode_pool("system-kss", &[zones("In", &["b"])]);
    older["metadata"]["annotations"][AWAY_ZONES] = json!("usw2-az1");
    let stranger = auto_mode_pool("general-purpose-kss", &[zones("In", &["a", "b"])]);
    let mut world = World::new(built_in().into_iter().chain([older, stranger.clone()]));
    world.happens(START, "a", 10);
    assert_eq!(world.pool("system-kss")["metadata"]["labels"][COPY_OF], "system");
    assert_eq!(*world.requirements("general-purpose-kss"), json!([zones("In", &["b"])]));
    assert_eq!(world.skips(), [("general-purpose", SkipReason::CopyNameTaken)]);
    world.happens(END, "a", 20);
    assert_eq!(world.pools, [built_in(), vec![stranger]].concat());
}

#[test]
fn a_stand_in_goes_with_the_pool_it_stands_in_for() {
    let mut world = World::new(built_in());
    world.happens(START, "a", 10);
    world.pools.retain(|pool| pool["metadata"]["name"] != "system");
    world.settle();
    let names: Vec<_> = world.pools.iter().map(|p| p["metadata"]["name"].clone()).collect();
    assert_eq!(names, ["general-purpose", "general-purpose-kss"]);
}

#[test]
fn nodes_of_built_in_pools_are_emptied_once_the_stand_in_is_there() {
    let mut world = World::new(built_in());
    world.nodes = vec![
        node("here", "a", "system"),
        node("there", "b", "system"),
        node("custom", "a", "web"),
        json!({"metadata": {"name": "bare", "labels": {"topology.k8s.aws/zone-id": "usw2-az1"}}}),
    ];
    world.now = at(10);
    world.deliver(&message(START, "a", 10));
    let plan = world.plan();
    assert!(plan.steps.iter().all(|step| matches!(step, Step::Copy(CopyEdit::Create { .. }))));
    world.settle();
    let ours = json!([{"key": AWAY_ZONE_TAINT, "value": "us-west-2a", "effect": "NoExecute"}]);
    assert_eq!(taints(&world, "here"), ours);
    for untouched in ["there", "custom", "bare"] {
        assert_eq!(taints(&world, untouched), json!(null), "{untouched}");
    }
    let other = json!({"key": "x", "effect": "NoSchedule"});
    world.node_mut("here")["spec"]["taints"].as_array_mut().unwrap().insert(0, other.clone());
    world.happens(END, "a", 20);
    assert_eq!(taints(&world, "here"), json!([other]));
}

#[test]
fn nodes_are_not_emptied_when_that_is_switched_off() {
    for (taint_away_nodes, do_not_disrupt) in [(false, false), (true, true)] {
        let mut world = World::new(built_in());
        world.nodes = vec![node("here", "a", "system")];
        world.options.taint_away_nodes = taint_away_nodes;
        world.options.do_not_disrupt = do_not_disrupt;
        world.happens(START, "a", 10);
        assert_eq!(taints(&world, "here"), json!(null));
    }
}

#[test]
fn a_retired_stand_in_takes_no_more_nodes_and_goes_when_the_last_is_gone() {
    let mut world = World::new([system()]);
    world.options.auto_mode_revert = AutoModeRevert::Retire;
    world.happens(START, "a", 10);
    world.nodes = vec![node("new", "b", "system-kss")];
    world.happens(END, "a", 20);
    assert_eq!(world.pool("system-kss")["spec"]["limits"], json!({"cpu": "0", "memory": "0"}));
    let mut again = world.clone();
    again.happens(START, "a", 30);
    assert_eq!(again.pool("system-kss")["spec"]["limits"], system()["spec"]["limits"]);
    world.nodes.clear();
    world.settle();
    assert_eq!(world.pools, [system()]);
}

#[test]
fn no_stand_in_is_made_where_it_would_have_no_zone() {
    let mut world = World::new([auto_mode_pool("system", &[zones("In", &["a"])])]);
    world.nodes = vec![node("here", "a", "system")];
    world.happens(START, "a", 10);
    assert_eq!(world.pools.len(), 1);
    assert_eq!(world.skips(), [("system", SkipReason::WouldEmpty)]);
    assert_eq!(taints(&world, "here"), json!(null));
}
