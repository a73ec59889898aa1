//! What a claim learns of its instance.

use std::sync::Arc;

use kerf_engine::observed::{Meta, NodeClass};
use kerf_model::quantity::Quantity;
use serde_json::json;

use super::super::candidate::ReservationKind;
use super::super::capacity_type::Purchase;
use super::super::fixtures::{any_of, instance_type, launch, launched, offering, reserved};
use super::*;

fn label(instance: &Instance, key: &str) -> String {
    instance.labels.get(key).cloned().unwrap_or_else(|| "-".to_owned())
}

#[test]
fn an_instance_has_the_labels_of_its_type_and_of_how_it_was_bought() {
    let mut sold = instance_type("m5.large", vec![offering("on-demand a 9"), offering("spot a 3")]);
    sold.add_requirement(any_of(ZONE, &["a", "b"]));
    sold.add_requirement(any_of(CAPACITY_TYPE, &["on-demand", "spot"]));
    sold.add_requirement(any_of(CAPACITY_RESERVATION_TYPE, &["default"]));
    let instance = instance(&launch(Vec::new()), &[sold], &launched("i-1"));
    assert_eq!(&*instance.provider_id, "aws:///a/i-1");
    assert_eq!(instance.claim.as_deref(), Some("general-x7k2p"));
    assert_eq!(instance.image_id.as_deref(), Some("ami-1"));
    assert_eq!(label(&instance, INSTANCE_TYPE), "m5.large");
    assert_eq!(label(&instance, "karpenter.k8s.aws/instance-family"), "m5");
    assert_eq!(label(&instance, ZONE), "a");
    assert_eq!(label(&instance, CAPACITY_TYPE), "on-demand");
    assert_eq!(label(&instance, INSTANCE_TENANCY), "default");
    assert_eq!(label(&instance, CAPACITY_RESERVATION_TYPE), "-", "it runs in none");
    assert_eq!(label(&instance, PLACEMENT_GROUP_PARTITION), "-");
    assert_eq!(instance.capacity.quantity("cpu"), Quantity::from_int(4));
    assert_eq!(instance.allocatable.quantity("cpu"), Quantity::from_int(4));
}

#[test]
fn a_reserved_instance_names_its_reservation() {
    let ways = vec![reserved("cr-1 default a 1 5"), reserved("cr-2 interruptible a 1 5")];
    let sold = instance_type("m5.large", ways);
    let launched = Launched {
        purchase: Purchase::Reserved(ReservationKind::Interruptible),
        reservation: Some("cr-2".to_owned()),
        ..launched("i-1")
    };
    let instance = instance(&launch(Vec::new()), &[sold], &launched);
    assert_eq!(label(&instance, CAPACITY_TYPE), "reserved");
    assert_eq!(label(&instance, CAPACITY_RESERVATION_ID), "cr-2");
    assert_eq!(label(&instance, CAPACITY_RESERVATION_INTERRUPTIBLE), "true");
}

#[test]
fn a_partition_is_the_one_asked_for_or_to_be_told() {
    let mut sold = instance_type("m5.large", vec![offering("on-demand a 9")]);
    sold.add_requirement(any_of(PLACEMENT_GROUP_PARTITION, &["1", "2", "3"]));
    let types = [sold];
    let partition = |partition| {
        let launched = Launched { partition, ..launched("i-1") };
        label(&instance(&launch(Vec::new()), &types, &launched), PLACEMENT_GROUP_PARTITION)
    };
    assert_eq!(partition(Some(2)), "2");
    assert_eq!(partition(None), "", "registration waits until EC2 tells");
}

#[test]
fn a_type_that_is_no_longer_offered_leaves_the_instance_as_it_is() {
    let instance = instance(&launch(Vec::new()), &[], &launched("i-1"));
    assert_eq!(label(&instance, INSTANCE_TYPE), "m5.large");
    assert!(instance.capacity.is_empty());
}

#[test]
fn the_claim_carries_the_hash_and_the_profile_of_its_class() {
    let mut launch = launch(Vec::new());
    let claim = &launch.claim;
    let meta = Meta { name: Arc::from("default"), ..claim.meta.clone() };
    let mut class = NodeClass::new(meta, claim.spec.node.node_class.clone());
    let stored = [("karpenter.k8s.aws/ec2nodeclass-hash", "7"), ("karpenter.k8s.aws/other", "x")];
    class.annotations = stored.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    class.status.resolved = Arc::new(json!({ "instanceProfile": "profile-1" }));
    launch.node_class = Some(Arc::new(class));
    let instance = instance(&launch, &[], &launched("i-1"));
    let annotations: Vec<String> =
        instance.annotations.iter().map(|(key, value)| format!("{key}={value}")).collect();
    assert_eq!(
        annotations,
        [
            "karpenter.k8s.aws/ec2nodeclass-hash=7",
            "karpenter.k8s.aws/instance-profile-name=profile-1",
        ]
    );
}
