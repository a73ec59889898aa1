//! A cluster configuration of eksctl.

use anyhow::Result;
use kerf_aws::iam::Policy;
use serde_json::{Value, json};

use super::{ACCOUNT, identity, node_role_arn, yaml};
use crate::commands::install::default_pool::DISCOVERY;
use crate::commands::install::settings::{Identity, SERVICE_ACCOUNT, Settings};

pub(super) fn config(settings: &Settings) -> Result<String> {
    let policies: Vec<String> = Policy::ALL
        .iter()
        .map(|policy| {
            let name = policy.name(&settings.cluster);
            format!("arn:aws:iam::{ACCOUNT}:policy/{}{name}", settings.iam_path)
        })
        .collect();
    let mut config = json!({
        "apiVersion": "eksctl.io/v1alpha5",
        "kind": "ClusterConfig",
        "metadata": {
            "name": settings.cluster,
            "region": "REGION",
            "tags": {DISCOVERY: settings.cluster},
        },
        "iam": iam(settings, &policies),
        "iamIdentityMappings": [{
            "arn": node_role_arn(settings),
            "username": "system:node:{{EC2PrivateDNSName}}",
            "groups": ["system:bootstrappers", "system:nodes"],
        }],
    });
    if identity(settings) == Identity::PodIdentity {
        config["addons"] = json!([{"name": "eks-pod-identity-agent"}]);
    }
    Ok(format!(
        "# The policies, the nodes' role and the queue come from the stack {}: make it first\n\
         # (kerf install --cluster {} --print cfn), with ControllerRoleName empty.\n\
         # eksctl create cluster -f THIS-FILE\n{}",
        settings.stack(),
        settings.cluster,
        yaml(&config)?
    ))
}

fn iam(settings: &Settings, policies: &[String]) -> Value {
    match identity(settings) {
        Identity::PodIdentity => json!({"withOIDC": true, "podIdentityAssociations": [{
            "namespace": settings.namespace,
            "serviceAccountName": SERVICE_ACCOUNT,
            "roleName": settings.controller_role,
            "permissionPolicyARNs": policies,
        }]}),
        Identity::Irsa => json!({"withOIDC": true, "serviceAccounts": [{
            "metadata": {"name": SERVICE_ACCOUNT, "namespace": settings.namespace},
            "roleName": settings.controller_role,
            "attachPolicyARNs": policies,
            "roleOnly": true,
        }]}),
    }
}
