//! How urgent actions are: what has a deadline goes first, what only notes something goes last.

#![allow(clippy::unwrap_used)]

mod cluster;

use cluster::{Cluster, claim, grace, pod, pool};
use kerf_engine::action::{ActionClass, ActionKind, Subject};
use kerf_engine::event::{Event, Key, Object};
use kerf_engine::notice::{Notice, NoticeId, NoticeKind};
use kerf_engine::observed::Claim;
use kerf_engine::time::Span;

/// A ready node with a pod.
fn ready(change: impl FnOnce(&mut Claim)) -> Cluster {
    let mut cluster = Cluster::new();
    let mut claim = claim("one");
    change(&mut claim);
    cluster.store(Object::Pool(pool("pool")));
    cluster.store(Object::Claim(claim));
    cluster.seconds(30);
    cluster.store(Object::Pod(pod("a", "node-one")));
    cluster.settle();
    cluster
}

/// The classes of the actions so far that fit.
fn classes(cluster: &Cluster, fits: impl Fn(&ActionKind) -> bool) -> Vec<ActionClass> {
    let mut classes: Vec<_> = (cluster.actions.iter())
        .filter(|(_, action)| fits(&action.kind))
        .map(|(_, action)| action.class)
        .collect();
    classes.dedup();
    classes
}

/// The instance of the node is about to be taken.
fn spot_notice(cluster: &Cluster) -> Event {
    let provider_id = cluster.node().provider_id.clone().unwrap();
    let instances = vec![provider_id.rsplit('/').next().unwrap().into()];
    Event::Noticed(Notice::new(NoticeId(1), NoticeKind::SpotInterrupted, instances))
}

fn is_eviction(kind: &ActionKind) -> bool {
    matches!(kind, ActionKind::EvictPod { .. })
}

#[test]
fn evictions_are_urgent_where_the_node_has_a_deadline() {
    let mut cluster = ready(|_| ());
    cluster.delete(&Key::Claim("one".into()));
    cluster.seconds(60);
    assert_eq!(classes(&cluster, is_eviction), [ActionClass::Normal]);
    let mut cluster = ready(|claim| grace(claim, 600));
    cluster.delete(&Key::Claim("one".into()));
    cluster.seconds(60);
    assert_eq!(classes(&cluster, is_eviction), [ActionClass::Urgent]);
}

#[test]
fn everything_that_follows_from_a_spot_notice_is_urgent_and_closing_its_node_comes_first() {
    let mut cluster = ready(|_| ());
    cluster.seconds(60);
    let done = cluster.actions.len();
    cluster.engine.handle(spot_notice(&cluster), cluster.now);
    cluster.seconds(60);
    assert!(cluster.find_claim("one").is_none(), "{:?}", cluster.log());
    let own = |kind: &ActionKind| {
        let name = kind.subject().to_string();
        ["one", "node-one"].contains(&name.as_str()) || is_eviction(kind)
    };
    cluster.actions.drain(..done);
    let classes = classes(&cluster, own);
    assert_eq!(classes, [ActionClass::Closing, ActionClass::Urgent], "{:?}", cluster.log());
}

#[test]
fn the_time_of_the_last_pod_event_is_written_in_the_background() {
    let mut cluster = ready(|_| ());
    cluster.seconds(60);
    let done = cluster.actions.len();
    cluster.store(Object::Pod(pod("b", "node-one")));
    cluster.seconds(60);
    cluster.actions.drain(..done);
    let is_status = |kind: &ActionKind| matches!(kind, ActionKind::WriteClaimStatus { .. });
    assert_eq!(classes(&cluster, is_status), [ActionClass::Background], "{:?}", cluster.log());
}

#[test]
fn a_spot_notice_does_not_wait_for_a_note_about_the_same_claim_that_is_in_a_queue() {
    let mut cluster = ready(|_| ());
    cluster.seconds(60);
    cluster.store(Object::Pod(pod("b", "node-one")));
    cluster.deliver();
    let noted = (0..60).find_map(|_| {
        cluster.now = cluster.now + Span::from_seconds(1);
        cluster.decide().into_iter().find(|action| action.class == ActionClass::Background)
    });
    let noted = noted.expect("the time of the pod event is written");
    assert_eq!(noted.kind.subject(), Subject::Claim("one".into()));
    cluster.engine.handle(spot_notice(&cluster), cluster.now);
    let ordered = cluster.decide();
    let is_deletion = |kind: &ActionKind| matches!(kind, ActionKind::DeleteClaim { .. });
    assert!(ordered.iter().any(|action| is_deletion(&action.kind)), "{ordered:?}");
}
