//! What the metrics show of a cluster, from the objects that watches deliver.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use kerf_engine::event::Event;
use kerf_engine::sample::Sample;
use kerf_engine::time::Time;
use kerf_engine::{Engine, Settings};
use kerf_kube::{Change, Metrics, Observer, Shows, WatchUpdate};
use kerf_model::instance_type::{InstanceType, Offering};
use kerf_model::labels::aws;
use kerf_model::labels::well_known::{CAPACITY_TYPE, ZONE};
use kerf_model::price::Price;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::resources::ResourceList;
use kerf_runtime::FailureLog;
use kerf_runtime::metrics::Registry;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// 2026-01-01T01:00:00Z: an hour after every pod was created.
const NOW: Time = Time::from_seconds(1_767_229_200);

struct Watched {
    observer: Observer,
    engine: Engine,
    revision: u64,
}

impl Watched {
    fn new() -> Self {
        let settings = Settings::default();
        Self { observer: Observer::new(&settings), engine: Engine::new(settings), revision: 0 }
    }

    fn learn(&mut self, update: WatchUpdate) {
        for event in self.observer.observe(update, self.engine.world()) {
            self.engine.handle(event, NOW);
        }
    }

    fn pod(&mut self, mut pod: Value) {
        self.revision += 1;
        pod["metadata"]["resourceVersion"] = json!(self.revision.to_string());
        self.learn(WatchUpdate::Pod(is(pod)));
    }

    fn lines(&self, metric: &str) -> Vec<String> {
        let metrics = Metrics::new(Registry::default(), Shows::Everything);
        let page = metrics.page(self.engine.world(), &FailureLog::default(), NOW);
        let wanted = format!("{metric}{{");
        page.lines().filter(|line| line.starts_with(&wanted)).map(str::to_owned).collect()
    }

    /// Everything that took some time so far, in seconds.
    fn took(&mut self) -> Vec<(&'static str, u64)> {
        for kind in Settings::default().kinds().collect::<Vec<_>>() {
            self.engine.handle(Event::Listed(kind), NOW);
        }
        let took = |sample: &Sample| match sample {
            Sample::Took { metric, span, .. } => Some((*metric, span.millis() / 1_000)),
            Sample::Count { .. } | Sample::Scored { .. } => None,
        };
        self.engine.decide(NOW).samples.iter().filter_map(took).collect()
    }
}

fn is<K: DeserializeOwned>(object: Value) -> Change<K> {
    Change::Is(Box::new(serde_json::from_value(object).unwrap()))
}

fn pod(name: &str) -> Value {
    json!({
        "metadata": {
            "name": name, "namespace": "default", "uid": format!("uid-{name}"),
            "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {"app": "web"},
        },
        "spec": {"containers": [{"name": "main"}]},
        "status": {"phase": "Pending", "conditions": [{
            "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
            "lastTransitionTime": "2026-01-01T00:00:07Z",
        }]},
    })
}

fn on(mut pod: Value, node: &str, phase: &str, conditions: Value) -> Value {
    pod["spec"]["nodeName"] = json!(node);
    pod["status"] = json!({"phase": phase, "conditions": conditions,
        "startTime": "2026-01-01T00:00:11Z"});
    pod
}

fn holds(kind: &str, since: &str) -> Value {
    json!({"type": kind, "status": "True", "lastTransitionTime": since})
}

#[test]
fn a_pod_that_failed_is_not_shown_as_one_that_succeeded() {
    let mut watched = Watched::new();
    for phase in ["Failed", "Succeeded"] {
        watched.pod(on(pod(&phase.to_lowercase()), "n", phase, json!([])));
    }
    let lines = watched.lines("karpenter_pods_state");
    let shown = |name: &str, phase: &str| {
        let of_pod = |line: &&String| line.contains(&format!("name=\"{name}\""));
        lines.iter().find(of_pod).unwrap().contains(&format!("phase=\"{phase}\""))
    };
    assert!(shown("failed", "Failed") && shown("succeeded", "Succeeded"), "{lines:#?}");
}

