//! An instance of the AWS stand-in as its own operating system sees it, and the Node it becomes.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Node, NodeAddress, NodeSpec, NodeStatus, Taint};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kube::api::ObjectMeta;
use serde_json::Value;

/// What kwok looks for before it plays a node's kubelet.
pub(crate) const FAKE_NODE: &str = "kwok.x-k8s.io/node";

/// Of a type's memory this many thousandths reach the operating system: a little more than the 92.5
/// percent that are counted on before the first node of a type has joined.
const MEMORY_THOUSANDTHS: u64 = 930;

/// What the kubelet keeps back before it evicts, in MiB.
const EVICTION_MIB: u64 = 100;

/// What EKS reserves for the kubelet: 255 MiB, and 11 MiB for each pod there may be.
const RESERVED_MIB: u64 = 255;
const RESERVED_MIB_PER_POD: u64 = 11;

/// A running instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The instance's id.
    pub id: String,
    /// Its state as EC2 names it, such as `running`.
    pub state: String,
    /// Its zone.
    pub zone: String,
    /// Its type.
    pub instance_type: String,
    /// Its name in the VPC, such as `ip-172-31-0-4.ec2.internal`; also its node's name.
    pub name: String,
    /// The labels that its user data has the kubelet register with.
    pub labels: BTreeMap<String, String>,
    /// The taints likewise: key, value, effect.
    pub taints: Vec<(String, String, String)>,
    region: String,
    architecture: String,
    os: String,
    address: String,
    vcpus: u64,
    memory_mib: u64,
    pods: u64,
    nvidia_gpus: u64,
    disk_gib: u64,
}

impl Machine {
    /// Reads what the control endpoint says of an instance.
    pub(crate) fn read(value: &Value) -> Self {
        let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        let number = |name: &str| value[name].as_u64().unwrap_or_default();
        let labels = value["labels"].as_object().into_iter().flatten();
        let taints = value["taints"].as_array().into_iter().flatten();
        let part = |taint: &Value, name: &str| taint[name].as_str().unwrap_or_default().to_owned();
        Self {
            id: text("id"),
            state: text("state"),
            zone: text("zone"),
            instance_type: text("instance_type"),
            name: text("name"),
            labels: labels
                .map(|(key, value)| (key.clone(), value.as_str().unwrap_or_default().to_owned()))
                .collect(),
            taints: taints
                .map(|taint| (part(taint, "key"), part(taint, "value"), part(taint, "effect")))
                .collect(),
            region: text("region"),
            architecture: text("architecture"),
            os: text("os"),
            address: text("address"),
            vcpus: number("vcpus"),
            memory_mib: number("memory_mib"),
            pods: number("pods"),
            nvidia_gpus: number("nvidia_gpus"),
            disk_gib: number("disk_gib"),
        }
    }

    /// The Node that its kubelet registers.
    pub(crate) fn node(&self) -> Node {
        let taint = |(key, value, effect): &(String, String, String)| Taint {
            key: key.clone(),
            value: (!value.is_empty()).then(|| value.clone()),
            effect: effect.clone(),
            ..Taint::default()
        };
        let address = |kind: &str, address: &str| NodeAddress {
            type_: kind.to_owned(),
            address: address.to_owned(),
        };
        Node {
            metadata: ObjectMeta {
                name: Some(self.name.clone()),
                labels: Some(self.node_labels()),
                annotations: Some(BTreeMap::from([(FAKE_NODE.to_owned(), "fake".to_owned())])),
                ..ObjectMeta::default()
            },
            spec: Some(NodeSpec {
                provider_id: Some(format!("aws:///{}/{}", self.zone, self.id)),
                taints: Some(self.taints.iter().map(taint).collect()),
                ..NodeSpec::default()
            }),
            status: Some(NodeStatus {
                capacity: Some(self.capacity()),
                allocatable: Some(self.allocatable()),
                addresses: Some(vec![
                    address("InternalIP", &self.address),
                    address("Hostname", &self.name),
                ]),
                ..NodeStatus::default()
            }),
        }
    }

    /// The labels of the user data, and those that the kubelet and the cloud add.
    fn node_labels(&self) -> BTreeMap<String, String> {
        let known = [
            ("kubernetes.io/hostname", &self.name),
            ("kubernetes.io/arch", &self.architecture),
            ("kubernetes.io/os", &self.os),
            ("node.kubernetes.io/instance-type", &self.instance_type),
            ("topology.kubernetes.io/zone", &self.zone),
            ("topology.kubernetes.io/region", &self.region),
        ];
        let known = known.map(|(key, value)| (key.to_owned(), value.clone()));
        self.labels.clone().into_iter().chain(known).collect()
    }

    fn capacity(&self) -> BTreeMap<String, Quantity> {
        let memory_mib = self.memory_mib * MEMORY_THOUSANDTHS / 1000;
        self.resources(self.vcpus * 1000, memory_mib, self.disk_gib)
    }

    /// What EKS leaves to pods: all but what the kubelet is given and keeps back.
    fn allocatable(&self) -> BTreeMap<String, Quantity> {
        let memory_mib = self.memory_mib * MEMORY_THOUSANDTHS / 1000;
        let kept = EVICTION_MIB + RESERVED_MIB + RESERVED_MIB_PER_POD * self.pods;
        let cpu_millis = self.vcpus * 1000 - reserved_cpu_millis(self.vcpus);
        // A tenth of the disk is where evictions begin, and a GiB is reserved.
        let disk_gib = (self.disk_gib * 9 / 10).saturating_sub(1);
        self.resources(cpu_millis, memory_mib.saturating_sub(kept), disk_gib)
    }

    fn resources(
        &self,
        cpu_millis: u64,
        memory_mib: u64,
        disk_gib: u64,
    ) -> BTreeMap<String, Quantity> {
        let mut list = vec![
            ("cpu", format!("{cpu_millis}m")),
            ("memory", format!("{memory_mib}Mi")),
            ("ephemeral-storage", format!("{disk_gib}Gi")),
            ("pods", self.pods.to_string()),
        ];
        if self.nvidia_gpus > 0 {
            list.push(("nvidia.com/gpu", self.nvidia_gpus.to_string()));
        }
        list.into_iter().map(|(name, amount)| (name.to_owned(), Quantity(amount))).collect()
    }
}

/// What EKS reserves of the processors: 6 percent of the first, 1 of the second, a half of the next
/// two, a quarter of every other.
fn reserved_cpu_millis(vcpus: u64) -> u64 {
    let of = |from: u64, to: u64| vcpus.clamp(from, to) - from;
    of(0, 1) * 60 + of(1, 2) * 10 + of(2, 4) * 5 + of(4, u64::MAX) * 5 / 2
}

#[cfg(test)]
mod tests {
    use super::reserved_cpu_millis;

    #[test]
    fn larger_machines_reserve_more_of_their_processors_but_ever_less_of_each() {
        let cases = [(1, 60), (2, 70), (4, 80), (8, 90), (96, 310)];
        for (vcpus, expected) in cases {
            assert_eq!(reserved_cpu_millis(vcpus), expected, "{vcpus}");
        }
    }
}
