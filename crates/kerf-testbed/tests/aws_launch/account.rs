//! An account with a launch template, and fleets asked for with it.

use kerf_testbed::{AwsStandIn, QuickStart};
use serde_json::json;

pub(crate) const IMAGE_PARAMETER: &str =
    "/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/x86_64/standard/recommended/image_id";
const VERSION: &str = "Version=2016-11-15";

/// User data of Amazon Linux 2023 with a label and the taint of a node that has not registered.
const USER_DATA: &str = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    \
    config:\n      maxPods: 29\n      registerWithTaints:\n      - {key: karpenter.sh/unregistered, \
    effect: NoExecute}\n    flags: ['--node-labels=\"team=blue\"']\n";

/// An account in which fleets can be asked for.
pub(crate) struct Account {
    pub(crate) aws: AwsStandIn,
    pub(crate) made: QuickStart,
    pub(crate) image: String,
}

/// One way to launch: a type in the zone of a letter.
pub(crate) type Override<'a> = (&'a str, &'a str);

impl Account {
    pub(crate) fn open() -> Self {
        let aws = AwsStandIn::start().unwrap();
        let made = aws.quick_start("demo");
        let asked = json!({"Name": IMAGE_PARAMETER});
        let answer = aws.json("ssm", "AmazonSSM.GetParameter", &asked);
        let image = answer["Parameter"]["Value"].as_str().unwrap().to_owned();
        let profile = "InstanceProfileName=nodes&Path=/karpenter/&Version=2010-05-08";
        aws.query("iam", &format!("Action=CreateInstanceProfile&{profile}"));
        Self { aws, made, image }
    }

    /// Makes a launch template that has a bit of everything, and more.
    pub(crate) fn template(&self, name: &str, more: &str) {
        let data = "LaunchTemplateData";
        let group = &self.made.security_groups[0];
        let fields = [
            format!("{data}.ImageId={}", self.image),
            format!("{data}.UserData={}", url_encoded(&base64(USER_DATA))),
            format!("{data}.IamInstanceProfile.Name=nodes"),
            format!("{data}.Monitoring.Enabled=true"),
            format!("{data}.MetadataOptions.HttpTokens=required"),
            format!("{data}.Placement.Tenancy=dedicated"),
            format!("{data}.BlockDeviceMapping.1.DeviceName=/dev/xvda"),
            format!("{data}.BlockDeviceMapping.1.Ebs.VolumeSize=20"),
            format!("{data}.BlockDeviceMapping.1.Ebs.VolumeType=gp3"),
            format!("{data}.NetworkInterface.1.DeviceIndex=0"),
            format!("{data}.NetworkInterface.1.SecurityGroupId.1={group}"),
            format!("{data}.NetworkInterface.1.Ipv6AddressCount=1"),
            format!("{data}.TagSpecification.1.ResourceType=network-interface"),
            format!("{data}.TagSpecification.1.Tag.1.Key=on"),
            format!("{data}.TagSpecification.1.Tag.1.Value=interface"),
            format!("{data}.TagSpecification.2.ResourceType=spot-instances-request"),
            format!("{data}.TagSpecification.2.Tag.1.Key=on"),
            format!("{data}.TagSpecification.2.Tag.1.Value=request"),
        ];
        self.ec2(&format!(
            "Action=CreateLaunchTemplate&LaunchTemplateName={name}&{}{more}",
            fields.join("&")
        ));
    }

    /// Asks for a fleet; the answer.
    pub(crate) fn fleet(
        &self,
        capacity_type: &str,
        overrides: &[Override<'_>],
        more: &str,
    ) -> String {
        self.ec2(&self.fleet_request(capacity_type, overrides, more))
    }

    /// The parameters of a fleet of one instance of the template `nodes`.
    pub(crate) fn fleet_request(
        &self,
        capacity_type: &str,
        overrides: &[Override<'_>],
        more: &str,
    ) -> String {
        let mut request = format!(
            "Action=CreateFleet&Type=instant\
             &TargetCapacitySpecification.DefaultTargetCapacityType={capacity_type}\
             &LaunchTemplateConfigs.1.LaunchTemplateSpecification.LaunchTemplateName=nodes\
             &LaunchTemplateConfigs.1.LaunchTemplateSpecification.Version=$Latest\
             &TagSpecification.1.ResourceType=instance&TagSpecification.1.Tag.1.Key=pool\
             &TagSpecification.1.Tag.1.Value=web&TagSpecification.2.ResourceType=volume\
             &TagSpecification.2.Tag.1.Key=on&TagSpecification.2.Tag.1.Value=volume{more}"
        );
        if !more.contains("TotalTargetCapacity") {
            request.push_str("&TargetCapacitySpecification.TotalTargetCapacity=1");
        }
        for (number, (instance_type, zone)) in (1..).zip(overrides) {
            let subnet = self.subnet(zone);
            let one = format!("&LaunchTemplateConfigs.1.Overrides.{number}");
            request.push_str(&format!("{one}.InstanceType={instance_type}{one}.SubnetId={subnet}"));
            request.push_str(&format!("{one}.AvailabilityZone=us-east-1{zone}"));
        }
        request
    }

    pub(crate) fn subnet(&self, letter: &str) -> &str {
        let zone = format!("us-east-1{letter}");
        &self.made.subnets.iter().find(|subnet| subnet.zone == zone).unwrap().id
    }

    /// The description of an instance.
    pub(crate) fn describe(&self, id: &str) -> String {
        self.ec2(&format!("Action=DescribeInstances&InstanceId.1={id}"))
    }

    /// The state an instance is said to be in.
    pub(crate) fn state(&self, id: &str) -> String {
        let described = self.describe(id);
        let state = between(&described, "<instanceState>", "</instanceState>");
        between(state, "<name>", "</name>").to_owned()
    }

    pub(crate) fn ec2(&self, parameters: &str) -> String {
        self.aws.ec2(&format!("{parameters}&{VERSION}"))
    }

    pub(crate) fn refused(&self, parameters: &str) -> String {
        self.aws.refusal("ec2", "POST /", &format!("{parameters}&{VERSION}"))
    }

    /// The messages that wait in the cluster's queue, each once.
    pub(crate) fn messages(&self) -> Vec<serde_json::Value> {
        let url = self.aws.sqs("GetQueueUrl", &json!({"QueueName": self.made.queue}));
        let asked = json!({"QueueUrl": url["QueueUrl"], "MaxNumberOfMessages": 10});
        let answer = self.aws.sqs("ReceiveMessage", &asked);
        let messages = answer["Messages"].as_array().cloned().unwrap_or_default();
        messages
            .iter()
            .map(|one| serde_json::from_str(one["Body"].as_str().unwrap()).unwrap())
            .collect()
    }
}

/// The ids of instances in an answer, in order.
pub(crate) fn ids(answer: &str) -> Vec<String> {
    let found = answer.split("<item>i-").skip(1);
    found.map(|rest| format!("i-{}", rest.split('<').next().unwrap())).collect()
}

pub(crate) fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("no {before} in {text}"));
    rest.split_once(after).unwrap().0
}

/// Base64 is small enough to write here.
fn base64(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut encoded = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let bits = chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place)) as usize & 63];
            encoded.push(if place <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    encoded
}

fn url_encoded(text: &str) -> String {
    text.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D")
}
