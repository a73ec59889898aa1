//! What nodes need to join, and to be bought.

use serde_json::Value;

use crate::commands::doctor::facts::{Account, Facts, NodeRole};
use crate::commands::doctor::finding::Finding;

/// What a kubelet, the VPC CNI, image pulls and sessions of SSM need. Of some there are two that will
/// do.
const POLICIES: [&[&str]; 3] = [
    &["AmazonEKSWorkerNodePolicy", "AmazonEKSWorkerNodeMinimalPolicy"],
    &["AmazonEKS_CNI_Policy", "AmazonEKS_CNI_IPv6_Policy"],
    &["AmazonEC2ContainerRegistryPullOnly", "AmazonEC2ContainerRegistryReadOnly"],
];
const USER_NAME: &str = "system:node:{{EC2PrivateDNSName}}";
const GROUPS: [&str; 2] = ["system:bootstrappers", "system:nodes"];
const CAPACITY_TYPE: &str = "karpenter.sh/capacity-type";

pub(super) fn role(facts: &Facts) -> Vec<Finding> {
    let Some(account) = &facts.account else { return Vec::new() };
    account.node_roles.iter().filter_map(role_finding).collect()
}

fn role_finding(NodeRole { name, role, .. }: &NodeRole) -> Option<Finding> {
    let role = match role {
        Err(why) => return Some(Finding::unknown("node-role", why)),
        Ok(None) => {
            let evidence = format!("there is no role {name}, which nodes are to have");
            let fix = "aws cloudformation deploy --template-file deploy/cloudformation/controller.yaml \
                       … (docs/install.md)";
            return Some(Finding::failure("node-role", evidence, fix));
        }
        Ok(Some(role)) => role,
    };
    let lacks =
        |group: &&&[&str]| !group.iter().any(|one| role.policies.iter().any(|it| it == one));
    let lacking: Vec<&str> = POLICIES.iter().filter(lacks).map(|group| group[0]).collect();
    let first = lacking.first()?;
    let evidence = format!("role {name} lacks {}", lacking.join(", "));
    let fix = format!(
        "aws iam attach-role-policy --role-name {name} --policy-arn arn:aws:iam::aws:policy/{first}"
    );
    Some(Finding::failure("node-role", evidence, fix))
}

pub(super) fn access(facts: &Facts) -> Vec<Finding> {
    let Some(account) = &facts.account else { return Vec::new() };
    let Ok(Some(cluster)) = &account.cluster else { return Vec::new() };
    let by_entry = cluster.authentication_mode != "CONFIG_MAP";
    let by_map = cluster.authentication_mode != "API";
    let mut findings = Vec::new();
    for node in &account.node_roles {
        let Ok(Some(role)) = &node.role else { continue };
        let entry = match (&node.entry, by_entry) {
            (Err(why), true) => {
                findings.push(Finding::unknown("node-access", why));
                continue;
            }
            (Ok(Some(entry)), true) => Some(entry),
            _ => None,
        };
        let mapped = if by_map { mapped(facts, &role.arn) } else { Mapped::No };
        findings.extend(judge(account, &role.arn, entry.map(|it| it.kind.as_str()), mapped));
    }
    findings
}

/// What `aws-auth` says of a role.
enum Mapped {
    No,
    Well,
    Wrongly(String),
}

fn judge(account: &Account, arn: &str, entry: Option<&str>, mapped: Mapped) -> Option<Finding> {
    let create = format!(
        "aws eks create-access-entry --cluster-name {} --type EC2_LINUX --principal-arn {arn}",
        account.cluster_name
    );
    match (entry, mapped) {
        (Some(kind), _) if kind.starts_with("EC2_") => None,
        (_, Mapped::Well) => None,
        (Some(kind), _) => {
            let evidence = format!("the access entry of {arn} is of type {kind}, not EC2_LINUX");
            Some(Finding::failure("node-access", evidence, create))
        }
        (None, Mapped::Wrongly(how)) => {
            let evidence = format!("aws-auth maps {arn} {how}");
            let fix = "kubectl -n kube-system edit configmap aws-auth";
            Some(Finding::failure("node-access", evidence, fix))
        }
        (None, Mapped::No) => {
            let evidence = format!("neither an access entry nor aws-auth lets nodes of {arn} join");
            Some(Finding::failure("node-access", evidence, create))
        }
    }
}

/// Reads the entry of a role in the ConfigMap `aws-auth`.
fn mapped(facts: &Facts, arn: &str) -> Mapped {
    let map = facts.all("configmaps").iter().find(|one| one["metadata"]["name"] == "aws-auth");
    let text = map.and_then(|map| map["data"]["mapRoles"].as_str()).unwrap_or_default();
    let roles: Vec<Value> = serde_saphyr::from_str(text).unwrap_or_default();
    let Some(role) = roles.iter().find(|role| role["rolearn"] == arn) else { return Mapped::No };
    let groups = role["groups"].as_array().cloned().unwrap_or_default();
    let lacking: Vec<&str> =
        GROUPS.iter().filter(|group| !groups.iter().any(|it| it == *group)).copied().collect();
    match (role["username"] == USER_NAME, lacking.is_empty()) {
        (true, true) => Mapped::Well,
        (false, _) => Mapped::Wrongly(format!("to the user {}, not {USER_NAME}", role["username"])),
        (_, false) => Mapped::Wrongly(format!(
            "to the groups {}, without {}",
            Value::Array(groups),
            lacking.join(" and ")
        )),
    }
}

pub(super) fn spot_role(facts: &Facts) -> Vec<Finding> {
    let Some(account) = &facts.account else { return Vec::new() };
    let allowing = facts.all("nodepools").iter().filter(|pool| allows_spot(pool));
    let allowing: Vec<&str> =
        allowing.filter_map(|pool| pool["metadata"]["name"].as_str()).collect();
    match &account.has_spot_role {
        _ if allowing.is_empty() => Vec::new(),
        Ok(true) => Vec::new(),
        Err(why) => vec![Finding::unknown("spot-role", why)],
        Ok(false) => {
            let evidence = format!(
                "pool {} allows spot, and the account has no role AWSServiceRoleForEC2Spot",
                allowing.join(", ")
            );
            let fix = "aws iam create-service-linked-role --aws-service-name spot.amazonaws.com";
            vec![Finding::failure("spot-role", evidence, fix)]
        }
    }
}

/// Whether a pool's requirements leave spot; one that says nothing of it does.
fn allows_spot(pool: &Value) -> bool {
    let requirements = pool["spec"]["template"]["spec"]["requirements"].as_array();
    requirements.into_iter().flatten().filter(|one| one["key"] == CAPACITY_TYPE).all(|one| {
        let has = one["values"].as_array().is_some_and(|all| all.iter().any(|it| it == "spot"));
        match one["operator"].as_str() {
            Some("In") => has,
            Some("NotIn") => !has,
            Some("DoesNotExist") => false,
            _ => true,
        }
    })
}
