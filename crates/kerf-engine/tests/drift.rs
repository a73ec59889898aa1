//! Drifted nodes are replaced: within budgets, many at a time, the replacement first.

#![allow(clippy::unwrap_used)]

mod cluster;

use std::collections::BTreeSet;
use std::sync::Arc;

use cluster::{Cluster, budget, instances, pod, pod_key, ready_pool, shape};
use kerf_engine::action::ActionKind;
use kerf_engine::condition::claim::{DISRUPTION_REASON, DRIFTED, INITIALIZED};
use kerf_engine::event::{Event, Failure, Key, Object};
use kerf_engine::observed::{Claim, DoNotDisrupt, Name};
use kerf_engine::reason::Reason;
use kerf_model::budget::DisruptionReason;
use kerf_model::duration::GoDuration;
use kerf_model::pool::NodePool;
use kerf_model::quantity::Quantity;

/// Boot takes 20 s, a pod 30 s to end; a search is made every 10 s.
const ENOUGH: u64 = 120;

fn edit_pool(cluster: &mut Cluster, name: &str, change: impl FnOnce(&mut NodePool)) {
    cluster.edit(&Key::Pool(name.into()), |object| {
        let Object::Pool(pool) = object else { unreachable!("a pool's key") };
        change(Arc::make_mut(&mut pool.spec));
        pool.meta.generation += 1;
    });
}

/// Makes every claim of the pool drift.
fn edit_template(cluster: &mut Cluster) {
    edit_pool(cluster, "pool", |pool| pool.hash = "4712".to_owned());
}

fn put_back(cluster: &mut Cluster) {
    edit_pool(cluster, "pool", |pool| pool.hash = "4711".to_owned());
}

fn names(cluster: &Cluster) -> BTreeSet<Name> {
    cluster.claims().iter().map(|claim| claim.meta.name.clone()).collect()
}

fn drifted(cluster: &Cluster) -> usize {
    let is_drifted = |claim: &&&Claim| claim.status.conditions.is_true(DRIFTED);
    cluster.claims().iter().filter(is_drifted).count()
}

fn is_disrupted(cluster: &Cluster, claim: &Name) -> bool {
    cluster.find_claim(claim).is_none_or(|it| it.status.conditions.is_true(DISRUPTION_REASON))
}

fn evictions(cluster: &Cluster) -> usize {
    cluster.count(|kind| matches!(kind, ActionKind::EvictPod { .. }))
}

/// A pod on the node of another pod.
fn put_beside(cluster: &mut Cluster, name: &str, cpu: &str, other: &str) {
    let mut pod = pod(name, &cluster.node_under(other));
    pod.shape = Arc::new(shape(cpu));
    cluster.store(Object::Pod(pod));
}

#[test]
fn a_drifted_node_is_replaced_before_its_pods_are_evicted_and_nothing_else_is_bought() {
    let mut cluster = Cluster::with_nodes(1, |_| {});
    let former = names(&cluster);
    edit_template(&mut cluster);
    cluster.live(ENOUGH, |cluster| {
        let has_new = cluster.claims().iter().any(|claim| {
            claim.status.conditions.is_true(INITIALIZED) && !former.contains(&claim.meta.name)
        });
        assert!(has_new || evictions(cluster) == 0, "{:?}", cluster.log());
    });
    assert!(names(&cluster).is_disjoint(&former), "{:?}", cluster.log());
    assert_eq!(drifted(&cluster), 0);
    assert_eq!(cluster.ordered_claims().len(), 2, "{:?}", cluster.log());
    assert_eq!(cluster.claim_under("pod-0-again"), *names(&cluster).first().unwrap());
    assert!(cluster.closed_nodes().is_empty());
    let decisions = "karpenter_voluntary_disruption_decisions_total";
    assert_eq!(
        (cluster.counted(decisions, "replace"), cluster.counted(decisions, "drifted")),
        (1, 1)
    );
    assert_eq!(cluster.counted("karpenter_nodeclaims_created_total", "drifted"), 1);
    assert_eq!(cluster.counted("karpenter_nodeclaims_disrupted_total", "drifted"), 1);
}

#[test]
fn a_drifted_node_goes_without_a_wait() {
    let mut cluster = Cluster::with_nodes(1, |_| {});
    let claim = names(&cluster).pop_first().unwrap();
    edit_template(&mut cluster);
    cluster.seconds(12);
    assert!(is_disrupted(&cluster, &claim), "{:?}", cluster.log());
}

