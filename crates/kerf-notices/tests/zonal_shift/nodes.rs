//! The do-not-disrupt option: what runs in the zone runs on.

use kerf_notices::zonal_shift::*;
use serde_json::{Value, json};

use crate::world::*;

const START: &str = "Autoshift In Progress";
const END: &str = "Autoshift Completed";
const DO_NOT_DISRUPT: &str = "karpenter.sh/do-not-disrupt";

fn world(nodes: impl IntoIterator<Item = Value>) -> World {
    let mut world = World::new([pool("web", &[zones("In", &["a", "b", "c"])])]);
    world.nodes = nodes.into_iter().collect();
    world.options.do_not_disrupt = true;
    world
}

fn cordoned(mut node: Value) -> Value {
    node["spec"]["unschedulable"] = json!(true);
    node
}

fn annotated(mut node: Value) -> Value {
    node["metadata"]["annotations"] = json!({DO_NOT_DISRUPT: "true"});
    node
}

#[test]
fn nodes_in_the_zone_are_annotated_and_cordoned_before_pools_change() {
    let mut world = world([node("here", "a", "web"), node("there", "b", "web")]);
    world.now = at(10);
    world.deliver(&message(START, "a", 10));
    let plan = world.plan();
    let [Step::Node(protect), Step::Pool(_)] = &plan.steps[..] else {
        panic!("a node, then a pool, not {:?}", plan.steps)
    };
    assert_eq!(protect.node, "here");
    world.settle();
    let here = &world.nodes[0];
    assert_eq!(here["spec"]["unschedulable"], true);
    assert_eq!(
        here["metadata"]["annotations"],
        json!({DO_NOT_DISRUPT: "true", PROTECTED: "annotation,cordon"})
    );
    assert_eq!(world.nodes[1], node("there", "b", "web"));
}

#[test]
fn a16_what_others_annotated_or_cordoned_stays_so() {
    let before = [
        node("plain", "a", "web"),
        cordoned(node("cordoned", "a", "web")),
        annotated(node("annotated", "a", "web")),
        cordoned(annotated(node("both", "a", "web"))),
    ];
    let mut world = world(before.clone());
    world.happens(START, "a", 10);
    for node in &world.nodes {
        assert_eq!(node["spec"]["unschedulable"], true);
        assert_eq!(node["metadata"]["annotations"][DO_NOT_DISRUPT], "true");
    }
    assert_eq!(world.nodes[3], before[3], "there was nothing to add");
    world.happens(END, "a", 20);
    for (before, after) in before.iter().zip(&world.nodes) {
        assert_eq!(before["spec"], after["spec"]);
        let left = after["metadata"]["annotations"].as_object();
        let had = before["metadata"]["annotations"].as_object();
        let none = serde_json::Map::new();
        assert_eq!(had.unwrap_or(&none), left.unwrap_or(&none));
    }
}

#[test]
fn on_the_way_back_pools_come_before_nodes() {
    let mut world = world([node("here", "a", "web")]);
    world.happens(START, "a", 10);
    world.now = at(20);
    world.deliver(&message(END, "a", 20));
    let steps = world.plan().steps;
    assert!(matches!(&steps[..], [Step::Pool(_), Step::Node(_)]), "{steps:?}");
}

#[test]
fn nodes_that_belong_to_no_pool_are_left_alone() {
    let mut bare = node("bare", "a", "web");
    bare["metadata"]["labels"].as_object_mut().unwrap().remove("karpenter.sh/nodepool");
    let mut world = world([bare.clone()]);
    world.happens(START, "a", 10);
    assert_eq!(world.nodes, [bare]);
}

#[test]
fn what_somebody_lifts_during_the_shift_is_not_forced_again() {
    let mut world = world([node("here", "a", "web")]);
    world.happens(START, "a", 10);
    world.node_mut("here")["spec"]["unschedulable"] = json!(false);
    world.settle();
    assert_eq!(world.nodes[0]["spec"]["unschedulable"], false);
    world.happens(END, "a", 20);
    assert_eq!(world.nodes[0]["spec"]["unschedulable"], false);
    assert_eq!(world.nodes[0]["metadata"]["annotations"], json!({}));
}

#[test]
fn without_a_zone_left_to_go_to_no_node_is_cordoned() {
    let mut world = world([node("here", "a", "web")]);
    world.used_zones = names(&["a"]);
    world.happens(START, "a", 10);
    assert_eq!(world.nodes, [node("here", "a", "web")]);
}

#[test]
fn protection_is_taken_back_when_the_option_is_switched_off() {
    let mut world = world([node("here", "a", "web")]);
    world.happens(START, "a", 10);
    world.options.do_not_disrupt = false;
    world.settle();
    assert_eq!(world.nodes[0]["spec"], node("here", "a", "web")["spec"]);
}

#[test]
fn a_node_is_protected_in_one_write() {
    let mut world = world([node("here", "a", "web")]);
    world.deliver(&message(START, "a", 0));
    let steps = world.plan().steps;
    let Step::Node(edit) = &steps[0] else { panic!("a node first, not {steps:?}") };
    let annotations = [(DO_NOT_DISRUPT, "true"), (PROTECTED, "annotation,cordon")];
    let annotations = annotations.map(|(key, value)| (key.to_owned(), Some(value.to_owned())));
    assert_eq!(edit.annotations, annotations.into());
    assert_eq!((edit.unschedulable, &edit.taints), (Some(true), &None));
}
