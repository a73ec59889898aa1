//! Settings of the scheduler and objects in; the spreads each pod gets, out.

mod printed;

use kerf_engine::Settings;
use kerf_engine::time::Time;
use kerf_kube::{Manifests, SchedulerConfig};
use printed::yaml;
use serde_json::Value;

const ZONE: &str = "
podTopologySpread:
  defaultConstraints:
    - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}
";

fn config(text: &str) -> Result<SchedulerConfig, String> {
    SchedulerConfig::from_value(yaml::<Value>(text))
        .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

/// A line for each spread of each pod that is to be placed.
fn spreads(scheduler_config: &str, documents: &str) -> String {
    let scheduler_config = config(scheduler_config).expect("good settings");
    let mut manifests = Manifests::default();
    for (source, text) in documents.trim().split("\n---\n").enumerate() {
        manifests.add(source, yaml::<Value>(text)).expect("a good object");
    }
    let spreads = scheduler_config.default_spreads;
    let observed = manifests.observe(Settings::default(), spreads, Time::default());
    let mut pods = observed.expect("good objects").problem().problem.pods;
    pods.sort_by(|left, right| left.uid.cmp(&right.uid));
    let line = |pod: &kerf_model::pod::Pod| {
        let spreads: Vec<_> = pod.shape.spreads.iter().map(printed::spread).collect();
        format!("{}: {}", pod.name, spreads.join("; ")).trim_end().to_owned()
    };
    pods.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn check(documents: &str, expected: &str) {
    assert_eq!(spreads(ZONE, documents), printed::expectation(expected));
}

#[test]
fn a_pod_spreads_with_what_its_controller_selects() {
    check(
        "
{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {selector: {matchLabels: {a: b}},
 template: {metadata: {labels: {a: b, c: d}}, spec: {containers: []}}}}
---
{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s}, spec: {serviceName: s,
 selector: {matchExpressions: [{key: a, operator: Exists}]},
 template: {metadata: {labels: {a: b}}, spec: {containers: []}}}}
---
{apiVersion: v1, kind: ReplicationController, metadata: {name: r}, spec:
 {selector: {a: c}, template: {metadata: {labels: {a: c}}, spec: {containers: []}}}}
---
{apiVersion: v1, kind: ReplicationController, metadata: {name: t}, spec:
 {template: {metadata: {labels: {a: d}}, spec: {containers: []}}}}
",
        "
d-0: spread must topology.kubernetes.io/zone skew 1 of {a=b} keys [] affinity true taints false
s-0: spread must topology.kubernetes.io/zone skew 1 of {a Exists } keys [] affinity true taints
.. false
r-0: spread must topology.kubernetes.io/zone skew 1 of {a=c} keys [] affinity true taints false
t-0: spread must topology.kubernetes.io/zone skew 1 of {a=d} keys [] affinity true taints false
",
    );
}

#[test]
fn the_services_of_its_namespace_that_select_it_are_merged() {
    check(
        "
{apiVersion: v1, kind: Service, metadata: {name: one}, spec: {selector: {a: b}}}
---
{apiVersion: v1, kind: Service, metadata: {name: two}, spec: {selector: {c: d}}}
---
{apiVersion: v1, kind: Service, metadata: {name: other}, spec: {selector: {a: x}}}
---
{apiVersion: v1, kind: Service, metadata: {name: far, namespace: far}, spec: {selector: {e: f}}}
---
{apiVersion: v1, kind: Service, metadata: {name: blind}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {a: b, c: d, e: f}}, spec: {containers: []}}
---
{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: r}, spec:
 {selector: {matchLabels: {a: b, g: h}},
 template: {metadata: {labels: {a: b, g: h}}, spec: {containers: []}}}}
---
{apiVersion: batch/v1, kind: Job, metadata: {name: j},
 spec: {template: {metadata: {labels: {c: d}}, spec: {containers: []}}}}
",
        "
p: spread must topology.kubernetes.io/zone skew 1 of {a=b & c=d} keys [] affinity true taints false
r-0: spread must topology.kubernetes.io/zone skew 1 of {a=b & g=h} keys [] affinity true taints
.. false
j-0: spread must topology.kubernetes.io/zone skew 1 of {c=d} keys [] affinity true taints false
",
    );
}

