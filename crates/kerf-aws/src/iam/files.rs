//! The list as files: for CloudFormation, for Terraform, as plain policies, and as a table.

use std::fmt::Write;

use super::permission_table::permission_table;
use super::{Names, Policy, document};

/// First line of every file that may have one, so that nobody edits what is written anew.
const HEADER: &str = "# Written by `cargo xtask policies` from crates/kerf-aws/src/iam.\n";
const CLOUDFORMATION: &str = include_str!("templates/controller.yaml");
const CLASSIC: &str = include_str!("templates/classic.yaml");
const TERRAFORM: &str = include_str!("templates/controller.tf");

/// Where policies and the ARNs of all of them go in a template.
const POLICIES: &str = "@policies@\n";
const ARNS: &str = "@arns@\n";
/// Where the controller's role names its policies, and who may take it.
const REFERENCES: &str = "@references@\n";
const IRSA: &str = "@irsa@\n";
const POD_IDENTITY: &str = "@pod_identity@\n";

/// Who may take the controller's role by a token of the cluster's issuer.
const IRSA_STATEMENT: &str = r#"{
  "Effect": "Allow",
  "Action": "sts:AssumeRoleWithWebIdentity",
  "Principal": {
    "Federated": "arn:${AWS::Partition}:iam::${AWS::AccountId}:oidc-provider/${OidcIssuer}"
  },
  "Condition": {
    "StringEquals": {
      "${OidcIssuer}:sub": "system:serviceaccount:${Namespace}:${ServiceAccount}",
      "${OidcIssuer}:aud": "sts.amazonaws.com"
    }
  }
}"#;
/// Who may take it by EKS Pod Identity.
const POD_IDENTITY_STATEMENT: &str = r#"{
  "Effect": "Allow",
  "Action": ["sts:AssumeRole", "sts:TagSession"],
  "Principal": {
    "Service": "pods.eks.amazonaws.com"
  }
}"#;

/// CloudFormation's words for what a policy is about.
const OF_CLOUDFORMATION: Names<'_> = Names {
    partition: "${AWS::Partition}",
    region: "${AWS::Region}",
    account: "${AWS::AccountId}",
    cluster: "${ClusterName}",
    node_role: "${NodeRole}",
    queue: "${ClusterName}",
};
/// The path of everything in the classic stack, and its nodes' role with its path.
const CLASSIC_PATH: &str = "!Sub \"/${IamPath}\"";
const CLASSIC_NODE_ROLE: &str = "!If [MakesNodeRole, !Sub \"${IamPath}${KarpenterNodeRole}\", \
     !Sub \"${NodeRolePath}${NodeRoleName}\"]";
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
        ("deploy/cloudformation/controller.yaml", controller_stack()),
        ("deploy/cloudformation/cloudformation.yaml", classic_stack()),
        ("deploy/terraform/controller-policies/main.tf", terraform()),
        ("deploy/terraform/karpenter/policies.tf", terraform_module_policies()),
        ("permissions.md", permission_table()),
    ];
    let others = others.map(|(path, text)| PolicyFile { path: path.to_owned(), text });
    plain.into_iter().chain(others).collect()
}

/// The stack with everything the controller needs.
fn controller_stack() -> String {
    let id = |policy: Policy| format!("{}Policy", policy.part(""));
    let arns: String =
        Policy::ALL.iter().map(|policy| format!("        - !Ref {}\n", id(*policy))).collect();
    let text = CLOUDFORMATION.replace(POLICIES, &cloudformation(id, None));
    HEADER.to_owned() + &text.replace(ARNS, &arns)
}

