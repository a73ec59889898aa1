//! EC2NodeClass: no part of a manifest is lost.

use std::collections::BTreeSet;

use kerf_api::ec2_node_class::{EC2NodeClass, EC2NodeClassSpec, EC2NodeClassStatus};
use serde_json::{Value, json};

const CORPUS: &str = include_str!("corpus/ec2nodeclass.yaml");

fn corpus() -> Vec<Value> {
    serde_saphyr::from_multiple(CORPUS).expect("the corpus is YAML")
}

#[test]
fn every_class_the_api_server_accepts_comes_back_as_it_went_in() {
    let accepted: Vec<Value> = corpus()
        .into_iter()
        .filter(|class| class["metadata"]["annotations"]["kerf.test/expect"] == "accepted")
        .collect();
    assert!(accepted.len() > 100, "{}", accepted.len());
    for class in accepted {
        let read: EC2NodeClass = serde_json::from_value(class.clone())
            .unwrap_or_else(|error| panic!("{}: {error}", class["metadata"]["name"]));
        assert_eq!(serde_json::to_value(&read).expect("plain data"), class);
    }
}

#[test]
fn every_class_of_the_corpus_has_its_own_name_and_an_expectation() {
    let mut names = BTreeSet::new();
    for class in corpus() {
        let name = class["metadata"]["name"].as_str().expect("a name").to_owned();
        let expectation = class["metadata"]["annotations"]["kerf.test/expect"].as_str();
        let known = expectation.is_some_and(|expectation| {
            expectation == "accepted"
                || expectation.strip_prefix("rejected: ").is_some_and(|why| !why.is_empty())
        });
        assert!(known, "{name}: {expectation:?}");
        assert!(names.insert(name.clone()), "{name} is used twice");
    }
}

#[test]
fn a_class_with_every_field_comes_back_as_it_went_in() {
    let class = full_class();
    let read: EC2NodeClass = serde_json::from_value(class.clone()).expect("a valid class");
    assert_eq!(serde_json::to_value(&read).expect("plain data"), class);
}

/// Paired with the test above: a field the full class lacks would be lost unnoticed.
#[test]
fn the_full_class_uses_every_field_of_the_schema() {
    let crds = kerf_api::crds();
    let crd = crds.iter().find(|crd| crd.spec.names.kind == "EC2NodeClass").expect("served");
    let version = serde_json::to_value(&crd.spec.versions[0]).expect("plain data");
    let root = &version["schema"]["openAPIV3Schema"]["properties"];
    let class = full_class();
    let mut missing = Vec::new();
    for part in ["spec", "status"] {
        collect_unused(&root[part], &[&class[part]], part, &mut missing);
    }
    assert_eq!(missing, Vec::<String>::new());
}

fn collect_unused(schema: &Value, values: &[&Value], path: &str, missing: &mut Vec<String>) {
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        let inner: Vec<&Value> = values.iter().filter_map(|value| value.get(name)).collect();
        if inner.is_empty() {
            missing.push(path.clone());
        }
        let items: Vec<&Value> =
            inner.iter().filter_map(|value| value.as_array()).flatten().collect();
        collect_unused(field, &inner, &path, missing);
        collect_unused(&field["items"], &items, &path, missing);
    }
}

fn full_class() -> Value {
    json!({
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": { "name": "full" },
        "spec": full_spec(),
        "status": full_status(),
    })
}

