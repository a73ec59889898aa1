//! Instance profiles made from a class's role.

use kerf_kube::Provider;
use serde_json::json;

use crate::account::Account;

impl Account {
    /// The names of all instance profiles, in the order of the alphabet.
    fn profiles(&self) -> Vec<String> {
        let listed = self.iam("ListInstanceProfiles");
        let mut names: Vec<String> = listed
            .split("<InstanceProfileName>")
            .skip(1)
            .map(|rest| rest.split('<').next().unwrap().to_owned())
            .collect();
        names.sort();
        names
    }

    fn iam(&self, action: &str) -> String {
        self.stand_in.query("iam", &format!("Action={action}&Version=2010-05-08"))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_becomes_a_profile_once_whoever_asks() {
    let mut account = Account::open().await;
    let mut class = account.class("default", &json!({}));
    account.resolve(&mut class).await;
    let profile = class.status.resolved["instanceProfile"].as_str().unwrap().to_owned();
    assert!(profile.starts_with("demo_"), "{profile}");
    let made = account.iam(&format!("GetInstanceProfile&InstanceProfileName={profile}"));
    assert!(made.contains("<RoleName>KarpenterNodeRole-demo</RoleName>"), "{made}");
    assert!(made.contains("<Path>/karpenter/us-east-1/demo/uid-of-default/</Path>"), "{made}");
    // The status was never stored: another process finds what the first has made.
    account.restart().await;
    let mut class = account.class("default", &json!({}));
    account.resolve(&mut class).await;
    assert_eq!(class.status.resolved["instanceProfile"], *profile);
    assert_eq!(account.profiles(), [profile]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_that_lacks_its_role_after_a_crash_gets_it() {
    let mut account = Account::open().await;
    let mut class = account.class("default", &json!({}));
    account.stand_in.deny(&["iam:AddRoleToInstanceProfile"]);
    let conditions = account.resolve(&mut class).await;
    let message = conditions.message("InstanceProfileReady");
    assert!(message.contains("iam:AddRoleToInstanceProfile"), "{message}");
    assert!(message.contains("iam:PassRole"), "{message}");
    let half_made = account.profiles();
    assert_eq!(half_made.len(), 1);
    account.stand_in.deny(&[]);
    account.restart().await;
    let conditions = account.resolve(&mut class).await;
    assert_eq!(conditions.lacking(), [""; 0]);
    assert_eq!(class.status.resolved["instanceProfile"], *half_made[0]);
    assert_eq!(account.profiles(), half_made);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_path_of_a_role_makes_no_second_profile() {
    let mut account = Account::open().await;
    let mut class = account.class("default", &json!({}));
    account.resolve(&mut class).await;
    let role = format!("teams/web/{}", account.made.role);
    let mut with_path = account.class("default", &json!({"role": role}));
    with_path.status = class.status.clone();
    with_path.meta.generation += 1;
    account.restart().await;
    assert_eq!(account.resolve(&mut with_path).await.lacking(), [""; 0]);
    assert_eq!(with_path.status.resolved, class.status.resolved);
    assert_eq!(account.profiles().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_that_is_not_there_is_asked_for_once_a_minute_and_leaves_nothing() {
    let account = Account::open().await;
    let mut class = account.class("default", &json!({"role": "nobody"}));
    account.resolve(&mut class).await;
    assert_eq!(account.profiles(), [""; 0]);
    account.stand_in.forget_calls();
    let conditions = account.resolve(&mut class).await;
    assert!(conditions.lacking()[0].contains("RoleNotFound"), "{conditions:?}");
    assert_eq!(account.count("CreateInstanceProfile"), 0);
    assert_eq!(account.count("AddRoleToInstanceProfile"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_made_for_a_class_goes_with_it_and_nothing_else_does() {
    let account = Account::open().await;
    let mut class = account.class("default", &json!({}));
    let mut other = account.class("other", &json!({}));
    account.resolve(&mut class).await;
    account.resolve(&mut other).await;
    let of_other = other.status.resolved["instanceProfile"].as_str().unwrap().to_owned();
    let template = |name: &str, class: &str| {
        account.stand_in.ec2(&format!(
            "Action=CreateLaunchTemplate&Version=2016-11-15&LaunchTemplateName={name}\
             &LaunchTemplateData.ImageId=ami-1&TagSpecification.1.ResourceType=launch-template\
             &TagSpecification.1.Tag.1.Key=eks:eks-cluster-name\
             &TagSpecification.1.Tag.1.Value=demo\
             &TagSpecification.1.Tag.2.Key=karpenter.k8s.aws/ec2nodeclass\
             &TagSpecification.1.Tag.2.Value={class}"
        ))
    };
    template("of-default", "default");
    template("of-other", "other");
    // What older versions called the only profile of this class: FNV-1 of region and name.
    let legacy = "CreateInstanceProfile&InstanceProfileName=demo_15843455441266977890";
    account.iam(legacy);
    account.aws.release_node_class(&class).await.unwrap();
    assert_eq!(account.profiles(), [of_other]);
    let left = account.stand_in.ec2("Action=DescribeLaunchTemplates&Version=2016-11-15");
    assert!(left.contains("of-other") && !left.contains("of-default"), "{left}");
    account.aws.release_node_class(&class).await.unwrap();
}

/// Long after any test.
const LATER: i64 = 4_000_000_000;

#[tokio::test(flavor = "multi_thread")]
async fn profiles_that_nobody_uses_are_collected_and_others_stay() {
    let mut account = Account::open().await;
    let mut class = account.class("default", &json!({}));
    account.resolve(&mut class).await;
    let first = class.status.resolved["instanceProfile"].as_str().unwrap().to_owned();
    let role = "Action=CreateRole&Version=2010-05-08&RoleName=other&AssumeRolePolicyDocument={}";
    account.stand_in.query("iam", role);
    let foreign = "Action=CreateInstanceProfile&Version=2010-05-08&InstanceProfileName=foreign";
    account.stand_in.query("iam", foreign);
    let mut other = account.class("default", &json!({"role": "other"}));
    other.status = class.status.clone();
    other.meta.generation += 1;
    account.resolve(&mut other).await;
    let second = other.status.resolved["instanceProfile"].as_str().unwrap().to_owned();
    assert_ne!(first, second);
    let nothing: Vec<String> = Vec::new();
    for _ in 0..2 {
        let collected = account.aws.collect_profiles(LATER).await.unwrap();
        assert_eq!(collected, nothing, "launches under way may name the old one");
    }
    account.restart().await;
    let collected = account.aws.collect_profiles(LATER).await.unwrap();
    assert_eq!(collected, nothing, "no class was looked at: who leads is somebody else");
    account.resolve(&mut other).await;
    assert_eq!(account.aws.collect_profiles(LATER).await.unwrap(), nothing, "unused once");
    assert_eq!(account.aws.collect_profiles(LATER).await.unwrap(), [first]);
    assert_eq!(account.profiles(), [second, "foreign".to_owned()]);
}