#[test]
fn pods_that_fit_on_other_nodes_need_no_replacement() {
    let mut cluster = Cluster::with_nodes(1, |_| {});
    let mut other = ready_pool("other", |_| {});
    Arc::make_mut(&mut other.spec).weight = 10;
    cluster.add_pool(other);
    cluster.pend("pod-1", "7");
    cluster.seconds(25);
    cluster.bind();
    // There is room for one more CPU on the node of the other pool.
    cluster.remove(&Key::Pod(pod_key("pod-0")));
    let node = cluster
        .nodes()
        .iter()
        .map(|node| node.meta.name.to_string())
        .find(|node| cluster.node_under("pod-1") != *node);
    let mut small = pod("small", &node.unwrap());
    small.shape = Arc::new(shape("1"));
    cluster.store(Object::Pod(small));
    cluster.settle();
    let target = cluster.claim_under("pod-1");
    edit_template(&mut cluster);
    cluster.live(ENOUGH, |_| {});
    assert_eq!(names(&cluster), [target.clone()].into(), "{:?}", cluster.log());
    assert_eq!(cluster.claim_under("small-again"), target);
    assert_eq!(cluster.counted("karpenter_voluntary_disruption_decisions_total", "delete"), 1);
}

#[test]
fn as_many_nodes_as_the_budget_allows_are_replaced_at_a_time_and_never_more() {
    let mut cluster = Cluster::with_nodes(8, |pool| budget(pool, "3"));
    let former = names(&cluster);
    edit_template(&mut cluster);
    cluster.seconds(12);
    assert_eq!(cluster.closed_nodes().len(), 3, "{:?}", cluster.log());
    cluster.live(4 * ENOUGH, |cluster| {
        assert!(cluster.closed_nodes().len() <= 3, "{:?}", cluster.log());
        let running = cluster.instances.values().filter(|instance| !instance.is_ending).count();
        assert!(running <= 8 + 3, "{running}: {:?}", cluster.log());
    });
    assert!(names(&cluster).is_disjoint(&former), "{:?}", cluster.log());
    assert_eq!((cluster.claims().len(), cluster.ordered_claims().len()), (8, 16));
    assert_eq!(cluster.counted("karpenter_nodeclaims_disrupted_total", "drifted"), 8);
}

#[test]
fn a_pool_at_its_limit_replaces_its_nodes_and_nobody_else_gets_their_room() {
    let cpus = |pool: &mut NodePool| {
        pool.limits.insert("cpu", Quantity::from_int(16));
        budget(pool, "100%");
    };
    let mut cluster = Cluster::with_nodes(2, cpus);
    let former = names(&cluster);
    // Nothing comes up for the time being, and somebody else wants a node.
    cluster.boots = false;
    edit_template(&mut cluster);
    cluster.seconds(12);
    assert_eq!(cluster.claims().len(), 4, "{:?}", cluster.log());
    cluster.pend("other", "7");
    cluster.seconds(ENOUGH);
    assert_eq!(cluster.claims().len(), 4, "{:?}", cluster.log());
    cluster.remove(&Key::Pod(pod_key("other")));
    cluster.boots = true;
    cluster.live(4 * ENOUGH, |_| {});
    assert!(names(&cluster).is_disjoint(&former), "{:?}", cluster.log());
    assert_eq!((cluster.claims().len(), cluster.ordered_claims().len()), (2, 4));
}

#[test]
fn commands_that_go_on_together_share_what_the_limits_leave() {
    let mut cluster = Cluster::with_pool(|pool| {
        pool.limits.insert("cpu", Quantity::from_int(12));
        budget(pool, "100%");
    });
    for pod in ["pod-0", "pod-1"] {
        cluster.pend(pod, "2");
        cluster.seconds(25);
        cluster.bind();
    }
    cluster.settle();
    let claims = ["pod-0", "pod-1"].map(|pod| cluster.claim_under(pod));
    // Only the largest instances are sold from now on.
    let large: Arc<[_]> = instances()[2..].into();
    cluster.instance_types.insert("pool".into(), large.clone());
    let (pool, instance_types) = ("pool".into(), large);
    cluster.undelivered.push_back(Event::Offered { pool, instance_types });
    // Each is asked about by itself, and neither gets further than its first write.
    cluster.refuses =
        |kind| matches!(kind, ActionKind::PatchNode { .. }).then_some(Failure::Conflict);
    for claim in &claims {
        cluster.edit(&Key::Claim(claim.clone()), |object| {
            let Object::Claim(claim) = object else { unreachable!("a claim's key") };
            claim.spec.annotations.insert("karpenter.sh/nodepool-hash".to_owned(), "1".to_owned());
        });
        cluster.seconds(30);
    }
    assert_eq!(cluster.engine.world().memory.commands.executing().count(), 2);
    // Both nodes are seen anew, which is what the two wait for.
    cluster.refuses = |_| None;
    for pod in ["pod-0", "pod-1"] {
        let node = cluster.node_under(pod);
        cluster.edit_node_named(&node, |node| node.meta.generation += 1);
    }
    cluster.seconds(ENOUGH);
    assert_eq!(cluster.ordered_claims().len(), 3, "{:?}", cluster.log());
}

