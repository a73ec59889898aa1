//! Network interfaces and connection tracking.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::described_by_field;
use crate::schema::rules::rule;

/// One network interface of an instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkInterface {
    /// The place of the interface on its card.
    #[schemars(range(min = 0))]
    pub device_index: i32,
    /// Whether the interface carries IP traffic.
    pub interface_type: InterfaceType,
    /// The network card the interface is on.
    #[schemars(range(min = 0))]
    pub network_card_index: i32,
}

/// What a network interface carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(extend("type" = "string"), transform = described_by_field)]
pub enum InterfaceType {
    /// IP traffic.
    Interface,
    /// Elastic Fabric Adapter traffic alone.
    EfaOnly,
}

/// How long idle connections are tracked, in seconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [rule(
    "has(self.tcpEstablishedTimeout) || has(self.udpStreamTimeout) || has(self.udpTimeout)",
    "connectionTracking needs at least one of 'tcpEstablishedTimeout', 'udpStreamTimeout', \
     'udpTimeout'",
)]))]
pub struct ConnectionTracking {
    /// For established TCP connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 60, max = 432_000))]
    pub tcp_established_timeout: Option<i32>,
    /// For UDP flows that saw more than one request and answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 60, max = 180))]
    pub udp_stream_timeout: Option<i32>,
    /// For UDP flows with traffic in one direction or a single request and answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 30, max = 60))]
    pub udp_timeout: Option<i32>,
}

pub(super) fn interfaces_rules() -> Value {
    json!([
        rule(
            "self.size() == 0 || self.exists(x, x.networkCardIndex == 0 && x.deviceIndex == 0 && \
             x.interfaceType == 'interface')",
            "networkInterfaces must contain card 0, device 0 with type 'interface'",
        ),
        rule(
            "self.all(x, self.exists_one(y, x.networkCardIndex == y.networkCardIndex && \
             x.deviceIndex == y.deviceIndex))",
            "each pair of networkCardIndex and deviceIndex can be used once",
        ),
        rule(
            "self.all(x, x.interfaceType != 'efa-only' || self.exists_one(y, \
             y.interfaceType == 'efa-only' && x.networkCardIndex == y.networkCardIndex))",
            "a network card can have one interface of type 'efa-only'",
        ),
    ])
}
