//! The checks: functions of what is known, each for itself.

mod cluster;
mod controller;
mod identity;
mod interruption;
mod nodes;
mod permissions;
mod pools;
#[cfg(test)]
mod tests;

pub(crate) use cluster::{
    autoscaler as other_autoscalers, in_the_way as definitions_in_the_way,
    server as unsupported_version,
};
pub(crate) use controller::{no_leader, placement};
pub(crate) use identity::ROLE_ARN;

use super::facts::Facts;
use super::finding::Finding;

/// A check.
pub(crate) struct Check {
    /// Its name, for scripts.
    pub(crate) id: &'static str,
    /// What holds where it finds nothing.
    pub(crate) about: &'static str,
    run: fn(&Facts) -> Vec<Finding>,
}

impl Check {
    const fn new(id: &'static str, about: &'static str, run: fn(&Facts) -> Vec<Finding>) -> Self {
        Self { id, about, run }
    }

    /// What it finds.
    pub(crate) fn run(&self, facts: &Facts) -> Vec<Finding> {
        (self.run)(facts)
    }
}

/// All checks, in the order they are reported.
pub(crate) const CHECKS: [Check; 25] = [
    Check::new(
        "api-server",
        "the API server answers, and its version is supported",
        cluster::server,
    ),
    Check::new("definitions", "the custom resource definitions are there", cluster::definitions),
    Check::new("schemas", "they are those of this version of Kerf", cluster::schemas),
    Check::new("webhooks", "no webhook of an older Karpenter is in the way", cluster::webhooks),
    Check::new("autoscaler", "no other autoscaler runs", cluster::autoscaler),
    Check::new("controller", "one controller is installed, and no second", controller::installed),
    Check::new("replicas", "two replicas of it are ready", controller::replicas),
    Check::new(
        "placement",
        "it runs in two zones, on nodes it does not manage",
        controller::placement,
    ),
    Check::new("lease", "one of them leads", controller::lease),
    Check::new("service-account", "its service account exists", identity::service_account),
    Check::new("irsa", "the role it names exists and trusts it", identity::irsa),
    Check::new("oidc-provider", "IAM believes the cluster's tokens", identity::oidc_provider),
    Check::new("pod-identity", "or EKS gives it a role", identity::pod_identity),
    Check::new("permissions", "its role may make every call", permissions::allowed),
    Check::new("eks-cluster", "EKS knows the cluster by this name", identity::cluster),
    Check::new("node-role", "the nodes' role exists and has its policies", nodes::role),
    Check::new("node-access", "nodes of that role may join", nodes::access),
    Check::new("spot-role", "spot instances may be bought", nodes::spot_role),
    Check::new("queue", "the interruption queue exists and keeps messages", interruption::queue),
    Check::new("queue-policy", "events may be sent to it", interruption::policy),
    Check::new("rules", "rules send every kind of notice there", interruption::rules),
    Check::new("node-classes", "every EC2NodeClass is ready, in two zones", pools::classes),
    Check::new("pools", "there are NodePools, and all are ready", pools::pools),
    Check::new("limits", "no pool is at its limit or may never be disrupted", pools::limits),
    Check::new("pending-pods", "no pod waits for a node", pools::pending),
];
