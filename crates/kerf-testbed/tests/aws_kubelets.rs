//! Instances become nodes: with what their user data says, after a while, or never.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use kerf_testbed::{AwsStandIn, Boot, ControlPlane, Kubelets, Options, QuickStart, wait_until};
use serde_json::{Value, json};

/// A few seconds; the machine may be busy.
const SOON: Duration = Duration::from_secs(120);

/// A NodeConfig as Amazon Linux 2023 takes it, in base64:
/// maxPods 17, the taint `karpenter.sh/unregistered:NoExecute`, the label `team=blue`.
const USER_DATA: &str = "YXBpVmVyc2lvbjogbm9kZS5la3MuYXdzL3YxYWxwaGExCmtpbmQ6IE5vZGVDb25maWcKc3BlYzoK\
    ICBrdWJlbGV0OgogICAgY29uZmlnOgogICAgICBtYXhQb2RzOiAxNwogICAgICByZWdpc3RlcldpdGhUYWludHM6CiAg\
    ICAgIC0ge2tleToga2FycGVudGVyLnNoL3VucmVnaXN0ZXJlZCwgZWZmZWN0OiBOb0V4ZWN1dGV9CiAgICBmbGFnczoK\
    ICAgIC0gLS1ub2RlLWxhYmVscz0idGVhbT1ibHVlIgo%3D";

#[test]
fn an_instance_joins_as_its_user_data_says_and_its_node_goes_with_it() {
    let cluster = ControlPlane::start(Options::simulated_cluster()).unwrap();
    let aws = AwsStandIn::start().unwrap();
    let made = aws.quick_start("demo");
    aws.set(&json!({"terminate_seconds": 0}));
    let kubelets =
        Kubelets::start_with(&cluster, &aws, |machine| match machine.instance_type.as_str() {
            "c5.large" => Boot::Never,
            "r5.large" => Boot::Twice(Duration::ZERO),
            _ => Boot::After(Duration::ZERO),
        })
        .unwrap();
    template(&aws, &made);
    let never = launch(&aws, &made, "c5.large");
    let id = launch(&aws, &made, "m5.large");

    let nodes = || -> Vec<Value> {
        let list = cluster.kubectl(&["get", "nodes", "--output=json"]).unwrap();
        serde_json::from_str::<Value>(&list).unwrap()["items"].as_array().cloned().unwrap()
    };
    let is_ready = |node: &Value| {
        let conditions = node["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.iter().any(|one| one["type"] == "Ready" && one["status"] == "True")
    };
    assert!(wait_until(SOON, || nodes().iter().any(is_ready)), "{:?}", nodes());
    let node = nodes().remove(0);
    assert_eq!(nodes().len(), 1, "{never} never comes");
    assert_eq!(kubelets.joined(), 1);
    assert_eq!(node["spec"]["providerID"], json!(format!("aws:///us-east-1a/{id}")));
    let name = node["metadata"]["name"].as_str().unwrap();
    assert!(name.starts_with("ip-172-31-") && name.ends_with(".ec2.internal"), "{name}");
    let labels = &node["metadata"]["labels"];
    assert_eq!(labels["team"], "blue", "{labels}");
    assert_eq!(labels["node.kubernetes.io/instance-type"], "m5.large", "{labels}");
    assert_eq!(labels["topology.kubernetes.io/zone"], "us-east-1a", "{labels}");
    let taints = node["spec"]["taints"].to_string();
    assert!(taints.contains("karpenter.sh/unregistered"), "{taints}");
    assert_eq!(node["status"]["capacity"]["pods"], "17");
    assert_eq!(node["status"]["capacity"]["cpu"], "2");
    assert_eq!(node["status"]["allocatable"]["cpu"], "1930m");

    let twice = launch(&aws, &made, "r5.large");
    assert!(wait_until(SOON, || kubelets.joined() == 3), "{:?}", nodes());
    let provider_id = json!(format!("aws:///us-east-1a/{twice}"));
    let of_it = nodes().into_iter().filter(|node| node["spec"]["providerID"] == provider_id);
    assert_eq!(of_it.count(), 2, "{:?}", nodes());

    aws.ec2(&format!("Action=TerminateInstances&Version=2016-11-15&InstanceId.1={id}"));
    let is_gone = || nodes().iter().all(|one| one["metadata"]["name"] != name);
    assert!(wait_until(SOON, is_gone), "{:?}", nodes());
}

fn template(aws: &AwsStandIn, made: &QuickStart) {
    let parameter = "/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/x86_64/standard/recommended/image_id";
    let answer = aws.json("ssm", "AmazonSSM.GetParameter", &json!({"Name": parameter}));
    let image = answer["Parameter"]["Value"].as_str().unwrap();
    aws.ec2(&format!(
        "Action=CreateLaunchTemplate&Version=2016-11-15&LaunchTemplateName=nodes\
         &LaunchTemplateData.ImageId={image}&LaunchTemplateData.UserData={USER_DATA}\
         &LaunchTemplateData.SecurityGroupId.1={}",
        made.security_groups[0],
    ));
}

/// The id of a new instance in the first zone.
fn launch(aws: &AwsStandIn, made: &QuickStart, instance_type: &str) -> String {
    let config = "LaunchTemplateConfigs.1";
    let answer = aws.ec2(&format!(
        "Action=CreateFleet&Version=2016-11-15&Type=instant\
         &TargetCapacitySpecification.DefaultTargetCapacityType=spot\
         &TargetCapacitySpecification.TotalTargetCapacity=1\
         &{config}.LaunchTemplateSpecification.LaunchTemplateName=nodes\
         &{config}.LaunchTemplateSpecification.Version=$Latest\
         &{config}.Overrides.1.InstanceType={instance_type}\
         &{config}.Overrides.1.SubnetId={}",
        made.subnets[0].id,
    ));
    let (_, rest) = answer.split_once("<item>i-").unwrap_or_else(|| panic!("{answer}"));
    format!("i-{}", rest.split('<').next().unwrap())
}
