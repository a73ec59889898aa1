//! The list as files: for CloudFormation, for Terraform, as plain policies, and as a table.

use std::fmt::Write;

use super::permission_table::permission_table;
use super::{Names, Policy, document};

/// First line of every file that may have one, so that nobody edits what is written anew.
const HEADER: &str = "# Written by `cargo xtask policies` from crates/kerf-aws/src/iam.\n";
const CLOUDFORMATION: &str = include_str!("templates/controller.yaml");
const TERRAFORM: &str = include_str!("templates/controller.tf");

/// Where policies and the ARNs of all of them go in a template.
const POLICIES: &str = "@policies@\n";
const ARNS: &str = "@arns@\n";

/// CloudFormation's words for what a policy is about.
const OF_CLOUDFORMATION: Names<'_> = Names {
    partition: "${AWS::Partition}",
    region: "${AWS::Region}",
    account: "${AWS::AccountId}",
    cluster: "${ClusterName}",
    node_role: "${NodeRole}",
    queue: "${ClusterName}",
};
/// Terraform's.
const OF_TERRAFORM: Names<'_> = Names {
    partition: "${local.partition}",
    region: "${local.region}",
    account: "${local.account}",
    cluster: "${local.cluster}",
    node_role: "${local.node_role}",
    queue: "${local.queue}",
};
/// Variables of a shell, for `envsubst`.
const OF_SHELL: Names<'_> = Names {
    partition: "${AWS_PARTITION}",
    region: "${AWS_REGION}",
    account: "${AWS_ACCOUNT_ID}",
    cluster: "${CLUSTER_NAME}",
    node_role: "${NODE_ROLE}",
    queue: "${QUEUE}",
};

/// A file that is written from the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyFile {
    /// Its path below the root of the tree.
    pub path: String,
    /// What it holds.
    pub text: String,
}

/// All files that are written from the list. The table is part of a page and has no place of its own
/// in the tree.
#[must_use]
pub fn files() -> Vec<PolicyFile> {
    let plain = Policy::ALL.map(|policy| PolicyFile {
        path: format!("deploy/policies/{}.json", policy.part("-")),
        text: pretty(policy, &OF_SHELL) + "\n",
    });
    let others = [
        ("deploy/cloudformation/controller.yaml", cloudformation()),
        ("deploy/terraform/controller-policies/main.tf", terraform()),
        ("permissions.md", permission_table()),
    ];
    let others = others.map(|(path, text)| PolicyFile { path: path.to_owned(), text });
    plain.into_iter().chain(others).collect()
}

/// Documents are text there: keys of conditions have the cluster's name in them, and names are filled
/// into text only.
fn cloudformation() -> String {
    let (mut policies, mut arns) = (String::new(), String::new());
    for policy in Policy::ALL {
        let id = format!("{}Policy", policy.part(""));
        let name = policy.name("${ClusterName}");
        let text = indented(&pretty(policy, &OF_CLOUDFORMATION), "          ");
        let _ = write!(
            policies,
            "  {id}:\n    Type: AWS::IAM::ManagedPolicy\n    Properties:\n      \
             ManagedPolicyName: !Sub \"{name}\"\n      \
             PolicyDocument:\n        Fn::Sub: |\n{text}\n\n"
        );
        let _ = writeln!(arns, "        - !Ref {id}");
    }
    let text = CLOUDFORMATION.replace(POLICIES, &policies);
    HEADER.to_owned() + &text.replace(ARNS, &arns)
}

fn terraform() -> String {
    let (mut policies, mut arns) = (String::new(), String::new());
    let width = Policy::ALL.map(|policy| policy.part("_").len()).into_iter().max();
    for policy in Policy::ALL {
        let (id, name) = (policy.part("_"), policy.name("${local.cluster}"));
        let text = indented(&pretty(policy, &OF_TERRAFORM), "    ");
        let _ = writeln!(
            policies,
            "resource \"aws_iam_policy\" \"{id}\" {{\n  name   = \"{name}\"\n  \
             policy = <<-EOT\n{text}\n  EOT\n}}\n"
        );
        let padding = " ".repeat(width.unwrap_or_default() - id.len());
        let _ = writeln!(arns, "    {id}{padding} = aws_iam_policy.{id}.arn");
    }
    let text = TERRAFORM.replace(POLICIES, &policies);
    HEADER.to_owned() + &text.replace(ARNS, &arns)
}

fn pretty(policy: Policy, names: &Names<'_>) -> String {
    format!("{:#}", document(policy, names))
}

fn indented(text: &str, by: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("{by}{line}")).collect();
    lines.join("\n")
}
