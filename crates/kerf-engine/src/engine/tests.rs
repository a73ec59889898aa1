//! What becomes of an engine that panics on one object, whenever it does.

use super::*;
use crate::cluster::{Cluster, claim, pool};

fn panics_on_bad(world: &World, subject: &Subject, now: Time) -> Decision {
    match subject {
        Subject::Claim(name) if &**name == "bad" => panic!("provoked"),
        subject => planners::plan(world, subject, now),
    }
}

fn ready() -> Cluster {
    let mut cluster = Cluster::new();
    cluster.store(Object::Pool(pool("pool")));
    cluster.store(Object::Claim(claim("bad")));
    cluster.seconds(60);
    assert_eq!(cluster.nodes().len(), 1);
    cluster
}

#[test]
fn a_panic_about_one_claim_stops_nothing_else_and_is_said_at_the_claim() {
    let mut cluster = ready();
    cluster.engine.planners.plan = panics_on_bad;
    cluster.edit(&Key::Claim("bad".into()), |object| object.meta_mut().generation += 1);
    cluster.store(Object::Claim(claim("good")));
    cluster.seconds(120);
    assert!(cluster.claim("good").status.conditions.is_true("Initialized"));
    let mut said = cluster.kubernetes_events.iter();
    let said = said.find(|event| event.reason == "InternalError").expect("it is said");
    assert_eq!(said.about, Key::Claim("bad".into()));
    assert!(said.message.contains("provoked"), "{}", said.message);
    assert_eq!(cluster.counted("kerf_panics_total", "engine"), 1, "it is left alone");
}

#[test]
fn nothing_that_belongs_to_a_claim_nobody_can_plan_is_ended() {
    let mut cluster = ready();
    cluster.engine.planners.plan = panics_on_bad;
    cluster.edit(&Key::Claim("bad".into()), |object| object.meta_mut().generation += 1);
    cluster.seconds(3_600);
    assert_eq!(cluster.count(|kind| matches!(kind, ActionKind::Terminate { .. })), 0);
    assert_eq!(cluster.instances.len(), 1);
    let panics = cluster.counted("kerf_panics_total", "engine");
    assert!((10..=13).contains(&panics), "every five minutes it is tried again: {panics}");
}

#[test]
fn a_claim_that_changes_is_planned_again_at_once() {
    let mut cluster = ready();
    cluster.engine.planners.plan = panics_on_bad;
    cluster.edit(&Key::Claim("bad".into()), |object| object.meta_mut().generation += 1);
    cluster.settle();
    cluster.engine.planners.plan = planners::plan;
    cluster.delete(&Key::Claim("bad".into()));
    cluster.seconds(120);
    assert!(cluster.find_claim("bad").is_none(), "{:?}", cluster.log());
}

fn is_bad(key: &Key) -> bool {
    *key == Key::Claim("bad".into())
}

/// Nothing is ended, others are looked after, and it is said at the claim.
fn assert_contained(cluster: &mut Cluster) {
    cluster.store(Object::Claim(claim("good")));
    cluster.seconds(600);
    assert!(cluster.claim("good").status.conditions.is_true("Initialized"), "{:?}", cluster.log());
    assert_eq!(cluster.count(|kind| matches!(kind, ActionKind::Terminate { .. })), 0);
    assert_eq!(cluster.instances.len(), 2);
    let mut said = cluster.kubernetes_events.iter();
    assert!(said.any(|event| event.reason == "InternalError" && is_bad(&event.about)));
    assert!(cluster.counted("kerf_panics_total", "engine") > 0);
}

#[test]
fn a_panic_about_what_an_object_has_become_keeps_what_belongs_to_it() {
    let mut cluster = ready();
    cluster.engine.planners.on_change = |world, object, now| match is_bad(&object.key()) {
        true => panic!("provoked"),
        false => planners::on_change(world, object, now),
    };
    cluster.edit(&Key::Claim("bad".into()), |object| object.meta_mut().generation += 1);
    assert_contained(&mut cluster);
}

#[test]
fn a_panic_about_what_an_action_came_to_stops_nothing_else() {
    let mut cluster = ready();
    cluster.engine.planners.conclude = |world, action, outcome, now| {
        let is_of_bad = action.kind.subject() == Subject::Claim("bad".into());
        if is_of_bad { panic!("provoked") } else { planners::conclude(world, action, outcome, now) }
    };
    // What it says of itself is not what is: it is written anew.
    cluster.edit(&Key::Claim("bad".into()), |object| {
        let Object::Claim(claim) = object else { unreachable!("a claim's key") };
        claim.status.conditions = Default::default();
    });
    assert_contained(&mut cluster);
}

#[test]
fn a_panic_about_an_object_that_is_gone_stops_nothing_else() {
    let mut cluster = ready();
    cluster.engine.planners.on_delete = |world, key, now| match is_bad(key) {
        true => panic!("provoked"),
        false => planners::on_delete(world, key, now),
    };
    cluster.remove(&Key::Claim("bad".into()));
    cluster.store(Object::Claim(claim("good")));
    cluster.seconds(60);
    assert!(cluster.claim("good").status.conditions.is_true("Initialized"), "{:?}", cluster.log());
    assert!(cluster.counted("kerf_panics_total", "engine") > 0);
    assert!(!cluster.engine.world().claims.contains_key("bad"));
}
