//! What changes the hash of a node class, and what does not.

use kerf_api::ec2_node_class::EC2NodeClassSpec;
use serde_json::{Value, json};

use super::*;
use crate::provider::KubernetesVersion;

fn cluster(ca_bundle: &str) -> Cluster {
    Cluster {
        name: "c1".to_owned(),
        region: "eu-west-1".to_owned(),
        endpoint: "https://example".to_owned(),
        ca_bundle: ca_bundle.to_owned(),
        version: KubernetesVersion { major: 1, minor: 36 },
        service_cidr: None,
        dns_ip: None,
    }
}

/// A class that says something everywhere.
fn full() -> Value {
    json!({
        "amiFamily": "AL2023",
        "amiSelectorTerms": [{ "alias": "al2023@latest" }],
        "associatePublicIPAddress": true,
        "blockDeviceMappings": [
            { "deviceName": "/dev/xvda", "rootVolume": true, "ebs": {
                "deleteOnTermination": true, "encrypted": true, "iops": 3000, "throughput": 125,
                "kmsKeyID": "k", "snapshotID": "snap-1", "volumeSize": "20Gi", "volumeType": "gp3",
                "volumeInitializationRate": 100 } },
            { "deviceName": "/dev/xvdb", "ebs": { "volumeSize": "1Gi" } },
        ],
        "capacityReservationSelectorTerms": [{ "id": "cr-1" }],
        "connectionTracking": { "tcpEstablishedTimeout": 60, "udpStreamTimeout": 60, "udpTimeout": 30 },
        "context": "c",
        "cpuOptions": { "nestedVirtualization": "enabled" },
        "detailedMonitoring": true,
        "instanceStorePolicy": "RAID0",
        "ipPrefixCount": 1,
        "kubelet": { "maxPods": 29, "clusterDNS": ["10.0.0.10", "10.0.0.11"], "podsPerCore": 0 },
        "metadataOptions": { "httpEndpoint": "enabled", "httpTokens": "required",
            "httpProtocolIPv6": "disabled", "httpPutResponseHopLimit": 1 },
        "networkInterfaces": [
            { "networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface" },
            { "networkCardIndex": 1, "deviceIndex": 1, "interfaceType": "efa-only" },
        ],
        "placementGroupSelector": { "name": "g" },
        "role": "r",
        "securityGroupSelectorTerms": [{ "id": "sg-1" }],
        "subnetSelectorTerms": [{ "id": "subnet-1" }],
        "tags": { "a": "1", "b": "2" },
        "userData": "u",
    })
}

fn hash(spec: Value) -> String {
    of(&serde_json::from_value::<EC2NodeClassSpec>(spec).expect("a spec"), &cluster("ca"))
}

/// The full class with one value changed.
fn with(pointer: &str, value: Value) -> Value {
    let mut spec = full();
    match spec.pointer_mut(pointer) {
        Some(place) => *place = value,
        None => {
            let (parent, name) = pointer.rsplit_once('/').expect("a path");
            spec.pointer_mut(parent).expect(parent)[name] = value;
        }
    }
    spec
}

