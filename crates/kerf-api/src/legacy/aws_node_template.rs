//! AWSNodeTemplate `karpenter.k8s.aws/v1alpha1`: what is today an EC2NodeClass.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::NodeSelectorRequirement;
use kube::CustomResource;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::block_device::{BlockDeviceMapping, MetadataOptions};
use super::labels;
use super::selector::{ami_selector, security_group_selector, subnet_selector};
use crate::schema::rules::rule;

/// Image families of that era.
pub(crate) const AMI_FAMILIES: [&str; 6] =
    ["AL2", "Bottlerocket", "Ubuntu", "Windows2019", "Windows2022", "Custom"];
/// What a launch template of one's own replaces, and so excludes.
pub(crate) const EXCLUDED_BY_LAUNCH_TEMPLATE: [&str; 7] = [
    "securityGroupSelector",
    "metadataOptions",
    "amiFamily",
    "instanceProfile",
    "blockDeviceMappings",
    "userData",
    "amiSelector",
];
/// How a tag starts that says which cluster an instance belongs to.
pub(crate) const CLUSTER_TAG_PREFIX: &str = "kubernetes.io/cluster/";

/// Most disks: what an EC2NodeClass may have.
pub(crate) const BLOCK_DEVICE_MAPPINGS_MAX: usize = 50;

/// What an AWSNodeTemplate asks for.
#[derive(
    CustomResource, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema,
)]
#[kube(
    group = "karpenter.k8s.aws",
    version = "v1alpha1",
    kind = "AWSNodeTemplate",
    plural = "awsnodetemplates",
    category = "karpenter",
    doc = "An AWSNodeTemplate says how instances are made. Kerf treats it as the EC2NodeClass it \
           converts to.",
    status = "AWSNodeTemplateStatus",
    derive = "PartialEq",
    derive = "Default"
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend(
    "required" = ["subnetSelector"],
    "x-kubernetes-validations" = spec_rules(),
))]
pub struct AWSNodeTemplateSpec {
    /// The family of images, which decides how an instance is told to join the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "ami_family")]
    pub ami_family: Option<String>,
    /// Which images instances may start from; absent means the family's newest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "ami_selector")]
    pub ami_selector: Option<BTreeMap<String, String>>,
    /// The disks of an instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = BLOCK_DEVICE_MAPPINGS_MAX))]
    pub block_device_mappings: Option<Vec<BlockDeviceMapping>>,
    /// Passed to EC2 with every launch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Whether instances send metrics every minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detailed_monitoring: Option<bool>,
    /// The instance profile of the nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub instance_profile: Option<String>,
    /// A launch template made by hand. Kerf stores it but cannot convert it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub launch_template: Option<String>,
    /// How instances reach the metadata service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata_options: Option<MetadataOptions>,
    /// Which security groups instances get.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "security_group_selector")]
    pub security_group_selector: Option<BTreeMap<String, String>>,
    /// Which subnets instances may be launched into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "subnet_selector")]
    pub subnet_selector: Option<BTreeMap<String, String>>,
    /// Tags of everything made in EC2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-validations" = tag_rules()))]
    pub tags: Option<BTreeMap<String, String>>,
    /// What an instance runs when it starts; joined with what the family needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_data: Option<String>,
}

/// What was found for an AWSNodeTemplate. Kerf keeps it but does not read it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AWSNodeTemplateStatus {
    /// Images that match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amis: Option<Vec<FoundAmi>>,
    /// Security groups that match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security_groups: Option<Vec<FoundSecurityGroup>>,
    /// Subnets that match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subnets: Option<Vec<FoundSubnet>>,
}

/// An image that matched.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FoundAmi {
    /// Its id.
    pub id: String,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The instance types it may be used for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requirements: Option<Vec<NodeSelectorRequirement>>,
}

/// A security group that matched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundSecurityGroup {
    /// Its id.
    pub id: String,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A subnet that matched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundSubnet {
    /// Its id.
    pub id: String,
    /// The zone it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
}

fn spec_rules() -> Value {
    let mut rules: Vec<Value> = EXCLUDED_BY_LAUNCH_TEMPLATE
        .iter()
        .map(|field| {
            rule(
                &format!("!has(self.launchTemplate) || !has(self.{field})"),
                &format!("'launchTemplate' cannot be combined with '{field}'"),
            )
        })
        .collect();
    rules.push(rule(
        "has(self.launchTemplate) || has(self.securityGroupSelector)",
        "'securityGroupSelector' is required",
    ));
    rules.push(rule(
        "!has(self.amiFamily) || self.amiFamily != 'Custom' || has(self.amiSelector)",
        "'amiSelector' is required for amiFamily 'Custom'",
    ));
    Value::Array(rules)
}

fn ami_family(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": AMI_FAMILIES })
}

fn tag_rules() -> Value {
    let set_by_kerf = |key: &str| {
        rule(&format!("!('{key}' in self)"), &format!("tag \"{key}\" is set by Kerf itself"))
    };
    Value::Array(vec![
        rule("!('' in self)", "tags cannot have an empty key"),
        rule(
            &format!("self.all(x, !x.startsWith('{CLUSTER_TAG_PREFIX}'))"),
            &format!("tags that start with \"{CLUSTER_TAG_PREFIX}\" are set by Kerf itself"),
        ),
        set_by_kerf(labels::PROVISIONER_NAME),
        set_by_kerf(labels::MANAGED_BY),
    ])
}
