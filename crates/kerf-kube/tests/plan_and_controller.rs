//! The same objects, from files and from watches, pose the same placement problem.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use kerf_api::kwok_node_class::KWOKNodeClass;
use kerf_engine::action::ActionKind;
use kerf_engine::event::Event;
use kerf_engine::provider::{NodeClassKind, ProviderInfo};
use kerf_engine::time::Time;
use kerf_engine::{Engine, Settings};
use kerf_kube::{Change, Manifests, Observer, SchedulerConfig, Sourced, WatchUpdate};
use kerf_model::instance_type::{InstanceType, Offering};
use kerf_model::price::Price;
use kerf_model::quantity::Quantity;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::resources::ResourceList;
use kube::api::ApiResource;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const NOW: &str = "2026-01-01T00:10:00Z";
const ZONE: &str = "topology.kubernetes.io/zone";
const CLASS: (&str, &str) = ("karpenter.kwok.sh", "KWOKNodeClass");

fn now() -> Time {
    Time::from_millis(NOW.parse::<jiff::Timestamp>().unwrap().as_millisecond())
}

fn settings() -> Settings {
    let (group, kind) = CLASS;
    let kind = NodeClassKind::named(group, kind);
    Settings { provider: ProviderInfo::with_node_classes([kind]), ..Settings::default() }
}

fn scheduler_config() -> SchedulerConfig {
    SchedulerConfig::from_value(json!({ "podTopologySpread": { "defaultConstraints": [
        { "maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule" },
    ]}}))
    .unwrap()
}

/// Two sizes in two zones.
fn instance_types() -> Arc<[InstanceType]> {
    let one_of = |key: &str, values: &[&str]| RequirementEntry {
        key: key.to_owned(),
        operator: Operator::In,
        values: values.iter().map(|value| (*value).to_owned()).collect(),
        min_values: None,
    };
    let offering = |zone: &str, dollars: &str| Offering {
        price: Price::parse(dollars).unwrap(),
        requirements: vec![
            one_of(ZONE, &[zone]),
            one_of("karpenter.sh/capacity-type", &["on-demand"]),
        ]
        .into(),
        available: true,
        reservation: None,
        capacity_override: ResourceList::new(),
        overhead_override: None,
    };
    let instance_type = |name: &str, cpus: i64, dollars: &str| InstanceType {
        name: name.to_owned(),
        requirements: [
            one_of("node.kubernetes.io/instance-type", &[name]),
            one_of(ZONE, &["a", "b"]),
            one_of("karpenter.sh/capacity-type", &["on-demand"]),
        ]
        .into(),
        capacity: Arc::new(ResourceList::from_iter([
            ("cpu", Quantity::from_int(cpus)),
            ("pods", Quantity::from_int(20)),
        ])),
        overhead: Arc::default(),
        offerings: [offering("a", dollars), offering("b", dollars)].into(),
    };
    vec![instance_type("small", 2, "0.1"), instance_type("large", 8, "0.4")].into()
}

/// Metadata as an API server stores it.
fn stored(name: &str, more: Value) -> Value {
    let mut metadata = json!({
        "name": name, "uid": format!("uid-{name}"), "resourceVersion": "7", "generation": 1,
        "creationTimestamp": "2026-01-01T00:09:58Z",
    });
    let fields = more.as_object().cloned().unwrap_or_default();
    metadata.as_object_mut().unwrap().extend(fields);
    metadata
}

fn pod(name: &str, more: Value, spec: Value) -> Value {
    let mut metadata = stored(name, more);
    metadata["namespace"] = json!("default");
    let mut whole = json!({ "containers": [
        { "name": "main", "resources": { "requests": { "cpu": "500m" } } },
    ]});
    whole.as_object_mut().unwrap().extend(spec.as_object().cloned().unwrap_or_default());
    let status = match whole.get("nodeName") {
        Some(_) => json!({ "phase": "Running" }),
        None => json!({ "phase": "Pending", "conditions": [{
            "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
            "lastTransitionTime": "2026-01-01T00:09:59Z",
        }]}),
    };
    json!({ "metadata": metadata, "spec": whole, "status": status })
}

fn owned_by(api_version: &str, kind: &str, name: &str) -> Value {
    json!([{ "apiVersion": api_version, "kind": kind, "name": name,
        "uid": format!("uid-{name}"), "controller": true }])
}

fn claim(name: &str, status: Value) -> Value {
    let mut labels = json!({ "karpenter.sh/nodepool": "web" });
    if status.get("providerID").is_some() {
        labels["node.kubernetes.io/instance-type"] = json!("small");
    }
    let finalizers = ["karpenter.sh/termination"];
    json!({
        "metadata": stored(name, json!({ "labels": labels, "finalizers": finalizers })),
        "spec": {
            "nodeClassRef": { "group": CLASS.0, "kind": CLASS.1, "name": "default" },
            "requirements": [
                { "key": "node.kubernetes.io/instance-type", "operator": "In",
                  "values": ["small", "large"] },
                { "key": ZONE, "operator": "In", "values": ["a"] },
            ],
            "resources": { "requests": { "cpu": "1" } },
            "expireAfter": "Never",
        },
        "status": status,
    })
}

