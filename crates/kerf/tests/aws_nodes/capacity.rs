//! What cannot be had is bought otherwise.

use serde_json::json;

use crate::objects::{class, deployment, pool};
use crate::place::Place;

const TYPES: [&str; 2] = ["m5.large", "m5a.large"];
const ZONES: [&str; 2] = ["us-east-1a", "us-east-1b"];
const CAPACITY_TYPE: &str = "karpenter.sh/capacity-type";
const ZONE: &str = "topology.kubernetes.io/zone";
/// More than any test uses.
const ADDRESSES: u32 = 4_000;

#[test]
fn without_spot_capacity_instances_are_bought_on_demand() {
    let place = Place::open();
    let before = place.launched();
    place.aws.control("POST capacity", &json!({"capacity_type": "spot", "left": 0}));
    place.apply(&[class(), pool(&TYPES, &ZONES), deployment(2)]);
    place.wait("the pods run", || place.running() == 2);
    let bought: Vec<String> = place.node_labels(CAPACITY_TYPE).into_iter().collect();
    assert_eq!(bought, ["on-demand"]);
    let metric = "karpenter_cloudprovider_instance_type_offering_available";
    let line = format!(
        "{metric}{{capacity_type=\"spot\",instance_type=\"m5.large\",zone=\"us-east-1a\"}} 0"
    );
    assert!(place.metrics().contains(&line), "{line}");
    assert_eq!(place.launched() - before, 2, "nothing was launched twice");
    place.close();
}

#[test]
fn a_zone_without_capacity_or_addresses_is_left_for_another() {
    let place = Place::open();
    place.aws.control("POST capacity", &json!({"zone": "us-east-1a", "left": 0}));
    place.apply(&[class(), pool(&TYPES, &ZONES), deployment(1)]);
    place.wait("the pod runs", || place.running() == 1);
    let zones: Vec<String> = place.node_labels(ZONE).into_iter().collect();
    assert_eq!(zones, ["us-east-1b"], "no capacity in the other");

    place.aws.control("DELETE capacity", &json!({}));
    let subnet = place.made.subnets.iter().find(|subnet| subnet.zone == "us-east-1b").unwrap();
    let free = |count: u32| json!({"subnet_id": subnet.id, "free_addresses": count});
    place.aws.control("POST subnets", &free(0));
    place.apply(&[pool(&TYPES, &["us-east-1b", "us-east-1c"]), deployment(3)]);
    place.wait("the pods run", || place.running() == 3);
    let zones = place.node_labels(ZONE);
    assert!(zones.contains("us-east-1c"), "no addresses in the other: {zones:?}");
    place.aws.control("POST subnets", &free(ADDRESSES));
    place.close();
}
