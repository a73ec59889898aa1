//! `kerf doctor` on the installation: what lacks in the account is named until it is there.

use std::process::Command;

use kerf_testbed::{AwsStandIn, ControlPlane, QuickStart};
use serde_json::{Value, json};

/// What the nodes' role needs.
const POLICIES: [&str; 3] =
    ["AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEC2ContainerRegistryPullOnly"];

/// The stand-in's account has no role for the controller, a role of nodes without policies, no access
/// entry, no service-linked role, and a queue without a policy and without rules. Each is mended, and
/// then found no more.
pub(crate) fn finds_what_lacks_until_it_is_mended(
    cluster: &ControlPlane,
    aws: &AwsStandIn,
    made: &QuickStart,
) {
    let lacking = ["node-role", "node-access", "spot-role", "queue-policy"];
    let all = [&["pod-identity"][..], &lacking].concat();
    assert_eq!(failures(cluster, aws), (1, all.iter().map(|it| (*it).to_owned()).collect()));
    gives_the_controller_its_role(cluster, aws, made);
    assert_eq!(failures(cluster, aws).1, lacking);

    for policy in POLICIES {
        let arn = format!("arn:aws:iam::aws:policy/{policy}");
        let arn = arn.replace(':', "%3A").replace('/', "%2F");
        let call = format!("AttachRolePolicy&RoleName={}&PolicyArn={arn}", made.role);
        aws.query("iam", &format!("Action={call}&Version=2010-05-08"));
    }
    assert_eq!(failures(cluster, aws).1, &lacking[1..]);

    let principal = format!("arn:aws:iam::{}:role/{}", made.account, made.role);
    let entry = json!({"principalArn": principal, "type": "EC2_LINUX"});
    aws.call("eks", &format!("POST /clusters/{}/access-entries", made.cluster), &entry);
    assert_eq!(failures(cluster, aws).1, &lacking[2..]);

    let call = "CreateServiceLinkedRole&AWSServiceName=spot.amazonaws.com";
    aws.query("iam", &format!("Action={call}&Version=2010-05-08"));
    assert_eq!(failures(cluster, aws).1, &lacking[3..]);

    let url = aws.sqs("GetQueueUrl", &json!({"QueueName": made.queue}));
    let policy = json!({"Version": "2012-10-17", "Statement": [{
        "Effect": "Allow", "Principal": {"Service": "events.amazonaws.com"},
        "Action": "sqs:SendMessage", "Resource": "*",
    }]});
    let attributes = json!({"Policy": policy.to_string()});
    aws.sqs("SetQueueAttributes", &json!({"QueueUrl": url["QueueUrl"], "Attributes": attributes}));
    has_rules_fill_the_queue(cluster, aws, &url["QueueUrl"]);
    assert_eq!(failures(cluster, aws), (0, Vec::new()));
    assert_eq!(ids(&report(cluster, aws).1, "warning"), [""; 0], "nothing else is wrong");
}

/// By Pod Identity: an association, the agent, and a role that may do what is needed.
fn gives_the_controller_its_role(cluster: &ControlPlane, aws: &AwsStandIn, made: &QuickStart) {
    let iam = |call: &str| aws.query("iam", &format!("Action={call}&Version=2010-05-08"));
    iam("CreateRole&RoleName=of-controller&AssumeRolePolicyDocument=%7B%7D");
    let role = format!("arn:aws:iam::{}:role/of-controller", made.account);
    let association =
        json!({"namespace": "karpenter", "serviceAccount": "karpenter", "roleArn": role});
    let path = format!("POST /clusters/{}/pod-identity-associations", made.cluster);
    aws.call("eks", &path, &association);
    assert_eq!(failures(cluster, aws).1[..2], ["pod-identity", "permissions"], "no agent");
    aws.set(&json!({"pod_identity_agent": true}));
    assert_eq!(failures(cluster, aws).1[0], "permissions");
    let everything = "%7B%22Version%22%3A%222012-10-17%22%2C%22Statement%22%3A%5B%7B%22Effect%22%3A%22Allow%22%2C%22Action%22%3A\
        %22%2A%22%2C%22Resource%22%3A%22%2A%22%7D%5D%7D";
    iam(&format!(
        "PutRolePolicy&RoleName=of-controller&PolicyName=all&PolicyDocument={everything}"
    ));
}

/// A rule with a slip of the pen fills nothing, and is named; one without fills the queue.
fn has_rules_fill_the_queue(cluster: &ControlPlane, aws: &AwsStandIn, url: &Value) {
    assert_eq!(failures(cluster, aws).1, ["rules"], "there is none");
    let asked = json!({"QueueUrl": url, "AttributeNames": ["QueueArn"]});
    let arn = aws.sqs("GetQueueAttributes", &asked)["Attributes"]["QueueArn"].clone();
    let put = |spot: &str| {
        let types = [
            spot,
            "EC2 Instance Rebalance Recommendation",
            "EC2 Instance State-change Notification",
            "EC2 Capacity Reservation Instance Interruption Warning",
            "AWS Health Event",
        ];
        let pattern = json!({"source": ["aws.ec2", "aws.health"], "detail-type": types});
        let rule = json!({"Name": "notices", "EventPattern": pattern.to_string()});
        aws.json("events", "AWSEvents.PutRule", &rule);
        let targets = json!({"Rule": "notices", "Targets": [{"Id": "queue", "Arn": arn}]});
        aws.json("events", "AWSEvents.PutTargets", &targets);
    };
    put("EC2 Spot Instance Interuption Warning");
    let found = report(cluster, aws).1;
    assert!(
        found.to_string().contains("Interuption Warning\\\", which AWS never sends"),
        "{found}"
    );
    assert_eq!(failures(cluster, aws).1, ["rules"]);
    put("EC2 Spot Instance Interruption Warning");
}

/// How the doctor ends, and the checks that failed, in their order.
fn failures(cluster: &ControlPlane, aws: &AwsStandIn) -> (i32, Vec<String>) {
    let (code, report) = report(cluster, aws);
    (code, ids(&report, "failure"))
}

fn report(cluster: &ControlPlane, aws: &AwsStandIn) -> (i32, Value) {
    let mut doctor = Command::new(env!("CARGO_BIN_EXE_kerf"));
    doctor.args(["doctor", "--output=json"]).env("KUBECONFIG", cluster.kubeconfig());
    let output = doctor.envs(aws.environment()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let report = serde_json::from_str(&text).unwrap_or_else(|why| panic!("{why}: {text}"));
    (output.status.code().unwrap(), report)
}

/// The checks with findings of a severity.
fn ids(report: &Value, severity: &str) -> Vec<String> {
    let findings = report["checks"].as_array().unwrap().iter();
    let findings = findings.flat_map(|check| check["findings"].as_array().unwrap());
    let wanted = findings.filter(|finding| finding["severity"] == severity);
    wanted.map(|finding| finding["id"].as_str().unwrap().to_owned()).collect()
}
