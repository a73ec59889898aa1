//! The terms that select subnets, security groups, capacity reservations and a placement group.
//!
//! The rules against combining `id` (or `name`) with other fields refuse a list only when *every*
//! term combines them: the public API has them so, and stored objects rely on it. One good term
//! therefore lets a mixed one through, and the launch path decides by precedence.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::described_by_field;
use crate::schema::rules::rule;

/// Tags a term asks for; `*` as a value stands for any value.
pub(super) type TagFilter = BTreeMap<String, String>;

/// Selects subnets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubnetSelectorTerm {
    /// The id of one subnet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "subnet-[0-9a-z]+"))]
    pub id: Option<String>,
    /// Tags the subnet must have; `*` stands for any value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "tag_filter")]
    pub tags: Option<TagFilter>,
}

/// Selects security groups.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecurityGroupSelectorTerm {
    /// The id of one security group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "sg-[0-9a-z]+"))]
    pub id: Option<String>,
    /// The group's name, which is not its `Name` tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Tags the group must have; `*` stands for any value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "tag_filter")]
    pub tags: Option<TagFilter>,
}

/// Selects capacity reservations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CapacityReservationSelectorTerm {
    /// The id of one capacity reservation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^cr-[0-9a-z]+$"))]
    pub id: Option<String>,
    /// Which instances the reservation takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_match_criteria: Option<InstanceMatchCriteria>,
    /// The account that owns the reservation.
    #[serde(rename = "ownerID", default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^[0-9]{12}$"))]
    pub owner_id: Option<String>,
    /// Tags the reservation must have; `*` stands for any value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "tag_filter")]
    pub tags: Option<TagFilter>,
}

/// Which instances a capacity reservation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(extend("type" = "string"), transform = described_by_field)]
pub enum InstanceMatchCriteria {
    /// Every instance with matching attributes.
    Open,
    /// Only instances that ask for the reservation.
    Targeted,
}

/// Selects one placement group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-kubernetes-validations" = [rule(
    "has(self.name) != has(self.id)",
    "exactly one of 'name' and 'id' must be set in placementGroupSelector",
)]))]
pub struct PlacementGroupSelector {
    /// The id of the placement group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^pg-[0-9a-z]+$"))]
    pub id: Option<String>,
    /// The name of the placement group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub name: Option<String>,
}

pub(super) fn subnet_rules() -> Value {
    json!([
        rule("self.size() != 0", "subnetSelectorTerms cannot be empty"),
        each_has_one_of("subnetSelectorTerms", &["tags", "id"]),
        not_all_combine("subnetSelectorTerms", "id", &["tags"]),
    ])
}

pub(super) fn security_group_rules() -> Value {
    json!([
        rule("self.size() != 0", "securityGroupSelectorTerms cannot be empty"),
        each_has_one_of("securityGroupSelectorTerms", &["tags", "id", "name"]),
        not_all_combine("securityGroupSelectorTerms", "id", &["tags", "name"]),
        not_all_combine("securityGroupSelectorTerms", "name", &["tags", "id"]),
    ])
}

pub(super) fn capacity_reservation_rules() -> Value {
    let list = "capacityReservationSelectorTerms";
    json!([
        each_has_one_of(list, &["tags", "id", "instanceMatchCriteria"]),
        not_all_combine(list, "id", &["tags", "ownerID", "instanceMatchCriteria"]),
    ])
}

/// Every term must say something that can be searched for.
pub(super) fn each_has_one_of(list: &str, fields: &[&str]) -> Value {
    rule(
        &format!("self.all(x, {})", any_of(fields)),
        &format!("each of {list} needs at least one of '{}'", fields.join("', '")),
    )
}

/// `any_of(["tags", "id"])` is `has(x.tags) || has(x.id)`.
pub(super) fn any_of(fields: &[&str]) -> String {
    let tests: Vec<String> = fields.iter().map(|field| format!("has(x.{field})")).collect();
    tests.join(" || ")
}

fn not_all_combine(list: &str, alone: &str, others: &[&str]) -> Value {
    rule(
        &format!("!self.all(x, has(x.{alone}) && ({}))", any_of(others)),
        &format!("'{alone}' stands alone in {list}: it cannot be combined with other fields"),
    )
}

/// At most twenty tags, none empty.
pub(super) fn tag_filter(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "additionalProperties": { "type": "string" },
        "maxProperties": 20,
        "x-kubernetes-validations": [rule(
            "self.all(k, k != '' && self[k] != '')",
            "tag keys and values cannot be empty",
        )],
    })
}
