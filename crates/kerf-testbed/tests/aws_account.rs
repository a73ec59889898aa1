//! An account that looks like one: images, parameters, a cluster, prices, and who may do what.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use kerf_testbed::{AwsStandIn, QuickStart};
use serde_json::{Value, json};

const IMAGES: &str = "Action=DescribeImages&Version=2016-11-15";

#[test]
fn the_quick_start_finds_its_network_role_cluster_and_queue() {
    let aws = AwsStandIn::start().unwrap();
    let made = aws.quick_start_with(&json!({"cluster": "demo", "version": "1.35", "ca": "Y2E="}));

    let tagged = "&Filter.1.Name=tag:karpenter.sh/discovery&Filter.1.Value.1=demo";
    let subnets = aws.ec2(&format!("Action=DescribeSubnets&Version=2016-11-15{tagged}"));
    assert_eq!(subnets.matches("<subnetId>").count(), made.subnets.len(), "{subnets}");
    assert!(made.subnets.len() >= 3, "{made:?}");
    assert!(made.subnets.iter().all(|subnet| subnets.contains(&subnet.id)), "{subnets}");
    let groups = aws.ec2(&format!("Action=DescribeSecurityGroups&Version=2016-11-15{tagged}"));
    assert!(groups.contains(&made.security_groups[0]), "{groups}");

    let cluster = aws.call("eks", "GET /clusters/demo", &json!({}))["cluster"].clone();
    assert_eq!(cluster["version"], "1.35", "{cluster}");
    assert_eq!(cluster["endpoint"], made.endpoint, "{cluster}");
    assert_eq!(cluster["certificateAuthority"]["data"], "Y2E=", "{cluster}");
    assert_eq!(cluster["resourcesVpcConfig"]["vpcId"], made.vpc_id, "{cluster}");
    assert!(cluster["kubernetesNetworkConfig"]["serviceIpv4Cidr"].is_string(), "{cluster}");

    assert_eq!(made.role, "KarpenterNodeRole-demo");
    assert!(iam(&aws, "GetRole&RoleName=KarpenterNodeRole-demo").contains(&made.role));
    let url = aws.sqs("GetQueueUrl", &json!({"QueueName": made.queue}));
    assert!(url["QueueUrl"].as_str().unwrap().ends_with("/demo"), "{url}");
}

#[test]
fn every_alias_of_two_minors_leads_to_an_image_of_its_architecture() {
    let aws = AwsStandIn::start().unwrap();
    let eks = "/aws/service/eks/optimized-ami";
    let mut asked = Vec::new();
    for minor in ["1.35", "1.36"] {
        for (architecture, variant) in
            [("x86_64", "standard"), ("x86_64", "neuron"), ("arm64", "nvidia")]
        {
            let folder = format!("{eks}/{minor}/amazon-linux-2023/{architecture}/{variant}");
            let name = format!("amazon-eks-node-al2023-{architecture}-{variant}-{minor}-v20260107");
            asked.push((architecture, format!("{folder}/recommended/image_id")));
            asked.push((architecture, format!("{folder}/{name}/image_id")));
        }
        asked.push(("arm64", format!("{eks}/{minor}/amazon-linux-2-arm64/recommended/image_id")));
        let bottlerocket = format!("/aws/service/bottlerocket/aws-k8s-{minor}");
        asked.push(("arm64", format!("{bottlerocket}/arm64/latest/image_id")));
        asked.push(("x86_64", format!("{bottlerocket}-nvidia/x86_64/1.51.0/image_id")));
        let windows = format!("Windows_Server-2025-English-Core-EKS_Optimized-{minor}");
        asked.push(("x86_64", format!("/aws/service/ami-windows-latest/{windows}/image_id")));
    }
    for (architecture, name) in asked {
        let image = aws.ec2(&format!("{IMAGES}&ImageId.1={}", parameter(&aws, &name)));
        let expected = format!("<architecture>{architecture}</architecture>");
        assert!(image.contains(&expected), "{name}: {image}");
        assert!(image.contains("<creationDate>2026-0"), "{name}: {image}");
    }
}

#[test]
fn a_release_moves_what_is_recommended_and_a_deprecated_image_hides() {
    let aws = AwsStandIn::start().unwrap();
    let name =
        "/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/arm64/standard/recommended/image_id";
    let before = parameter(&aws, name);
    let release = json!({"family": "al2023", "version": "v20260301"});
    let images = aws.control("POST images/release", &release);
    let after = parameter(&aws, name);
    assert_ne!(before, after);
    assert!(images["images"].as_array().unwrap().contains(&json!(after)), "{images}");

    let by_id = format!("{IMAGES}&Filter.1.Name=image-id&Filter.1.Value.1={before}");
    assert!(aws.ec2(&by_id).contains(&before));
    let old = json!({"image_id": before, "at": "2026-01-01T00:00:00.000Z"});
    aws.control("POST images/deprecate", &old);
    assert!(!aws.ec2(&by_id).contains(&before));
    let with_old = aws.ec2(&format!("{by_id}&IncludeDeprecated=true"));
    assert!(with_old.contains("<deprecationTime>2026-01-01T00:00:00.000Z<"), "{with_old}");
}

