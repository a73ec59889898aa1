//! From what watches deliver to what the engine knows.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use kerf_engine::event::{Event, Kind};
use kerf_engine::observed::{
    DoNotDisrupt, NamespacedName, PodKey, PodPhase, PoolManifestKey, Revision, ShiftText,
};
use kerf_engine::time::{Span, Time};
use kerf_engine::zonal_shift::ShiftSettings;
use kerf_engine::{Engine, Role, Settings, World};
use kerf_kube::{Change, Observer, SchedulerConfig, ServedKinds, ShiftUpdate, WatchUpdate};
use kerf_model::quantity::Quantity;
use kube::api::{ApiResource, GroupVersionKind};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// An observer and the engine it feeds.
struct Edge {
    observer: Observer,
    engine: Engine,
}

impl Edge {
    fn new() -> Self {
        let observer = Observer::new(&Settings::default());
        Self { observer, engine: Engine::new(Settings::default()) }
    }

    /// Passes an update on; how many events came of it.
    fn learn(&mut self, update: WatchUpdate) -> usize {
        let events = self.observer.observe(update, self.engine.world());
        let count = events.iter().filter(|event| !matches!(event, Event::Heard(_))).count();
        for event in events {
            self.engine.handle(event, Time::from_seconds(1_000));
        }
        count
    }

    fn world(&self) -> &World {
        self.engine.world()
    }

    fn pod(&self, name: &str) -> &kerf_engine::observed::Pod {
        let key = PodKey { namespace: Arc::from("default"), name: Arc::from(name) };
        self.world().pods.get(&key).unwrap_or_else(|| panic!("no pod {name}"))
    }

    /// All storage has been listed, and there is none.
    fn no_storage(&mut self) {
        self.learn(WatchUpdate::VolumeClaim(Change::Listed(None)));
        self.learn(WatchUpdate::Volume(Change::Listed(None)));
        self.learn(WatchUpdate::StorageClass(Change::Listed(None)));
    }
}

fn is<K: DeserializeOwned>(object: Value) -> Change<K> {
    Change::Is(Box::new(serde_json::from_value(object).unwrap()))
}

fn was<K: DeserializeOwned>(object: Value) -> Change<K> {
    Change::Was(Box::new(serde_json::from_value(object).unwrap()))
}

fn pod(name: &str, revision: u64) -> Value {
    json!({
        "metadata": {
            "name": name, "namespace": "default", "uid": format!("uid-{name}"),
            "resourceVersion": revision.to_string(),
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "ownerReferences": [{
                "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "uid-web",
                "controller": true,
            }],
        },
        "spec": { "containers": [
            { "name": "main", "resources": { "requests": { "cpu": "250m" } } },
        ]},
        "status": { "conditions": [{
            "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
            "lastTransitionTime": "2026-01-01T00:00:07Z",
        }]},
    })
}

fn node(name: &str, revision: u64) -> Value {
    json!({
        "metadata": { "name": name, "uid": format!("uid-{name}"), "resourceVersion": revision.to_string() },
        "spec": { "providerID": format!("kwok://{name}"), "unschedulable": true },
        "status": {
            "allocatable": { "cpu": "2" },
            "conditions": [{ "type": "Ready", "status": "True" }],
        },
    })
}

#[test]
fn replicas_share_one_shape_and_others_do_not() {
    let mut edge = Edge::new();
    edge.learn(WatchUpdate::Pod(is(pod("a", 1))));
    edge.learn(WatchUpdate::Pod(is(pod("b", 2))));
    let mut larger = pod("c", 3);
    larger["spec"]["containers"][0]["resources"]["requests"]["cpu"] = json!("1");
    edge.learn(WatchUpdate::Pod(is(larger)));
    assert!(Arc::ptr_eq(&edge.pod("a").shape, &edge.pod("b").shape));
    assert_ne!(edge.pod("a").shape, edge.pod("c").shape);
    let since = Time::from_seconds(1_767_225_607);
    assert_eq!(edge.pod("a").phase, PodPhase::Unschedulable { since });
}

