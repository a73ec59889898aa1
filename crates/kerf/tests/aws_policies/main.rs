//! The files that are written from the list of permissions work where people use them: as policies,
//! as a CloudFormation stack, as a Terraform module. That they are up to date is checked by
//! `cargo xtask check`; that the list is what the controller uses, by `aws_nodes`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod hcl;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use kerf_aws::iam::{Names, Policy, document};
use kerf_testbed::{AwsStandIn, lint_template};
use serde_json::Value;

const CLUSTER: &str = "tidepool";
const CLASSIC: &str = "cloudformation/cloudformation.yaml";
const NAMES: Names<'_> = Names {
    partition: "aws",
    region: "us-east-1",
    account: "123456789012",
    cluster: CLUSTER,
    node_role: "KarpenterNodeRole-tidepool",
    queue: CLUSTER,
};

fn deploy(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy").join(path)
}

fn text(path: &str) -> String {
    std::fs::read_to_string(deploy(path)).unwrap()
}

#[test]
fn plain_policies_become_those_of_a_cluster_with_six_variables() {
    for (policy, file) in [
        (Policy::NodeLifecycle, "node-lifecycle"),
        (Policy::IamIntegration, "iam-integration"),
        (Policy::EksIntegration, "eks-integration"),
        (Policy::Interruption, "interruption"),
        (Policy::ZonalShift, "zonal-shift"),
        (Policy::ResourceDiscovery, "resource-discovery"),
    ] {
        let variables = [
            ("${AWS_PARTITION}", NAMES.partition),
            ("${AWS_REGION}", NAMES.region),
            ("${AWS_ACCOUNT_ID}", NAMES.account),
            ("${CLUSTER_NAME}", NAMES.cluster),
            ("${NODE_ROLE}", NAMES.node_role),
            ("${QUEUE}", NAMES.queue),
        ];
        let template = text(&format!("policies/{file}.json"));
        let filled =
            variables.iter().fold(template, |text, (name, value)| text.replace(name, value));
        let filled: Value = serde_json::from_str(&filled).unwrap();
        assert_eq!(filled, document(policy, &NAMES), "{file}");
    }
}

#[test]
fn cfn_lint_finds_nothing_in_the_templates() {
    for template in ["cloudformation/controller.yaml", CLASSIC] {
        assert_eq!(lint_template(&deploy(template)).unwrap(), "", "{template}");
        assert!(!text(template).contains("arn:aws:"), "{template}: other partitions exist");
    }
}

/// What Karpenter's template calls what it makes, and what that is called then.
const CLASSIC_NAMES: [(&str, &str); 15] = [
    ("KarpenterNodeRole", "KarpenterNodeRole-tidepool"),
    ("KarpenterNodeInstanceProfile", "KarpenterNodeInstanceProfile-tidepool"),
    ("KarpenterControllerNodeLifecyclePolicy", "KarpenterControllerNodeLifecyclePolicy-tidepool"),
    ("KarpenterControllerIAMIntegrationPolicy", "KarpenterControllerIAMIntegrationPolicy-tidepool"),
    ("KarpenterControllerEKSIntegrationPolicy", "KarpenterControllerEKSIntegrationPolicy-tidepool"),
    ("KarpenterControllerInterruptionPolicy", "KarpenterControllerInterruptionPolicy-tidepool"),
    ("KarpenterControllerZonalShiftPolicy", "KarpenterControllerZonalShiftPolicy-tidepool"),
    (
        "KarpenterControllerResourceDiscoveryPolicy",
        "KarpenterControllerResourceDiscoveryPolicy-tidepool",
    ),
    ("KarpenterInterruptionQueue", "tidepool"),
    ("KarpenterInterruptionQueuePolicy", ""),
    ("ScheduledChangeRule", ""),
    ("SpotInterruptionRule", ""),
    ("RebalanceRule", ""),
    ("InstanceStateChangeRule", ""),
    ("CapacityReservationInterruptionRule", ""),
];