#[test]
fn spot_costs_a_stable_share_of_the_listed_price_and_can_jump() {
    let aws = AwsStandIn::start().unwrap();
    let listed = price_listed(&aws, "m5.large");
    let history = "Action=DescribeSpotPriceHistory&Version=2016-11-15&InstanceType.1=m5.large";
    let spot = |zone: &str| -> f64 {
        let filter = format!("&Filter.1.Name=availability-zone&Filter.1.Value.1={zone}");
        let answer = aws.ec2(&format!("{history}{filter}"));
        between(&answer, "<spotPrice>", "</spotPrice>").parse().unwrap()
    };
    let (first, second) = (spot("us-east-1a"), spot("us-east-1b"));
    for price in [first, second] {
        assert!(price > listed * 0.2 && price < listed * 0.7, "{price} of {listed}");
    }
    assert!((first - second).abs() > f64::EPSILON, "zones differ");
    assert!((first - spot("us-east-1a")).abs() < f64::EPSILON, "and stay");
    let jump = json!([{"instance_type": "m5.large", "zone": "us-east-1a", "price": 9.5}]);
    aws.control("POST spot-prices", &jump);
    assert!((spot("us-east-1a") - 9.5).abs() < 1e-9);
    assert!((spot("us-east-1b") - second).abs() < f64::EPSILON);
}

#[test]
fn what_is_denied_is_refused_by_name_also_in_a_dry_run_and_every_call_is_written_down() {
    let aws = AwsStandIn::start().unwrap();
    let QuickStart { cluster, .. } = aws.quick_start("demo");
    aws.deny(&["ec2:DescribeSubnets", "eks:*"]);
    let refused = |service, line: &str, body: &str| aws.refusal(service, line, body);
    let dry = refused("ec2", "POST /", "Action=DescribeSubnets&Version=2016-11-15&DryRun=true");
    assert!(dry.contains("UnauthorizedOperation"), "{dry}");
    assert!(dry.contains("not authorized to perform: ec2:DescribeSubnets"), "{dry}");
    let denied = refused("eks", &format!("GET /clusters/{cluster}"), "");
    assert!(denied.contains("AccessDeniedException"), "{denied}");
    assert!(denied.contains("eks:DescribeCluster"), "{denied}");

    aws.deny(&[]);
    let dry = refused("ec2", "POST /", "Action=DescribeSubnets&Version=2016-11-15&DryRun=true");
    assert!(dry.contains("DryRunOperation"), "{dry}");

    let seen: Vec<_> = aws.calls().iter().map(|call| (call.permission(), call.status)).collect();
    let expected = [
        ("ec2:DescribeSubnets".to_owned(), 403),
        ("eks:DescribeCluster".to_owned(), 400),
        ("ec2:DescribeSubnets".to_owned(), 412),
    ];
    assert_eq!(seen, expected);
    assert_eq!(aws.calls()[2].code.as_deref(), Some("DryRunOperation"));
    assert!(aws.calls()[2].is_dry_run);
    aws.forget_calls();
    assert_eq!(aws.calls(), []);
}

#[test]
fn a_poll_that_waits_keeps_nobody_from_sending() {
    let aws = AwsStandIn::start().unwrap();
    let made = aws.quick_start("demo");
    let url = aws.sqs("GetQueueUrl", &json!({"QueueName": made.queue}))["QueueUrl"].clone();
    let waiting = json!({"QueueUrl": url, "WaitTimeSeconds": 20});
    let received = std::thread::scope(|scope| {
        let poll = scope.spawn(|| aws.sqs("ReceiveMessage", &waiting));
        // Whether the poll or the message comes first, the message is received.
        aws.sqs("SendMessage", &json!({"QueueUrl": url, "MessageBody": "hello"}));
        poll.join().unwrap()
    });
    assert_eq!(received["Messages"][0]["Body"], "hello", "{received}");
}

/// The value of a parameter.
fn parameter(aws: &AwsStandIn, name: &str) -> String {
    let answer = aws.json("ssm", "AmazonSSM.GetParameter", &json!({"Name": name}));
    answer["Parameter"]["Value"].as_str().unwrap().to_owned()
}

/// What the price list says, in dollars an hour.
fn price_listed(aws: &AwsStandIn, instance_type: &str) -> f64 {
    let filter = json!({"Field": "instanceType", "Type": "TERM_MATCH", "Value": instance_type});
    let asked = json!({"ServiceCode": "AmazonEC2", "Filters": [filter]});
    let answer = aws.json("pricing", "AWSPriceListService.GetProducts", &asked);
    let product: Value = serde_json::from_str(answer["PriceList"][0].as_str().unwrap()).unwrap();
    let text = product["terms"]["OnDemand"].to_string();
    between(&text, "\"USD\":\"", "\"").parse().unwrap()
}

fn iam(aws: &AwsStandIn, parameters: &str) -> String {
    aws.query("iam", &format!("Action={parameters}&Version=2010-05-08"))
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("no {before} in {text}"));
    rest.split_once(after).unwrap().0
}
