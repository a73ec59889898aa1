//! The instance metadata service and the processors.

use super::described_by_field;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// How the instance metadata service is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MetadataOptions {
    /// Whether the service answers at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "enabled"))]
    pub http_endpoint: Option<Toggle>,
    /// Whether the service has an IPv6 address.
    #[serde(rename = "httpProtocolIPv6", default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "disabled"))]
    pub http_protocol_ipv6: Option<Toggle>,
    /// How many network hops an answer may travel; one keeps it from pods with own addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64), extend("default" = 1))]
    pub http_put_response_hop_limit: Option<i64>,
    /// Whether a request must carry a session token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "required"))]
    pub http_tokens: Option<HttpTokens>,
}

/// Settings of the processors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CpuOptions {
    /// Whether virtual machines can run inside the instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nested_virtualization: Option<Toggle>,
}

/// On or off, in EC2's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(extend("type" = "string"), transform = described_by_field)]
pub enum Toggle {
    /// On.
    Enabled,
    /// Off.
    Disabled,
}

/// Whether metadata requests need a session token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(extend("type" = "string"), transform = described_by_field)]
pub enum HttpTokens {
    /// Only requests with a token are answered (IMDSv2).
    Required,
    /// Requests without a token are answered too (IMDSv1).
    Optional,
}

/// What a class without `metadataOptions` gets.
pub(super) fn defaults() -> Value {
    json!({
        "httpEndpoint": "enabled",
        "httpProtocolIPv6": "disabled",
        "httpPutResponseHopLimit": 1,
        "httpTokens": "required",
    })
}