#[test]
fn a_pod_waits_for_its_volume_claim_and_is_read_again_when_it_comes() {
    let mut edge = Edge::new();
    edge.no_storage();
    let mut keeper = pod("keeper", 1);
    keeper["spec"]["volumes"] =
        json!([{ "name": "data", "persistentVolumeClaim": { "claimName": "data" } }]);
    edge.learn(WatchUpdate::Pod(is(keeper)));
    let problem = edge.pod("keeper").unusable.clone().unwrap();
    assert!(problem.contains("PersistentVolumeClaim default/data does not exist"), "{problem}");

    edge.learn(WatchUpdate::StorageClass(is(json!({
        "metadata": { "name": "lazy" }, "provisioner": "example.com/disk",
        "volumeBindingMode": "WaitForFirstConsumer",
    }))));
    edge.learn(WatchUpdate::VolumeClaim(is(json!({
        "metadata": { "name": "data", "namespace": "default" },
        "spec": { "storageClassName": "lazy" },
    }))));
    assert_eq!(edge.pod("keeper").unusable, None);
    assert_eq!(edge.pod("keeper").shape.volumes[0].driver.as_deref(), Some("example.com/disk"));

    edge.learn(WatchUpdate::VolumeClaim(was(json!({
        "metadata": { "name": "data", "namespace": "default" }, "spec": {},
    }))));
    assert!(edge.pod("keeper").unusable.is_some());
}

#[test]
fn what_a_new_list_does_not_name_is_gone_unless_it_was_written_since() {
    let mut edge = Edge::new();
    edge.learn(WatchUpdate::Node(Change::Relisting));
    edge.learn(WatchUpdate::Node(is(node("stays", 5))));
    edge.learn(WatchUpdate::Node(is(node("goes", 6))));
    edge.learn(WatchUpdate::Node(Change::Listed(None)));

    edge.learn(WatchUpdate::Node(Change::Relisting));
    // Stored by ourselves while the list is on its way: newer than anything told so far.
    let mut own: Vec<Event> =
        Edge::new().observer.observe(WatchUpdate::Node(is(node("written", 9))), edge.world());
    edge.engine.handle(own.remove(0), Time::from_seconds(1_001));
    edge.learn(WatchUpdate::Node(is(node("stays", 5))));
    edge.learn(WatchUpdate::Node(Change::Listed(None)));
    let names: Vec<&str> = edge.world().nodes.keys().map(|name| &**name).collect();
    assert_eq!(names, ["stays", "written"]);
}

#[test]
fn a_node_that_cannot_be_read_is_known_to_be_there_until_a_list_does_not_name_it() {
    let mut edge = Edge::new();
    let mut odd = node("odd", 5);
    odd["spec"]["taints"] = json!([{ "key": "a", "effect": "Sometimes" }]);
    edge.learn(WatchUpdate::Node(is(odd)));
    assert!(edge.world().nodes.is_empty());
    let unreadable = |edge: &Edge| edge.world().unreadable(Kind::Node).count();
    assert_eq!(unreadable(&edge), 1);
    edge.learn(WatchUpdate::Node(Change::Relisting));
    edge.learn(WatchUpdate::Node(Change::Listed(None)));
    assert_eq!(unreadable(&edge), 0, "it went while nobody watched");
}

#[test]
fn late_news_of_an_object_that_went_does_not_bring_it_back() {
    let mut edge = Edge::new();
    edge.learn(WatchUpdate::Node(is(node("n", 5))));
    edge.learn(WatchUpdate::Node(was(node("n", 7))));
    edge.learn(WatchUpdate::Node(is(node("n", 6))));
    assert!(edge.world().nodes.is_empty());
    edge.learn(WatchUpdate::Node(is(node("n", 8))));
    assert_eq!(edge.world().nodes.len(), 1);
}

