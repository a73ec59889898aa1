//! The kubelet settings the controller refuses, and why.

use kerf_api::ec2_node_class::{EC2NodeClassSpec, KubeletErrorReason, validate_kubelet};
use serde_json::{Value, json};

/// The fields found wrong in a class of the family, with their reasons, in the order reported.
fn problems(family: &str, kubelet: Value) -> Vec<(String, KubeletErrorReason)> {
    let spec: EC2NodeClassSpec = serde_json::from_value(json!({
        "amiFamily": family,
        "amiSelectorTerms": [{ "id": "ami-1" }],
        "securityGroupSelectorTerms": [{ "id": "sg-1" }],
        "subnetSelectorTerms": [{ "id": "subnet-1" }],
        "role": "r",
        "kubelet": kubelet,
    }))
    .expect("the settings have the types of the schema");
    let found = validate_kubelet(&spec);
    assert!(found.iter().all(|problem| !problem.message.is_empty()));
    found.into_iter().map(|problem| (problem.field, problem.reason)).collect()
}

fn assert_invalid(kubelet: Value, fields: &[&str]) {
    let expected: Vec<_> = fields
        .iter()
        .map(|field| {
            (format!("spec.kubelet.{field}"), KubeletErrorReason::InvalidKubeletConfiguration)
        })
        .collect();
    assert_eq!(problems("AL2023", kubelet.clone()), expected, "{kubelet}");
}

fn assert_unsupported(family: &str, kubelet: Value, fields: &[&str]) {
    let expected: Vec<_> = fields
        .iter()
        .map(|field| {
            (format!("spec.kubelet.{field}"), KubeletErrorReason::UnsupportedKubeletConfiguration)
        })
        .collect();
    assert_eq!(problems(family, kubelet.clone()), expected, "{family} {kubelet}");
}

#[test]
fn a_class_without_kubelet_settings_has_no_problem() {
    assert_eq!(validate_kubelet(&EC2NodeClassSpec::default()), []);
    assert_invalid(json!({}), &[]);
}

#[test]
fn reasons_are_spelled_as_conditions_carry_them() {
    let invalid = KubeletErrorReason::InvalidKubeletConfiguration;
    let unsupported = KubeletErrorReason::UnsupportedKubeletConfiguration;
    assert_eq!(invalid.as_str(), "InvalidKubeletConfiguration");
    assert_eq!(unsupported.as_str(), "UnsupportedKubeletConfiguration");
}

#[test]
fn known_settings_of_the_right_type_pass() {
    for setting in [
        json!({ "enableServer": true }),
        json!({ "port": 10250 }),
        json!({ "podPidsLimit": -1 }),
        json!({ "memoryThrottlingFactor": 0.9 }),
        json!({ "memoryThrottlingFactor": 1 }),
        json!({ "containerLogMaxSize": "50Mi" }),
        json!({ "syncFrequency": "1m0s" }),
        json!({ "allowedUnsafeSysctls": ["net.*"] }),
        json!({ "qosReserved": { "memory": "50%" } }),
        json!({ "featureGates": { "X": true } }),
        json!({ "reservedMemory": [{ "numaNode": 0 }] }),
        json!({ "authentication": { "webhook": { "enabled": true } } }),
        json!({ "staticPodURLHeader": { "a": ["b"] } }),
        json!({ "userNamespaces": { "idsPerPod": 65536 } }),
        json!({ "resolvConf": null }),
        json!({ "registerWithTaints": null }),
    ] {
        assert_invalid(setting, &[]);
    }
}

