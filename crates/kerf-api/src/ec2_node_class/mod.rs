//! EC2NodeClass: what an EC2 instance of a pool looks like.
//!
//! ```text
//! EC2NodeClass ─ spec   ─ selectors ........ which subnets, security groups, reservations
//!              │        ─ ami .............. which image, and how its user data is written
//!              │        ─ block_device, network, metadata_options .. the shape of the instance
//!              │        └ kubelet .......... the kubelet's settings, mapped ones and the rest
//!              └ status ─ what the selectors resolved to, and conditions
//! ```
//!
//! What the API server can check is in the schema; [`validate_kubelet`] holds the rules it cannot.

mod ami;
mod block_device;
mod kubelet;
mod kubelet_fields;
mod kubelet_validation;
mod metadata_options;
mod network;
mod selectors;
mod status;

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::schema::rules::rule;

pub use ami::{AmiFamily, AmiSelectorTerm};
pub use block_device::{BlockDevice, BlockDeviceMapping, InstanceStorePolicy, VolumeType};
pub use kubelet::{Kubelet, MaxPods};
pub use kubelet_validation::{KubeletError, KubeletErrorReason, validate_kubelet};
pub use metadata_options::{CpuOptions, HttpTokens, MetadataOptions, Toggle};
pub use network::{ConnectionTracking, InterfaceType, NetworkInterface};
pub use selectors::{
    CapacityReservationSelectorTerm, InstanceMatchCriteria, PlacementGroupSelector,
    SecurityGroupSelectorTerm, SubnetSelectorTerm,
};
pub use status::{
    Ami, CapacityReservation, CapacityReservationState, CapacityReservationType,
    EC2NodeClassStatus, SecurityGroup, Subnet,
};

/// Tags Kerf itself writes on what it creates; a person may not set them.
const OWN_TAGS: [&str; 4] = [
    "eks:eks-cluster-name",
    "karpenter.sh/nodepool",
    "karpenter.sh/nodeclaim",
    "karpenter.k8s.aws/ec2nodeclass",
];

/// What an EC2NodeClass asks for.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "karpenter.k8s.aws",
    version = "v1",
    kind = "EC2NodeClass",
    plural = "ec2nodeclasses",
    singular = "ec2nodeclass",
    shortname = "ec2nc",
    shortname = "ec2ncs",
    category = "karpenter",
    doc = "An EC2NodeClass says what the EC2 instances of a pool look like.",
    status = "EC2NodeClassStatus",
    derive = "PartialEq",
    derive = "Default",
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].status"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Role", type_ = "string", json_path = ".spec.role", priority = 1)
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = spec_rules()))]
pub struct EC2NodeClassSpec {
    /// How user data is written and which disks are the default; inferred from an image alias.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ami_family: Option<AmiFamily>,
    /// Which machine images may be used; an image that any term selects may be used.
    #[schemars(length(min = 1, max = 30), extend(
        "x-kubernetes-validations" = ami::terms_rules(),
    ))]
    pub ami_selector_terms: Vec<AmiSelectorTerm>,
    /// Whether instances get a public address; absent leaves it to the subnet.
    #[serde(rename = "associatePublicIPAddress")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub associate_public_ip_address: Option<bool>,
    /// The disks of an instance; absent means those the image family brings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 50), extend(
        "x-kubernetes-validations" = block_device::mappings_rules(),
    ))]
    pub block_device_mappings: Option<Vec<BlockDeviceMapping>>,
    /// Which capacity reservations may be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 30), extend(
        "x-kubernetes-validations" = selectors::capacity_reservation_rules(),
    ))]
    pub capacity_reservation_selector_terms: Option<Vec<CapacityReservationSelectorTerm>>,
    /// How long idle connections are tracked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection_tracking: Option<ConnectionTracking>,
    /// Passed on to EC2 with every launch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Settings of the processors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_options: Option<CpuOptions>,
    /// Whether instances report to CloudWatch every minute instead of every five.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detailed_monitoring: Option<bool>,
    /// The instance profile of the instances; instead of `role`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-validations" = [
        rule("self != ''", "instanceProfile cannot be empty"),
    ]))]
    pub instance_profile: Option<String>,
    /// What becomes of the disks an instance type brings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_store_policy: Option<InstanceStorePolicy>,
    /// How many IPv4 prefixes the primary interface gets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub ip_prefix_count: Option<i32>,
    /// Settings of the kubelet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubelet: Option<Kubelet>,
    /// How the instance metadata service is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = metadata_options::defaults()))]
    pub metadata_options: Option<MetadataOptions>,
    /// The network interfaces of an instance; absent means those its type needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 150), extend(
        "x-kubernetes-validations" = network::interfaces_rules(),
    ))]
    pub network_interfaces: Option<Vec<NetworkInterface>>,
    /// The placement group instances are launched into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement_group_selector: Option<PlacementGroupSelector>,
    /// The IAM role of the instances, for which Kerf keeps an instance profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-validations" = [rule("self != ''", "role cannot be empty")]))]
    pub role: Option<String>,
    /// Which security groups instances get; every group that any term selects.
    #[schemars(length(max = 30), extend(
        "x-kubernetes-validations" = selectors::security_group_rules(),
    ))]
    pub security_group_selector_terms: Vec<SecurityGroupSelectorTerm>,
    /// Which subnets instances may be launched into.
    #[schemars(length(max = 30), extend(
        "x-kubernetes-validations" = selectors::subnet_rules(),
    ))]
    pub subnet_selector_terms: Vec<SubnetSelectorTerm>,
    /// Tags for everything Kerf creates for this class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-validations" = tag_rules()))]
    pub tags: Option<BTreeMap<String, String>>,
    /// User data in the form the image family expects; Kerf adds what a node needs to join.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_data: Option<String>,
}

impl EC2NodeClassSpec {
    /// The family the class names, or else the one its image alias belongs to.
    ///
    /// An object the API server admitted always has one.
    #[must_use]
    pub fn resolved_ami_family(&self) -> Option<AmiFamily> {
        self.ami_family.or_else(|| {
            let alias = self.ami_selector_terms.iter().find_map(|term| term.alias.as_deref());
            alias.and_then(AmiFamily::of_alias)
        })
    }
}

fn spec_rules() -> Value {
    let mut rules = vec![
        rule(
            "has(self.role) != has(self.instanceProfile)",
            "exactly one of 'role' and 'instanceProfile' must be set",
        ),
        rule(
            "has(self.amiFamily) || self.amiSelectorTerms.exists(x, has(x.alias))",
            "'amiFamily' must be set when amiSelectorTerms has no alias",
        ),
    ];
    rules.extend(ami::family_rules());
    Value::Array(rules)
}

/// Leaves the description to the field an enumeration stands in: the field knows what is chosen.
fn described_by_field(schema: &mut Schema) {
    schema.remove("description");
}

fn tag_rules() -> Value {
    let mut rules = vec![
        rule("self.all(k, k != '')", "tag keys cannot be empty"),
        rule(
            "self.all(k, !k.startsWith('kubernetes.io/cluster'))",
            "tag keys starting with kubernetes.io/cluster are restricted",
        ),
    ];
    rules.extend(OWN_TAGS.map(|tag| {
        rule(&format!("self.all(k, k != '{tag}')"), &format!("tag {tag} is restricted"))
    }));
    json!(rules)
}