#[test]
fn every_field_that_instances_are_made_of_counts() {
    let changes = [
        ("/amiFamily", json!("Custom")),
        ("/associatePublicIPAddress", json!(false)),
        ("/associatePublicIPAddress", Value::Null),
        ("/blockDeviceMappings/0/deviceName", json!("/dev/x")),
        ("/blockDeviceMappings/0/rootVolume", json!(false)),
        ("/blockDeviceMappings/0/ebs/deleteOnTermination", json!(false)),
        ("/blockDeviceMappings/0/ebs/deleteOnTermination", Value::Null),
        ("/blockDeviceMappings/0/ebs/encrypted", json!(false)),
        ("/blockDeviceMappings/0/ebs/iops", json!(4000)),
        ("/blockDeviceMappings/0/ebs/throughput", json!(0)),
        ("/blockDeviceMappings/0/ebs/kmsKeyID", json!("l")),
        ("/blockDeviceMappings/0/ebs/snapshotID", json!("snap-2")),
        ("/blockDeviceMappings/0/ebs/volumeSize", json!("21Gi")),
        ("/blockDeviceMappings/0/ebs/volumeType", json!("gp2")),
        ("/blockDeviceMappings/0/ebs/volumeInitializationRate", json!(200)),
        ("/connectionTracking/tcpEstablishedTimeout", json!(61)),
        ("/connectionTracking/udpStreamTimeout", json!(61)),
        ("/connectionTracking/udpTimeout", json!(31)),
        ("/context", json!("d")),
        ("/cpuOptions/nestedVirtualization", json!("disabled")),
        ("/detailedMonitoring", json!(false)),
        ("/instanceStorePolicy", Value::Null),
        ("/kubelet/maxPods", json!(30)),
        ("/kubelet/podsPerCore", Value::Null),
        ("/kubelet/clusterDNS", json!(["10.0.0.11", "10.0.0.10"])),
        ("/kubelet/anythingElse", json!(true)),
        ("/metadataOptions/httpEndpoint", json!("disabled")),
        ("/metadataOptions/httpTokens", json!("optional")),
        ("/metadataOptions/httpProtocolIPv6", json!("enabled")),
        ("/metadataOptions/httpPutResponseHopLimit", json!(2)),
        ("/networkInterfaces/1/networkCardIndex", json!(2)),
        ("/networkInterfaces/1/deviceIndex", json!(2)),
        ("/networkInterfaces/1/interfaceType", json!("interface")),
        ("/placementGroupSelector/name", json!("h")),
        ("/role", json!("s")),
        ("/instanceProfile", json!("p")),
        ("/tags/a", json!("2")),
        ("/tags/c", json!("")),
        ("/userData", json!("v")),
    ];
    let mut seen = vec![hash(full())];
    for (pointer, value) in changes {
        let changed = hash(with(pointer, value.clone()));
        assert!(!seen.contains(&changed), "{pointer} = {value} changes nothing");
        seen.push(changed);
    }
    let spec = serde_json::from_value(full()).unwrap();
    assert_ne!(of(&spec, &cluster("ca")), of(&spec, &cluster("another")));
}

#[test]
fn what_a_class_selects_does_not_count() {
    for (pointer, value) in [
        ("/subnetSelectorTerms", json!([{ "id": "subnet-2" }])),
        ("/securityGroupSelectorTerms", json!([{ "name": "x" }])),
        ("/capacityReservationSelectorTerms", json!([{ "id": "cr-2" }])),
        ("/amiSelectorTerms", json!([{ "alias": "al2023@v20260101" }])),
        ("/ipPrefixCount", json!(2)),
    ] {
        assert_eq!(hash(with(pointer, value)), hash(full()), "{pointer}");
    }
}

#[test]
fn the_family_of_the_alias_counts_as_if_it_were_written() {
    assert_eq!(hash(with("/amiFamily", Value::Null)), hash(full()));
    let mut other = with("/amiFamily", Value::Null);
    other["amiSelectorTerms"] = json!([{ "alias": "al2@latest" }]);
    assert_ne!(hash(other), hash(full()));
}

#[test]
fn the_order_of_lists_makes_no_difference() {
    for list in ["blockDeviceMappings", "networkInterfaces"] {
        let mut spec = full();
        spec[list].as_array_mut().unwrap().reverse();
        assert_eq!(hash(spec), hash(full()), "{list}");
    }
}

#[test]
fn zero_values_count_for_nothing() {
    let least = json!({
        "amiSelectorTerms": [{ "alias": "al2023@latest" }],
        "securityGroupSelectorTerms": [], "subnetSelectorTerms": [],
    });
    for (field, zero) in [
        ("blockDeviceMappings", json!([])),
        ("connectionTracking", json!({})),
        ("context", json!("")),
        ("cpuOptions", json!({})),
        ("detailedMonitoring", json!(false)),
        ("kubelet", json!({})),
        ("metadataOptions", json!({})),
        ("networkInterfaces", json!([])),
        ("placementGroupSelector", json!({})),
        ("tags", json!({})),
        ("userData", json!("")),
    ] {
        let mut spec = least.clone();
        spec[field] = zero;
        assert_eq!(hash(spec), hash(least.clone()), "{field}");
    }
}

#[test]
fn the_hash_of_a_class_is_the_same_in_every_version_with_this_name() {
    assert_eq!((VERSION, hash(full()).as_str()), ("kerf-v1", "17794480699531135429"));
}