#[test]
fn a_wrong_type_or_an_unknown_name_is_invalid() {
    for (field, value) in [
        ("enableServer", json!("true")),
        ("port", json!("10250")),
        ("port", json!(2_147_483_648_i64)),
        ("port", json!(1.5)),
        ("podPidsLimit", json!(1.0e30)),
        ("memoryThrottlingFactor", json!("0.9")),
        ("containerLogMaxSize", json!(50)),
        ("syncFrequency", json!("1 minute")),
        ("syncFrequency", json!(60)),
        ("allowedUnsafeSysctls", json!("net.*")),
        ("allowedUnsafeSysctls", json!([1])),
        ("qosReserved", json!({ "memory": 50 })),
        ("featureGates", json!({ "X": "true" })),
        ("reservedMemory", json!({})),
        ("authentication", json!([])),
        ("maxpods", json!(5)),
        ("tomorrowsSetting", json!(null)),
        ("registerWithTaints", json!([])),
    ] {
        assert_invalid(json!({ field: value }), &[field]);
    }
}

#[test]
fn a_threshold_is_a_share_up_to_all_or_an_amount_that_is_not_negative() {
    let good = ["0%", "5%", "100%", "7.5%", "100.0%", "100Mi", "1Gi", "0", "1.5Gi", "1e3"];
    let bad = ["101%", "100.1%", "-1%", "+5%", "%", "five%", "1k%", "5 %", "-1Gi", "much", ""];
    // The schema has a form for thresholds, and none for what is reclaimed.
    let fine = ["7.555%", "5.%", ".5%", "007%"];
    for text in fine {
        let hard = json!({ "evictionHard": { "memory.available": text } });
        assert_invalid(hard, &["evictionHard[memory.available]"]);
        assert_invalid(json!({ "evictionMinimumReclaim": { "memory.available": text } }), &[]);
    }
    for map in ["evictionHard", "evictionMinimumReclaim"] {
        for text in good {
            assert_invalid(json!({ map: { "memory.available": text } }), &[]);
        }
        for text in bad {
            let field = format!("{map}[memory.available]");
            assert_invalid(json!({ map: { "memory.available": text } }), &[&field]);
        }
    }
}

#[test]
fn a_share_is_refused_from_the_first_above_a_hundred_on() {
    for percent in 0..=300 {
        let setting = json!({ "evictionHard": { "pid.available": format!("{percent}%") } });
        let expected: &[&str] = if percent <= 100 { &[] } else { &["evictionHard[pid.available]"] };
        assert_invalid(setting, expected);
    }
}

#[test]
fn a_grace_period_is_a_duration_that_is_not_negative() {
    let with_grace = |grace: &str| {
        json!({
            "evictionSoft": { "memory.available": "5%" },
            "evictionSoftGracePeriod": { "memory.available": grace },
        })
    };
    for grace in ["1m30s", "0", "0s", "1.5h", "250ms"] {
        assert_invalid(with_grace(grace), &[]);
    }
    for grace in ["-1s", "90", "a while", "", "1d"] {
        assert_invalid(with_grace(grace), &["evictionSoftGracePeriod[memory.available]"]);
    }
}

#[test]
fn an_unknown_signal_is_invalid_in_every_eviction_map() {
    assert_invalid(
        json!({
            "evictionHard": { "memory.free": "5%" },
            "evictionSoft": { "cpu.available": "5%" },
            "evictionSoftGracePeriod": { "cpu.available": "1m" },
            "evictionMinimumReclaim": { "disk": "1Gi" },
        }),
        &[
            "evictionHard[memory.free]",
            "evictionSoft[cpu.available]",
            "evictionSoftGracePeriod[cpu.available]",
            "evictionMinimumReclaim[disk]",
        ],
    );
}

#[test]
fn soft_thresholds_and_their_grace_periods_come_in_pairs() {
    assert_invalid(
        json!({ "evictionSoft": { "memory.available": "5%" } }),
        &["evictionSoft[memory.available]"],
    );
    assert_invalid(
        json!({ "evictionSoftGracePeriod": { "memory.available": "1m" } }),
        &["evictionSoftGracePeriod[memory.available]"],
    );
    assert_invalid(
        json!({
            "evictionSoft": { "memory.available": "5%", "pid.available": "5%" },
            "evictionSoftGracePeriod": { "memory.available": "1m", "nodefs.available": "1m" },
        }),
        &["evictionSoft[pid.available]", "evictionSoftGracePeriod[nodefs.available]"],
    );
    assert_invalid(json!({ "evictionSoft": {} }), &[]);
}