#[test]
fn pods_with_spreads_of_their_own_and_pods_nobody_selects_get_none() {
    check(
        "
{apiVersion: v1, kind: Pod, metadata: {name: alone, labels: {a: b}}, spec: {containers: []}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {selector: {matchLabels: {a: b}},
 template: {metadata: {labels: {a: b}}, spec: {containers: [], topologySpreadConstraints:
 [{maxSkew: 3, topologyKey: rack, whenUnsatisfiable: ScheduleAnyway}]}}}}
",
        "
alone:
d-0: spread prefer rack skew 3 of none keys [] affinity true taints false
",
    );
}

#[test]
fn a_pod_that_exists_is_spread_by_the_controller_that_owns_it() {
    let owned = "
{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: r}, spec: {replicas: 1,
 selector: {matchLabels: {hash: x}}}}
---
apiVersion: v1
kind: Pod
metadata:
  name: r-x
  labels: {hash: x}
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: u, controller: true}]
spec: {containers: []}
";
    check(
        owned,
        "
r-x: spread must topology.kubernetes.io/zone skew 1 of {hash=x} keys [] affinity true taints false
",
    );
    assert_eq!(spreads("{}", owned), "r-x:");
}

/// Settings that are refused, and what is said.
const BAD: &[(&str, &str)] = &[
    ("[]", "the settings are a map"),
    ("{podTopologySpraed: {}}", "unknown field `podTopologySpraed`"),
    ("podTopologySpread: {defaultConstraints: [{maxSkew: 1}]}", "missing field `topologyKey`"),
    ("0", "podTopologySpread.defaultConstraints[0].maxSkew: 0 is not a number from 1"),
    ("1, minDomains: 0", "minDomains: 0 is not a number from 1"),
    ("1, labelSelector: {}", "labelSelector: is deduced for each pod"),
    ("1, matchLabelKeys: [a]", "matchLabelKeys: is deduced for each pod"),
    ("1, nodeTaintsPolicy: Maybe", "nodeTaintsPolicy: \"Maybe\" is neither Honor nor Ignore"),
    ("1, extra: 1", "unknown field `extra`"),
    ("1, topologyKey: a b", "topologyKey: \"a b\": "),
    ("1, whenUnsatisfiable: Never", "is neither DoNotSchedule nor ScheduleAnyway"),
];

#[test]
fn bad_settings_are_named_by_field_and_reason() {
    for (text, expected) in BAD {
        let whole = match text.starts_with(|c: char| c.is_ascii_digit()) {
            false => (*text).to_owned(),
            true => {
                let missing = |field: &str, value: &str| match text.contains(field) {
                    true => String::new(),
                    false => format!(", {field}: {value}"),
                };
                let key = missing("topologyKey", "zone");
                let when = missing("whenUnsatisfiable", "DoNotSchedule");
                format!(
                    "podTopologySpread: {{defaultConstraints: [{{maxSkew: {text}{key}{when}}}]}}"
                )
            }
        };
        let said = config(&whole).expect_err(&whole);
        assert!(said.contains(expected), "{whole}\n{said}");
    }
}

#[test]
fn a_label_is_spread_over_once_for_each_way_to_treat_what_cannot_be_met() {
    let pair = |first: &str, second: &str| {
        let entry = |when| format!("{{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: {when}}}");
        let both = format!("{}, {}", entry(first), entry(second));
        config(&format!("podTopologySpread: {{defaultConstraints: [{both}]}}"))
    };
    let (must, prefer) = ("DoNotSchedule", "ScheduleAnyway");
    assert_eq!(pair(must, prefer).map(|config| config.default_spreads.len()), Ok(2));
    let said = pair(must, must).expect_err("a double");
    assert!(said.contains("defaultConstraints[1]: zone with DoNotSchedule is given in"), "{said}");
    assert_eq!(config("").map(|config| config.default_spreads.len()), Ok(0));
    assert_eq!(config("podTopologySpread: {}").map(|it| it.default_spreads.len()), Ok(0));
}