#[test]
fn the_classic_stack_makes_everything_by_its_old_logical_ids_and_names() {
    let aws = AwsStandIn::start().unwrap();
    let template = escaped(&text(CLASSIC));
    aws.query(
        "cloudformation",
        &format!(
            "Action=CreateStack&Version=2010-05-15&StackName=Karpenter-{CLUSTER}\
             &TemplateBody={template}&Capabilities.member.1=CAPABILITY_NAMED_IAM\
             &Parameters.member.1.ParameterKey=ClusterName\
             &Parameters.member.1.ParameterValue={CLUSTER}\
             &Parameters.member.2.ParameterKey=CreateInstanceProfile\
             &Parameters.member.2.ParameterValue=true"
        ),
    );
    let call =
        format!("Action=DescribeStackResources&Version=2010-05-15&StackName=Karpenter-{CLUSTER}");
    let made = aws.query("cloudformation", &call);
    for (id, name) in CLASSIC_NAMES {
        assert!(text(CLASSIC).contains(&format!("\n  {id}:\n")), "{id}");
        // The stand-in passes policies of queues over.
        let is_made = made.contains(&format!("<LogicalResourceId>{id}</LogicalResourceId>"));
        assert!(is_made || id == "KarpenterInterruptionQueuePolicy", "{id}: {made}");
        assert!(made.contains(name), "{name}: {made}");
    }
    events_reach_the_queue(&aws);
}

/// Each kind of event that the rules are for, put on the bus, comes out of the queue.
fn events_reach_the_queue(aws: &AwsStandIn) {
    let kinds = [
        ("aws.health", "AWS Health Event"),
        ("aws.ec2", "EC2 Spot Instance Interruption Warning"),
        ("aws.ec2", "EC2 Instance Rebalance Recommendation"),
        ("aws.ec2", "EC2 Instance State-change Notification"),
        ("aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning"),
    ];
    let url = aws.sqs("GetQueueUrl", &serde_json::json!({"QueueName": CLUSTER}));
    let asked = serde_json::json!({"QueueUrl": url["QueueUrl"], "MaxNumberOfMessages": 10});
    for (source, kind) in kinds {
        let entry = serde_json::json!({"Source": source, "DetailType": kind, "Detail": "{}"});
        aws.json("events", "AWSEvents.PutEvents", &serde_json::json!({"Entries": [entry]}));
        let received = aws.sqs("ReceiveMessage", &asked);
        let messages = received["Messages"].as_array().cloned().unwrap_or_default();
        assert_eq!(messages.len(), 1, "{kind}: {received}");
        assert!(messages[0]["Body"].as_str().unwrap().contains(kind), "{received}");
        let done = serde_json::json!({
            "QueueUrl": url["QueueUrl"], "ReceiptHandle": messages[0]["ReceiptHandle"],
        });
        aws.sqs("DeleteMessage", &done);
    }
}

#[test]
fn the_stack_makes_every_policy_as_the_list_has_it_and_gives_them_to_the_controller() {
    let aws = AwsStandIn::start().unwrap();
    let template = escaped(&text("cloudformation/controller.yaml"));
    let created = aws.query(
        "cloudformation",
        &format!(
            "Action=CreateStack&Version=2010-05-15&StackName=kerf&TemplateBody={template}\
             &Capabilities.member.1=CAPABILITY_NAMED_IAM\
             &Parameters.member.1.ParameterKey=ClusterName\
             &Parameters.member.1.ParameterValue={CLUSTER}"
        ),
    );
    assert!(created.contains("<StackId>"), "{created}");
    let role = format!("KarpenterController-{CLUSTER}");
    let attached = iam(&aws, &format!("ListAttachedRolePolicies&RoleName={role}"));
    for policy in Policy::ALL {
        let name = policy.name(CLUSTER);
        assert!(attached.contains(&format!("<PolicyName>{name}</PolicyName>")), "{attached}");
        let arn = format!("arn:aws:iam::{}:policy/{name}", NAMES.account);
        let made = iam(&aws, &format!("GetPolicyVersion&VersionId=v1&PolicyArn={}", escaped(&arn)));
        let made = between(&made, "<Document>", "</Document>").replace("&quot;", "\"");
        let mut made: Value = serde_json::from_str(&unescaped(&made)).unwrap();
        // The stand-in keeps a text that was filled in as text.
        if let Some(inner) = made.as_str() {
            made = serde_json::from_str(inner).unwrap();
        }
        assert_eq!(made, document(policy, &NAMES), "{name}");
    }
    let rules = aws.json("events", "AWSEvents.ListRules", &serde_json::json!({}));
    assert_eq!(rules["Rules"].as_array().unwrap().len(), 3, "{rules}");
}