#[test]
fn what_volume_drivers_report_joins_its_node_in_either_order() {
    let csi = || {
        json!({
            "metadata": { "name": "n" },
            "spec": { "drivers": [
                { "name": "example.com/disk", "nodeID": "n", "allocatable": { "count": 3 } },
            ]},
        })
    };
    let mut early = Edge::new();
    early.learn(WatchUpdate::CsiNode(is(csi())));
    early.learn(WatchUpdate::Node(is(node("n", 1))));
    let mut late = Edge::new();
    late.learn(WatchUpdate::Node(is(node("n", 1))));
    assert_eq!(late.learn(WatchUpdate::CsiNode(is(csi()))), 1);
    assert_eq!(late.learn(WatchUpdate::CsiNode(is(csi()))), 0, "nothing new, nothing told");
    for edge in [&early, &late] {
        assert_eq!(edge.world().nodes["n"].volume_limits["example.com/disk"], 3);
    }
    late.learn(WatchUpdate::CsiNode(was(csi())));
    assert!(late.world().nodes["n"].volume_limits.is_empty());
}

#[test]
fn a_closed_node_has_the_taint_that_says_so() {
    let mut edge = Edge::new();
    edge.learn(WatchUpdate::Node(is(node("n", 1))));
    let node = &edge.world().nodes["n"];
    assert_eq!(node.taints.len(), 1);
    assert_eq!(node.taints[0].key, "node.kubernetes.io/unschedulable");
    assert!(node.is_ready);
}

/// A daemon set whose template asks for nothing.
fn daemon_set() -> Value {
    json!({
        "metadata": { "name": "agent", "namespace": "default", "uid": "uid-agent", "generation": 1 },
        "spec": {
            "selector": {},
            "template": { "spec": { "containers": [{ "name": "main" }] } },
        },
    })
}

/// A pod of it, for which admission asked for 250m.
fn daemon_pod(name: &str) -> Value {
    let mut agent = pod(name, 2);
    agent["metadata"]["ownerReferences"][0] = json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "uid-agent",
        "controller": true,
    });
    agent
}

/// What the next pod of the daemon set asks for.
fn daemon_cpu(edge: &Edge) -> Quantity {
    let key = NamespacedName { namespace: "default".into(), name: "agent".into() };
    edge.world().daemon_sets[&key].shape.requests.quantity("cpu")
}

#[test]
fn the_next_pod_of_a_daemon_set_is_what_admission_made_of_its_newest() {
    let mut edge = Edge::new();
    edge.learn(WatchUpdate::DaemonSet(is(daemon_set())));
    let cpu = daemon_cpu;
    assert_eq!(cpu(&edge), Quantity::from_int(0));
    let mut agent = daemon_pod("agent-1");
    edge.learn(WatchUpdate::Pod(is(agent.clone())));
    assert_eq!(cpu(&edge), Quantity::from_milli(250));

    agent["metadata"]["name"] = json!("agent-0");
    agent["metadata"]["creationTimestamp"] = json!("2025-01-01T00:00:00Z");
    agent["spec"]["containers"][0]["resources"]["requests"]["cpu"] = json!("9");
    edge.learn(WatchUpdate::Pod(is(agent)));
    assert_eq!(cpu(&edge), Quantity::from_milli(250), "an older pod says nothing");
}

#[test]
fn a_daemon_set_that_is_listed_after_its_pods_is_what_admission_made_of_them() {
    let mut edge = Edge::new();
    edge.learn(WatchUpdate::Pod(is(daemon_pod("agent-1"))));
    let mut older = daemon_pod("agent-0");
    older["metadata"]["creationTimestamp"] = json!("2025-01-01T00:00:00Z");
    older["spec"]["containers"][0]["resources"]["requests"]["cpu"] = json!("9");
    edge.learn(WatchUpdate::Pod(is(older)));
    edge.learn(WatchUpdate::DaemonSet(is(daemon_set())));
    assert_eq!(daemon_cpu(&edge), Quantity::from_milli(250));
}