#[test]
fn nobody_gets_the_room_of_a_node_that_may_have_to_stay() {
    let cpus = |pool: &mut NodePool| {
        pool.limits.insert("cpu", Quantity::from_int(16));
    };
    let mut cluster = Cluster::with_nodes(2, cpus);
    let former = names(&cluster);
    // The smaller one fits on an instance of two CPUs.
    cluster.edit(&Key::Pod(pod_key("pod-0")), |object| {
        let Object::Pod(pod) = object else { unreachable!("a pod's key") };
        pod.shape = Arc::new(shape("1"));
    });
    cluster.boots = false;
    edit_template(&mut cluster);
    cluster.seconds(12);
    cluster.pend("other", "4");
    cluster.seconds(30);
    assert_eq!(cluster.target_of("other"), None, "{:?}", cluster.log());
    put_back(&mut cluster);
    cluster.seconds(ENOUGH);
    assert!(names(&cluster).is_superset(&former), "{:?}", cluster.log());
    let staying = cluster.claims().into_iter().filter(|claim| !claim.meta.is_deleting());
    let cpus: Vec<String> =
        staying.map(|claim| claim.status.capacity.quantity("cpu").to_string()).collect();
    assert_eq!(cpus, ["8", "8"], "{:?}", cluster.log());
}

#[test]
fn a_pod_that_is_new_does_not_get_the_place_of_one_that_has_not_left_yet() {
    let mut cluster = Cluster::with_nodes(1, |_| {});
    let former = names(&cluster);
    edit_template(&mut cluster);
    cluster.seconds(12);
    let coming: BTreeSet<Name> = names(&cluster).difference(&former).cloned().collect();
    assert_eq!(coming.len(), 1, "{:?}", cluster.log());
    // Its Deployment is scaled up: it looks like the pod that will have to move.
    cluster.pend("more", "7");
    cluster.seconds(5);
    let target = cluster.target_of("more").unwrap();
    assert!(!coming.contains(&target), "{:?}", cluster.log());
    cluster.live(ENOUGH, |_| {});
    assert_eq!(cluster.ordered_claims().len(), 3, "{:?}", cluster.log());
}

#[test]
fn a_budget_for_drift_alone_holds_drifted_nodes() {
    let mut cluster = Cluster::with_nodes(2, |pool| budget(pool, "0"));
    edit_template(&mut cluster);
    cluster.seconds(ENOUGH);
    assert_eq!(drifted(&cluster), 2);
    assert!(cluster.closed_nodes().is_empty());
    let message = "No allowed disruptions for disruption reason Drifted due to blocking budget";
    assert!(cluster.messages("DisruptionBlocked").contains(&message));
}

#[test]
fn empty_nodes_go_first_then_those_that_drifted_first() {
    let mut cluster = Cluster::with_nodes(3, |pool| budget(pool, "1"));
    let [first, second, empty] = ["pod-0", "pod-1", "pod-2"].map(|pod| cluster.claim_under(pod));
    cluster.remove(&Key::Pod(pod_key("pod-2")));
    // Each drifts by itself, a minute after the other; nothing may go meanwhile.
    edit_pool(&mut cluster, "pool", |pool| budget(pool, "0"));
    for claim in [&second, &first, &empty] {
        cluster.edit(&Key::Claim(claim.clone()), |object| {
            let Object::Claim(claim) = object else { unreachable!("a claim's key") };
            claim.spec.annotations.insert("karpenter.sh/nodepool-hash".to_owned(), "1".to_owned());
        });
        cluster.seconds(60);
    }
    assert_eq!(drifted(&cluster), 3);
    edit_pool(&mut cluster, "pool", |pool| budget(pool, "1"));
    let mut order = Vec::new();
    for _ in 0..4 * ENOUGH {
        cluster.live(1, |_| {});
        for claim in [&first, &second, &empty] {
            if is_disrupted(&cluster, claim) && !order.contains(claim) {
                order.push(claim.clone());
            }
        }
    }
    assert_eq!(order, [empty, second, first]);
}

