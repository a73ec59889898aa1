//! What the selectors of a class resolved to.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::described_by_field;
use super::selectors::InstanceMatchCriteria;
use crate::schema::condition::{Condition, conditions};
use crate::schema::requirement::Requirement;

/// What was observed of an EC2NodeClass.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EC2NodeClassStatus {
    /// The images the class may use, newest first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amis: Option<Vec<Ami>>,
    /// The capacity reservations the class may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_reservations: Option<Vec<CapacityReservation>>,
    /// Whether each part of the class was found and the class is ready for launches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "conditions")]
    pub conditions: Option<Vec<Condition>>,
    /// The instance profile instances get.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_profile: Option<String>,
    /// The security groups instances get.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security_groups: Option<Vec<SecurityGroup>>,
    /// The subnets instances may be launched into, the one with most free addresses first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subnets: Option<Vec<Subnet>>,
}

/// An image the class may use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ami {
    /// Whether the publisher has deprecated the image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<bool>,
    /// The image's id.
    pub id: String,
    /// The image's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The instance types the image runs on.
    #[schemars(schema_with = "image_requirements")]
    pub requirements: Vec<Requirement>,
}

/// A capacity reservation the class may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CapacityReservation {
    /// The zone of the reserved capacity.
    pub availability_zone: String,
    /// When the reservation ends, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "date_time")]
    pub end_time: Option<Time>,
    /// The reservation's id.
    #[schemars(regex(pattern = "^cr-[0-9a-z]+$"))]
    pub id: String,
    /// Which instances the reservation takes.
    pub instance_match_criteria: InstanceMatchCriteria,
    /// The reserved instance type.
    pub instance_type: String,
    /// Whether the owner may take the capacity back from running instances.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interruptible: Option<bool>,
    /// The account that owns the reservation.
    #[serde(rename = "ownerID")]
    #[schemars(regex(pattern = "^[0-9]{12}$"))]
    pub owner_id: String,
    /// The kind of reservation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "default"))]
    pub reservation_type: Option<CapacityReservationType>,
    /// Whether the reservation is about to end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "active"))]
    pub state: Option<CapacityReservationState>,
}

/// The kind of a capacity reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(extend("type" = "string"), transform = described_by_field)]
pub enum CapacityReservationType {
    /// On demand, without an agreed end.
    Default,
    /// Bought ahead for a fixed time.
    CapacityBlock,
}

/// Whether a capacity reservation is about to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(extend("type" = "string"), transform = described_by_field)]
pub enum CapacityReservationState {
    /// Instances can be launched into it.
    Active,
    /// A capacity block within its last forty minutes.
    Expiring,
}

/// A security group instances get.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecurityGroup {
    /// The group's id.
    pub id: String,
    /// The group's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A subnet instances may be launched into.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Subnet {
    /// The subnet's id.
    pub id: String,
    /// The name of its availability zone.
    pub zone: String,
    /// The id of its availability zone, the same in every account.
    #[serde(rename = "zoneID", default, skip_serializing_if = "Option::is_none")]
    pub zone_id: Option<String>,
}

fn date_time(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "date-time" })
}

/// Requirements Kerf computed itself, so their form is not checked again.
fn image_requirements(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": {
            "type": "object",
            "description": "A constraint on one label of the instance type.",
            "required": ["key", "operator"],
            "properties": {
                "key": { "type": "string", "description": "The label's key." },
                "operator": {
                    "type": "string",
                    "description": "How the label's value relates to the values given.",
                },
                "values": {
                    "type": "array",
                    "items": { "type": "string" },
                    "x-kubernetes-list-type": "atomic",
                    "description": "The values the operator speaks of.",
                },
            },
        },
    })
}