#[test]
fn a_pod_that_is_gone_says_nothing_about_a_daemon_set_that_is_listed_later() {
    for gone in [was(daemon_pod("agent-1")), Change::Relisting] {
        let mut edge = Edge::new();
        edge.learn(WatchUpdate::Pod(is(daemon_pod("agent-1"))));
        edge.learn(WatchUpdate::Pod(gone));
        edge.learn(WatchUpdate::DaemonSet(is(daemon_set())));
        assert_eq!(daemon_cpu(&edge), Quantity::from_int(0));
    }
}

#[test]
fn a_pod_that_cannot_be_read_is_there_with_the_field_and_the_reason() {
    let mut edge = Edge::new();
    let mut broken = pod("broken", 1);
    broken["spec"]["containers"][0]["resources"]["requests"]["cpu"] = json!("many");
    edge.learn(WatchUpdate::Pod(is(broken)));
    let problem = edge.pod("broken").unusable.clone().unwrap();
    assert!(problem.contains("spec.containers[0].resources.requests.cpu"), "{problem}");
}

#[test]
fn the_do_not_disrupt_annotation_is_read_as_documented() {
    let cases = [
        ("true", DoNotDisrupt::Always),
        ("30m", DoNotDisrupt::For(Span::from_minutes(30))),
        ("-1s", DoNotDisrupt::Unreadable),
        ("0s", DoNotDisrupt::Unreadable),
        ("false", DoNotDisrupt::Unreadable),
    ];
    for (text, expected) in cases {
        let mut edge = Edge::new();
        let mut guarded = pod("guarded", 1);
        guarded["metadata"]["annotations"] = json!({ "karpenter.sh/do-not-disrupt": text });
        edge.learn(WatchUpdate::Pod(is(guarded)));
        assert_eq!(edge.pod("guarded").do_not_disrupt, expected, "{text}");
    }
}

#[test]
fn a_pods_own_disruption_cost_stands_before_the_deletion_cost_of_kubernetes() {
    let (own, kubernetes) =
        ("karpenter.sh/disruption-cost", "controller.kubernetes.io/pod-deletion-cost");
    let cases = [
        (json!({}), 0),
        (json!({ kubernetes: "7" }), 7),
        (json!({ own: "-3" }), -3),
        (json!({ own: "5", kubernetes: "7" }), 5),
        (json!({ own: "many", kubernetes: "7" }), 0),
        (json!({ own: "1.5" }), 0),
    ];
    for (annotations, expected) in cases {
        let mut edge = Edge::new();
        let mut costly = pod("costly", 1);
        costly["metadata"]["annotations"] = annotations.clone();
        edge.learn(WatchUpdate::Pod(is(costly)));
        assert_eq!(edge.pod("costly").deletion_cost, expected, "{annotations}");
    }
}

#[test]
fn a_pod_that_asks_for_a_node_outside_any_pool_is_left_to_others() {
    let mut edge = Edge::new();
    let mut elsewhere = pod("elsewhere", 1);
    elsewhere["spec"]["affinity"] = json!({ "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": { "nodeSelectorTerms": [
            { "matchExpressions": [{ "key": "karpenter.sh/nodepool", "operator": "DoesNotExist" }] },
        ]},
    }});
    edge.learn(WatchUpdate::Pod(is(elsewhere)));
    assert_eq!(edge.pod("elsewhere").phase, PodPhase::Waiting);
}

#[test]
fn budgets_that_can_never_let_a_pod_go_are_told_from_those_that_might() {
    let cases = [
        (json!({ "maxUnavailable": 0 }), true),
        (json!({ "maxUnavailable": "0%" }), true),
        (json!({ "minAvailable": "100%" }), true),
        (json!({ "maxUnavailable": 1 }), false),
        (json!({ "minAvailable": "99%" }), false),
        (json!({ "minAvailable": 3 }), false),
    ];
    for (spec, expected) in cases {
        let mut edge = Edge::new();
        edge.learn(WatchUpdate::PodDisruptionBudget(is(json!({
            "metadata": { "name": "guard", "namespace": "default" }, "spec": spec.clone(),
        }))));
        let key = NamespacedName { namespace: "default".into(), name: "guard".into() };
        assert_eq!(edge.world().pdbs[&key].is_absolute, expected, "{spec}");
    }
}