#[test]
fn a_pod_without_another_place_keeps_its_node_and_no_other() {
    let mut cluster = Cluster::with_nodes(2, |_| {});
    let [large, small] = ["pod-0", "pod-1"].map(|pod| cluster.claim_under(pod));
    cluster.remove(&Key::Pod(pod_key("pod-1")));
    let mut pod = pod("small", &format!("node-{small}"));
    pod.shape = Arc::new(shape("1"));
    cluster.store(Object::Pod(pod));
    // Only the smallest instances are sold from now on.
    let (pool, instance_types) = ("pool".into(), instances()[..1].into());
    cluster.instance_types.insert("pool".into(), instances()[..1].into());
    cluster.undelivered.push_back(Event::Offered { pool, instance_types });
    edit_template(&mut cluster);
    cluster.live(ENOUGH, |_| {});
    assert!(cluster.find_claim(&large).is_some() && cluster.find_claim(&small).is_none());
    assert!(!is_disrupted(&cluster, &large));
    let said = cluster.messages("DisruptionBlocked");
    let said: Vec<_> = said.iter().filter(|it| it.contains("pod default/pod-0 would")).collect();
    assert!(!said.is_empty(), "{:?}", cluster.messages("DisruptionBlocked"));
}

#[test]
fn a_pod_that_must_not_be_disturbed_keeps_its_node_unless_that_has_a_drain_limit() {
    for (grace, goes) in [(None, false), (GoDuration::from_seconds(60), true)] {
        let mut cluster =
            Cluster::with_nodes(1, |pool| pool.template.spec.termination_grace = grace);
        let claim = cluster.claim_under("pod-0");
        cluster.edit(&Key::Pod(pod_key("pod-0")), |object| {
            let Object::Pod(pod) = object else { unreachable!("a pod's key") };
            pod.do_not_disrupt = DoNotDisrupt::Always;
        });
        edit_template(&mut cluster);
        cluster.live(ENOUGH + 60, |_| {});
        assert_eq!(cluster.find_claim(&claim).is_none(), goes, "{grace:?}: {:?}", cluster.log());
    }
}

#[test]
fn what_is_put_back_as_it_was_is_left_alone() {
    let mut cluster = Cluster::with_nodes(1, |_| {});
    let former = names(&cluster);
    edit_template(&mut cluster);
    cluster.seconds(20);
    assert_eq!(cluster.claims().len(), 2, "a replacement comes");
    put_back(&mut cluster);
    cluster.live(ENOUGH, |_| {});
    assert_eq!(names(&cluster), former, "{:?}", cluster.log());
    assert_eq!(evictions(&cluster), 0);
    assert!(cluster.closed_nodes().is_empty());
}

#[test]
fn a_pool_whose_replacements_fail_is_left_alone_for_longer_each_time_and_no_other_pool() {
    let mut cluster = Cluster::with_nodes(1, |_| {});
    let bad = cluster.claim_under("pod-0");
    edit_pool(&mut cluster, "pool", |pool| budget(pool, "100%"));
    let message = "sold out".to_owned();
    cluster.launch_fails = Some(Failure::InsufficientCapacity { message });
    edit_template(&mut cluster);
    let mut tries = Vec::new();
    for second in 0..10 * 60 {
        cluster.seconds(1);
        if cluster.ordered_claims().len() > 1 + tries.len() {
            tries.push(second);
        }
    }
    let pauses: Vec<u64> = tries.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!((60..=85).contains(&pauses[0]), "{tries:?}");
    assert!((120..=160).contains(&pauses[1]), "{tries:?}");
    assert_eq!(tries.len(), 4, "{tries:?}");
    assert!(cluster.find_claim(&bad).is_some() && evictions(&cluster) == 0);
    // Another pool is not concerned.
    cluster.launch_fails = None;
    cluster.add_pool(ready_pool("other", |pool| pool.weight = 10));
    cluster.pend("elsewhere", "7");
    cluster.seconds(25);
    cluster.bind();
    let other = cluster.claim_under("elsewhere");
    edit_pool(&mut cluster, "other", |pool| pool.hash = "4712".to_owned());
    cluster.seconds(15);
    assert!(is_disrupted(&cluster, &other) && !is_disrupted(&cluster, &bad), "{tries:?}");
}

