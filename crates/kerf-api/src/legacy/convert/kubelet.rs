//! Kubelet settings, which move from the Provisioner to the class.

use std::collections::BTreeMap;

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
        eviction_hard,
        eviction_max_pod_grace_period,
        eviction_soft,
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

fn texts(reserved: ResourceList) -> BTreeMap<String, String> {
    reserved.into_iter().map(|(resource, quantity)| (resource, quantity.text())).collect()
}
