//! A kind that nobody hears of is not gone: nothing ends by it.

#![allow(clippy::unwrap_used)]

mod cluster;

use cluster::{Cluster, claim, pod, pool};
use kerf_engine::action::ActionKind;
use kerf_engine::event::{Event, Key, Kind, Object};
use kerf_engine::notice::{Notice, NoticeId, NoticeKind};
use kerf_engine::observed::Claim;
use kerf_engine::time::Span;
use kerf_model::duration::NillableDuration;

/// Longer than any watch that lives is silent, and shorter than any deadline of these tests.
const STALL_SECONDS: u64 = 8 * 60;

/// A node of a pool that has it taken away when it is empty for a minute.
fn ready(change: impl FnOnce(&mut Claim)) -> Cluster {
    let mut cluster = Cluster::new();
    cluster.store(Object::Pool(pool("pool")));
    let mut one = claim("one");
    change(&mut one);
    cluster.store(Object::Claim(one));
    cluster.seconds(30);
    assert_eq!(cluster.nodes().len(), 1);
    cluster
}

fn ends(cluster: &Cluster) -> usize {
    let ends = |kind: &ActionKind| {
        matches!(kind, ActionKind::Terminate { .. } | ActionKind::DeleteClaim { .. })
    };
    cluster.count(ends)
}

fn drained(cluster: &Cluster) -> bool {
    cluster.claim("one").status.conditions.is_true("Drained")
}

#[test]
fn a_node_whose_pods_came_unheard_is_not_drained_and_not_ended() {
    let mut cluster = ready(|_| ());
    cluster.refuses = |kind| match kind {
        // The live read is another safeguard; this test is about the first.
        ActionKind::ConfirmDrained { .. } => unreachable!("nothing is to be confirmed yet"),
        _ => None,
    };
    cluster.silent.insert(Kind::Pod);
    cluster.seconds(120);
    cluster.store(Object::Pod(pod("unheard", "node-one")));
    cluster.delete(&Key::Claim("one".into()));
    cluster.seconds(STALL_SECONDS);
    assert!(!drained(&cluster), "{:?}", cluster.log());
    assert_eq!(cluster.instances.len(), 1);
    cluster.refuses = |_| None;
    cluster.speak();
    cluster.seconds(120);
    assert_eq!(cluster.count(|kind| matches!(kind, ActionKind::EvictPod { .. })), 1);
    assert!(cluster.find_claim("one").is_none(), "then it is drained and ends");
}

#[test]
fn a_claim_announced_to_go_is_deleted_whatever_is_silent() {
    let mut cluster = ready(|_| ());
    cluster.silent.extend([Kind::Claim, Kind::Node, Kind::Pod]);
    cluster.seconds(STALL_SECONDS);
    let (id, kind) = (NoticeId(1), NoticeKind::SpotInterrupted);
    let instances = vec!["one-uid".into()];
    cluster.undelivered.push_back(Event::Noticed(Notice::new(id, kind, instances)));
    cluster.seconds(10);
    assert!(ends(&cluster) > 0, "{:?}", cluster.log());
}

#[test]
fn a_claim_whose_node_joined_unheard_is_not_given_up() {
    let mut cluster = Cluster::new();
    cluster.store(Object::Pool(pool("pool")));
    cluster.settle();
    cluster.silent.insert(Kind::Node);
    cluster.store(Object::Claim(claim("one")));
    cluster.seconds(20 * 60);
    assert_eq!(ends(&cluster), 0, "it may have joined long ago: {:?}", cluster.log());
    cluster.speak();
    cluster.seconds(60);
    assert_eq!(ends(&cluster), 0);
    assert!(cluster.claim("one").status.conditions.is_true("Registered"));
}

#[test]
fn a_claim_expires_once_it_is_known_what_runs_on_it() {
    for kind in [Kind::Claim, Kind::Node, Kind::Pod] {
        let expire = NillableDuration::parse("10m").unwrap();
        let mut cluster = ready(|claim| claim.spec.node.expire_after = expire);
        cluster.seconds(300);
        cluster.silent.insert(kind);
        cluster.seconds(600);
        assert_eq!(ends(&cluster), 0, "{kind:?}: {:?}", cluster.log());
        cluster.speak();
        cluster.seconds(1);
        assert!(ends(&cluster) > 0, "{kind:?}");
    }
}

#[test]
fn an_instance_is_no_orphan_while_claims_are_not_heard_of() {
    let mut cluster = ready(|_| ());
    let stored = cluster.objects[&Key::Claim("one".into())].clone();
    cluster.crash();
    cluster.silent.insert(Kind::Claim);
    // The list that the new process had was empty; whatever came since is not heard of.
    cluster.undelivered.retain(|event| !matches!(event, Event::Listed(Kind::Claim)));
    cluster.undelivered.retain(|event| match event {
        Event::Seen(object) => !matches!(**object, Object::Claim(_)),
        _ => true,
    });
    cluster.engine.handle(Event::Listed(Kind::Claim), cluster.now);
    cluster.objects.remove(&stored.key());
    cluster.seconds(STALL_SECONDS);
    let ended = |kind: &ActionKind| matches!(kind, ActionKind::Terminate { .. });
    assert_eq!(cluster.count(ended), 0, "{:?}", cluster.log());
    cluster.speak();
    cluster.seconds(STALL_SECONDS);
    assert!(cluster.count(ended) > 0, "once nobody has it for sure it ends");
}

#[test]
fn a_kind_is_stale_when_it_was_not_heard_of_and_fresh_again_when_it_was() {
    let mut cluster = ready(|_| ());
    let world = cluster.engine.world();
    assert_eq!(world.stale_kinds(cluster.now).count(), 0);
    cluster.silent.insert(Kind::Pod);
    cluster.seconds(STALL_SECONDS);
    let stale: Vec<Kind> = cluster.engine.world().stale_kinds(cluster.now).collect();
    assert_eq!(stale, [Kind::Pod]);
    assert!(cluster.engine.world().silence(Kind::Pod, cluster.now) > Some(Span::from_minutes(7)));
    cluster.engine.handle(Event::Heard(Kind::Pod), cluster.now);
    assert_eq!(cluster.engine.world().stale_kinds(cluster.now).count(), 0);
}
