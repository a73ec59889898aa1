//! Which pods are given a place, and what the others are messages.

#![allow(clippy::unwrap_used)]

mod cluster;

use std::collections::BTreeMap;

use cluster::{Cluster, meta, pod_key, shape, waiting_pod};
use kerf_engine::action::ActionKind;
use kerf_engine::event::{Key, Object};
use kerf_engine::observed::{DoNotDisrupt, Pod, PodDisruptionBudget, PodOwner};
use kerf_engine::sample::Sample;
use kerf_engine::time::Span;
use kerf_model::labels::well_known::NODE_POOL;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::selector::LabelSelector;

#[test]
fn a_pod_nobody_can_place_is_told_why_once_in_five_minutes() {
    let mut cluster = Cluster::with_pool(|_| {});
    let mut pod = waiting_pod("web", "1", cluster.now);
    pod.unusable = Some("its volume claim default/data does not exist".into());
    cluster.store(Object::Pod(pod));
    cluster.seconds(299);
    let messages = cluster.messages("FailedScheduling");
    assert_eq!(
        messages,
        ["Failed to schedule pod, its volume claim default/data does not exist"],
        "and nothing more for five minutes"
    );
    assert!(cluster.solves().is_empty());
    cluster.seconds(30);
    assert_eq!(cluster.messages("FailedScheduling").len(), 2);
}

#[test]
fn a_pod_that_wants_no_pool_is_left_alone_in_silence() {
    let mut cluster = Cluster::with_pool(|_| {});
    let mut shape = shape("1");
    let shuns = RequirementEntry::new(NODE_POOL, Operator::DoesNotExist, []);
    shape.placement.node_affinity.required = vec![vec![shuns]];
    cluster.pend_shape("web", shape);
    cluster.seconds(30);
    assert!(cluster.solves().is_empty());
    assert!(cluster.messages("FailedScheduling").is_empty());
}

#[test]
fn a_pod_without_a_place_is_told_the_solvers_reason() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.pend("large", "64");
    cluster.pend("small", "1");
    cluster.seconds(30);
    let messages = cluster.messages("FailedScheduling");
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(messages[0].starts_with("Failed to schedule pod, "), "{messages:?}");
    let memory = &cluster.engine.world().memory;
    assert!(memory.unplaced.contains_key(&pod_key("large")));
    assert_eq!(memory.unplaced.len(), 1);
    assert_eq!(cluster.claims().len(), 1);
}

#[test]
fn how_long_the_first_decision_took_is_measured_once() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.pend("large", "64");
    cluster.seconds(30);
    let took: Vec<Span> = (cluster.samples.iter())
        .filter_map(|sample| match sample {
            Sample::Took { metric, span, .. }
                if *metric == "karpenter_pods_scheduling_decision_duration_seconds" =>
            {
                Some(*span)
            }
            _ => None,
        })
        .collect();
    assert_eq!(took, [Span::from_seconds(1)]);
}

/// One node with a pod that fills it, about to be deleted.
fn leaving(change: impl FnOnce(&mut Cluster, &mut Pod)) -> Cluster {
    let mut cluster = Cluster::with_nodes(1, |_| {});
    let key = Key::Pod(pod_key("pod-0"));
    let Some(Object::Pod(mut pod)) = cluster.objects.get(&key).cloned() else { panic!("no pod") };
    change(&mut cluster, &mut pod);
    cluster.store(Object::Pod(pod));
    cluster.settle();
    let claim = cluster.claims()[0].meta.name.clone();
    cluster.delete(&Key::Claim(claim));
    cluster
}

#[test]
fn a_pod_on_a_node_that_goes_has_its_next_place_before_it_leaves_and_its_replacement_takes_it() {
    let mut cluster = leaving(|cluster, _| {
        cluster.unevictable.insert("pod-0".to_owned());
        cluster.store(Object::PodDisruptionBudget(pdb("one", false)));
    });
    cluster.seconds(20);
    assert_eq!(cluster.ordered_claims().len(), 2, "{:?}", cluster.log());
    let place = cluster.target_of("pod-0").expect("it has a place");
    assert!(!cluster.claim(&place).meta.is_deleting());
    cluster.unevictable.clear();
    cluster.seconds(50);
    assert!(cluster.pods().is_empty(), "it has left");
    cluster.pend("pod-1", "7");
    cluster.seconds(5);
    assert_eq!(cluster.ordered_claims().len(), 2, "{:?}", cluster.log());
    assert_eq!(cluster.target_of("pod-1"), Some(place));
}

#[test]
fn pods_that_will_not_leave_soon_are_given_no_other_place() {
    type Keep = fn(&mut Cluster, &mut Pod);
    let stay: [(&str, Keep); 5] = [
        ("do-not-disrupt", |_, pod| pod.do_not_disrupt = DoNotDisrupt::Always),
        ("a daemon's", |_, pod| pod.owner = PodOwner::DaemonSet),
        ("the node's own", |_, pod| pod.owner = PodOwner::Node),
        ("its budget never allows it", |cluster, _| {
            cluster.unevictable.insert("pod-0".to_owned());
            cluster.store(Object::PodDisruptionBudget(pdb("one", true)));
        }),
        ("two budgets cover it", |cluster, _| {
            cluster.unevictable.insert("pod-0".to_owned());
            cluster.store(Object::PodDisruptionBudget(pdb("one", false)));
            cluster.store(Object::PodDisruptionBudget(pdb("two", false)));
        }),
    ];
    for (why, keep) in stay {
        let mut cluster = leaving(keep);
        cluster.seconds(30);
        assert_eq!(cluster.ordered_claims().len(), 1, "{why}: {:?}", cluster.log());
    }
}

#[test]
fn a_stateful_pod_that_is_ending_keeps_its_next_place() {
    let mut cluster = leaving(|cluster, pod| {
        pod.owner = PodOwner::StatefulSet;
        pod.meta.deleting_since = Some(cluster.now + Span::from_minutes(10));
    });
    cluster.seconds(30);
    assert_eq!(cluster.ordered_claims().len(), 2, "{:?}", cluster.log());
}

#[test]
fn pods_on_nodes_that_go_do_not_make_a_new_node_each_round() {
    let mut cluster = leaving(|cluster, _| {
        cluster.unevictable.insert("pod-0".to_owned());
        cluster.store(Object::PodDisruptionBudget(pdb("one", false)));
    });
    cluster.seconds(600);
    assert_eq!(cluster.ordered_claims().len(), 2, "{:?}", cluster.log());
    assert_eq!(cluster.count(|kind| matches!(kind, ActionKind::DeleteNode { .. })), 1);
}

/// A budget for every pod of the namespace that allows none to leave now, or ever.
fn pdb(name: &str, is_absolute: bool) -> PodDisruptionBudget {
    PodDisruptionBudget {
        meta: meta(name),
        namespace: "default".into(),
        selector: LabelSelector { match_labels: BTreeMap::new(), match_expressions: Vec::new() },
        disruptions_allowed: 0,
        is_absolute,
        frees_unready: false,
    }
}