#[test]
fn pods_are_listed_only_once_their_storage_is() {
    let mut edge = Edge::new();
    // No kind of node class is watched, so the first word also says that there are none.
    assert_eq!(edge.learn(WatchUpdate::Pod(Change::Listed(None))), 1);
    assert_eq!(edge.learn(WatchUpdate::VolumeClaim(Change::Listed(None))), 0);
    assert_eq!(edge.learn(WatchUpdate::Volume(Change::Listed(None))), 0);
    let events =
        edge.observer.observe(WatchUpdate::StorageClass(Change::Listed(None)), edge.engine.world());
    assert!(matches!(events[..], [Event::Listed(kerf_engine::event::Kind::Pod)]), "{events:?}");
}

#[test]
fn a_termination_handler_waits_for_pods_and_nodes_only() {
    let role = Role::TerminationHandler;
    let settings = Settings { role, ..Settings::default() };
    let mut edge =
        Edge { observer: Observer::new(&settings), engine: Engine::new(settings.clone()) };
    edge.learn(WatchUpdate::Pod(Change::Listed(None)));
    assert!(!edge.world().is_complete());
    edge.learn(WatchUpdate::Node(Change::Listed(None)));
    assert!(edge.world().is_complete());
}

#[test]
fn pods_that_say_nothing_are_spread_by_default_together_with_their_like() {
    let config = json!({ "podTopologySpread": { "defaultConstraints": [{
        "maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
    }]}});
    let config = SchedulerConfig::from_value(config).unwrap();
    let mut edge = Edge::new();
    edge.observer =
        Observer::new(&Settings::default()).with_default_spreads(config.default_spreads);
    edge.no_storage();
    edge.learn(WatchUpdate::ReplicationController(Change::Listed(None)));
    edge.learn(WatchUpdate::StatefulSet(Change::Listed(None)));
    edge.learn(WatchUpdate::Service(Change::Listed(None)));
    edge.learn(WatchUpdate::Pod(is(pod("early", 2))));
    assert!(edge.pod("early").shape.spreads.is_empty(), "nobody selects it yet");
    let set = json!({
        "metadata": { "name": "web", "namespace": "default" },
        "spec": { "selector": { "matchLabels": { "app": "web" } } },
    });
    edge.learn(WatchUpdate::ReplicaSet(is(set.clone())));
    assert_eq!(edge.learn(WatchUpdate::ReplicaSet(Change::Listed(None))), 1);
    let spreads = &edge.pod("early").shape.spreads;
    assert_eq!(spreads.len(), 1);
    let selector = spreads[0].selector.as_ref().unwrap();
    assert_eq!(selector.match_labels.get("app").map(String::as_str), Some("web"));
    assert_eq!(edge.learn(WatchUpdate::ReplicaSet(is(set.clone()))), 0, "it selects as before");
    assert_eq!(edge.learn(WatchUpdate::ReplicaSet(was(set))), 1);
    assert!(edge.pod("early").shape.spreads.is_empty(), "nobody selects it any more");
}

#[test]
fn pods_the_scheduler_has_not_come_to_are_told_from_those_that_wait_for_something_else() {
    let mut edge = Edge::new();
    let mut new = pod("new", 2);
    new["status"] = json!({});
    let mut gated = new.clone();
    gated["metadata"]["name"] = json!("gated");
    gated["spec"]["schedulingGates"] = json!([{ "name": "example.com/wait" }]);
    let mut preempting = new.clone();
    preempting["metadata"]["name"] = json!("preempting");
    preempting["status"] = json!({ "nominatedNodeName": "node" });
    for each in [new, gated, preempting] {
        edge.learn(WatchUpdate::Pod(is(each)));
    }
    assert_eq!(edge.pod("new").phase, PodPhase::Unjudged);
    assert_eq!(edge.pod("gated").phase, PodPhase::Waiting);
    assert_eq!(edge.pod("preempting").phase, PodPhase::Waiting);
}

