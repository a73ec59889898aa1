//! What becomes of an engine whose planner panics on one object.

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
    cluster.engine.plan = panics_on_bad;
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
    cluster.engine.plan = panics_on_bad;
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
    cluster.engine.plan = panics_on_bad;
    cluster.edit(&Key::Claim("bad".into()), |object| object.meta_mut().generation += 1);
    cluster.settle();
    cluster.engine.plan = planners::plan;
    cluster.delete(&Key::Claim("bad".into()));
    cluster.seconds(120);
    assert!(cluster.find_claim("bad").is_none(), "{:?}", cluster.log());
}