/// The stack by the logical ids of Karpenter's own, which `kerf install` makes.
#[must_use]
pub fn classic_stack() -> String {
    let id = |policy: Policy| format!("KarpenterController{}Policy", policy.part(""));
    let reference = |policy: &Policy| format!("        - !Ref {}\n", id(*policy));
    let references: String = Policy::ALL.iter().map(reference).collect();
    let statement = |text: &str| indented(text, &" ".repeat(22)) + "\n";
    let arn = |policy: &Policy| {
        format!("  {}PolicyArn:\n    Value: !Ref {}\n", policy.part(""), id(*policy))
    };
    let arns: String = Policy::ALL.iter().map(arn).collect();
    let text = CLASSIC.replace(POLICIES, &cloudformation(id, Some(CLASSIC_NODE_ROLE)));
    let text = text.replace(REFERENCES, &(references + "\n"));
    let text = text.replace(IRSA, &statement(IRSA_STATEMENT));
    let text = text.replace(POD_IDENTITY, &statement(POD_IDENTITY_STATEMENT));
    HEADER.to_owned() + &text.replace(ARNS, &arns)
}

/// All policies as resources, by logical id. Documents are text there: keys of conditions have the
/// cluster's name in them, and names are filled into text only. The nodes' role is a resource of the
/// stack, unless its name with its path is said.
fn cloudformation(id: impl Fn(Policy) -> String, node_role: Option<&str>) -> String {
    let mut policies = String::new();
    for policy in Policy::ALL {
        let (id, name) = (id(policy), policy.name("${ClusterName}"));
        let text = pretty(policy, &OF_CLOUDFORMATION);
        let (path, document) = match node_role {
            None => (String::new(), format!("Fn::Sub: |\n{}", indented(&text, "          "))),
            Some(node_role) if text.contains(OF_CLOUDFORMATION.node_role) => (
                format!("      Path: {CLASSIC_PATH}\n"),
                format!(
                    "Fn::Sub:\n          - |\n{}\n          - NodeRole: {node_role}",
                    indented(&text, "            ")
                ),
            ),
            Some(_) => (
                format!("      Path: {CLASSIC_PATH}\n"),
                format!("Fn::Sub: |\n{}", indented(&text, "          ")),
            ),
        };
        let _ = write!(
            policies,
            "  {id}:\n    Type: AWS::IAM::ManagedPolicy\n    Properties:\n      \
             ManagedPolicyName: !Sub \"{name}\"\n{path}      \
             PolicyDocument:\n        {document}\n\n"
        );
    }
    policies
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

/// The policies of the whole module: two, because one would be longer than IAM allows. The first has
/// the address, spelling included, that the module had when it was the only one.
fn terraform_module_policies() -> String {
    let is_first = |policy: &Policy| *policy != Policy::IamIntegration;
    let (first, second): (Vec<Policy>, Vec<Policy>) = Policy::ALL.into_iter().partition(is_first);
    let resource = |id: &str, name: &str, policies: &[Policy]| {
        let text = indented(&format!("{:#}", merged(policies, &OF_TERRAFORM)), "    ");
        format!(
            "resource \"aws_iam_policy\" \"{id}\" {{\n  name   = \"{name}-${{local.cluster}}\"\n  \
             path   = local.path\n  tags   = var.tags\n  policy = <<-EOT\n{text}\n  EOT\n}}\n"
        )
    };
    let first = resource("karpenter_contoller", "karpenter-policy", &first);
    let second = resource("iam_integration", "karpenter-iam-policy", &second);
    format!("{HEADER}\n{first}\n{second}")
}

/// One document with the statements of several policies.
fn merged(policies: &[Policy], names: &Names<'_>) -> serde_json::Value {
    let mut all = document(policies[0], names);
    let rest = policies[1..].iter().map(|policy| document(*policy, names)["Statement"].take());
    let statements: Vec<serde_json::Value> =
        rest.flat_map(|statements| statements.as_array().cloned().unwrap_or_default()).collect();
    if let Some(first) = all["Statement"].as_array_mut() {
        first.extend(statements);
    }
    all
}

fn pretty(policy: Policy, names: &Names<'_>) -> String {
    format!("{:#}", document(policy, names))
}

fn indented(text: &str, by: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("{by}{line}")).collect();
    lines.join("\n")
}
