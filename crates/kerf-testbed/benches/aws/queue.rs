//! Notices, by the queue.

use std::time::Instant;

use kerf_testbed::{AwsStandIn, QuickStart};
use serde_json::{Value, json};

/// The most messages SQS takes in one call.
const AT_ONCE: usize = 10;

/// What is announced about an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Announced {
    /// Its host has to be maintained.
    ScheduledChange,
    /// It is taken back.
    Spot,
    /// It is being stopped.
    Stopping,
}

impl Announced {
    /// Every kind that is mixed.
    pub(crate) const ALL: [Self; 3] = [Self::ScheduledChange, Self::Spot, Self::Stopping];

    /// The message about an instance.
    pub(crate) fn body(self, made: &QuickStart, instance: &str) -> Value {
        let now = k8s_openapi::jiff::Timestamp::now().to_string();
        let (source, kind, detail) = match self {
            Self::ScheduledChange => (
                "aws.health",
                "AWS Health Event",
                json!({
                    "service": "EC2", "eventTypeCategory": "scheduledChange",
                    "eventTypeCode": "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED",
                    "affectedEntities": [{"entityValue": instance}],
                }),
            ),
            Self::Spot => (
                "aws.ec2",
                "EC2 Spot Instance Interruption Warning",
                json!({
                    "instance-id": instance, "instance-action": "terminate",
                }),
            ),
            Self::Stopping => (
                "aws.ec2",
                "EC2 Instance State-change Notification",
                json!({
                    "instance-id": instance, "state": "stopping",
                }),
            ),
        };
        let arn = format!("arn:aws:ec2:{}:{}:instance/{instance}", made.region, made.account);
        json!({
            "version": "0", "id": instance, "source": source, "account": made.account,
            "detail-type": kind, "time": now, "region": made.region, "resources": [arn],
            "detail": detail,
        })
    }
}

/// The address of a queue.
pub(crate) fn url(aws: &AwsStandIn, name: &str) -> String {
    let url = aws.sqs("GetQueueUrl", &json!({"QueueName": name}));
    url["QueueUrl"].as_str().unwrap().to_owned()
}

/// Sends messages, as many at once as SQS takes; when each was on the queue.
pub(crate) fn send(aws: &AwsStandIn, url: &str, bodies: &[String]) -> Vec<Instant> {
    let mut sent = Vec::new();
    for some in bodies.chunks(AT_ONCE) {
        let entry = |(number, body): (usize, &String)| json!({"Id": number.to_string(), "MessageBody": body});
        let entries: Vec<Value> = some.iter().enumerate().map(entry).collect();
        aws.sqs("SendMessageBatch", &json!({"QueueUrl": url, "Entries": entries}));
        sent.extend(some.iter().map(|_| Instant::now()));
    }
    sent
}

/// How many messages there are, hidden ones included.
pub(crate) fn depth(aws: &AwsStandIn, url: &str) -> u64 {
    let names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"];
    let answer = aws.sqs("GetQueueAttributes", &json!({"QueueUrl": url, "AttributeNames": names}));
    let number = |name: &str| answer["Attributes"][name].as_str().unwrap().parse::<u64>().unwrap();
    names.iter().map(|name| number(name)).sum()
}
