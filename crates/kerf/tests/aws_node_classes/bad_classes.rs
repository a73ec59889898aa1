//! Classes that cannot be used: each says why and where, and stops no other.

use serde_json::{Value, json};

use crate::account::Account;

/// An image that runs on arm64 alone, where no type has nested virtualization.
const ARM_IMAGE: &str =
    "/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/arm64/standard/recommended/image_id";

/// A class with some fields said otherwise, the condition and reason it gets, and a piece of the
/// message.
struct Bad {
    otherwise: Value,
    condition: &'static str,
    reason: &'static str,
    message: &'static str,
}

fn bad(
    otherwise: Value,
    condition: &'static str,
    reason: &'static str,
    message: &'static str,
) -> Bad {
    Bad { otherwise, condition, reason, message }
}

fn nothing_found() -> Vec<Bad> {
    let images = |terms: Value| json!({"amiFamily": "AL2023", "amiSelectorTerms": terms});
    vec![
        bad(
            json!({"subnetSelectorTerms": [{"tags": {"team": "nobody"}}]}),
            "SubnetsReady",
            "SubnetsNotFound",
            "SubnetSelector did not match any Subnets",
        ),
        bad(
            json!({"securityGroupSelectorTerms": [{"name": "nobody"}]}),
            "SecurityGroupsReady",
            "SecurityGroupsNotFound",
            "SecurityGroupSelector did not match any SecurityGroups",
        ),
        bad(
            images(json!([{"id": "ami-0123456789abcdef0"}])),
            "AMIsReady",
            "AMINotFound",
            "AMISelector did not match any AMIs",
        ),
        bad(
            images(json!([{"ssmParameter": "/nobody"}])),
            "AMIsReady",
            "AMINotFound",
            "AMISelector did not match any AMIs",
        ),
        bad(
            json!({"amiSelectorTerms": [{"alias": "al2023@v19990101"}]}),
            "AMIsReady",
            "AMINotFound",
            "al2023@v19990101",
        ),
        bad(
            json!({"amiSelectorTerms": [{"alias": "al2@latest"}]}),
            "AMIsReady",
            "UnsupportedAlias",
            "al2@latest",
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_that_is_not_found_is_named_with_its_field_and_stops_no_other() {
    let account = Account::open().await;
    for (number, bad) in nothing_found().iter().enumerate() {
        let mut class = account.class(&format!("bad-{number}"), &bad.otherwise);
        let conditions = account.resolve(&mut class).await;
        let validation = "ValidationSucceeded=False DependenciesNotReady".to_owned();
        let expected = [format!("{}=False {}", bad.condition, bad.reason), validation];
        assert_eq!(conditions.lacking(), expected, "{}: {conditions:?}", bad.otherwise);
        let message = conditions.message(bad.condition);
        assert!(message.contains(bad.message), "{message}");
    }
    let mut class = account.class("good", &json!({}));
    assert_eq!(account.resolve(&mut class).await.lacking(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_that_is_not_there_may_come_and_is_named_meanwhile() {
    let account = Account::open().await;
    let mut class = account.class("default", &json!({"role": "nobody"}));
    let conditions = account.resolve(&mut class).await;
    let expected = [
        "InstanceProfileReady=Unknown RoleNotFound",
        "ValidationSucceeded=Unknown DependenciesNotReady",
    ];
    assert_eq!(conditions.lacking(), expected, "{conditions:?}");
    let message = conditions.message("InstanceProfileReady");
    assert_eq!(message, "spec.role: there is no role nobody");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_class_that_says_what_cannot_be_is_refused_with_its_field() {
    let account = Account::open().await;
    let all = [
        bad(
            json!({"kubelet": {"podsPerCore": -1}}),
            "ValidationSucceeded",
            "InvalidKubeletConfiguration",
            "spec.kubelet.podsPerCore",
        ),
        bad(
            json!({"kubelet": {"maxPods": "vcpus * 4"}}),
            "ValidationSucceeded",
            "KubeletExpressionsDisabled",
            "NodeClassCEL",
        ),
        bad(
            json!({"amiSelectorTerms": [{"alias": "bottlerocket@latest"}],
                "kubelet": {"podsPerCore": 4}}),
            "ValidationSucceeded",
            "UnsupportedKubeletConfiguration",
            "spec.kubelet.podsPerCore",
        ),
        bad(
            json!({"amiFamily": "AL2023", "amiSelectorTerms": [{"ssmParameter": ARM_IMAGE}],
                "cpuOptions": {"nestedVirtualization": "enabled"}}),
            "ValidationSucceeded",
            "NoCompatibleInstanceType",
            "status.amis",
        ),
        bad(
            json!({"networkInterfaces": [
                {"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"},
                {"networkCardIndex": 99, "deviceIndex": 0, "interfaceType": "efa-only"},
            ]}),
            "ValidationSucceeded",
            "NoCompatibleInstanceType",
            "spec.networkInterfaces",
        ),
    ];
    for (number, bad) in all.iter().enumerate() {
        let mut class = account.class(&format!("bad-{number}"), &bad.otherwise);
        let conditions = account.resolve(&mut class).await;
        let expected = [format!("{}=False {}", bad.condition, bad.reason)];
        assert_eq!(conditions.lacking(), expected, "{}: {conditions:?}", bad.otherwise);
        let message = conditions.message(bad.condition);
        assert!(message.contains(bad.message), "{message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_permission_that_is_missing_is_named_on_the_part_that_needs_it() {
    let account = Account::open().await;
    let all = [
        // The addresses of Services are asked for once and then known: this must come first.
        ("eks:DescribeCluster", "ValidationSucceeded"),
        ("ec2:DescribeSubnets", "SubnetsReady"),
        ("ec2:DescribeSecurityGroups", "SecurityGroupsReady"),
        ("ec2:DescribeImages", "AMIsReady"),
        ("iam:GetInstanceProfile", "InstanceProfileReady"),
    ];
    for (number, (permission, condition)) in all.iter().enumerate() {
        account.stand_in.deny(&[permission]);
        let mut class = account.class(&format!("class-{number}"), &json!({}));
        let conditions = account.resolve(&mut class).await;
        let lacking = conditions.lacking();
        let reason = match *permission {
            "eks:DescribeCluster" => "ClusterCIDRResolutionFailed",
            _ => "Unauthorized",
        };
        assert!(lacking.contains(&format!("{condition}=False {reason}")), "{lacking:?}");
        let message = conditions.message(condition);
        assert!(message.contains(permission), "{message}");
        account.stand_in.deny(&[]);
        class.meta.generation += 1;
        assert_eq!(account.resolve(&mut class).await.lacking(), [""; 0]);
    }
}
