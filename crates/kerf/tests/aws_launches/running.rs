//! Instances after their launch.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kerf_aws::iam::STATEMENTS;
use kerf_kube::{Ending, Provider};
use serde_json::json;

use crate::account::Account;

#[tokio::test]
async fn an_instance_that_ec2_does_not_describe_yet_is_listed_and_can_be_ended() {
    let account = Account::open().await;
    account.stand_in.set(&json!({"describe_lag_seconds": 3600}));
    let launched = account.launch("uid-1").await.unwrap();
    let listed = account.aws.instances().await.unwrap();
    assert_eq!(listed.len(), 1, "not described is not missing");
    assert_eq!(listed[0].provider_id, launched.provider_id);
    assert_eq!(listed[0].claim.as_deref(), Some("general-uid-1"));
    let claim = Arc::from("general-uid-1");
    let ending = account.aws.terminate(&claim, Some(&launched.provider_id)).await.unwrap();
    assert_eq!(ending, Ending::Begun, "it may just not be known yet");
    assert!(account.count("TerminateInstances") >= 1);
}

#[tokio::test]
async fn an_end_is_asked_for_until_it_is_over() {
    let account = Account::open().await;
    account.stand_in.set(&json!({"terminate_seconds": 3600}));
    let launched = account.launch("uid-1").await.unwrap();
    let claim = Arc::from("general-uid-1");
    let end = async || account.aws.terminate(&claim, Some(&launched.provider_id)).await.unwrap();
    assert_eq!(end().await, Ending::Begun);
    assert_eq!(end().await, Ending::Begun);
    assert_eq!(account.count("TerminateInstances"), 1, "it is shutting down");
    assert!(account.aws.instances().await.unwrap()[0].is_ending);

    account.stand_in.set(&json!({"terminate_seconds": 0}));
    let other = account.launch("uid-2").await.unwrap();
    let (claim, id) = (Arc::from("general-uid-2"), other.provider_id.clone());
    while account.aws.terminate(&claim, Some(&id)).await.unwrap() != Ending::Gone {}
    assert!(!account.listed().await.contains(&id.to_string()));
    let gone = account.aws.terminate(&claim, Some(&id)).await.unwrap();
    assert_eq!(gone, Ending::Gone, "also when it is asked for once more");
}

#[tokio::test]
async fn a_claim_whose_instance_was_never_stored_is_ended_by_its_name() {
    let mut account = Account::open().await;
    account.stand_in.set(&json!({"terminate_seconds": 3600}));
    let launched = account.launch("uid-1").await.unwrap();
    let unknown = account.aws.terminate(&Arc::from("general-uid-9"), None).await.unwrap();
    assert_eq!(unknown, Ending::Gone, "nothing was launched for it");
    let claim = Arc::from("general-uid-1");
    assert_eq!(account.aws.terminate(&claim, None).await.unwrap(), Ending::Begun);
    assert_eq!(account.count("TerminateInstances"), 1);

    let tagged = account.launch("uid-2").await.unwrap();
    let tags = BTreeMap::from([("karpenter.sh/nodeclaim".to_owned(), "general-uid-2".to_owned())]);
    account.aws.tag_instance(&tagged.provider_id, &tags).await.unwrap();
    account.restart(Duration::from_secs(60)).await;
    let claim = Arc::from("general-uid-2");
    assert_eq!(account.aws.terminate(&claim, None).await.unwrap(), Ending::Begun, "by its tag");
    let listed = account.aws.instances().await.unwrap();
    let ending = listed.iter().filter(|it| it.is_ending).count();
    assert_eq!(ending, 2);
    assert_ne!(launched.provider_id, tagged.provider_id);
}

#[tokio::test]
async fn tags_are_set_once_and_never_over_those_that_are_there() {
    let account = Account::open().await;
    let launched = account.launch("uid-1").await.unwrap();
    let tags = |name: &str| {
        let tags = [("Name", name), ("karpenter.sh/nodeclaim", "general-uid-1")];
        tags.map(|(key, value)| (key.to_owned(), value.to_owned())).into()
    };
    account.aws.tag_instance(&launched.provider_id, &tags("node-1")).await.unwrap();
    account.aws.tag_instance(&launched.provider_id, &tags("node-2")).await.unwrap();
    assert_eq!(account.count("CreateTags"), 1);
    let described = account.stand_in.ec2("Action=DescribeInstances&Version=2016-11-15");
    assert!(described.contains("node-1") && !described.contains("node-2"), "{described}");
}

#[tokio::test]
async fn many_ends_are_few_calls() {
    let account = Account::open().await;
    account.stand_in.set(&json!({"terminate_seconds": 3600}));
    let uids: Vec<String> = (0..20).map(|n| format!("uid-{n}")).collect();
    let launched = account.launch_all(&uids).await;
    account.stand_in.forget_calls();
    let tasks: Vec<_> = launched
        .into_iter()
        .map(|it| {
            let (aws, instance) = (account.aws.clone(), it.unwrap());
            let claim = instance.claim.clone().unwrap();
            tokio::spawn(async move { aws.terminate(&claim, Some(&instance.provider_id)).await })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await.unwrap().unwrap(), Ending::Begun);
    }
    let calls = (account.count("TerminateInstances"), account.count("DescribeInstances"));
    assert!(calls.0 <= 2 && calls.1 <= 2, "{calls:?}");
}

#[tokio::test]
async fn every_call_of_an_instances_life_is_granted_by_the_policies() {
    let account = Account::open().await;
    let launched = account.launch("uid-1").await.unwrap();
    let tags = BTreeMap::from([("Name".to_owned(), "node-1".to_owned())]);
    account.aws.tag_instance(&launched.provider_id, &tags).await.unwrap();
    account.aws.instances().await.unwrap();
    let claim = Arc::from("general-uid-1");
    account.aws.terminate(&claim, Some(&launched.provider_id)).await.unwrap();
    let mut called: Vec<String> =
        account.stand_in.calls().iter().map(|call| call.permission()).collect();
    called.sort();
    called.dedup();
    let granted: Vec<&str> = STATEMENTS
        .iter()
        .flat_map(|statement| statement.permissions)
        .map(|permission| permission.name())
        .collect();
    let missing: Vec<&String> =
        called.iter().filter(|it| !granted.contains(&it.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}");
    for needed in ["ec2:CreateFleet", "ec2:CreateLaunchTemplate", "ec2:CreateTags"] {
        assert!(called.iter().any(|it| it == needed), "{needed} in {called:?}");
    }
}