#[test]
fn the_terraform_module_can_be_read_and_has_every_policy_as_the_list_has_it() {
    let module = hcl::parse(&text("terraform/controller-policies/main.tf"));
    let is_policy = |block: &&hcl::Block| {
        block.kind == "resource" && block.labels.first().is_some_and(|it| it == "aws_iam_policy")
    };
    let policies: Vec<&hcl::Block> = module.blocks.iter().filter(is_policy).collect();
    assert_eq!(policies.len(), Policy::ALL.len());
    let locals = [
        ("${local.partition}", NAMES.partition),
        ("${local.region}", NAMES.region),
        ("${local.account}", NAMES.account),
        ("${local.cluster}", NAMES.cluster),
        ("${local.node_role}", NAMES.node_role),
        ("${local.queue}", NAMES.queue),
    ];
    let filled = |text: &str| {
        locals.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
    };
    let outputs = module.blocks.iter().find(|block| block.kind == "output").unwrap();
    for policy in Policy::ALL {
        let name = format!("\"{}\"", policy.name(CLUSTER));
        let is_it =
            |block: &&&hcl::Block| block.attribute("name").map(filled) == Some(name.clone());
        let block = policies.iter().find(is_it).unwrap_or_else(|| panic!("no {name}"));
        let written = filled(block.attribute("policy").unwrap());
        let written: Value = serde_json::from_str(&written).unwrap();
        assert_eq!(written, document(policy, &NAMES), "{name}");
        let arn = format!("aws_iam_policy.{}.arn", block.labels[1]);
        assert!(outputs.attribute("value").unwrap().contains(&arn), "{arn}");
    }
}

#[test]
fn what_is_not_of_terraforms_language_is_found_with_its_line() {
    for (text, line) in [
        ("a = 1\nlocals {\n  b = [1, 2)\n}\n", "line 3"),
        ("resource \"x\" \"y\" {\n  name = \"open\n}\n", "line 2"),
        ("locals {\n  b = 1\n", "line 3"),
        ("locals {\n}\n}\n", "line 3"),
        ("a = <<-EOT\n  text\n", "line 3"),
        ("locals {\n  b =\n}\n", "line 2"),
    ] {
        let failed = std::panic::catch_unwind(|| hcl::parse(text)).unwrap_err();
        let said = failed.downcast_ref::<String>().unwrap();
        assert!(said.contains(line), "{text}: {said}");
    }
}

/// The folders of modules, and the files of each.
const MODULES: [(&str, &[&str]); 3] = [
    ("terraform/controller-policies", &["main.tf"]),
    (
        "terraform/karpenter",
        &["helm.tf", "interruption.tf", "main.tf", "outputs.tf", "policies.tf", "variables.tf"],
    ),
    ("terraform/karpenter/iam-assumable-role", &["main.tf"]),
];

