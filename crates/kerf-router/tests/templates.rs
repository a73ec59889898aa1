//! The CloudFormation templates: linted, checked for known mistakes, and deployed on the stand-in.

#![allow(clippy::unwrap_used, reason = "helpers of tests, where a panic is the report")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::Duration;

use kerf_aws::{Queues, Session, TimeOuts};
use kerf_notices::message::Record;
use kerf_notices::routing::Settings;
use kerf_router::{Carrier, CarrierSettings, Routing};
use kerf_testbed::{AwsStandIn, lint_template};

fn template(name: &str) -> PathBuf {
    let manifest = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    manifest.join("../../deploy/cloudformation").join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(template(name)).unwrap()
}

#[test]
fn cfn_lint_finds_nothing_in_the_templates() {
    for name in ["event-router.yaml", "cluster-queue.yaml"] {
        assert_eq!(lint_template(&template(name)).unwrap(), "", "{name}");
    }
}

#[test]
fn mistakes_that_others_made_are_not_made_here() {
    let router = text("event-router.yaml");
    assert!(!router.contains("event.amazonaws.com\n"), "the principal is events.amazonaws.com");
    assert!(!router.contains("RetryOnServiceExceptions"));
    assert!(router.contains("        detail:\n          # Half of all events: instances coming up interrupt nobody.\n          state:"));
    assert_eq!(router.matches("Type: AWS::SQS::QueuePolicy").count(), 2, "both queues have one");
    assert!(router.contains("FunctionResponseTypes: [ReportBatchItemFailures]"));
    for name in ["event-router.yaml", "cluster-queue.yaml"] {
        assert!(!text(name).contains("arn:aws:"), "{name}: other partitions exist");
        assert!(text(name).contains("aws:SecureTransport"), "{name}");
    }
    assert!(!text("cluster-queue.yaml").contains("AWS::Events::Rule"));
}

#[tokio::test]
async fn an_event_put_on_the_bus_arrives_in_exactly_one_cluster_queue() {
    let aws = AwsStandIn::start().unwrap();
    let url = aws.endpoint_url().to_owned();
    deploy(&url, "router", &text("event-router.yaml"), &[]);
    let role = "arn:aws:iam::123456789012:role/router";
    for cluster in ["blue", "green"] {
        let parameters = [("ClusterName", cluster), ("RouterRoleArn", role)];
        deploy(&url, cluster, &text("cluster-queue.yaml"), &parameters);
    }
    let launched = call(
        &url,
        "ec2",
        &[
            ("Action", "RunInstances"),
            ("Version", "2016-11-15"),
            ("ImageId", "ami-12c6146b"),
            ("MinCount", "1"),
            ("MaxCount", "1"),
            ("TagSpecification.1.ResourceType", "instance"),
            ("TagSpecification.1.Tag.1.Key", "eks:eks-cluster-name"),
            ("TagSpecification.1.Tag.1.Value", "blue"),
        ],
    );
    let instance = between(&launched, "<instanceId>", "</instanceId>").to_owned();
    for state in ["running", "terminated"] {
        let detail = format!(r#"{{"instance-id":"{instance}","state":"{state}"}}"#);
        let entry = serde_json::json!({"Entries": [{"Source": "aws.ec2",
            "DetailType": "EC2 Instance State-change Notification", "Detail": detail}]});
        let answer = post(
            &url,
            "events",
            "AWSEvents.PutEvents",
            "application/x-amz-json-1.1",
            &entry.to_string(),
        );
        assert!(answer.contains("\"FailedEntryCount\": 0"), "{answer}");
    }

    let time_outs = TimeOuts { connect: Duration::from_secs(20), call: Duration::from_secs(60) };
    let session = Session::of_stand_in(&url, "us-east-1", time_outs).await;
    let queues = session.queues();
    let central = central(&url);
    let messages = queues.receive(&central, Duration::ZERO).await.unwrap();
    assert_eq!(messages.len(), 1, "the rule keeps `running` out: {messages:?}");
    let record = Record { id: messages[0].id.clone(), body: messages[0].body.clone() };
    let carrier = Carrier::new(session, CarrierSettings::default());
    let mut routing = Routing::new(Settings::default(), carrier);
    let report = routing.route(vec![record], Duration::from_secs(60)).await;
    assert_eq!(report.outcomes[0].verdict.to_string(), "routed", "{report:#?}");
    assert_eq!(depth(&queues, "blue").await, 1);
    assert_eq!(depth(&queues, "green").await, 0);
}

async fn depth(queues: &Queues, name: &str) -> u64 {
    let url = queues.url(name).await.unwrap().unwrap();
    queues.depth(&url).await.unwrap().visible
}

fn deploy(url: &str, stack: &str, template: &str, parameters: &[(&str, &str)]) {
    let mut form = vec![
        ("Action".to_owned(), "CreateStack".to_owned()),
        ("Version".to_owned(), "2010-05-15".to_owned()),
        ("StackName".to_owned(), stack.to_owned()),
        ("TemplateBody".to_owned(), template.to_owned()),
        ("Capabilities.member.1".to_owned(), "CAPABILITY_IAM".to_owned()),
    ];
    for (index, (key, value)) in (1..).zip(parameters) {
        form.push((format!("Parameters.member.{index}.ParameterKey"), (*key).to_owned()));
        form.push((format!("Parameters.member.{index}.ParameterValue"), (*value).to_owned()));
    }
    let form: Vec<_> = form.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let answer = call(url, "cloudformation", &form);
    assert!(answer.contains("<StackId>"), "{answer}");
}

/// The central queue's URL, from the outputs of the router's stack.
fn central(url: &str) -> String {
    let form = [("Action", "DescribeStacks"), ("Version", "2010-05-15"), ("StackName", "router")];
    let answer = call(url, "cloudformation", &form);
    let outputs = answer.split("<OutputKey>CentralQueueUrl").nth(1).unwrap();
    between(outputs, "<OutputValue>", "</OutputValue>").to_owned()
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    text.split_once(start).unwrap().1.split_once(end).unwrap().0
}

/// A call in the older protocol: a form in, XML out.
fn call(url: &str, service: &str, form: &[(&str, &str)]) -> String {
    let coded = |text: &str| text.bytes().map(|b| format!("%{b:02X}")).collect::<String>();
    let body: Vec<_> = form.iter().map(|(key, value)| format!("{key}={}", coded(value))).collect();
    post(url, service, "", "application/x-www-form-urlencoded", &body.join("&"))
}

fn post(url: &str, service: &str, target: &str, content_type: &str, body: &str) -> String {
    let address = url.strip_prefix("http://").unwrap();
    let request = format!(
        "POST / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: {content_type}\r\n\
         X-Amz-Target: {target}\r\nAuthorization: AWS4-HMAC-SHA256 \
         Credential=testing/20260101/us-east-1/{service}/aws4_request, SignedHeaders=host, \
         Signature=unchecked\r\nContent-Length: {}\r\n\r\n{body}",
        body.len(),
    );
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}
