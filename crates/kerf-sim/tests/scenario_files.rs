//! Scenario files: what can be written, and what is said about mistakes.

use kerf_sim::{Scenario, Simulation};
use std::sync::Arc;

const SOUND: &str = "
name: small
ends: 1m
cloud: {catalogue: kwok}
pools: [{name: default, requirements: [os in linux]}]
workloads: [{deployment: web, replicas: 1, requests: {cpu: '1'}}]
timeline: [{at: 5s, scale: web, to: 2}]
";

/// Each mistake: what is replaced, by what, and what the message must say.
const MISTAKES: [(&str, &str, &str); 14] = [
    ("os in linux", "os linux", "pools[0].requirements: \"os linux\" is no requirement"),
    ("cpu: '1'", "cpu: one", "workloads[0].requests.cpu"),
    ("catalogue: kwok", "catalogue: azure", "cloud.catalogue: \"azure\" is not one of"),
    ("catalogue: kwok", "boot: 40s..20s", "cloud.boot: \"40s..20s\" ends before it begins"),
    ("scale: web", "scale: wed", "timeline[0]: there is no workload \"wed\""),
    (", to: 2", "", "timeline[0]: scale needs to"),
    ("scale: web, to: 2", "delete: pod", "timeline[0]: \"pod\" is not one of node, claim"),
    ("scale: web, to: 2", "fault: flood", "timeline[0]: \"flood\" is not one of crash"),
    ("scale: web, to: 2", "scale: web, to: 1, note: x", "timeline[0]: say exactly one of"),
    ("ends: 1m", "ends: soon", "ends:"),
    ("deployment: web", "deployment: web, job: web", "workloads[0]: name it by exactly one of"),
    ("replicas: 1", "replicas: 1, minAvailable: most", "workloads[0].minAvailable"),
    ("name: default,", "name: default, taints: [x],", "pools[0].taints: \"x\" is no taint"),
    ("name: default,", "name: default, budgets: [{nodes: few}],", "pools[0].budgets"),
];

#[test]
fn a_sound_file_is_read() {
    let scenario = Scenario::parse(SOUND).unwrap();
    assert_eq!(scenario.name, "small");
    assert_eq!(scenario.pools.len(), 1);
    assert!(!scenario.has_faults());
}

#[test]
fn every_mistake_is_told_with_its_place() {
    for (sound, mistaken, message) in MISTAKES {
        assert!(SOUND.contains(sound), "{sound}");
        let error = Scenario::parse(&SOUND.replacen(sound, mistaken, 1)).unwrap_err().to_string();
        assert!(error.contains(message), "{mistaken}: {error}");
    }
}

#[test]
fn a_field_nobody_knows_is_refused() {
    let error = Scenario::parse(&SOUND.replacen("ends:", "end:", 1)).unwrap_err().to_string();
    assert!(error.contains("end"), "{error}");
}

#[test]
fn a_cloud_that_sells_nothing_is_refused() {
    let text = SOUND.replacen("catalogue: kwok", "catalogue: aws, families: [zz9]", 1);
    let scenario = Arc::new(Scenario::parse(&text).unwrap());
    let error = Simulation::new(scenario, 1).unwrap_err().to_string();
    assert!(error.contains("nothing is sold"), "{error}");
}

#[test]
fn scaling_over_a_while_goes_step_by_step() {
    let text = SOUND.replacen("to: 2", "to: 11, over: 5m", 1);
    let scenario = Scenario::parse(&text).unwrap();
    let times: Vec<u64> = scenario.timeline.iter().map(|(at, _)| at.seconds()).collect();
    assert_eq!(times, [5, 65, 125, 185, 245]);
}