#[test]
fn the_module_keeps_its_inputs_outputs_and_addresses() {
    let (folder, files) = MODULES[1];
    let blocks: Vec<hcl::Block> = files
        .iter()
        .flat_map(|file| hcl::parse(&text(&format!("{folder}/{file}"))).blocks)
        .collect();
    let has = |kind: &str, labels: &[&str]| {
        blocks.iter().any(|block| block.kind == kind && block.labels == labels)
    };
    for (name, default) in [
        ("cluster_name", "\"\""),
        ("cluster_endpoint", "\"\""),
        ("helm_create_namespace", "true"),
        ("helm_name", "\"karpenter\""),
        ("helm_namespace", "\"karpenter\""),
        ("iam_path", "\"\""),
        ("permissions_boundary", "\"\""),
        ("provider_url", "\"\""),
        ("worker_iam_role_name", "\"\""),
    ] {
        let variable = blocks.iter().find(|it| it.kind == "variable" && it.labels == [name]);
        assert_eq!(variable.unwrap().attribute("default"), Some(default), "{name}");
    }
    for output in ["hr_manifest", "karpenter_iam", "iam_role_arn", "queue_name", "namespace"] {
        assert!(has("output", &[output]), "{output}");
    }
    for (kind, name) in [
        ("aws_iam_instance_profile", "karpenter"),
        ("aws_iam_policy", "karpenter_contoller"),
        ("aws_iam_policy", "ssm_managed_instance"),
        ("aws_iam_role_policy_attachment", "karpenter_contoller_policy_attachment"),
        ("aws_iam_role_policy_attachment", "karpenter_ssm_policy"),
        ("helm_release", "karpenter"),
    ] {
        assert!(has("resource", &[kind, name]), "{kind}.{name}");
    }
    assert!(has("data", &["aws_eks_cluster", "cluster"]));
    assert!(has("module", &["iam_assumable_role_karpenter"]));
    let role = hcl::parse(&text(&format!("{}/main.tf", MODULES[2].0)));
    assert!(role.blocks.iter().any(|it| it.labels == ["aws_iam_role", "this"]));
}

#[test]
fn terraform_accepts_the_modules() {
    let Ok(plugins) = std::env::var("KERF_TERRAFORM_PLUGINS") else {
        println!("KERF_TERRAFORM_PLUGINS is not set: Terraform is not asked");
        return;
    };
    let folder = std::env::temp_dir().join(format!("kerf-terraform-{}", std::process::id()));
    for (module, files) in MODULES {
        std::fs::create_dir_all(folder.join(module)).unwrap();
        for file in files.iter().filter(|file| **file != "helm.tf") {
            // The provider of Helm is not there to judge its file.
            std::fs::copy(deploy(module).join(file), folder.join(module).join(file)).unwrap();
        }
    }
    std::fs::write(folder.join("terraformrc"), "").unwrap();
    let run = |module: &str, arguments: &[&str]| {
        let mut command = Command::new("terraform");
        command.current_dir(folder.join(module));
        command.env("TF_CLI_CONFIG_FILE", folder.join("terraformrc"));
        let said = command.args(arguments).output().unwrap();
        let text = String::from_utf8([said.stdout, said.stderr].concat()).unwrap();
        (said.status.success(), text)
    };
    let plugin_dir = format!("-plugin-dir={plugins}");
    let steps: [&[&str]; 3] = [
        &["init", "-backend=false", "-input=false", &plugin_dir],
        &["validate", "-no-color"],
        &["fmt", "-check", "-diff"],
    ];
    let of_module = |(module, _): &(&str, &[&str])| steps.map(|step| run(module, step));
    let said: Vec<(bool, String)> = MODULES[..2].iter().flat_map(of_module).collect();
    std::fs::remove_dir_all(&folder).unwrap();
    for (is_well, text) in said {
        assert!(is_well, "{text}");
    }
}

fn iam(aws: &AwsStandIn, call: &str) -> String {
    aws.query("iam", &format!("Action={call}&Version=2010-05-08"))
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    text.split_once(start).unwrap().1.split_once(end).unwrap().0
}

/// Text as a form takes it.
fn escaped(text: &str) -> String {
    text.bytes().fold(String::new(), |mut escaped, byte| {
        let _ = match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => write!(escaped, "{}", char::from(byte)),
            _ => write!(escaped, "%{byte:02X}"),
        };
        escaped
    })
}

/// And back.
fn unescaped(text: &str) -> String {
    let mut parts = text.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |mut plain, part| {
        let (code, rest) = part.split_at(2);
        plain.push(char::from(u8::from_str_radix(code, 16).unwrap()));
        plain.push_str(rest);
        plain
    })
}
