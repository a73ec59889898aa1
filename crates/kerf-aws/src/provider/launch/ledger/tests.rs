//! What is remembered of launches, and for how long.

use super::super::capacity_type::Purchase;
use super::super::fixtures::{launched, request};
use super::*;

fn launch(ledger: &mut Ledger, uid: &str, id: &str, now: Instant) {
    let request = Arc::new(request(Purchase::Spot));
    let claim: Name = Arc::from(format!("claim-{uid}"));
    let Place::Opened(_, batch, _) = ledger.join(&Arc::from(uid), &claim, &request, 10, now) else {
        panic!("it is the first");
    };
    ledger.close(batch, |_| {}).unwrap();
    let answer = FleetAnswer { instances: vec![launched(id)], errors: Vec::new() };
    ledger.settle(batch, &Ok(answer), now);
}

#[test]
fn launches_are_remembered_for_an_hour_and_found_by_name_and_id() {
    let (mut ledger, now) = (Ledger::default(), Instant::now());
    launch(&mut ledger, "uid-1", "i-1", now);
    assert_eq!(ledger.uid_of("claim-uid-1").as_deref(), Some("uid-1"));
    assert_eq!(ledger.instance("i-1").map(|it| &*it.claim), Some("claim-uid-1"));
    let later = now + REMEMBERED_FOR / 2;
    launch(&mut ledger, "uid-2", "i-2", later);
    assert_eq!(ledger.launched_since(None).len(), 2);
    let recent = ledger.launched_since(Some(later));
    assert_eq!(recent.iter().map(|it| it.instance.id.as_str()).collect::<Vec<_>>(), ["i-2"]);
    launch(&mut ledger, "uid-3", "i-3", now + REMEMBERED_FOR);
    assert!(ledger.find("uid-1").is_none() && ledger.find("uid-2").is_some());
}

#[test]
fn an_instance_that_has_ended_is_no_longer_listed() {
    let (mut ledger, now) = (Ledger::default(), Instant::now());
    launch(&mut ledger, "uid-1", "i-1", now);
    ledger.ended("i-1");
    assert!(ledger.launched_since(None).is_empty());
    assert_eq!(ledger.uid_of("claim-uid-1"), None);
    assert!(ledger.find("uid-1").is_some(), "the claim is not launched again");
}

#[test]
fn a_full_batch_takes_nobody_else() {
    let (mut ledger, now) = (Ledger::default(), Instant::now());
    let request = Arc::new(request(Purchase::Spot));
    let mut join = |uid: &str| {
        let claim: Name = Arc::from("claim");
        match ledger.join(&Arc::from(uid), &claim, &request, 2, now) {
            Place::Opened(..) => "opened",
            Place::Waiting(_) => "joined",
            other => panic!("{other:?}"),
        }
    };
    let places = ["uid-1", "uid-2", "uid-3", "uid-4", "uid-5"].map(&mut join);
    assert_eq!(places, ["opened", "joined", "opened", "joined", "opened"]);
}

#[test]
fn tokens_tell_members_and_failures_apart() {
    let uids = |texts: &[&str]| texts.iter().map(|text| Arc::from(*text)).collect::<Vec<Uid>>();
    let of = |texts: &[&str], failures: &[u32]| token(&uids(texts), failures.iter().copied());
    assert_eq!(of(&["uid-1"], &[0]), "uid-1");
    let all = [
        of(&["uid-1"], &[0]),
        of(&["uid-1"], &[1]),
        of(&["uid-1", "uid-2"], &[0, 0]),
        of(&["uid-1", "uid-2"], &[0, 1]),
        of(&["uid-1", "uid-3"], &[0, 0]),
    ];
    let different: std::collections::BTreeSet<&String> = all.iter().collect();
    assert_eq!(different.len(), all.len(), "{all:?}");
    assert!(all.iter().all(|token| token.len() <= 64), "EC2 takes 64 characters");
}

#[test]
fn a_batch_without_an_answer_is_given_up_after_an_hour() {
    let (mut ledger, now) = (Ledger::default(), Instant::now());
    let request = Arc::new(request(Purchase::Spot));
    let uid: Uid = Arc::from("uid-1");
    let claim: Name = Arc::from("claim");
    let Place::Opened(_, batch, _) = ledger.join(&uid, &claim, &request, 10, now) else { panic!() };
    ledger.close(batch, |_| {}).unwrap();
    let (action, resource, why) = ("ec2:CreateFleet", String::new(), String::new());
    let lost = Err(CallError::Unavailable { action, resource, why });
    ledger.settle(batch, &lost, now);
    let other: Uid = Arc::from("uid-2");
    ledger.join(&other, &claim, &request, 10, now + REMEMBERED_FOR / 2);
    assert!(matches!(ledger.find("uid-1"), Some(Place::Again(..))));
    ledger.settle(batch, &lost, now);
    ledger.join(&Arc::from("uid-3"), &claim, &request, 10, now + REMEMBERED_FOR);
    assert!(ledger.find("uid-1").is_none());
}