/// A watch that was away for an hour makes no pod an hour slower.
#[test]
fn binding_and_start_up_are_timed_by_the_pods_own_conditions() {
    let mut watched = Watched::new();
    watched.pod(pod("late"));
    let conditions = json!([
        holds("PodScheduled", "2026-01-01T00:00:10Z"),
        holds("Ready", "2026-01-01T00:00:25Z"),
    ]);
    watched.pod(on(pod("late"), "n", "Running", conditions));
    let took = watched.took();
    let of = |metric: &str| took.iter().find(|(name, _)| *name == metric).map(|(_, it)| *it);
    assert_eq!(of("karpenter_pods_bound_duration_seconds"), Some(10), "{took:?}");
    assert_eq!(of("karpenter_pods_startup_duration_seconds"), Some(25), "{took:?}");
}

#[test]
fn the_effective_zone_of_a_pod_is_where_its_spread_still_lets_it_go() {
    let spread = |skew: u32| {
        json!([{"maxSkew": skew, "topologyKey": "topology.kubernetes.io/zone",
            "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "web"}}}])
    };
    let affinity = |kind: &str| {
        json!({kind: {"requiredDuringSchedulingIgnoredDuringExecution": [{
            "topologyKey": "topology.kubernetes.io/zone",
            "labelSelector": {"matchLabels": {"app": "web"}}}]}})
    };
    // Two pods run in zone a and one in zone b; zone c is sold and empty.
    let cases = [
        (json!({}), "flexible"),
        (json!({"topologySpreadConstraints": spread(1)}), "c"),
        (json!({"topologySpreadConstraints": spread(2)}), "flexible"),
        (json!({"affinity": affinity("podAntiAffinity")}), "c"),
        (json!({"affinity": affinity("podAffinity")}), "flexible"),
        (
            json!({"affinity": affinity("podAffinity"),
                "nodeSelector": {"topology.kubernetes.io/zone": "c"}}),
            "none",
        ),
    ];
    for (more, expected) in cases {
        let mut watched = Watched::new();
        watched.engine.handle(offer(&["a", "b", "c"]), NOW);
        watched.engine.refresh_instance_types();
        for (number, zone) in ["a", "a", "b"].into_iter().enumerate() {
            let node = format!("node-{number}");
            watched.learn(WatchUpdate::Node(is(json!({
                "metadata": {"name": node, "uid": node, "resourceVersion": "1",
                    "labels": {"topology.kubernetes.io/zone": zone}},
                "status": {"conditions": [{"type": "Ready", "status": "True"}]},
            }))));
            watched.pod(on(pod(&format!("there-{number}")), &node, "Running", json!([])));
        }
        let mut waiting = pod("waiting");
        for (field, value) in more.as_object().unwrap() {
            waiting["spec"][field] = value.clone();
        }
        watched.pod(waiting);
        let lines = watched.lines("karpenter_scheduler_pending_pods_by_effective_zone_count");
        let line = format!("zone=\"{expected}\"}} 1");
        assert!(lines.len() == 1 && lines[0].ends_with(&line), "{more}: {lines:?}");
    }
}

/// One type of instance, sold in these zones.
fn offer(zones: &[&str]) -> Event {
    let offering = |zone: &&str| Offering {
        requirements: [RequirementEntry::new(ZONE, Operator::In, [*zone])].into(),
        price: Price::ZERO,
        available: true,
        reservation: None,
        capacity_override: ResourceList::new(),
        overhead_override: None,
    };
    let small = InstanceType {
        name: "small".to_owned(),
        requirements: Arc::default(),
        capacity: Arc::default(),
        overhead: Arc::default(),
        offerings: zones.iter().map(offering).collect(),
    };
    Event::Offered { pool: "pool".into(), instance_types: Arc::from([small]) }
}

/// A pool that is offered one type.
fn aws_offer(pool: &str, ways: &[(&str, &str, u64, bool)]) -> Event {
    let instance_types = Arc::from([aws_type("m5.large", ways)]);
    Event::Offered { pool: pool.into(), instance_types }
}

/// A type as AWS labels it, with a way to buy it in each of these zones.
fn aws_type(name: &str, ways: &[(&str, &str, u64, bool)]) -> InstanceType {
    let one = |key: &str, value: &str| RequirementEntry::new(key, Operator::In, [value]);
    let offering = |(capacity_type, zone, micros, available): &(&str, &str, u64, bool)| Offering {
        requirements: [one(CAPACITY_TYPE, capacity_type), one(ZONE, zone)].into(),
        price: Price::from_micros_per_hour(*micros),
        available: *available,
        reservation: None,
        capacity_override: ResourceList::new(),
        overhead_override: None,
    };
    InstanceType {
        name: name.to_owned(),
        requirements: [one(aws::INSTANCE_CPU, "2"), one(aws::INSTANCE_MEMORY, "8192")].into(),
        capacity: Arc::default(),
        overhead: Arc::default(),
        offerings: ways.iter().map(offering).collect(),
    }
}

#[test]
fn a_type_has_series_in_every_zone_where_another_is_sold() {
    let mut watched = Watched::new();
    let instance_types = Arc::from([
        aws_type("c5.large", &[("on-demand", "a", 85_000, true)]),
        aws_type("m5.large", &[("on-demand", "b", 96_000, true)]),
    ]);
    watched.engine.handle(Event::Offered { pool: "one".into(), instance_types }, NOW);
    watched.engine.refresh_instance_types();
    let metric = "karpenter_cloudprovider_instance_type_offering_available";
    let lines = watched.lines(metric);
    let of = |name, zone| format!("instance_type=\"{name}\",zone=\"{zone}\"");
    for (name, zone, value) in
        [("c5.large", "a", 1), ("c5.large", "b", 0), ("m5.large", "a", 0), ("m5.large", "b", 1)]
    {
        let of = of(name, zone);
        let line = format!("{metric}{{capacity_type=\"on-demand\",{of}}} {value}");
        assert!(lines.contains(&line), "{line}: {lines:?}");
        let line = format!("{metric}{{capacity_type=\"reserved\",{of}}} 0");
        assert!(lines.contains(&line), "{line}: {lines:?}");
    }
    let metric = "karpenter_cloudprovider_instance_type_offering_price_estimate";
    let missing = of("c5.large", "b");
    let priced = watched.lines(metric).into_iter().filter(|line| line.contains(&missing));
    assert_eq!(priced.collect::<Vec<_>>(), [""; 0], "what is not sold has no price");
}

#[test]
fn an_offering_is_available_if_any_pool_can_have_it_and_reserved_series_stay() {
    let mut watched = Watched::new();
    let spot_out = [("on-demand", "a", 96_000, true), ("spot", "a", 31_000, false)];
    watched.engine.handle(aws_offer("one", &spot_out), NOW);
    watched.engine.handle(aws_offer("two", &[("spot", "a", 31_000, true)]), NOW);
    watched.engine.refresh_instance_types();
    let of = |capacity_type: &str| {
        format!("capacity_type=\"{capacity_type}\",instance_type=\"m5.large\",zone=\"a\"")
    };
    let metric = "karpenter_cloudprovider_instance_type_offering_available";
    let line = |capacity_type, value| format!("{metric}{{{}}} {value}", of(capacity_type));
    let expected = [line("on-demand", 1), line("reserved", 0), line("spot", 1)];
    assert_eq!(watched.lines(metric), expected);
    let metric = "karpenter_cloudprovider_instance_type_offering_price_estimate";
    let prices = watched.lines(metric);
    assert_eq!(prices[0], format!("{metric}{{{}}} 0.096", of("on-demand")));
    let metric = "karpenter_cloudprovider_instance_type_memory_bytes";
    let memory = watched.lines(metric);
    assert_eq!(memory, [format!("{metric}{{instance_type=\"m5.large\"}} 8589934592")]);
    let metric = "karpenter_cloudprovider_instance_type_cpu_cores";
    assert_eq!(watched.lines(metric), [format!("{metric}{{instance_type=\"m5.large\"}} 2")]);
}

#[test]
fn other_clouds_have_no_series_of_their_offerings() {
    let mut watched = Watched::new();
    watched.engine.handle(offer(&["a"]), NOW);
    watched.engine.refresh_instance_types();
    for part in ["cpu_cores", "offering_available"] {
        let metric = format!("karpenter_cloudprovider_instance_type_{part}");
        assert_eq!(watched.lines(&metric), [""; 0]);
    }
}
