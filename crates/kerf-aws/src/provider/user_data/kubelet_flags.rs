//! The kubelet's settings as flags, for images that take no configuration file.

use std::collections::BTreeMap;
use std::fmt::Display;

use kerf_api::ec2_node_class::MaxPods;
use kerf_model::taint::Taint;

use super::UserData;

/// The flags of a node's kubelet. Maps are in the order of their keys: the same settings always
/// give the same text, or nodes would drift and templates multiply.
pub(super) fn flags(data: &UserData<'_>) -> Vec<String> {
    let kubelet = data.kubelet;
    let max_pods = match &kubelet.max_pods {
        Some(MaxPods::Count(count)) => Some(count),
        _ => None,
    };
    [
        map("node-labels", Some(data.labels), "="),
        taints(data.taints),
        one("max-pods", max_pods),
        one("pods-per-core", kubelet.pods_per_core),
        map("system-reserved", kubelet.system_reserved.as_ref(), "="),
        map("kube-reserved", kubelet.kube_reserved.as_ref(), "="),
        map("eviction-hard", kubelet.eviction_hard.as_ref(), "<"),
        map("eviction-soft", kubelet.eviction_soft.as_ref(), "<"),
        map("eviction-soft-grace-period", kubelet.eviction_soft_grace_period.as_ref(), "="),
        one("eviction-max-pod-grace-period", kubelet.eviction_max_pod_grace_period),
        one("image-gc-high-threshold", kubelet.image_gc_high_threshold_percent),
        one("image-gc-low-threshold", kubelet.image_gc_low_threshold_percent),
        one("cpu-cfs-quota", kubelet.cpu_cfs_quota),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The flag that sets the labels of a node.
pub(super) fn node_labels(labels: &BTreeMap<String, String>) -> Option<String> {
    map("node-labels", Some(labels), "=")
}

fn one(flag: &str, value: Option<impl Display>) -> Option<String> {
    value.map(|value| format!("--{flag}={value}"))
}

fn map(flag: &str, entries: Option<&BTreeMap<String, String>>, sign: &str) -> Option<String> {
    let entries = entries.filter(|entries| !entries.is_empty())?;
    let entries: Vec<String> =
        entries.iter().map(|(key, value)| format!("{key}{sign}{value}")).collect();
    Some(format!("--{flag}=\"{}\"", entries.join(",")))
}

fn taints(taints: &[Taint]) -> Option<String> {
    let taint = |taint: &Taint| match taint.value.as_str() {
        "" => format!("{}:{}", taint.key, taint.effect.as_str()),
        value => format!("{}={value}:{}", taint.key, taint.effect.as_str()),
    };
    let taints: Vec<String> = taints.iter().map(taint).collect();
    (!taints.is_empty()).then(|| format!("--register-with-taints=\"{}\"", taints.join(",")))
}
