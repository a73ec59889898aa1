//! An account that the documentation's quick start can run in.

use serde_json::{Value, json};

use crate::aws::stand_in::AwsStandIn;

/// What there is in the account, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuickStart {
    /// The cluster's name. Subnets and security groups are tagged `karpenter.sh/discovery` with it.
    pub cluster: String,
    /// The cluster's ARN.
    pub arn: String,
    /// The region of everything.
    pub region: String,
    /// The account.
    pub account: String,
    /// The cluster's Kubernetes version, such as `1.36`.
    pub version: String,
    /// The cluster's endpoint, as EKS describes it.
    pub endpoint: String,
    /// The cluster's certificate authority in base64, as EKS describes it.
    pub ca: String,
    /// The VPC of the subnets.
    pub vpc_id: String,
    /// A role for nodes.
    pub role: String,
    /// The interruption queue's name.
    pub queue: String,
    /// One subnet for each zone, sorted by zone.
    pub subnets: Vec<ZoneSubnet>,
    /// The security groups.
    pub security_groups: Vec<String>,
}

/// A subnet of the account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZoneSubnet {
    /// Its id.
    pub id: String,
    /// Its zone, such as `us-east-1a`.
    pub zone: String,
    /// The zone's id, such as `use1-az6`.
    pub zone_id: String,
}

impl AwsStandIn {
    /// Makes what the quick start needs: tagged subnets and security groups, the role
    /// `KarpenterNodeRole-CLUSTER`, the EKS cluster, and a queue of the cluster's name.
    pub fn quick_start(&self, cluster: &str) -> QuickStart {
        self.quick_start_with(&json!({"cluster": cluster}))
    }

    /// The same with what EKS says of the cluster: `cluster`, `version`, `endpoint`, `ca` in base64
    /// or `ca_pem`, `region`.
    pub fn quick_start_with(&self, asked: &Value) -> QuickStart {
        let made = self.control("POST quick-start", asked);
        let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
        let all = |name: &str| made[name].as_array().cloned().unwrap_or_default();
        let subnet = |one: Value| ZoneSubnet {
            id: text(&one, "id"),
            zone: text(&one, "zone"),
            zone_id: text(&one, "zone_id"),
        };
        let groups = all("security_groups");
        QuickStart {
            cluster: text(&made, "cluster"),
            arn: text(&made, "arn"),
            region: text(&made, "region"),
            account: text(&made, "account"),
            version: text(&made, "version"),
            endpoint: text(&made, "endpoint"),
            ca: text(&made, "ca"),
            vpc_id: text(&made, "vpc_id"),
            role: text(&made, "role"),
            queue: text(&made, "queue"),
            subnets: all("subnets").into_iter().map(subnet).collect(),
            security_groups: groups.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        }
    }
}
