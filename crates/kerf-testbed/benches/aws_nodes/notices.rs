//! Spot notices, by the queue.

use kerf_testbed::{AwsStandIn, QuickStart};
use serde_json::{Value, json};

/// The most messages SQS takes in one call.
const AT_ONCE: usize = 10;

/// The address of a queue.
pub(crate) fn queue_url(aws: &AwsStandIn, name: &str) -> String {
    let url = aws.sqs("GetQueueUrl", &json!({"QueueName": name}));
    url["QueueUrl"].as_str().unwrap().to_owned()
}

/// Announces the end of all these instances.
pub(crate) fn send(aws: &AwsStandIn, made: &QuickStart, url: &str, instances: &[String]) {
    for some in instances.chunks(AT_ONCE) {
        let entry = |(number, id): (usize, &String)| json!({"Id": number.to_string(), "MessageBody": notice(made, id).to_string()});
        let entries: Vec<Value> = some.iter().enumerate().map(entry).collect();
        aws.sqs("SendMessageBatch", &json!({"QueueUrl": url, "Entries": entries}));
    }
}

/// How many messages there are, hidden ones included.
pub(crate) fn depth(aws: &AwsStandIn, url: &str) -> u64 {
    let names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"];
    let answer = aws.sqs("GetQueueAttributes", &json!({"QueueUrl": url, "AttributeNames": names}));
    let number = |name: &str| answer["Attributes"][name].as_str().unwrap().parse::<u64>().unwrap();
    names.iter().map(|name| number(name)).sum()
}

fn notice(made: &QuickStart, instance: &str) -> Value {
    let now = k8s_openapi::jiff::Timestamp::now().to_string();
    json!({
        "version": "0", "id": instance, "source": "aws.ec2", "account": made.account,
        "detail-type": "EC2 Spot Instance Interruption Warning", "time": now,
        "region": made.region,
        "resources": [format!("arn:aws:ec2:{}:{}:instance/{instance}", made.region, made.account)],
        "detail": {"instance-id": instance, "instance-action": "terminate"},
    })
}
