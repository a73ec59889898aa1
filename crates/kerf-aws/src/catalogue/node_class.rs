//! What an EC2NodeClass says about the instance types of its pools.

use std::collections::BTreeMap;

use kerf_api::ec2_node_class::{AmiFamily as ApiFamily, EC2NodeClass};
use kerf_api::ec2_node_class::{InstanceStorePolicy, InterfaceType, Kubelet, MaxPods};
use kerf_catalog::ami_family::AmiFamily;
use kerf_catalog::aws::Zone;
use kerf_catalog::settings::{
    BlockDevice, InstanceStore, KubeletSettings, NetworkInterface, NodeClassSettings,
};
use kerf_catalog::threshold::Threshold;
use kerf_model::quantity::Quantity;
use kerf_model::resources::ResourceList;

/// The settings of a class. What is written as an expression is left to its default here:
/// `kubelet_expressions` computes it for each type.
pub(crate) fn settings(class: &EC2NodeClass) -> NodeClassSettings {
    let spec = &class.spec;
    let devices = spec.block_device_mappings.iter().flatten().map(|mapping| BlockDevice {
        name: mapping.device_name.clone().unwrap_or_default(),
        is_root: mapping.root_volume == Some(true),
        size: mapping
            .ebs
            .as_ref()
            .and_then(|ebs| Quantity::parse(ebs.volume_size.as_deref()?).ok()),
    });
    let interfaces = spec.network_interfaces.iter().flatten().map(|nic| NetworkInterface {
        card: u32::try_from(nic.network_card_index).unwrap_or(0),
        device: u32::try_from(nic.device_index).unwrap_or(0),
        is_efa_only: nic.interface_type == InterfaceType::EfaOnly,
    });
    let nested = spec.cpu_options.as_ref().and_then(|options| options.nested_virtualization);
    NodeClassSettings {
        ami_family: ami_family(class),
        kubelet: spec.kubelet.as_ref().map(kubelet).unwrap_or_default(),
        block_devices: devices.collect(),
        instance_store: match spec.instance_store_policy {
            Some(InstanceStorePolicy::RAID0) => InstanceStore::Raid0,
            None => InstanceStore::Unused,
        },
        network_interfaces: interfaces.collect(),
        nested_virtualization: nested == Some(kerf_api::ec2_node_class::Toggle::Enabled),
        connection_tracking: spec.connection_tracking.is_some(),
        ..NodeClassSettings::default()
    }
}

/// The zones of the subnets that were found for the class; none where nobody has looked.
pub(crate) fn zones(class: &EC2NodeClass) -> Vec<Zone> {
    let subnets = class.status.as_ref().and_then(|status| status.subnets.as_ref());
    let mut zones: Vec<Zone> = subnets
        .into_iter()
        .flatten()
        .map(|subnet| Zone { name: subnet.zone.clone(), id: subnet.zone_id.clone() })
        .collect();
    zones.sort();
    zones.dedup();
    zones
}

fn ami_family(class: &EC2NodeClass) -> AmiFamily {
    let mut aliases = class.spec.ami_selector_terms.iter().filter_map(|term| term.alias.as_deref());
    let by_alias = aliases.find_map(ApiFamily::of_alias);
    let family = class.spec.ami_family.or(by_alias);
    family.and_then(|family| AmiFamily::from_name(family.name())).unwrap_or_default()
}

fn kubelet(kubelet: &Kubelet) -> KubeletSettings {
    let threshold = |signal: &str| {
        let text = kubelet.eviction_hard.as_ref()?.get(signal)?;
        Threshold::parse(text).ok()
    };
    KubeletSettings {
        max_pods: match kubelet.max_pods {
            Some(MaxPods::Count(count)) => u32::try_from(count).ok(),
            _ => None,
        },
        pods_per_core: u32::try_from(kubelet.pods_per_core.unwrap_or(0)).unwrap_or(0),
        kube_reserved: amounts(kubelet.kube_reserved.as_ref()),
        system_reserved: amounts(kubelet.system_reserved.as_ref()),
        eviction_memory: threshold("memory.available"),
        eviction_storage: threshold("nodefs.available"),
    }
}

fn amounts(reserved: Option<&BTreeMap<String, String>>) -> ResourceList {
    let entries = reserved.into_iter().flatten();
    entries.filter_map(|(name, text)| Some((name.as_str(), Quantity::parse(text).ok()?))).collect()
}
