//! Offering mode, and where the cluster's subnets are.

use std::collections::BTreeSet;

use kerf_notices::zonal_shift::*;
use serde_json::{Value, json};

use crate::world::*;

fn shift(letter: &str, applied: &str, expiry: Option<i64>) -> Value {
    let mut item = json!({
        "awayFrom": zone_id(letter).as_str(), "startTime": at(0).seconds(), "appliedStatus": applied,
    });
    if let Some(expiry) = expiry {
        item["expiryTime"] = json!(at(expiry).seconds());
    }
    item
}

fn resource(shifts: &[Value], autoshifts: &[Value]) -> Value {
    json!({"arn": "arn:aws:eks:…", "zonalShifts": shifts, "autoshifts": autoshifts})
}

fn shifted(mode: &OfferingMode, seconds: i64) -> Vec<String> {
    mode.shifted(at(seconds)).map(|(zone, _)| zone.to_string()).collect()
}

#[test]
fn zones_with_an_applied_shift_that_has_not_expired_are_unavailable() {
    let mut mode = OfferingMode::default();
    let reply = resource(
        &[
            shift("a", "APPLIED", Some(100)),
            shift("b", "NOT_APPLIED", Some(100)),
            shift("c", "APPLIED", Some(5)),
        ],
        &[shift("d", "APPLIED", None)],
    );
    let change = mode.read(&reply, at(10)).unwrap();
    assert_eq!(shifted(&mode, 10), ["usw2-az1", "usw2-az4"]);
    assert_eq!(change.shifted.len(), 2);
    assert!(mode.is_shifted(&zone_id("a"), at(99)));
    assert!(!mode.is_shifted(&zone_id("a"), at(100)), "it expired between two reads");
    assert_eq!(mode.read(&reply, at(40)).unwrap(), OfferingChange::default());
}

#[test]
fn of_two_shifts_the_one_that_ended_does_not_linger() {
    let mut mode = OfferingMode::default();
    let both = [shift("a", "APPLIED", None), shift("b", "APPLIED", None)];
    mode.read(&resource(&both, &[]), at(10)).unwrap();
    let change = mode.read(&resource(&both[1..], &[]), at(40)).unwrap();
    assert_eq!(shifted(&mode, 40), ["usw2-az2"]);
    assert_eq!(change.cleared, BTreeSet::from([zone_id("a")]));
}

#[test]
fn two_shifts_of_one_zone_last_as_long_as_the_longer() {
    let mut mode = OfferingMode::default();
    let two = [shift("a", "APPLIED", Some(50)), shift("a", "APPLIED", Some(90))];
    mode.read(&resource(&two, &[]), at(10)).unwrap();
    assert!(mode.is_shifted(&zone_id("a"), at(89)));
    mode.read(&resource(&two, &[shift("a", "APPLIED", None)]), at(10)).unwrap();
    assert!(mode.is_shifted(&zone_id("a"), at(1_000_000)));
}

#[test]
fn an_answer_that_is_none_keeps_the_last() {
    let mut mode = OfferingMode::default();
    mode.read(&resource(&[shift("a", "APPLIED", None)], &[]), at(10)).unwrap();
    for odd in [json!(null), json!({}), json!({"message": "throttled"}), json!({"zonalShifts": 1})]
    {
        assert_eq!(mode.read(&odd, at(40)), Err(NotAManagedResource));
        assert_eq!(shifted(&mode, 40), ["usw2-az1"]);
    }
}

#[test]
fn a_zone_that_several_shifts_avoid_is_named_after_the_one_that_takes_precedence() {
    let mut mode = OfferingMode::default();
    let typed = |kind: &str, start: i64| {
        let mut item = shift("a", "APPLIED", Some(500));
        item["shiftType"] = json!(kind);
        item["startTime"] = json!(at(start).seconds());
        item
    };
    let all = [typed("PRACTICE_RUN", 3), typed("ZONAL_SHIFT", 7), typed("FIS_EXPERIMENT", 5)];
    for (listed, autoshifts, origin, since) in [
        (&all[..], 0, Origin::Manual, 3),
        (&all[..1], 0, Origin::Practice, 3),
        (&all[2..], 0, Origin::Fis, 5),
        (&all[..1], 1, Origin::Autoshift, 0),
    ] {
        let autoshift = [shift("a", "APPLIED", None)];
        mode.read(&resource(listed, &autoshift[..autoshifts]), at(10)).unwrap();
        let (zone, applied) = mode.shifted(at(10)).next().unwrap();
        assert_eq!((zone, applied.origin, applied.since), (&zone_id("a"), origin, at(since)));
    }
}

fn subnet(letter: &str, vpc: &str, tags: &[(&str, &str)]) -> Subnet {
    Subnet {
        vpc_id: vpc.to_owned(),
        zone: ZoneName::new(&zone(letter)),
        is_available: letter != "d",
        tags: tags.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
    }
}

#[test]
fn subnets_are_found_by_the_tags_of_the_cluster_in_its_network() {
    let ours = [
        subnet("a", "vpc-1", &[("karpenter.sh/discovery", "prod")]),
        subnet("b", "vpc-1", &[("karpenter.sh/discovery", "other")]),
        subnet("c", "vpc-2", &[("karpenter.sh/discovery", "prod")]),
    ];
    assert_eq!(subnet_zones(&ours, "prod", "vpc-1", false), names(&["a"]));
    assert_eq!(subnet_zones(&ours, "prod", "vpc-3", false), names(&[]));
}

#[test]
fn auto_mode_looks_for_one_tag_after_the_other_and_then_takes_every_subnet() {
    let bare = [subnet("a", "vpc-1", &[]), subnet("d", "vpc-1", &[]), subnet("c", "vpc-2", &[])];
    assert_eq!(subnet_zones(&bare, "prod", "vpc-1", true), names(&["a"]));
    let second =
        [bare.to_vec(), vec![subnet("b", "vpc-1", &[("eks.amazonaws.com/cluster", "prod")])]];
    let second = second.concat();
    assert_eq!(subnet_zones(&second, "prod", "vpc-1", true), names(&["b"]));
    let first = vec![subnet("c", "vpc-1", &[("kubernetes.io/cluster/prod", "shared")])];
    assert_eq!(subnet_zones(&[second, first].concat(), "prod", "vpc-1", true), names(&["c"]));
}

#[test]
fn a_node_class_tells_its_zones_and_teaches_their_ids() {
    let class = json!({"status": {"subnets": [
        {"id": "subnet-1", "zone": "us-west-2a", "zoneID": "usw2-az1"},
        {"id": "subnet-2", "zone": "us-west-2b"}, {"zone": 7}, "nonsense",
    ]}});
    let mut table = ZoneTable::default();
    assert_eq!(node_class_zones(&class, &mut table), names(&["a", "b"]));
    assert_eq!(table, ZoneTable::new([("usw2-az1", "us-west-2a")]));
    assert_eq!(node_class_zones(&json!({}), &mut table), names(&[]));
}
