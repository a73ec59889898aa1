//! Deletions that no watch has told of: whoever goes, goes, and counts as going.

#![allow(clippy::unwrap_used)]

mod cluster;

use std::collections::BTreeSet;
use std::sync::Arc;

use cluster::{Cluster, budget, pod, pod_key, quick};
use kerf_engine::action::ActionKind;
use kerf_engine::event::{Failure, Key, Kind, Object};
use kerf_engine::observed::Name;
use kerf_model::duration::NillableDuration;

/// Quiet for 30 s, found within 10 s, looked at again after 15 s.
const ENOUGH: usize = 60;

/// Two nodes, one of which may go at a time.
fn two_nodes() -> Cluster {
    Cluster::with_nodes(2, |pool| {
        quick(pool);
        budget(pool, "1");
    })
}

/// The claims whose deletion was ever ordered.
fn deleted(cluster: &Cluster) -> BTreeSet<Name> {
    let name = |kind: &ActionKind| match kind {
        ActionKind::DeleteClaim { name, .. } => Some(name.clone()),
        _ => None,
    };
    cluster.actions.iter().filter_map(|(_, action)| name(&action.kind)).collect()
}

fn is_deletion(kind: &ActionKind) -> bool {
    matches!(kind, ActionKind::DeleteClaim { .. })
}

/// Lets time pass until something is so.
fn until(cluster: &mut Cluster, is_so: impl Fn(&Cluster) -> bool) {
    for _ in 0..ENOUGH {
        if is_so(cluster) {
            return;
        }
        cluster.seconds(1);
    }
    panic!("it never was: {:?}", cluster.log());
}

fn edit_budget(cluster: &mut Cluster, nodes: &str) {
    cluster.edit(&Key::Pool("pool".into()), |object| {
        let Object::Pool(pool) = object else { unreachable!("a pool's key") };
        budget(Arc::make_mut(&mut pool.spec), nodes);
    });
}

#[test]
fn a_node_whose_deletion_was_taken_stays_closed_and_no_other_goes_beside_it() {
    let mut cluster = two_nodes();
    cluster.empty_nodes(2);
    cluster.settle();
    cluster.silent.insert(Kind::Claim);
    until(&mut cluster, |cluster| !deleted(cluster).is_empty());
    let going = deleted(&cluster).pop_first().unwrap();
    // It is not empty any more, so it would have been spared a moment ago.
    let node = format!("node-{going}");
    cluster.store(Object::Pod(pod("late", &node)));
    cluster.seconds(30);
    let closed: Vec<_> = cluster.closed_nodes().iter().map(|it| it.meta.name.clone()).collect();
    assert_eq!(closed, [Name::from(node)], "{:?}", cluster.log());
    assert_eq!(deleted(&cluster), [going].into(), "{:?}", cluster.log());
}

#[test]
fn nobody_is_meant_for_a_node_whose_deletion_was_taken() {
    let mut cluster = Cluster::with_nodes(1, |pool| {
        pool.template.spec.expire_after = NillableDuration::parse("2m").unwrap();
    });
    cluster.empty_nodes(1);
    cluster.seconds(70);
    cluster.silent.insert(Kind::Claim);
    until(&mut cluster, |cluster| !deleted(cluster).is_empty());
    let going = deleted(&cluster).pop_first().unwrap();
    // Nothing but the answer tells: its node is not closed before the claim is seen to go.
    cluster.pend("waits", "2");
    cluster.seconds(15);
    assert!(cluster.target_of("waits").is_some_and(|it| it != going), "{:?}", cluster.log());
}

#[test]
fn a_deletion_that_nobody_has_answered_has_its_share_of_the_budget_before_others() {
    let mut cluster = two_nodes();
    edit_budget(&mut cluster, "2");
    // Commands are looked at by name; the later one is asked for first.
    let mut pods = ["pod-0", "pod-1"].map(|pod| (cluster.claim_under(pod), pod));
    pods.sort();
    let [(_, other), (going, first)] = pods;
    cluster.ignores = is_deletion;
    cluster.remove(&Key::Pod(pod_key(first)));
    until(&mut cluster, |cluster| deleted(cluster).contains(&going));
    cluster.refuses = |kind| match kind {
        ActionKind::ConfirmDrained { .. } => {
            Some(Failure::Unavailable { message: "the server does not answer".to_owned() })
        }
        _ => None,
    };
    cluster.remove(&Key::Pod(pod_key(other)));
    until(&mut cluster, |cluster| cluster.closed_nodes().len() == 2);
    edit_budget(&mut cluster, "1");
    cluster.refuses = |_| None;
    cluster.seconds(30);
    assert_eq!(deleted(&cluster), [going].into(), "{:?}", cluster.log());
    assert_eq!(cluster.closed_nodes().len(), 1, "{:?}", cluster.log());
}

#[test]
fn a_deletion_that_had_no_effect_is_known_once_claims_are_heard_of() {
    let mut cluster = two_nodes();
    cluster.refuses = |kind| {
        let message = "no answer in time".to_owned();
        is_deletion(kind).then_some(Failure::Unavailable { message })
    };
    cluster.empty_nodes(1);
    until(&mut cluster, |cluster| !deleted(cluster).is_empty());
    let spared = deleted(&cluster).pop_first().unwrap();
    let node = format!("node-{spared}");
    cluster.store(Object::Pod(pod("late", &node)));
    cluster.seconds(60);
    assert!(cluster.closed_nodes().is_empty(), "{:?}", cluster.log());
    assert!(!cluster.claim(&spared).meta.is_deleting());
}
