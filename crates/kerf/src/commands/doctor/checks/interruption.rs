//! The queue that notices come from.

use serde_json::Value;

use crate::commands::doctor::facts::{Account, Facts};
use crate::commands::doctor::finding::Finding;

/// A spot notice is worth nothing after two minutes; less than one and a restart loses it.
const RETENTION_SECONDS_MIN: u64 = 60;

const EVENT_BRIDGE: &str = "events.amazonaws.com";
const REDEPLOY: &str = "kerf install --cluster CLUSTER updates the stack; or aws cloudformation \
                        deploy --template-file deploy/cloudformation/cloudformation.yaml …";
/// What notices come as, exactly as AWS writes it, and whether nodes are lost without it.
const DETAIL_TYPES: [(&str, bool); 5] = [
    ("EC2 Spot Instance Interruption Warning", true),
    ("EC2 Instance Rebalance Recommendation", false),
    ("EC2 Instance State-change Notification", false),
    ("AWS Health Event", false),
    ("EC2 Capacity Reservation Instance Interruption Warning", false),
];

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

/// Whether EventBridge sends what the queue is for. A router needs no rules of this account.
pub(super) fn rules(facts: &Facts) -> Vec<Finding> {
    let Some(Account { queue: Some((name, Ok(Some(queue)))), rules, .. }) = &facts.account else {
        return Vec::new();
    };
    if !queue.policy.contains(EVENT_BRIDGE) {
        return Vec::new();
    }
    let rules = match rules {
        Err(why) => return vec![Finding::unknown("rules", why)],
        Ok(rules) => rules,
    };
    let mut findings = Vec::new();
    let mut told = Vec::new();
    for rule in rules {
        if !rule.is_enabled {
            let fix = format!("aws events enable-rule --name {}", rule.name);
            let evidence = format!("rule {} is disabled", rule.name);
            findings.push(Finding::failure("rules", evidence, fix));
        }
        let pattern = serde_json::from_str::<Value>(&rule.pattern).unwrap_or_default();
        let types = pattern["detail-type"].as_array().cloned().unwrap_or_default();
        let types = types.iter().filter_map(|it| it.as_str().map(str::to_owned));
        for detail_type in types {
            if !DETAIL_TYPES.iter().any(|(known, _)| *known == detail_type) {
                let evidence =
                    format!("rule {} waits for {detail_type:?}, which AWS never sends", rule.name);
                findings.push(Finding::failure("rules", evidence, REDEPLOY));
            }
            told.push(detail_type);
        }
    }
    // A rule that is wrong explains what does not come.
    if findings.is_empty() {
        let lacking = DETAIL_TYPES.iter().filter(|(known, _)| !told.iter().any(|it| it == known));
        findings.extend(lacking.map(|(lacking, is_vital)| {
            let evidence = format!("no rule sends {lacking:?} to queue {name}");
            match is_vital {
                true => Finding::failure("rules", evidence, REDEPLOY),
                false => Finding::warning("rules", evidence, REDEPLOY),
            }
        }));
    }
    findings
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
    let is_event_bridge = names(&principal["Service"], &[EVENT_BRIDGE]);
    let is_router = principal["AWS"].is_string() || principal["AWS"].is_array();
    statement["Effect"] == "Allow"
        && names(&statement["Action"], &["sqs:SendMessage", "sqs:*", "SQS:SendMessage", "*"])
        && (is_event_bridge || is_router || principal == "*")
}
