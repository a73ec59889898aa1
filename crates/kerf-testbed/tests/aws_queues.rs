//! Queues under several hands at once, and rules that fill them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::sync::Mutex;

use kerf_testbed::AwsStandIn;
use serde_json::{Value, json};

const SENDERS: usize = 4;
const MESSAGES_EACH: usize = 25;

#[test]
fn messages_sent_received_and_deleted_by_many_at_once_come_exactly_once_and_no_call_fails() {
    let aws = AwsStandIn::start().unwrap();
    let made = aws.quick_start("demo");
    let url = queue_url(&aws, &made.queue);
    let received = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for sender in 0..SENDERS {
            let (aws, url) = (&aws, &url);
            scope.spawn(move || {
                for number in 0..MESSAGES_EACH {
                    let body = format!("{sender}/{number}");
                    aws.sqs("SendMessage", &json!({"QueueUrl": url, "MessageBody": body}));
                    // Something else that writes: moto alone gives 500s here.
                    let name = format!("GroupName=g-{sender}-{number}&GroupDescription=g");
                    aws.ec2(&format!("Action=CreateSecurityGroup&Version=2016-11-15&{name}"));
                    aws.ec2("Action=DescribeSecurityGroups&Version=2016-11-15");
                }
            });
        }
        for _ in 0..SENDERS {
            // Bounded, so that a sender that fails ends the test.
            scope.spawn(|| {
                for _ in 0..SENDERS * MESSAGES_EACH {
                    if received.lock().unwrap().len() == SENDERS * MESSAGES_EACH {
                        return;
                    }
                    let batch = take(&aws, &url, 1);
                    received.lock().unwrap().extend(batch);
                }
            });
        }
    });
    let received = received.into_inner().unwrap();
    let each: BTreeSet<_> = received.iter().collect();
    assert_eq!(received.len(), SENDERS * MESSAGES_EACH);
    assert_eq!(each.len(), received.len(), "none came twice");
    assert_eq!(take(&aws, &url, 0), Vec::<String>::new());
    let failed: Vec<_> = aws.calls().into_iter().filter(|call| call.status >= 500).collect();
    assert_eq!(failed, []);
}

#[test]
fn a_message_that_is_not_deleted_comes_again_until_it_is_a_dead_letter() {
    let aws = AwsStandIn::start().unwrap();
    aws.sqs("CreateQueue", &json!({"QueueName": "dead"}));
    let policy = json!({"deadLetterTargetArn": "arn:aws:sqs:us-east-1:123456789012:dead",
        "maxReceiveCount": 2});
    let attributes = json!({"RedrivePolicy": policy.to_string()});
    let asked = json!({"QueueName": "live", "Attributes": attributes});
    let url = aws.sqs("CreateQueue", &asked)["QueueUrl"].as_str().unwrap().to_owned();
    aws.sqs("SendMessage", &json!({"QueueUrl": url, "MessageBody": "hello"}));

    // Received and shown again at once, as often as it is allowed.
    for _ in 0..2 {
        let message = receive(&aws, &url, 0).remove(0);
        let shown = json!({"QueueUrl": url, "ReceiptHandle": message["ReceiptHandle"],
            "VisibilityTimeout": 0});
        aws.sqs("ChangeMessageVisibility", &shown);
    }
    assert_eq!(receive(&aws, &url, 0), Vec::<Value>::new());
    assert_eq!(take(&aws, &queue_url(&aws, "dead"), 0), ["hello"]);
}

#[test]
fn a_rule_of_eventbridge_hears_what_becomes_of_an_instance() {
    let aws = AwsStandIn::start().unwrap();
    let made = aws.quick_start("demo");
    let events =
        |action: &str, body: &Value| aws.json("events", &format!("AWSEvents.{action}"), body);
    let pattern = json!({"source": ["aws.ec2"],
        "detail-type": ["EC2 Spot Instance Interruption Warning"]});
    events("PutRule", &json!({"Name": "spot", "EventPattern": pattern.to_string()}));
    let arn = format!("arn:aws:sqs:us-east-1:{}:{}", made.account, made.queue);
    let targets = json!([{"Id": "queue", "Arn": arn}]);
    events("PutTargets", &json!({"Rule": "spot", "Targets": targets}));

    for kind in ["rebalance", "spot"] {
        aws.control("POST announce", &json!({"kind": kind, "instance_ids": ["i-1"]}));
    }
    let messages = take(&aws, &queue_url(&aws, &made.queue), 0);
    assert_eq!(messages.len(), 1, "{messages:?}");
    let event: Value = serde_json::from_str(&messages[0]).unwrap();
    assert_eq!(event["detail"]["instance-id"], "i-1", "{event}");
}

fn queue_url(aws: &AwsStandIn, name: &str) -> String {
    let answer = aws.sqs("GetQueueUrl", &json!({"QueueName": name}));
    answer["QueueUrl"].as_str().unwrap().to_owned()
}

/// Receives messages, waiting for so many seconds.
fn receive(aws: &AwsStandIn, url: &str, wait: u32) -> Vec<Value> {
    let asked = json!({"QueueUrl": url, "MaxNumberOfMessages": 10, "WaitTimeSeconds": wait});
    aws.sqs("ReceiveMessage", &asked)["Messages"].as_array().cloned().unwrap_or_default()
}

/// Receives messages and deletes them; their bodies.
fn take(aws: &AwsStandIn, url: &str, wait: u32) -> Vec<String> {
    let messages = receive(aws, url, wait);
    for message in &messages {
        let handle = &message["ReceiptHandle"];
        aws.sqs("DeleteMessage", &json!({"QueueUrl": url, "ReceiptHandle": handle}));
    }
    messages.iter().map(|one| one["Body"].as_str().unwrap().to_owned()).collect()
}