fn launched(name: &str) -> Value {
    json!({
        "providerID": format!("kwok://{name}"),
        "capacity": { "cpu": "2", "pods": "20" },
        "allocatable": { "cpu": "2", "pods": "20" },
    })
}

fn node(name: &str, more: Value) -> Value {
    json!({
        "metadata": stored(name, more),
        "spec": { "providerID": format!("kwok://{name}") },
        "status": {
            "capacity": { "cpu": "2", "pods": "20" }, "allocatable": { "cpu": "2", "pods": "20" },
            "conditions": [{ "type": "Ready", "status": "True" }],
        },
    })
}

/// Every object, as kind and value. Pods come last, so that what they depend on is known.
fn objects() -> Vec<(&'static str, Value)> {
    let up = json!({ "labels": {
        "karpenter.sh/nodepool": "web", "karpenter.sh/registered": "true",
        "karpenter.sh/initialized": "true", "node.kubernetes.io/instance-type": "small",
        ZONE: "a",
    }});
    let leaving = json!({ "deletionTimestamp": "2026-01-01T00:09:59Z", "finalizers": ["x/y"] });
    let data = json!({ "volumes": [
        { "name": "data", "persistentVolumeClaim": { "claimName": "data" } },
    ]});
    let gone = json!({ "volumes": [
        { "name": "data", "persistentVolumeClaim": { "claimName": "gone" } },
    ]});
    let web = json!({ "labels": { "app": "web" },
        "ownerReferences": owned_by("apps/v1", "ReplicaSet", "web") });
    let agent = json!({ "ownerReferences": owned_by("apps/v1", "DaemonSet", "agent") });
    let db = json!({ "labels": { "app": "db" } });
    let selector = json!({ "matchLabels": { "app": "web" } });
    vec![
        ("Namespace", json!({ "metadata": stored("default", json!({ "labels": { "a": "b" } })) })),
        ("NodePool", pool()),
        ("Node", node("up", up)),
        ("NodeClaim", claim("up", launched("up"))),
        ("Node", node("leaving", leaving)),
        // Its own labels and taints do not count before it is registered.
        ("Node", node("joining", json!({ "labels": { ZONE: "b" } }))),
        ("NodeClaim", claim("joining", launched("joining"))),
        ("NodeClaim", claim("launched", launched("launched"))),
        ("NodeClaim", claim("unlaunched", json!({}))),
        (
            "DaemonSet",
            json!({ "metadata": stored("agent", json!({ "namespace": "default" })),
            "spec": { "selector": {}, "template": { "spec": { "containers": [
                { "name": "main", "resources": { "requests": { "cpu": "100m" } } },
            ]}}}}),
        ),
        (
            "ReplicaSet",
            json!({ "metadata": stored("web", json!({ "namespace": "default" })),
            "spec": { "replicas": 3, "selector": selector } }),
        ),
        (
            "PodDisruptionBudget",
            json!({ "metadata": stored("db", json!({ "namespace": "default" })),
            "spec": { "maxUnavailable": 0, "selector": { "matchLabels": { "app": "db" } } } }),
        ),
        (
            "StorageClass",
            json!({ "metadata": stored("lazy", json!({})),
            "provisioner": "ebs.csi.aws.com", "volumeBindingMode": "WaitForFirstConsumer",
            "allowedTopologies": [{ "matchLabelExpressions": [{ "key": ZONE, "values": ["b"] }] }] }),
        ),
        (
            "PersistentVolumeClaim",
            json!({ "metadata": stored("data", json!({ "namespace": "default" })),
            "spec": { "storageClassName": "lazy" } }),
        ),
        (
            "CSINode",
            json!({ "metadata": stored("up", json!({})), "spec": { "drivers": [
                { "name": "ebs.csi.aws.com", "nodeID": "up", "allocatable": { "count": 3 } },
            ]}}),
        ),
        ("Pod", pod("agent-up", agent, json!({ "nodeName": "up" }))),
        ("Pod", pod("web-0", web.clone(), json!({ "nodeName": "up" }))),
        ("Pod", pod("web-1", web.clone(), json!({}))),
        ("Pod", pod("web-2", web, json!({}))),
        ("Pod", pod("keeper", json!({}), data)),
        ("Pod", pod("broken", json!({}), gone)),
        (
            "Pod",
            pod(
                "large",
                json!({}),
                json!({ "containers": [
                    { "name": "main", "resources": { "requests": { "cpu": "6" } } },
                ]}),
            ),
        ),
        ("Pod", pod("moves", json!({}), json!({ "nodeName": "leaving" }))),
        ("Pod", pod("guarded", db, json!({ "nodeName": "leaving" }))),
    ]
}

