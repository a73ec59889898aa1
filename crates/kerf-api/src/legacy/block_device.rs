//! Disks and metadata service settings of an AWSNodeTemplate.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::schema::patterns;
use crate::schema::quantity::Quantity;
use crate::schema::rules::rule;

/// EC2's volume types.
pub(crate) const VOLUME_TYPES: [&str; 7] = ["standard", "io1", "io2", "gp2", "sc1", "st1", "gp3"];

/// One disk of an instance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("required" = ["deviceName", "ebs"]))]
pub struct BlockDeviceMapping {
    /// The device the disk appears as, for example `/dev/xvda`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub device_name: Option<String>,
    /// The volume behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ebs: Option<BlockDevice>,
}

/// An EBS volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = volume_rules()))]
pub struct BlockDevice {
    /// Whether the volume goes when the instance goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delete_on_termination: Option<bool>,
    /// Whether the volume is encrypted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encrypted: Option<bool>,
    /// Operations per second, for the volume types that let one choose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<i64>,
    /// The key that encrypts the volume.
    #[serde(rename = "kmsKeyID", default, skip_serializing_if = "Option::is_none")]
    pub kms_key_id: Option<String>,
    /// The snapshot the volume starts from.
    #[serde(rename = "snapshotID", default, skip_serializing_if = "Option::is_none")]
    pub snapshot_id: Option<String>,
    /// MiB per second, for gp3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput: Option<i64>,
    /// The size, from 1G to 64T.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "volume_size")]
    pub volume_size: Option<Quantity>,
    /// EC2's volume type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "volume_type")]
    pub volume_type: Option<String>,
}

/// How instances reach the metadata service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MetadataOptions {
    /// Whether the service answers at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "switch")]
    pub http_endpoint: Option<String>,
    /// Whether the service answers over IPv6.
    #[serde(rename = "httpProtocolIPv6", default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "switch")]
    pub http_protocol_ipv6: Option<String>,
    /// How many hops an answer may travel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub http_put_response_hop_limit: Option<i64>,
    /// Whether a session token is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "tokens")]
    pub http_tokens: Option<String>,
}

fn volume_rules() -> Value {
    json!([rule(
        "has(self.volumeSize) || has(self.snapshotID)",
        "at least one of 'volumeSize' and 'snapshotID' must be set",
    )])
}

fn volume_size(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "x-kubernetes-int-or-string": true,
        "pattern": patterns::QUANTITY,
        "maxLength": 32,
        "x-kubernetes-validations": [rule(
            "!isQuantity(string(self)) || (quantity(string(self)).compareTo(quantity('1G')) >= 0 \
             && quantity(string(self)).compareTo(quantity('64T')) <= 0)",
            "volumeSize must be from 1G to 64T",
        )],
    })
}

fn volume_type(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": VOLUME_TYPES })
}

fn switch(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": ["enabled", "disabled"] })
}

fn tokens(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": ["required", "optional"] })
}