/// `group/version/Kind`.
fn resource(name: &str) -> ApiResource {
    let [group, version, kind] = name.split('/').collect::<Vec<_>>()[..] else { panic!("{name}") };
    ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind))
}

fn shifts(update: ShiftUpdate) -> WatchUpdate {
    WatchUpdate::ZonalShift(update)
}

/// The observer of a daemon of zonal shifts.
fn zonal_edge() -> Edge {
    let settings = Settings { role: Role::ZonalAutoshift, ..Settings::default() };
    Edge { observer: Observer::new(&settings), engine: Engine::new(settings) }
}

#[test]
fn a_daemon_of_zonal_shifts_waits_for_the_kinds_that_are_served_and_no_other() {
    let mut edge = zonal_edge();
    edge.learn(WatchUpdate::Node(Change::Listed(None)));
    edge.learn(shifts(ShiftUpdate::ConfigMap(Change::Listed(None))));
    assert!(!edge.world().is_complete(), "which kinds are served is not known");
    let (pools, classes) =
        (resource("karpenter.sh/v1beta1/NodePool"), resource("karpenter.k8s.aws/v1/EC2NodeClass"));
    edge.learn(shifts(ShiftUpdate::Served(ServedKinds {
        pools: vec![pools.clone()],
        node_classes: vec![classes.clone()],
        is_auto_mode: false,
    })));
    assert!(!edge.world().is_complete());
    edge.learn(shifts(ShiftUpdate::PoolManifest(pools, Change::Listed(None))));
    assert!(!edge.world().is_complete());
    edge.learn(shifts(ShiftUpdate::Unlistable(classes)));
    assert!(edge.world().is_complete(), "what cannot be listed is not waited for");
}

#[test]
fn pools_keep_every_field_but_their_status_and_go_with_their_definition() {
    let mut edge = zonal_edge();
    let (v1, legacy) =
        (resource("karpenter.sh/v1/NodePool"), resource("karpenter.sh/v1alpha5/Provisioner"));
    let served = |pools: &[&ApiResource]| {
        shifts(ShiftUpdate::Served(ServedKinds {
            pools: pools.iter().map(|kind| (*kind).clone()).collect(),
            ..ServedKinds::default()
        }))
    };
    edge.learn(served(&[&v1, &legacy]));
    let web = json!({
        "metadata": { "name": "web", "resourceVersion": "7", "uid": "one" },
        "spec": { "fieldOfTomorrow": [1, 2] }, "status": { "nodes": 3 },
    });
    edge.learn(shifts(ShiftUpdate::PoolManifest(v1.clone(), is(web.clone()))));
    edge.learn(shifts(ShiftUpdate::PoolManifest(legacy.clone(), is(web))));
    let key = |kind: &str| PoolManifestKey { kind: kind.into(), name: "web".into() };
    let known = &edge.world().pool_manifests[&key("NodePool")];
    assert_eq!(known.object["spec"], json!({ "fieldOfTomorrow": [1, 2] }));
    assert_eq!(known.object["apiVersion"], "karpenter.sh/v1");
    assert_eq!(known.object.get("status"), None);
    assert_eq!(known.meta.revision, Revision(7));
    edge.learn(served(&[&v1]));
    let left: Vec<_> = edge.world().pool_manifests.keys().cloned().collect();
    assert_eq!(left, [key("NodePool")], "the other kind is no longer served");
    edge.learn(shifts(ShiftUpdate::PoolManifest(v1.clone(), Change::Relisting)));
    edge.learn(shifts(ShiftUpdate::PoolManifest(v1, Change::Listed(None))));
    assert!(edge.world().pool_manifests.is_empty(), "a new list does not name it");
}

