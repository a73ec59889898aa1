//! Capacity held for pods that will come, whatever their names.

use std::sync::Arc;

use super::cluster::{Cluster, pod, pod_key, shape};
use super::{controllers, disrupt};
use crate::event::{Key, Object};
use crate::observed::Name;

/// Two nodes of eight CPUs: one with `leaves` (3), one with `stays` (1). Returns their claims.
fn two_half_empty_nodes() -> (Cluster, Name, Name) {
    let mut cluster = Cluster::with_nodes(2, |_| {});
    let mut bound = |name: &str, cpu: &str, instead_of: &str| {
        let node = cluster.node_under(instead_of);
        cluster.remove(&Key::Pod(pod_key(instead_of)));
        let mut pod = pod(name, &node);
        pod.shape = Arc::new(shape(cpu));
        cluster.store(Object::Pod(pod));
    };
    bound("leaves", "3", "pod-0");
    bound("stays", "1", "pod-1");
    cluster.settle();
    let (candidate, target) = (cluster.claim_under("leaves"), cluster.claim_under("stays"));
    (cluster, candidate, target)
}

fn is_going(cluster: &Cluster, claim: &Name) -> bool {
    cluster.find_claim(claim).is_none_or(|claim| claim.meta.is_deleting())
}

#[test]
fn a_place_is_held_for_the_pod_that_comes_and_nobody_else() {
    let (mut cluster, candidate, target) = two_half_empty_nodes();
    disrupt(&mut cluster, "leaves", &target);
    // Validation takes 15 s. The pod's node goes, and the pod is evicted.
    while !is_going(&cluster, &candidate) {
        cluster.seconds(1);
    }
    while cluster.objects.contains_key(&Key::Pod(pod_key("leaves"))) {
        cluster.seconds(1);
    }
    // 1 + 5 would fit beside `stays`, but not beside what is held.
    cluster.pend("thief", "5");
    cluster.seconds(3);
    assert_ne!(cluster.target_of("thief"), Some(target.clone()), "{:?}", cluster.log());
    cluster.pend("comes", "3");
    cluster.seconds(3);
    assert_eq!(cluster.target_of("comes"), Some(target.clone()), "{:?}", cluster.log());
    cluster.bind();
    cluster.settle();
    let held: usize =
        cluster.engine.world().memory.commands.iter().map(|it| it.destinations.len()).sum();
    assert_eq!(held, 0, "whoever came is not held for any more");
}

#[test]
fn a_target_of_a_command_is_not_disrupted_itself() {
    let (mut cluster, candidate, target) = two_half_empty_nodes();
    disrupt(&mut cluster, "leaves", &target);
    while !cluster.engine.world().memory.commands.is_disrupting(&candidate) {
        cluster.seconds(1);
    }
    // The target becomes a candidate while it is one of the command.
    disrupt(&mut cluster, "stays", "");
    while cluster.find_claim(&candidate).is_some() {
        cluster.seconds(1);
        controllers(&mut cluster, "leaves", "comes", "3");
        let memory = &cluster.engine.world().memory;
        assert!(!memory.commands.is_disrupting(&target) || memory.commands.iter().count() == 1);
        assert!(!is_going(&cluster, &target), "{:?}", cluster.log());
    }
}

#[test]
fn pods_that_never_come_hold_nothing_once_the_command_is_done() {
    let (mut cluster, candidate, target) = two_half_empty_nodes();
    disrupt(&mut cluster, "leaves", &target);
    while cluster.find_claim(&candidate).is_some() {
        cluster.seconds(1);
    }
    assert!(cluster.engine.world().memory.commands.is_empty());
    cluster.pend("other", "6");
    cluster.seconds(3);
    assert_eq!(cluster.target_of("other"), Some(target), "{:?}", cluster.log());
}