fn pool() -> Value {
    json!({
        "metadata": stored("web", json!({})),
        "spec": {
            "disruption": { "consolidateAfter": "Never" },
            "template": { "spec": {
                "nodeClassRef": { "group": CLASS.0, "kind": CLASS.1, "name": "default" },
                "requirements": [], "expireAfter": "Never",
            }},
        },
        "status": { "conditions": [{
            "type": "Ready", "status": "True", "reason": "Ready", "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }]},
    })
}

fn read<T: DeserializeOwned>(object: Value) -> T {
    serde_json::from_value(object).unwrap()
}

/// The problem `kerf plan` poses, and the pods it sets aside.
fn of_plan() -> (Value, Vec<String>) {
    let mut manifests = Manifests::default();
    for (source, (kind, mut object)) in objects().into_iter().enumerate() {
        let api_version = match kind {
            "DaemonSet" | "ReplicaSet" => "apps/v1",
            "PodDisruptionBudget" => "policy/v1",
            "StorageClass" | "CSINode" => "storage.k8s.io/v1",
            _ => "v1",
        };
        match kind {
            "NodePool" => manifests.node_pools.push(Sourced { source, object: read(object) }),
            "NodeClaim" => manifests.report(source, WatchUpdate::Claim, read(object)),
            _ => {
                object["apiVersion"] = json!(api_version);
                object["kind"] = json!(kind);
                manifests.add(source, object).unwrap();
            }
        }
    }
    let mut observed =
        manifests.observe(settings(), scheduler_config().default_spreads, now()).unwrap();
    observed.offer([("web".into(), instance_types())]);
    let asked = observed.problem();
    let aside = asked.set_aside.iter().map(|aside| aside.pod.to_string());
    (serde_json::to_value(&asked.problem).unwrap(), aside.collect())
}

/// An observer and its engine, as the controller has them.
struct Controller {
    observer: Observer,
    engine: Engine,
}

impl Controller {
    fn learn(&mut self, update: WatchUpdate) {
        for event in self.observer.observe(update, self.engine.world()) {
            self.engine.handle(event, now());
        }
    }

    /// Tells all objects of a kind, as a watch does at the start.
    fn list<K: DeserializeOwned>(&mut self, kind: &str, update: fn(Change<K>) -> WatchUpdate) {
        self.learn(update(Change::Relisting));
        for (_, object) in objects().into_iter().filter(|(each, _)| *each == kind) {
            self.learn(update(Change::Is(Box::new(read(object)))));
        }
        self.learn(update(Change::Listed(None)));
    }
}

/// The problem the controller orders to be solved when the batch window closes.
fn of_controller() -> Value {
    let mut controller = Controller {
        observer: Observer::new(&settings())
            .with_default_spreads(scheduler_config().default_spreads),
        engine: Engine::new(settings()),
    };
    controller.list("DaemonSet", WatchUpdate::DaemonSet);
    controller.list("Pod", WatchUpdate::Pod);
    controller.list("Node", WatchUpdate::Node);
    controller.list("NodeClaim", WatchUpdate::Claim);
    controller.list("NodePool", WatchUpdate::Pool);
    controller.list("PodDisruptionBudget", WatchUpdate::PodDisruptionBudget);
    controller.list("Namespace", WatchUpdate::Namespace);
    controller.list("VolumeAttachment", WatchUpdate::VolumeAttachment);
    controller.list("CSINode", WatchUpdate::CsiNode);
    controller.list("PersistentVolumeClaim", WatchUpdate::VolumeClaim);
    controller.list("PersistentVolume", WatchUpdate::Volume);
    controller.list("StorageClass", WatchUpdate::StorageClass);
    controller.list("Service", WatchUpdate::Service);
    controller.list("ReplicationController", WatchUpdate::ReplicationController);
    controller.list("ReplicaSet", WatchUpdate::ReplicaSet);
    controller.list("StatefulSet", WatchUpdate::StatefulSet);
    let class = || ApiResource::erase::<KWOKNodeClass>(&());
    controller.learn(WatchUpdate::NodeClass(class(), Change::Relisting));
    controller.learn(WatchUpdate::NodeClass(class(), Change::Listed(None)));
    let Controller { mut engine, .. } = controller;
    let instance_types = instance_types();
    engine.handle(Event::Offered { pool: "web".into(), instance_types }, now());
    assert!(engine.world().is_complete());
    let mut time = now();
    for _ in 0..100 {
        for action in engine.decide(time).actions {
            if let ActionKind::Solve(request) = action.kind {
                return serde_json::to_value(&*request.problem).unwrap();
            }
        }
        time = engine.next_wake().unwrap().max(time);
    }
    panic!("nobody asked where pods should go");
}

#[test]
fn plan_and_controller_pose_the_same_problem_for_the_same_objects() {
    let (plan, set_aside) = of_plan();
    let controller = of_controller();
    for part in ["pods", "nodes", "daemons", "pools", "namespaces", "settings"] {
        assert_eq!(plan[part], controller[part], "{part}");
    }
    assert_eq!(plan, controller);
    assert_eq!(set_aside, ["default/broken"]);
    let names = |part: &str| -> Vec<String> {
        let list = plan[part].as_array().unwrap();
        list.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("pods"), ["keeper", "large", "web-1", "web-2", "moves"]);
    assert_eq!(names("nodes"), ["joining", "up", "launched", "unlaunched"]);
    let shape = &plan["pods"][2]["shape"];
    assert_eq!(shape["spreads"][0]["topology_key"], json!(ZONE), "{shape}");
}
