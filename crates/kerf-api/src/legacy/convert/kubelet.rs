//! Kubelet settings, which move from the Provisioner to the class.

use std::collections::BTreeMap;

use kerf_model::quantity::Quantity;

use crate::ec2_node_class::{Kubelet, MaxPods};
use crate::legacy::kubelet::KubeletConfiguration;
use crate::schema::quantity::ResourceList;

/// The same settings; `None` if nothing is set. The container runtime is left out, as there is only
/// one now.
pub(super) fn convert(kubelet: &KubeletConfiguration) -> Option<Kubelet> {
    let KubeletConfiguration {
        cluster_dns,
        container_runtime: _,
        cpu_cfs_quota,
        eviction_hard,
        eviction_max_pod_grace_period,
        eviction_soft,
        eviction_soft_grace_period,
        image_gc_high_threshold_percent,
        image_gc_low_threshold_percent,
        kube_reserved,
        max_pods,
        pods_per_core,
        system_reserved,
    } = kubelet.clone();
    let converted = Kubelet {
        cluster_dns,
        cpu_cfs_quota,
        eviction_hard: eviction_hard.map(thresholds),
        eviction_max_pod_grace_period,
        eviction_soft: eviction_soft.map(thresholds),
        eviction_soft_grace_period,
        image_gc_high_threshold_percent,
        image_gc_low_threshold_percent,
        kube_reserved: kube_reserved.map(texts),
        max_pods: max_pods.map(|pods| MaxPods::Count(pods.into())),
        pods_per_core,
        system_reserved: system_reserved.map(texts),
        other: serde_json::Map::new(),
    };
    Some(converted).filter(|converted| *converted != Kubelet::default())
}

fn thresholds(given: BTreeMap<String, String>) -> BTreeMap<String, String> {
    given.into_iter().map(|(signal, text)| (signal, threshold(text))).collect()
}

/// Percentages were any decimal number; now they have no sign and at most two decimals, and more
/// are rounded up, so that no less stays free.
fn threshold(text: String) -> String {
    const HUNDREDTH_NANOS: i128 = 10_000_000;
    let percent = text.strip_suffix('%').and_then(|number| Quantity::parse(number).ok());
    let Some(percent) = percent else { return text };
    let hundredths = (percent.nanos() + HUNDREDTH_NANOS - 1).div_euclid(HUNDREDTH_NANOS);
    match (hundredths / 100, hundredths % 100) {
        (whole, 0) => format!("{whole}%"),
        (whole, rest) => format!("{whole}.{rest:02}%"),
    }
}

fn texts(reserved: ResourceList) -> BTreeMap<String, String> {
    reserved.into_iter().map(|(resource, quantity)| (resource, quantity.text())).collect()
}
