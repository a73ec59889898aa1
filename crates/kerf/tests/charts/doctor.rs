//! `kerf doctor` on the installation: what lacks in the account is named until it is there.

use std::process::Command;

use kerf_testbed::{AwsStandIn, ControlPlane, QuickStart};
use serde_json::{Value, json};

/// What the nodes' role needs.
const POLICIES: [&str; 3] =
    ["AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEC2ContainerRegistryPullOnly"];

/// The stand-in's account has a role without policies, no access entry, no service-linked role and a
/// queue without a policy. Each is mended, and then found no more.
pub(crate) fn finds_what_lacks_until_it_is_mended(
    cluster: &ControlPlane,
    aws: &AwsStandIn,
    made: &QuickStart,
) {
    let lacking = ["node-role", "node-access", "spot-role", "queue-policy"];
    assert_eq!(failures(cluster, aws), (1, lacking.map(str::to_owned).into()));

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

    // The stand-in's own call for service-linked roles gives this one another name.
    let call = "CreateRole&RoleName=AWSServiceRoleForEC2Spot&AssumeRolePolicyDocument=%7B%7D";
    aws.query("iam", &format!("Action={call}&Version=2010-05-08"));
    assert_eq!(failures(cluster, aws).1, &lacking[3..]);

    let url = aws.sqs("GetQueueUrl", &json!({"QueueName": made.queue}));
    let policy = json!({"Version": "2012-10-17", "Statement": [{
        "Effect": "Allow", "Principal": {"Service": "events.amazonaws.com"},
        "Action": "sqs:SendMessage", "Resource": "*",
    }]});
    let attributes = json!({"Policy": policy.to_string()});
    aws.sqs("SetQueueAttributes", &json!({"QueueUrl": url["QueueUrl"], "Attributes": attributes}));
    assert_eq!(failures(cluster, aws), (0, Vec::new()));
    assert_eq!(ids(&report(cluster, aws).1, "warning"), [""; 0], "nothing else is wrong");
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