#[test]
fn only_four_resources_can_be_reserved_and_never_less_than_nothing() {
    for map in ["kubeReserved", "systemReserved"] {
        let good = json!({
            "cpu": "100m", "memory": "11 * max_pods + 255", "ephemeral-storage": "1Gi", "pid": "5",
        });
        assert_invalid(json!({ map: good }), &[]);
        let bad = json!({ "cpu": "-1", "hugepages-2Mi": "1Gi" });
        let fields = [format!("{map}[cpu]"), format!("{map}[hugepages-2Mi]")];
        assert_invalid(json!({ map: bad }), &[&fields[0], &fields[1]]);
    }
}

#[test]
fn numbers_stay_in_their_ranges() {
    for (field, good, bad) in [
        ("imageGCHighThresholdPercent", vec![0, 100], vec![-1, 101]),
        ("imageGCLowThresholdPercent", vec![0, 100], vec![-1, 101]),
        ("podsPerCore", vec![0, i64::from(i32::MAX)], vec![-1]),
        ("evictionMaxPodGracePeriod", vec![0, 600], vec![-1]),
        ("maxPods", vec![0, i64::from(i32::MAX)], vec![-1, i64::from(i32::MAX) + 1]),
    ] {
        for value in good {
            assert_invalid(json!({ field: value }), &[]);
        }
        for value in bad {
            assert_invalid(json!({ field: value }), &[field]);
        }
    }
    assert_invalid(json!({ "maxPods": "vcpus * 10" }), &[]);
}

#[test]
fn images_are_collected_from_high_down_to_low() {
    for (high, low, wrong) in [(85, 80, false), (80, 80, true), (10, 80, true)] {
        let expected: &[&str] = if wrong { &["imageGCHighThresholdPercent"] } else { &[] };
        assert_invalid(
            json!({ "imageGCHighThresholdPercent": high, "imageGCLowThresholdPercent": low }),
            expected,
        );
    }
}

const FAMILIES: [&str; 7] =
    ["AL2", "AL2023", "Bottlerocket", "Custom", "Windows2019", "Windows2022", "Windows2025"];

#[test]
fn only_two_families_take_settings_beyond_the_mapped_ones() {
    for family in FAMILIES {
        let open = matches!(family, "AL2023" | "Custom");
        let other = json!({ "containerLogMaxSize": "50Mi", "maxPods": 10, "seccompDefault": null });
        assert_unsupported(family, other, if open { &[] } else { &["containerLogMaxSize"] });
        let servers = json!({ "clusterDNS": ["10.0.0.10", "10.0.0.11"] });
        assert_unsupported(family, servers, if open { &[] } else { &["clusterDNS"] });
        assert_unsupported(family, json!({ "clusterDNS": ["10.0.0.10"] }), &[]);
        let per_core = json!({ "podsPerCore": 5 });
        let refused = family == "Bottlerocket";
        assert_unsupported(family, per_core, if refused { &["podsPerCore"] } else { &[] });
    }
}

#[test]
fn what_is_invalid_is_reported_before_what_is_unsupported() {
    let kubelet = json!({
        "seccompDefault": "yes",
        "podsPerCore": -1,
        "evictionHard": { "memory.available": "x" },
    });
    let found = problems("Bottlerocket", kubelet);
    let reasons: Vec<KubeletErrorReason> = found.iter().map(|(_, reason)| *reason).collect();
    let mut sorted = reasons.clone();
    sorted.sort();
    assert_eq!(reasons, sorted);
    assert_eq!(reasons.len(), 5);
}
