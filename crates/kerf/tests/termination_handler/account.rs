//! The account: a queue, instances, an Auto Scaling group, and what AWS announces.

use std::sync::LazyLock;

use kerf_testbed::AwsStandIn;
use serde_json::{Value, json};

/// One for all tests of this binary; each has a queue of its own.
static AWS: LazyLock<AwsStandIn> = LazyLock::new(|| AwsStandIn::start().unwrap());

pub(crate) const MANAGED: &str = "aws-node-termination-handler/managed";
const EC2_VERSION: &str = "Version=2016-11-15";
const ASG_VERSION: &str = "Version=2011-01-01";
/// SQS takes so many messages in a call.
const PER_CALL: usize = 10;

/// A queue of the account.
pub(crate) struct Queue {
    pub(crate) url: String,
}

/// An instance.
pub(crate) struct Instance {
    pub(crate) id: String,
    /// What it is called inside the network.
    pub(crate) dns_name: String,
}

impl Queue {
    pub(crate) fn new(name: &str) -> Self {
        let made = AWS.sqs("CreateQueue", &json!({"QueueName": name}));
        Self { url: made["QueueUrl"].as_str().unwrap().to_owned() }
    }

    pub(crate) fn send(&self, bodies: &[String]) {
        for bodies in bodies.chunks(PER_CALL) {
            let entry =
                |(id, body): (usize, &String)| json!({"Id": format!("{id}"), "MessageBody": body});
            let entries: Vec<Value> = bodies.iter().enumerate().map(entry).collect();
            let batch = json!({"QueueUrl": self.url, "Entries": entries});
            let sent = AWS.sqs("SendMessageBatch", &batch);
            assert_eq!(sent["Successful"].as_array().unwrap().len(), bodies.len(), "{sent}");
        }
    }

    /// How many messages it holds, hidden ones included.
    pub(crate) fn depth(&self) -> u32 {
        let names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"];
        let asked = json!({"QueueUrl": self.url, "AttributeNames": names});
        let answer = AWS.sqs("GetQueueAttributes", &asked);
        let number = |name: &str| answer["Attributes"][name].as_str().unwrap().parse::<u32>();
        names.iter().map(|name| number(name).unwrap()).sum()
    }
}

/// The variables that lead a program to the account.
pub(crate) fn environment() -> [(&'static str, &'static str); 5] {
    AWS.environment()
}

/// New instances, with these tags.
pub(crate) fn instances(count: usize, tags: &[(&str, &str)]) -> Vec<Instance> {
    let tag = |(place, (key, value)): (usize, &(&str, &str))| {
        let prefix = format!("&TagSpecification.1.Tag.{}", place + 1);
        format!(
            "{prefix}.Key={}{prefix}.Value={value}",
            key.replace('/', "%2F").replace(':', "%3A")
        )
    };
    let tags: String = tags.iter().enumerate().map(tag).collect();
    let of_instance =
        if tags.is_empty() { "" } else { "&TagSpecification.1.ResourceType=instance" };
    let answer = AWS.ec2(&format!(
        "Action=RunInstances&{EC2_VERSION}&ImageId=ami-12c6146b&MinCount={count}&MaxCount={count}\
         {of_instance}{tags}"
    ));
    let parts = answer.split("<instanceId>").skip(1);
    let instance = |part: &str| Instance {
        id: part.split_once('<').unwrap().0.to_owned(),
        dns_name: between(part, "<privateDnsName>", "<").to_owned(),
    };
    parts.map(instance).collect()
}

/// An Auto Scaling group with a hook, which nobody has to fill.
pub(crate) fn group_with_hook(group: &str, hook: &str) {
    for parameters in [
        format!(
            "Action=CreateLaunchConfiguration&{ASG_VERSION}&LaunchConfigurationName={group}\
             &ImageId=ami-12c6146b&InstanceType=m5.large"
        ),
        format!(
            "Action=CreateAutoScalingGroup&{ASG_VERSION}&AutoScalingGroupName={group}\
             &LaunchConfigurationName={group}&MinSize=0&MaxSize=0\
             &AvailabilityZones.member.1=us-east-1a"
        ),
        format!(
            "Action=PutLifecycleHook&{ASG_VERSION}&AutoScalingGroupName={group}\
             &LifecycleHookName={hook}&HeartbeatTimeout=300\
             &LifecycleTransition=autoscaling%3AEC2_INSTANCE_TERMINATING"
        ),
    ] {
        AWS.query("autoscaling", &parameters);
    }
}

/// How often a call was made that needs this permission, with success.
pub(crate) fn calls(permission: &str) -> usize {
    let is = |call: &kerf_testbed::AwsCall| call.permission() == permission && call.status < 300;
    AWS.calls().iter().filter(|call| is(call)).count()
}

/// An event of EC2 about an instance.
pub(crate) fn event(detail_type: &str, instance: &str) -> String {
    let time = jiff::Timestamp::from_second(jiff::Timestamp::now().as_second()).unwrap();
    json!({
        "version": "0", "id": format!("1e5527d7-{}-{instance}", detail_type.len()),
        "detail-type": detail_type, "source": "aws.ec2", "account": "123456789012",
        "time": time.to_string(), "region": "us-east-1",
        "resources": [format!("arn:aws:ec2:us-east-1a:instance/{instance}")],
        "detail": {"instance-id": instance, "instance-action": "terminate"},
    })
    .to_string()
}

pub(crate) fn spot(instance: &str) -> String {
    event("EC2 Spot Instance Interruption Warning", instance)
}

pub(crate) fn rebalance(instance: &str) -> String {
    event("EC2 Instance Rebalance Recommendation", instance)
}

/// What an Auto Scaling group says itself, without EventBridge.
pub(crate) fn notification(group: &str, hook: &str, transition: &str, instance: &str) -> Value {
    json!({
        "LifecycleHookName": hook, "AccountId": "123456789012",
        "RequestId": format!("request-{transition}-{instance}"),
        "LifecycleTransition": format!("autoscaling:EC2_INSTANCE_{transition}"),
        "AutoScalingGroupName": group, "Service": "AWS Auto Scaling",
        "Time": "2022-04-11T16:23:33.001Z", "EC2InstanceId": instance,
        "LifecycleActionToken": "0befcbdb-6ecd-498a-9ff7-ae9b54447cd6",
    })
}

fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    text.split_once(from).and_then(|(_, rest)| rest.split_once(to)).map_or("", |(found, _)| found)
}