fn full_spec() -> Value {
    json!({
        "amiFamily": "Custom",
        "amiSelectorTerms": [
            { "alias": "al2023@latest" },
            { "id": "ami-1" },
            { "name": "mine-*", "owner": "self", "tags": { "a": "*" } },
            { "ssmParameter": "/image" },
        ],
        "associatePublicIPAddress": false,
        "blockDeviceMappings": [{
            "deviceName": "/dev/xvda",
            "rootVolume": true,
            "ebs": {
                "deleteOnTermination": true,
                "encrypted": true,
                "iops": 3000,
                "kmsKeyID": "key",
                "snapshotID": "snap-1",
                "throughput": 125,
                "volumeInitializationRate": 200,
                "volumeSize": "100Gi",
                "volumeType": "gp3",
            },
        }],
        "capacityReservationSelectorTerms": [
            { "id": "cr-1" },
            { "instanceMatchCriteria": "targeted", "ownerID": "012345678901", "tags": {} },
        ],
        "connectionTracking": {
            "tcpEstablishedTimeout": 60, "udpStreamTimeout": 60, "udpTimeout": 30,
        },
        "context": "c",
        "cpuOptions": { "nestedVirtualization": "enabled" },
        "detailedMonitoring": true,
        "instanceProfile": "p",
        "instanceStorePolicy": "RAID0",
        "ipPrefixCount": 1,
        "kubelet": full_kubelet(),
        "metadataOptions": {
            "httpEndpoint": "enabled",
            "httpProtocolIPv6": "disabled",
            "httpPutResponseHopLimit": 2,
            "httpTokens": "optional",
        },
        "networkInterfaces": [
            { "deviceIndex": 0, "interfaceType": "interface", "networkCardIndex": 0 },
            { "deviceIndex": 1, "interfaceType": "efa-only", "networkCardIndex": 0 },
        ],
        "placementGroupSelector": { "id": "pg-1", "name": "n" },
        "role": "r",
        "securityGroupSelectorTerms": [{ "id": "sg-1", "name": "n", "tags": { "a": "b" } }],
        "subnetSelectorTerms": [{ "id": "subnet-1", "tags": { "a": "b" } }],
        "tags": { "team": "web" },
        "userData": "#!/bin/sh",
    })
}

fn full_kubelet() -> Value {
    json!({
        "clusterDNS": ["10.0.0.10"],
        "cpuCFSQuota": true,
        "evictionHard": { "memory.available": "5%" },
        "evictionMaxPodGracePeriod": 60,
        "evictionSoft": { "memory.available": "1Gi" },
        "evictionSoftGracePeriod": { "memory.available": "1m" },
        "imageGCHighThresholdPercent": 85,
        "imageGCLowThresholdPercent": 80,
        "kubeReserved": { "cpu": "100m" },
        "maxPods": "vcpus * 10",
        "podsPerCore": 10,
        "systemReserved": { "memory": "100Mi" },
        // Not mapped, and not even known to any kubelet: kept all the same.
        "memorySwap": { "swapBehavior": "LimitedSwap" },
        "memoryThrottlingFactor": 0.8,
        "podPidsLimit": 9_007_199_254_740_993_i64,
        "tomorrowsSetting": [null, { "deep": true }],
    })
}

fn full_status() -> Value {
    json!({
        "amis": [{
            "deprecated": false,
            "id": "ami-1",
            "name": "image",
            "requirements": [
                { "key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"] },
            ],
        }],
        "capacityReservations": [{
            "availabilityZone": "us-west-2a",
            "endTime": "2030-01-01T00:00:00Z",
            "id": "cr-1",
            "instanceMatchCriteria": "open",
            "instanceType": "p5.48xlarge",
            "interruptible": false,
            "ownerID": "012345678901",
            "reservationType": "capacity-block",
            "state": "expiring",
        }],
        "conditions": [{
            "lastTransitionTime": "2030-01-01T00:00:00Z",
            "message": "",
            "observedGeneration": 3,
            "reason": "Ready",
            "status": "True",
            "type": "Ready",
        }],
        "instanceProfile": "p",
        "securityGroups": [{ "id": "sg-1", "name": "nodes" }],
        "subnets": [{ "id": "subnet-1", "zone": "us-west-2a", "zoneID": "usw2-az1" }],
    })
}

#[test]
fn nothing_is_added_to_an_empty_status_or_the_smallest_spec() {
    let status: EC2NodeClassStatus = serde_json::from_value(json!({})).expect("valid");
    assert_eq!(serde_json::to_value(status).expect("plain data"), json!({}));
    let smallest = json!({
        "amiSelectorTerms": [{ "alias": "al2023@latest" }],
        "securityGroupSelectorTerms": [{ "id": "sg-1" }],
        "subnetSelectorTerms": [{ "id": "subnet-1" }],
        "role": "r",
    });
    let spec: EC2NodeClassSpec = serde_json::from_value(smallest.clone()).expect("valid");
    assert_eq!(serde_json::to_value(spec).expect("plain data"), smallest);
}
