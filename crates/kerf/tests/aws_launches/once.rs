//! No claim ever gets two instances.

use std::time::Duration;

use kerf_engine::event::Failure;
use kerf_kube::Provider;
use serde_json::json;

use crate::account::Account;

/// For so long after its launch an instance is not described: longer than a restart takes.
const LAG_SECONDS: f64 = 8.0;

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
async fn what_a_process_launched_before_its_end_is_used_by_the_next_as_soon_as_ec2_describes_it() {
    let mut account = Account::open().await;
    let stored = "uid-stored";
    let stored_at = account.launch(stored).await.unwrap().provider_id;
    let before: Vec<String> = ["uid-0", "uid-1", "uid-2"].map(str::to_owned).to_vec();
    for answer in account.launch_all(&before).await {
        answer.unwrap();
    }
    let there = account.listed().await;
    account.restart(Duration::from_secs(60)).await;
    account.stand_in.set(&json!({"describe_lag_seconds": LAG_SECONDS}));
    let mut claims: Vec<_> = before.iter().map(|uid| account.claim(uid)).collect();
    claims.push(account.claim(stored));
    claims[3].status.provider_id = Some(stored_at.clone());
    account.aws.take_over(claims.iter());

    // Not those together that were together before, and one that was not there.
    let uids = ["uid-0", "uid-2", "uid-3"].map(str::to_owned);
    let mut answers = account.launch_all(&uids).await;
    answers.push(account.launch("uid-1").await);
    let answers: Vec<_> = answers.into_iter().map(Result::unwrap).collect();
    let mut found: Vec<String> = answers.iter().map(|it| it.provider_id.to_string()).collect();
    let new = found.remove(2);
    found.push(stored_at.to_string());
    found.sort();
    assert_eq!(found, there, "each has one of those that were there");
    account.stand_in.set(&json!({"describe_lag_seconds": 0.0}));
    assert_eq!(account.listed().await.len(), 5, "one was launched, for the new claim: {new}");
    assert!(answers.iter().all(|it| !it.capacity.is_empty() && it.image_id.is_some()));
}
