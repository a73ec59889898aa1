//! No claim ever gets two instances.

use std::time::Duration;

use kerf_engine::event::Failure;
use kerf_kube::Provider;
use serde_json::json;

use crate::account::Account;

#[tokio::test]
async fn a_claim_launched_many_times_at_once_gets_one_instance() {
    let account = Account::open().await;
    let answers = account.launch_all(&vec!["uid-1".to_owned(); 20]).await;
    let ids: Vec<String> =
        answers.into_iter().map(|it| it.unwrap().provider_id.to_string()).collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert_eq!(account.listed().await, ids[..1]);
    assert_eq!(account.count("CreateFleet"), 1);
}

#[tokio::test]
async fn an_answer_that_comes_too_late_is_asked_for_again() {
    let mut account = Account::open().await;
    account.restart(Duration::from_millis(1_500)).await;
    account.stand_in.control("POST delays", &json!({"ec2:CreateFleet": 4.0}));
    let uids: Vec<String> = (0..3).map(|n| format!("uid-{n}")).collect();
    let lost = account.launch_all(&uids).await;
    let is_lost = |it: &Result<_, Failure>| matches!(it, Err(Failure::Unavailable { .. }));
    assert!(lost.iter().all(is_lost), "{lost:?}");
    account.stand_in.control("POST delays", &json!({}));

    let mut found = Vec::new();
    for uid in &uids {
        // The stand-in may still be busy with the late answer.
        let mut answer = account.launch(uid).await;
        while is_lost(&answer) {
            answer = account.launch(uid).await;
        }
        found.push(answer.unwrap().provider_id.to_string());
    }
    found.sort();
    assert_eq!(account.listed().await, found, "three claims, three instances, no more");
    found.dedup();
    assert_eq!(found.len(), 3);
}

#[tokio::test]
async fn a_single_launch_repeated_by_another_process_finds_its_instance() {
    let mut account = Account::open().await;
    let before = account.launch("uid-1").await.unwrap();
    account.restart(Duration::from_secs(60)).await;
    let after = account.launch("uid-1").await.unwrap();
    assert_eq!(before.provider_id, after.provider_id);
    assert_eq!(account.listed().await.len(), 1);
}

#[tokio::test]
async fn what_a_process_launched_before_its_end_is_used_by_the_next_whoever_launches_with_whom() {
    let mut account = Account::open().await;
    let uids: Vec<String> = (0..2).map(|n| format!("uid-{n}")).collect();
    for answer in account.launch_all(&uids).await {
        answer.unwrap();
    }
    let (before, stored) = (account.listed().await, "uid-stored");
    let stored_at = account.launch(stored).await.unwrap().provider_id;
    account.restart(Duration::from_secs(60)).await;
    let uids = ["uid-0", "uid-1", "uid-2"].map(str::to_owned);
    let mut claims: Vec<_> = uids.iter().map(|uid| account.claim(uid)).collect();
    claims.push(account.claim(stored));
    claims[3].status.provider_id = Some(stored_at.clone());
    account.aws.take_over(claims.iter());

    let answers = account.launch_all(&uids).await;
    let answers: Vec<_> = answers.into_iter().map(Result::unwrap).collect();
    let mut found: Vec<String> = answers.iter().map(|it| it.provider_id.to_string()).collect();
    found.sort();
    assert!(before.iter().all(|id| found.contains(id)), "{found:?} without {before:?}");
    assert!(!found.contains(&stored_at.to_string()), "that one is another claim's");
    assert_eq!(account.listed().await.len(), 4, "one was launched, for the third claim");
    assert!(answers.iter().all(|it| !it.capacity.is_empty() && it.image_id.is_some()));
}
