//! The queue that notices come from.

use serde_json::Value;

use crate::commands::doctor::facts::{Account, Facts};
use crate::commands::doctor::finding::Finding;

/// A spot notice is worth nothing after two minutes; less than one and a restart loses it.
const RETENTION_SECONDS_MIN: u64 = 60;

pub(super) fn queue(facts: &Facts) -> Vec<Finding> {
    let Some(Account { queue, cluster_name, .. }) = &facts.account else { return Vec::new() };
    let Some((name, queue)) = queue else {
        let evidence = "the controller reads no queue: nodes are not drained before AWS takes \
                        their instances"
            .to_owned();
        let fix = format!("helm upgrade … --set settings.interruptionQueue={cluster_name}");
        return vec![Finding::warning("queue", evidence, fix)];
    };
    let queue = match queue {
        Err(why) => return vec![Finding::unknown("queue", why)],
        Ok(None) => {
            let evidence = format!("there is no queue {name} in this account and region");
            let fix = "aws cloudformation deploy --template-file \
                       deploy/cloudformation/controller.yaml … (docs/install.md)";
            return vec![Finding::failure("queue", evidence, fix)];
        }
        Ok(Some(queue)) => queue,
    };
    let mut findings = Vec::new();
    let mut warn = |evidence: String, attribute: &str| {
        let fix = format!("aws sqs set-queue-attributes --queue-url URL --attributes {attribute}");
        findings.push(Finding::warning("queue", evidence, fix));
    };
    if queue.retention_seconds < RETENTION_SECONDS_MIN {
        let kept = queue.retention_seconds;
        warn(
            format!("queue {name} keeps messages for {kept} s only"),
            "MessageRetentionPeriod=300",
        );
    }
    if !queue.is_encrypted {
        warn(format!("queue {name} is not encrypted"), "SqsManagedSseEnabled=true");
    }
    findings
}

pub(super) fn policy(facts: &Facts) -> Vec<Finding> {
    let Some(Account { queue: Some((name, Ok(Some(queue)))), .. }) = &facts.account else {
        return Vec::new();
    };
    let policy = serde_json::from_str::<Value>(&queue.policy).unwrap_or_default();
    let statements = policy["Statement"].as_array().cloned().unwrap_or_default();
    if statements.iter().any(lets_somebody_send) {
        return Vec::new();
    }
    let evidence = format!("the policy of queue {name} lets neither EventBridge nor a router send");
    let fix = "aws cloudformation deploy --template-file deploy/cloudformation/controller.yaml …: \
               its QueuePolicy allows sqs:SendMessage to events.amazonaws.com";
    vec![Finding::failure("queue-policy", evidence, fix)]
}

/// Whether a statement lets EventBridge, or a role of a router, send messages.
fn lets_somebody_send(statement: &Value) -> bool {
    let names = |field: &Value, wanted: &[&str]| match field {
        Value::String(one) => wanted.contains(&one.as_str()),
        Value::Array(all) => {
            all.iter().any(|one| one.as_str().is_some_and(|it| wanted.contains(&it)))
        }
        _ => false,
    };
    let principal = &statement["Principal"];
    let is_event_bridge = names(&principal["Service"], &["events.amazonaws.com"]);
    let is_router = principal["AWS"].is_string() || principal["AWS"].is_array();
    statement["Effect"] == "Allow"
        && names(&statement["Action"], &["sqs:SendMessage", "sqs:*", "SQS:SendMessage", "*"])
        && (is_event_bridge || is_router || principal == "*")
}
