//! Kubelet settings.

use std::collections::BTreeMap;

use kerf_model::duration::GoDuration;
use kerf_model::quantity::Quantity;

use crate::legacy::finding::Findings;
use crate::legacy::kubelet::{EVICTION_SIGNALS, KubeletConfiguration, RESERVABLE};
use crate::schema::quantity::ResourceList;

const PATH: &str = "spec.kubeletConfiguration";

pub(super) fn check(kubelet: &KubeletConfiguration, findings: &mut Findings) {
    check_runtime(kubelet, findings);
    check_not_negative("maxPods", kubelet.max_pods, findings);
    check_not_negative("podsPerCore", kubelet.pods_per_core, findings);
    check_reserved("systemReserved", &kubelet.system_reserved, findings);
    check_reserved("kubeReserved", &kubelet.kube_reserved, findings);
    check_thresholds("evictionHard", &kubelet.eviction_hard, findings);
    check_thresholds("evictionSoft", &kubelet.eviction_soft, findings);
    check_grace_periods(kubelet, findings);
    check_soft_pairs(kubelet, findings);
    check_image_collection(kubelet, findings);
}

fn check_runtime(kubelet: &KubeletConfiguration, findings: &mut Findings) {
    let field = format!("{PATH}.containerRuntime");
    match kubelet.container_runtime.as_deref() {
        None | Some("containerd") => {}
        Some("dockerd") => findings
            .warning(field, "dockerd is no longer in any image; nodes will run containerd instead"),
        Some(other) => {
            findings.error(field, format!("{other:?} is not a runtime; it must be containerd"));
        }
    }
}

fn check_not_negative(name: &str, number: Option<i32>, findings: &mut Findings) {
    if number.is_some_and(|number| number < 0) {
        findings.error(format!("{PATH}.{name}"), "must not be negative");
    }
}

fn check_reserved(name: &str, reserved: &Option<ResourceList>, findings: &mut Findings) {
    for (resource, quantity) in reserved.iter().flatten() {
        let field = format!("{PATH}.{name}[{resource:?}]");
        if !RESERVABLE.contains(&resource.as_str()) {
            let names = RESERVABLE.join(", ");
            findings.error(&field, format!("cannot be reserved; what can is {names}"));
        }
        match Quantity::parse(&quantity.text()) {
            Err(problem) => findings.error(&field, problem.to_string()),
            Ok(amount) if amount.is_negative() => findings.error(&field, "must not be negative"),
            Ok(_) => {}
        }
    }
}

type Thresholds = Option<BTreeMap<String, String>>;

fn check_thresholds(name: &str, thresholds: &Thresholds, findings: &mut Findings) {
    for (signal, threshold) in thresholds.iter().flatten() {
        let field = format!("{PATH}.{name}[{signal:?}]");
        check_signal(signal, &field, findings);
        if let Err(message) = threshold_problem(threshold) {
            findings.error(field, message);
        }
    }
}

fn check_signal(signal: &str, field: &str, findings: &mut Findings) {
    if !EVICTION_SIGNALS.contains(&signal) {
        let signals = EVICTION_SIGNALS.join(", ");
        findings.error(field, format!("not an eviction signal; those are {signals}"));
    }
}

fn threshold_problem(threshold: &str) -> Result<(), String> {
    let Some(number) = threshold.strip_suffix('%') else {
        let amount = Quantity::parse(threshold).map_err(|problem| problem.to_string())?;
        return if amount.is_negative() { Err("must not be negative".into()) } else { Ok(()) };
    };
    // A percentage is a plain decimal number, which a quantity without suffix holds exactly.
    let is_plain = number.bytes().all(|byte| byte.is_ascii_digit() || b"+.".contains(&byte));
    match Quantity::parse(number) {
        Ok(percent) if is_plain && percent <= Quantity::from_int(100) => Ok(()),
        _ => Err(format!("{threshold:?} is not a percentage from 0% to 100%")),
    }
}

fn check_grace_periods(kubelet: &KubeletConfiguration, findings: &mut Findings) {
    for (signal, period) in kubelet.eviction_soft_grace_period.iter().flatten() {
        let field = format!("{PATH}.evictionSoftGracePeriod[{signal:?}]");
        check_signal(signal, &field, findings);
        match GoDuration::parse(period) {
            Err(problem) => findings.error(field, problem.to_string()),
            Ok(period) if period < GoDuration::ZERO => {
                findings.error(field, "must not be negative");
            }
            Ok(_) => {}
        }
    }
}

fn check_soft_pairs(kubelet: &KubeletConfiguration, findings: &mut Findings) {
    let (soft, periods) = (&kubelet.eviction_soft, &kubelet.eviction_soft_grace_period);
    let has = |map: &Thresholds, signal| map.as_ref().is_some_and(|map| map.contains_key(signal));
    for signal in soft.iter().flatten().map(|(signal, _)| signal) {
        if !has(periods, signal) {
            let field = format!("{PATH}.evictionSoft[{signal:?}]");
            findings.error(field, "evictionSoftGracePeriod has no entry for this signal");
        }
    }
    for signal in periods.iter().flatten().map(|(signal, _)| signal) {
        if !has(soft, signal) {
            let field = format!("{PATH}.evictionSoftGracePeriod[{signal:?}]");
            findings.error(field, "evictionSoft has no entry for this signal");
        }
    }
}

fn check_image_collection(kubelet: &KubeletConfiguration, findings: &mut Findings) {
    let high = kubelet.image_gc_high_threshold_percent;
    let low = kubelet.image_gc_low_threshold_percent;
    for (name, percent) in
        [("imageGCHighThresholdPercent", high), ("imageGCLowThresholdPercent", low)]
    {
        if percent.is_some_and(|percent| !(0..=100).contains(&percent)) {
            findings.error(format!("{PATH}.{name}"), "must be from 0 to 100");
        }
    }
    if high.zip(low).is_some_and(|(high, low)| high < low) {
        findings.error(
            format!("{PATH}.imageGCHighThresholdPercent"),
            "must be at least imageGCLowThresholdPercent",
        );
    }
}