#[test]
fn a_role_does_not_wait_for_what_only_zonal_shifts_beside_it_need() {
    let shifts_of = ShiftSettings {
        cluster_name: "demo".to_owned(),
        region: "us-west-2".to_owned(),
        namespace: "default".to_owned(),
        matching: Default::default(),
        max_age_seconds: None,
        do_not_disrupt: false,
        taint_away_nodes: true,
        auto_mode_revert: Default::default(),
    };
    let settings = Settings {
        role: Role::TerminationHandler,
        zonal_shift: Some(shifts_of),
        ..Settings::default()
    };
    let mut edge = Edge { observer: Observer::new(&settings), engine: Engine::new(settings) };
    edge.learn(WatchUpdate::Pod(Change::Listed(None)));
    edge.learn(WatchUpdate::Node(Change::Listed(None)));
    assert!(edge.world().is_complete());
    assert!(!edge.world().has_listed(&[Kind::ShiftConfigMap]));
    edge.learn(shifts(ShiftUpdate::ConfigMap(Change::Listed(None))));
    assert!(edge.world().has_listed(&[Kind::ShiftConfigMap]));
}

#[test]
fn the_stored_state_of_zonal_shifts_is_read_whatever_is_in_it() {
    let mut edge = zonal_edge();
    let key = NamespacedName { namespace: "default".into(), name: "kerf-zonal-shift".into() };
    let state = r#"{"version":1,"zones":{}}"#;
    let cases = [
        (json!({}), ShiftText::Missing),
        (json!({ "state.json": "{" }), ShiftText::Damaged("{".to_owned())),
        (json!({ "state.json": state, "zones.json": "?" }), ShiftText::Read(Default::default())),
    ];
    for (revision, (data, expected)) in cases.into_iter().enumerate() {
        let metadata = json!({
            "name": "kerf-zonal-shift", "namespace": "default",
            "resourceVersion": (revision + 1).to_string(),
        });
        let map = json!({ "metadata": metadata, "data": data });
        edge.learn(shifts(ShiftUpdate::ConfigMap(is(map))));
        assert_eq!(edge.world().shift_config_maps[&key].state, expected);
    }
    let newer = json!({
        "metadata": { "name": "kerf-zonal-shift", "namespace": "default", "resourceVersion": "9" },
        "data": { "state.json": r#"{"version":99}"# },
    });
    edge.learn(shifts(ShiftUpdate::ConfigMap(is(newer))));
    let state = &edge.world().shift_config_maps[&key].state;
    assert!(matches!(state, ShiftText::Newer(why) if why.contains("newer Kerf")), "{state:?}");
}

/// A pod that waits for a PersistentVolumeClaim of its own.
fn keeper(name: &str, revision: u64) -> Value {
    let mut keeper = pod(name, revision);
    let source = json!({ "claimName": format!("data-{name}") });
    keeper["spec"]["volumes"] = json!([{ "name": "data", "persistentVolumeClaim": source }]);
    keeper
}

/// The volume that a pod's claim names, reserved for it.
fn volume(name: &str) -> Value {
    let claim = json!({ "namespace": "default", "name": format!("data-{name}") });
    json!({ "metadata": { "name": format!("disk-{name}") }, "spec": { "claimRef": claim } })
}

fn volume_claim(name: &str) -> Value {
    json!({
        "metadata": { "name": format!("data-{name}"), "namespace": "default" },
        "spec": { "volumeName": format!("disk-{name}") },
    })
}

#[test]
fn a_change_of_storage_has_only_the_pods_that_use_it_read_again() {
    let mut edge = Edge::new();
    edge.no_storage();
    for (index, name) in ["a", "b", "c", "d"].into_iter().enumerate() {
        edge.learn(WatchUpdate::Pod(is(keeper(name, index as u64 + 1))));
    }
    assert_eq!(edge.learn(WatchUpdate::VolumeClaim(is(volume_claim("b")))), 1);
    assert_eq!(edge.learn(WatchUpdate::Volume(is(volume("b")))), 1);
    assert_eq!(edge.learn(WatchUpdate::Volume(is(volume("nobody")))), 0);
    assert_eq!(edge.learn(WatchUpdate::Volume(was(volume("b")))), 1);
    assert_eq!(edge.learn(WatchUpdate::VolumeClaim(was(volume_claim("b")))), 1);
    let class = json!({ "metadata": { "name": "lazy" }, "provisioner": "example.com/disk" });
    assert_eq!(edge.learn(WatchUpdate::StorageClass(is(class))), 4, "it may concern any");
}

#[test]
fn a_pod_that_a_new_list_does_not_name_is_not_read_again() {
    let mut edge = Edge::new();
    edge.no_storage();
    edge.learn(WatchUpdate::Pod(is(keeper("ghost", 1))));
    edge.learn(WatchUpdate::Pod(is(keeper("stays", 2))));
    edge.learn(WatchUpdate::Pod(Change::Relisting));
    edge.learn(WatchUpdate::Pod(is(keeper("stays", 2))));
    edge.learn(WatchUpdate::Pod(Change::Listed(Some(Revision(3)))));
    assert_eq!(edge.world().pods.len(), 1);
    assert_eq!(edge.learn(WatchUpdate::VolumeClaim(is(volume_claim("ghost")))), 0);
    assert_eq!(edge.learn(WatchUpdate::VolumeClaim(is(volume_claim("stays")))), 1);
}

#[test]
fn what_was_written_after_the_list_was_made_is_not_gone_however_late_the_list_comes() {
    let mut edge = Edge::new();
    edge.learn(WatchUpdate::Node(is(node("goes", 6))));
    // The server makes its list at version 8. Then a node is stored, and told by another way
    // before anybody hears that a list begins.
    edge.learn(WatchUpdate::Node(is(node("written", 9))));
    edge.learn(WatchUpdate::Node(Change::Relisting));
    edge.learn(WatchUpdate::Node(Change::Listed(Some(Revision(8)))));
    let names: Vec<&str> = edge.world().nodes.keys().map(|name| &**name).collect();
    assert_eq!(names, ["written"]);
}

#[test]
fn an_attachment_knows_its_claim_when_the_volume_comes_later_or_gets_another_claim() {
    let mut edge = Edge::new();
    edge.no_storage();
    edge.learn(WatchUpdate::VolumeAttachment(is(json!({
        "metadata": { "name": "attached", "resourceVersion": "4" },
        "spec": {
            "attacher": "example.com/disk", "nodeName": "node",
            "source": { "persistentVolumeName": "disk-a" },
        },
    }))));
    let claim = |edge: &Edge| edge.world().attachments["attached"].volume_claim.clone().unwrap();
    assert_eq!(&*claim(&edge), "/disk-a", "nobody knows whose it is");
    edge.learn(WatchUpdate::Volume(is(volume("a"))));
    assert_eq!(&*claim(&edge), "default/data-a");
    let mut given = volume("a");
    given["spec"]["claimRef"]["name"] = json!("other");
    edge.learn(WatchUpdate::Volume(is(given.clone())));
    assert_eq!(&*claim(&edge), "default/other");
    assert_eq!(edge.learn(WatchUpdate::Volume(is(given))), 0, "it is known");
}

#[test]
fn an_object_that_is_not_of_its_kind_is_set_aside_by_name_and_the_watch_goes_on() {
    let mut edge = Edge::new();
    // Stored under another definition than ours: where a list should be, there is a text.
    let odd = |name: &str, revision: u64| {
        json!({
            "metadata": { "name": name, "uid": name, "resourceVersion": revision.to_string() },
            "spec": { "requirements": "any", "template": 5 },
        })
    };
    assert_eq!(edge.learn(WatchUpdate::Claim(is(odd("odd", 7)))), 1);
    assert_eq!(edge.learn(WatchUpdate::Pool(is(odd("odd", 8)))), 1);
    let unreadable = |edge: &Edge, kind| edge.world().unreadable(kind).count();
    assert_eq!(unreadable(&edge, Kind::Claim), 1);
    assert_eq!(unreadable(&edge, Kind::Pool), 1);
    edge.learn(WatchUpdate::Claim(was(odd("odd", 9))));
    assert_eq!(unreadable(&edge, Kind::Claim), 0, "it is gone, as its metadata says");
}
