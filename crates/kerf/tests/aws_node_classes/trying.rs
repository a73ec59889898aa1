//! Dry runs of a class.

use kerf_engine::condition::{Condition, Conditions as Stored, Status};
use kerf_engine::observed::NodeClass;
use kerf_engine::time::Time;
use kerf_testbed::AwsCall;
use serde_json::json;

use crate::account::{Account, Conditions};

const TRIES: [&str; 4] =
    ["CreateLaunchTemplate", "CreateFleet", "RunInstances", "DeleteLaunchTemplate"];

/// The calls of a try, and whether EC2 was only asked if it would.
fn tries(account: &Account) -> Vec<(String, bool)> {
    let is_try = |call: &AwsCall| TRIES.contains(&call.action.as_str());
    let calls = account.stand_in.calls();
    calls.into_iter().filter(is_try).map(|it| (it.action, it.is_dry_run)).collect()
}

fn store(class: &mut NodeClass, conditions: &Conditions) {
    let stored = conditions.found.conditions.iter().map(|it| Condition {
        kind: it.kind.clone(),
        status: it.status,
        reason: it.reason.clone(),
        message: it.message.clone(),
        changed_at: Time::from_seconds(0),
        observed_generation: class.meta.generation,
    });
    class.status.conditions = Stored(stored.collect());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_class_is_tried_once_and_leaves_nothing_behind() {
    let account = Account::open().await;
    let mut class = account.class("default", &json!({}));
    assert_eq!(account.resolve(&mut class).await.lacking(), [""; 0]);
    let expected = [
        ("CreateLaunchTemplate", false),
        ("CreateFleet", true),
        ("RunInstances", true),
        ("DeleteLaunchTemplate", false),
    ];
    assert_eq!(tries(&account), expected.map(|(action, is_dry)| (action.to_owned(), is_dry)));
    let left = account.stand_in.ec2("Action=DescribeLaunchTemplates&Version=2016-11-15");
    assert!(!left.contains("<launchTemplateName>"), "{left}");
    let launched = account.stand_in.ec2("Action=DescribeInstances&Version=2016-11-15");
    assert!(!launched.contains("<instanceId>"), "{launched}");
    account.stand_in.forget_calls();
    class.meta.generation += 1;
    account.resolve(&mut class).await;
    assert_eq!(tries(&account), [], "the verdict counts as long as nothing has changed");
    let mut other = account.class("default", &json!({"userData": "echo hello"}));
    other.meta.generation += 2;
    assert_eq!(account.resolve(&mut other).await.lacking(), [""; 0]);
    assert_eq!(tries(&account).len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_launch_that_is_not_permitted_is_a_condition_with_action_and_resource() {
    let account = Account::open().await;
    for (permission, reason) in [
        ("ec2:CreateLaunchTemplate", "CreateLaunchTemplateAuthCheckFailed"),
        ("ec2:CreateFleet", "CreateFleetAuthCheckFailed"),
        ("ec2:RunInstances", "RunInstancesAuthCheckFailed"),
    ] {
        account.stand_in.deny(&[permission]);
        let mut class = account.class(&reason.to_lowercase(), &json!({}));
        let conditions = account.resolve(&mut class).await;
        let expected = [format!("ValidationSucceeded=False {reason}")];
        assert_eq!(conditions.lacking(), expected, "{conditions:?}");
        let message = conditions.message("ValidationSucceeded");
        assert!(message.contains(permission), "{message}");
        account.stand_in.forget_calls();
        assert_eq!(account.resolve(&mut class).await.lacking(), expected);
        assert_eq!(tries(&account), [], "a denial is a verdict, too");
        account.stand_in.deny(&[]);
    }
    let mut class = account.class("good", &json!({}));
    assert_eq!(account.resolve(&mut class).await.lacking(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_that_is_not_there_is_found_out_by_trying() {
    let account = Account::open().await;
    let spec = json!({"role": null, "instanceProfile": "nobody"});
    let mut class = account.class("default", &spec);
    let conditions = account.resolve(&mut class).await;
    assert_eq!(conditions.lacking(), ["ValidationSucceeded=False InstanceProfileNotFound"]);
    let message = conditions.message("ValidationSucceeded");
    assert!(message.contains("spec.instanceProfile"), "{message}");
    let made = "Action=CreateInstanceProfile&Version=2010-05-08&InstanceProfileName=nobody";
    account.stand_in.query("iam", made);
    assert_eq!(account.resolve(&mut class).await.lacking(), [""; 0]);
    assert_eq!(class.status.resolved["instanceProfile"], "nobody");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_become_user_data_is_refused_with_its_field() {
    let account = Account::open().await;
    let bottlerocket = json!([{"alias": "bottlerocket@latest"}]);
    for (name, spec, reason) in [
        (
            "toml",
            json!({"amiSelectorTerms": bottlerocket, "userData": "[settings"}),
            "InvalidUserData",
        ),
        ("long", json!({"userData": "#".repeat(16 << 10)}), "UserDataSizeLimitExceeded"),
    ] {
        let mut class = account.class(name, &spec);
        let conditions = account.resolve(&mut class).await;
        assert_eq!(conditions.lacking(), [format!("ValidationSucceeded=False {reason}")]);
        let message = conditions.message("ValidationSucceeded");
        assert!(message.contains("spec.userData"), "{message}");
    }
    assert_eq!(tries(&account), [], "nothing was asked of EC2");
}

#[tokio::test(flavor = "multi_thread")]
async fn tags_that_permissions_rest_on_are_refused() {
    let account = Account::open().await;
    let spec = json!({"tags": {"karpenter.sh/nodepool": "mine", "team": "web"}});
    let mut class = account.class("default", &spec);
    let conditions = account.resolve(&mut class).await;
    assert_eq!(conditions.lacking(), ["ValidationSucceeded=False TagValidationFailed"]);
    let message = conditions.message("ValidationSucceeded");
    assert!(message.contains("spec.tags") && !message.contains("team"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_class_is_tried_with_whatever_its_images_run_on() {
    let account = Account::open().await;
    let root = "/aws/service/eks/optimized-ami/1.36/amazon-linux-2023";
    for variant in ["arm64/standard", "x86_64/standard"] {
        let parameter = format!("{root}/{variant}/recommended/image_id");
        let terms = json!([{"ssmParameter": parameter}]);
        let spec = json!({"amiFamily": "AL2023", "amiSelectorTerms": terms});
        let mut class = account.class(&variant.replace(['/', '_'], "-"), &spec);
        assert_eq!(account.resolve(&mut class).await.lacking(), [""; 0], "{variant}");
    }
    for alias in ["bottlerocket@latest", "windows2022@latest"] {
        let spec = json!({"amiSelectorTerms": [{"alias": alias}]});
        let mut class = account.class(&alias.replace('@', "-"), &spec);
        assert_eq!(account.resolve(&mut class).await.lacking(), [""; 0], "{alias}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_ec2_does_not_answer_changes_nothing() {
    let mut account = Account::open().await;
    let mut class = account.class("default", &json!({}));
    let before = account.resolve(&mut class).await;
    store(&mut class, &before);
    let status = class.status.resolved.clone();
    let broken = account.through_faults("Action=DescribeSubnets").await;
    let conditions = account.resolve(&mut class).await;
    assert_eq!(conditions.lacking(), [""; 0], "{conditions:?}");
    assert!(!conditions.all.contains_key("SubnetsReady"), "it is not named");
    assert_eq!(*class.status.resolved, *status);
    assert!(conditions.found.again_after.is_some());
    // For another spec what was known counts for nothing.
    class.meta.generation += 1;
    let conditions = account.resolve(&mut class).await;
    assert_eq!(conditions.lacking(), ["ValidationSucceeded=Unknown DependenciesNotReady"]);
    assert_eq!(conditions.all["ValidationSucceeded"].status, Status::Unknown);
    drop(broken);
}