#[test]
fn an_answer_that_comes_late_is_looked_at_again() {
    let mut cluster = Cluster::with_nodes(1, |_| {});
    let claim = cluster.claim_under("pod-0");
    cluster.ignores = |kind| matches!(kind, ActionKind::Solve(_));
    edit_template(&mut cluster);
    cluster.seconds(12);
    let asked = |cluster: &Cluster| {
        cluster.actions.iter().any(|(_, action)| {
            action.reason == Reason::PlacesUnknown { reason: DisruptionReason::Drifted, nodes: 1 }
        })
    };
    assert!(asked(&cluster), "{:?}", cluster.log());
    // Meanwhile another pod has come to the node.
    put_beside(&mut cluster, "late", "500m", "pod-0");
    cluster.settle();
    cluster.ignores = |_| false;
    cluster.answer_last_solve();
    cluster.deliver();
    let commands = &cluster.engine.world().memory.commands;
    assert!(commands.is_empty(), "the late pod was not asked about");
    cluster.live(ENOUGH, |_| {});
    assert!(cluster.find_claim(&claim).is_none(), "{:?}", cluster.log());
}

#[test]
fn a_pod_that_waits_has_the_first_claim_on_free_capacity() {
    let mut cluster = Cluster::with_nodes(2, |pool| budget(pool, "1"));
    let [candidate, half_empty] = ["pod-0", "pod-1"].map(|pod| cluster.claim_under(pod));
    for (pod, cpu) in [("pod-0", "5"), ("pod-1", "2")] {
        cluster.edit(&Key::Pod(pod_key(pod)), |object| {
            let Object::Pod(pod) = object else { unreachable!("a pod's key") };
            pod.shape = Arc::new(shape(cpu));
        });
    }
    cluster.settle();
    cluster.edit(&Key::Claim(candidate.clone()), |object| {
        let Object::Claim(claim) = object else { unreachable!("a claim's key") };
        claim.spec.annotations.insert("karpenter.sh/nodepool-hash".to_owned(), "1".to_owned());
    });
    // The six CPUs beside pod-1 are for the pod that waits, not for pod-0.
    cluster.pend("waits", "6");
    cluster.seconds(15);
    assert_eq!(cluster.target_of("waits"), Some(half_empty));
    cluster.live(ENOUGH, |_| {});
    assert!(cluster.find_claim(&candidate).is_none(), "{:?}", cluster.log());
    assert_eq!(cluster.claims().len(), 2);
    let pods: Vec<_> = cluster.pods().iter().filter(|pod| pod.node().is_none()).cloned().collect();
    assert!(pods.is_empty(), "{pods:?}");
}

#[test]
fn a_pod_that_waits_is_placed_before_those_that_would_move() {
    let mut cluster = Cluster::with_nodes(2, |pool| budget(pool, "1"));
    let candidate = cluster.claim_under("pod-0");
    for (pod, cpu) in [("pod-0", "5"), ("pod-1", "2")] {
        cluster.edit(&Key::Pod(pod_key(pod)), |object| {
            let Object::Pod(pod) = object else { unreachable!("a pod's key") };
            pod.shape = Arc::new(shape(cpu));
        });
    }
    cluster.settle();
    // Nobody has said yet where the pod that waits will go: only the search for a place for pod-0
    // is answered. The six CPUs beside pod-1 are not for pod-0.
    cluster.ignores = |kind| matches!(kind, ActionKind::Solve(it) if it.what_ifs.is_none());
    cluster.pend("waits", "6");
    cluster.edit(&Key::Claim(candidate.clone()), |object| {
        let Object::Claim(claim) = object else { unreachable!("a claim's key") };
        claim.spec.annotations.insert("karpenter.sh/nodepool-hash".to_owned(), "1".to_owned());
    });
    cluster.seconds(15);
    assert!(is_disrupted(&cluster, &candidate), "{:?}", cluster.log());
    assert_eq!(cluster.target_of("waits"), None);
    assert_eq!(cluster.ordered_claims().len(), 3, "a replacement comes: {:?}", cluster.log());
}

#[test]
fn pods_whose_places_are_held_are_not_placed_a_second_time() {
    let mut cluster = Cluster::with_nodes(1, |_| {});
    cluster.boots = false;
    edit_template(&mut cluster);
    cluster.seconds(12);
    assert_eq!(cluster.ordered_claims().len(), 2, "{:?}", cluster.log());
    // Somebody else wants a node, so pods are placed anew while the replacement comes up.
    cluster.pend("other", "7");
    cluster.seconds(5);
    assert!(cluster.target_of("other").is_some(), "{:?}", cluster.log());
    assert_eq!(cluster.target_of("pod-0"), None, "it runs, and its place is held");
}
