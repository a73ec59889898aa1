//! Nodes that are in use go where the same pods fit on fewer or cheaper ones.

#![allow(clippy::unwrap_used)]

mod cluster;

use std::collections::BTreeSet;
use std::sync::Arc;

use cluster::{Cluster, budget, pod, pod_key, shape};
use kerf_engine::action::ActionKind;
use kerf_engine::condition::claim::{DISRUPTION_REASON, INITIALIZED};
use kerf_engine::event::{Failure, Key, Object};
use kerf_engine::observed::{Claim, DoNotDisrupt, Name, Pod};
use kerf_model::duration::NillableDuration;
use kerf_model::labels::annotation::DO_NOT_DISRUPT;
use kerf_model::labels::well_known::INSTANCE_TYPE;
use kerf_model::pool::{ConsolidationPolicy, NodePool};
use kerf_model::quantity::Quantity;

/// A node is quiet after 30 s and searched for every ten; a wave is looked at again after 15 s; boot
/// takes 20 s, a pod 30 s to end.
const ENOUGH: u64 = 180;

/// Until a wave was proposed and its second look is still to come.
const PROPOSED: u64 = 42;

fn underutilized(pool: &mut NodePool) {
    pool.disruption.policy = ConsolidationPolicy::WhenEmptyOrUnderutilized;
    pool.disruption.consolidate_after = NillableDuration::parse("30s").unwrap();
}

/// A pod in the place of another.
fn swap(cluster: &mut Cluster, former: &str, name: &str, cpu: &str) {
    let mut pod = pod(name, &cluster.node_under(former));
    pod.shape = Arc::new(shape(cpu));
    cluster.remove(&Key::Pod(pod_key(former)));
    cluster.store(Object::Pod(pod));
    cluster.settle();
}

/// One node of eight CPUs that is nearly full, and one with a pod that asks for this much.
fn half_empty(cpu: &str, change: impl FnOnce(&mut NodePool)) -> Cluster {
    let mut cluster = Cluster::with_nodes(2, |pool| {
        underutilized(pool);
        change(pool);
    });
    swap(&mut cluster, "pod-0", "small", cpu);
    cluster
}

fn names(cluster: &Cluster) -> BTreeSet<Name> {
    cluster.claims().iter().map(|claim| claim.meta.name.clone()).collect()
}

fn evictions(cluster: &Cluster) -> usize {
    cluster.count(|kind| matches!(kind, ActionKind::EvictPod { .. }))
}

fn is_up(claim: &Claim) -> bool {
    claim.status.conditions.is_true(INITIALIZED)
}

fn edit_pod(cluster: &mut Cluster, name: &str, change: impl FnOnce(&mut Pod)) {
    cluster.edit(&Key::Pod(pod_key(name)), |object| {
        let Object::Pod(pod) = object else { unreachable!("a pod's key") };
        change(pod);
    });
}

#[test]
fn a_node_whose_pods_fit_elsewhere_is_deleted_and_nothing_is_bought() {
    let mut cluster = half_empty("1", |_| {});
    let (goes, stays) = (cluster.claim_under("small"), cluster.claim_under("pod-1"));
    cluster.live(ENOUGH, |_| {});
    assert_eq!(names(&cluster), [stays.clone()].into(), "{goes}: {:?}", cluster.log());
    assert_eq!(cluster.claim_under("small-again"), stays);
    assert_eq!(cluster.ordered_claims().len(), 2, "{:?}", cluster.log());
    let decisions = "karpenter_voluntary_disruption_decisions_total";
    assert_eq!(cluster.counted(decisions, "delete"), 1);
    assert_eq!(cluster.counted(decisions, "underutilized"), 1);
    assert_eq!(cluster.counted("karpenter_nodeclaims_disrupted_total", "underutilized"), 1);
    assert!(cluster.has_said("ConsolidationCandidate"));
}

#[test]
fn a_node_that_is_too_large_is_replaced_by_a_cheaper_one_before_its_pods_are_evicted() {
    let mut cluster = Cluster::with_nodes(1, underutilized);
    swap(&mut cluster, "pod-0", "small", "1");
    let former = names(&cluster);
    cluster.live(ENOUGH, |cluster| {
        let has_new =
            cluster.claims().iter().any(|it| is_up(it) && !former.contains(&it.meta.name));
        assert!(has_new || evictions(cluster) == 0, "{:?}", cluster.log());
    });
    assert!(names(&cluster).is_disjoint(&former), "{:?}", cluster.log());
    let claims = cluster.claims();
    assert_eq!(claims.len(), 1);
    assert_eq!(claims[0].label(INSTANCE_TYPE), Some("m-2x"), "the cheapest that holds it");
    assert_eq!(cluster.ordered_claims().len(), 2, "{:?}", cluster.log());
    assert_eq!(cluster.counted("karpenter_nodeclaims_created_total", "underutilized"), 1);
}

#[test]
fn a_pool_at_its_limit_replaces_its_nodes_too() {
    let mut cluster = half_empty("3", |pool| {
        pool.limits.insert("cpu", Quantity::from_int(16));
    });
    let goes = cluster.claim_under("small");
    cluster.live(ENOUGH, |_| {});
    assert!(cluster.find_claim(&goes).is_none(), "{:?}", cluster.log());
    assert_eq!(cluster.ordered_claims().len(), 3, "{:?}", cluster.log());
}

#[test]
fn several_nodes_are_replaced_by_one() {
    let mut cluster = Cluster::with_nodes(3, underutilized);
    for number in 0..3 {
        swap(&mut cluster, &format!("pod-{number}"), &format!("small-{number}"), "2500m");
    }
    cluster.live(ENOUGH, |_| {});
    let prices: Vec<_> = cluster.claims().iter().map(|it| it.label(INSTANCE_TYPE)).collect();
    // Three nodes of 0.4 $/h: 7.5 CPUs fit on one.
    assert_eq!(prices, [Some("m-8x")], "{:?}", cluster.log());
}

#[test]
fn nothing_happens_before_the_second_look_and_a_pod_that_came_meanwhile_stops_it() {
    let mut cluster = half_empty("1", |_| {});
    cluster.live(PROPOSED, |_| {});
    assert!(cluster.has_said("ConsolidationCandidate"), "{:?}", cluster.log());
    assert!(cluster.closed_nodes().is_empty(), "{:?}", cluster.log());
    let mut late = pod("late", &cluster.node_under("pod-1"));
    late.shape = Arc::new(shape("1"));
    cluster.store(Object::Pod(late));
    cluster.live(20, |_| {});
    assert!(cluster.has_said("ConsolidationRejected"), "{:?}", cluster.log());
    assert_eq!(evictions(&cluster), 0);
    assert!(cluster.closed_nodes().is_empty());
}

#[test]
fn who_must_not_be_disturbed_keeps_the_node() {
    type Change = fn(&mut Cluster);
    let table: [(&str, Change); 4] = [
        ("a pod says so", |cluster| {
            edit_pod(cluster, "small", |pod| pod.do_not_disrupt = DoNotDisrupt::Always);
        }),
        ("the node says so", |cluster| {
            let node = cluster.node_under("small");
            cluster.edit_node_named(&node, |node| {
                node.annotations.insert(DO_NOT_DISRUPT.to_owned(), "true".to_owned());
            });
        }),
        ("the pool's policy is WhenEmpty", |cluster| {
            edit_pool(cluster, |pool| pool.disruption.policy = ConsolidationPolicy::WhenEmpty);
        }),
        ("the pool is never consolidated", |cluster| {
            edit_pool(cluster, |pool| {
                pool.disruption.consolidate_after = NillableDuration::NEVER;
            });
        }),
    ];
    for (cause, change) in table {
        // Neither pod fits on the other's node, but a cheaper node holds the small one.
        let mut cluster = half_empty("2", |_| {});
        let former = names(&cluster);
        change(&mut cluster);
        cluster.live(ENOUGH, |_| {});
        assert_eq!(evictions(&cluster), 0, "{cause}: {:?}", cluster.log());
        assert_eq!(names(&cluster), former, "{cause}: {:?}", cluster.log());
    }
}

fn edit_pool(cluster: &mut Cluster, change: impl FnOnce(&mut NodePool)) {
    cluster.edit(&Key::Pool("pool".into()), |object| {
        let Object::Pool(pool) = object else { unreachable!("a pool's key") };
        change(Arc::make_mut(&mut pool.spec));
        pool.meta.generation += 1;
    });
}

#[test]
fn a_closed_budget_keeps_nodes_until_it_opens_and_the_pool_is_told() {
    let mut cluster = half_empty("1", |pool| budget(pool, "0"));
    cluster.live(ENOUGH, |_| {});
    assert_eq!((evictions(&cluster), cluster.closed_nodes().len()), (0, 0));
    assert!(cluster.has_said("DisruptionBlocked"));
    assert!(cluster.solves().len() < 5, "nothing is searched for that may not go");
    edit_pool(&mut cluster, |pool| budget(pool, "1"));
    cluster.live(ENOUGH, |_| {});
    assert_eq!(names(&cluster).len(), 1, "{:?}", cluster.log());
}

#[test]
fn a_wave_stays_within_the_budget() {
    let mut cluster = Cluster::with_nodes(4, |pool| {
        underutilized(pool);
        budget(pool, "1");
    });
    for number in 0..4 {
        swap(&mut cluster, &format!("pod-{number}"), &format!("small-{number}"), "1");
    }
    cluster.live(3 * ENOUGH, |cluster| {
        assert!(cluster.closed_nodes().len() <= 1, "{:?}", cluster.log());
    });
    let types: Vec<_> = cluster.claims().iter().map(|it| it.label(INSTANCE_TYPE)).collect();
    assert_eq!(types.len(), 1, "{types:?}, {:?}", cluster.log());
}

#[test]
fn a_replacement_that_cannot_be_launched_leaves_everything_as_it_was() {
    let mut cluster = Cluster::with_nodes(1, underutilized);
    swap(&mut cluster, "pod-0", "small", "1");
    let former = names(&cluster);
    let message = "none left".to_owned();
    cluster.launch_fails = Some(Failure::InsufficientCapacity { message });
    cluster.live(ENOUGH, |_| {});
    assert!(former.is_subset(&names(&cluster)), "{:?}", cluster.log());
    assert_eq!(evictions(&cluster), 0);
    assert!(cluster.ordered_claims().len() < 6, "it is not tried again and again");
    cluster.launch_fails = None;
    cluster.live(4 * ENOUGH, |_| {});
    assert_eq!(names(&cluster).len(), 1, "{:?}", cluster.log());
    assert!(names(&cluster).is_disjoint(&former), "{:?}", cluster.log());
    assert!(cluster.closed_nodes().is_empty());
}

#[test]
fn a_new_process_goes_on_where_the_last_one_stopped_and_buys_nothing_twice() {
    for seconds in (40..90).step_by(3) {
        let mut cluster = Cluster::with_nodes(1, underutilized);
        swap(&mut cluster, "pod-0", "small", "1");
        let former = names(&cluster);
        cluster.live(seconds, |_| {});
        cluster.crash();
        cluster.live(2 * ENOUGH, |_| {});
        assert!(names(&cluster).is_disjoint(&former), "{seconds}: {:?}", cluster.log());
        assert_eq!(cluster.claims().len(), 1, "{seconds}");
        assert_eq!(cluster.ordered_claims().len(), 2, "{seconds}: {:?}", cluster.log());
        let is_marked = |claim: &&&Claim| claim.status.conditions.get(DISRUPTION_REASON).is_some();
        assert_eq!(cluster.claims().iter().filter(is_marked).count(), 0, "{seconds}");
        assert!(cluster.closed_nodes().is_empty(), "{seconds}");
    }
}

#[test]
fn what_cannot_be_bettered_is_searched_once_and_told_why() {
    let mut cluster = Cluster::with_nodes(2, underutilized);
    cluster.live(60, |_| {});
    let searches = cluster.solves().len();
    assert!(cluster.has_said("Unconsolidatable"), "{:?}", cluster.log());
    cluster.live(200, |_| {});
    assert_eq!(cluster.solves().len(), searches, "nothing has changed");
    assert_eq!(evictions(&cluster), 0);
}

#[test]
fn a_node_for_pods_whose_move_has_not_paid_back_is_reported_and_held_against_the_next() {
    let mut cluster = half_empty("1", |_| {});
    cluster.live(PROPOSED + 18, |_| {});
    assert_eq!(cluster.closed_nodes().len(), 1, "the move has begun: {:?}", cluster.log());
    // More of the same come before that has paid back, after 36 s, and need a node.
    cluster.pend("more-0", "1");
    cluster.pend("more-1", "1");
    cluster.pend("other", "500m");
    cluster.live(10, |_| {});
    assert!(cluster.has_said("ConsolidationUndone"), "{:?}", cluster.log());
    assert_eq!(cluster.counted("kerf_consolidation_undone_total", ""), 1);
    let undone = &cluster.engine.world().memory.consolidation.undone;
    assert_eq!(undone.len(), 1, "only the kind that was moved");
}

#[test]
fn pods_do_not_move_to_a_node_that_is_not_quiet_itself() {
    let mut cluster = half_empty("1", |_| {});
    let node = cluster.node_under("pod-1");
    for _ in 0..9 {
        let mut short = pod("short", &node);
        short.shape = Arc::new(shape("0"));
        cluster.store(Object::Pod(short));
        cluster.settle();
        cluster.remove(&Key::Pod(pod_key("short")));
        cluster.live(20, |_| {});
    }
    // A cheaper node takes the place of the other, although there is room on this one.
    assert_eq!(cluster.ordered_claims().len(), 3, "{:?}", cluster.log());
}

#[test]
fn a_node_that_pods_were_just_meant_for_is_looked_at_again_when_that_is_over() {
    let at_once = NillableDuration::parse("0s").unwrap();
    let mut cluster = half_empty("1", |pool| pool.disruption.consolidate_after = at_once);
    cluster.live(100, |_| {});
    assert_eq!(names(&cluster).len(), 1, "{:?}", cluster.log());
}

#[test]
fn a_balanced_pool_moves_only_what_is_worth_the_disruption() {
    let balanced = |pool: &mut NodePool| {
        underutilized(pool);
        pool.disruption.policy = ConsolidationPolicy::Balanced;
    };
    // One of two equal nodes is half of the price and, with one of 31 pods, little of the
    // disruption; with thirty of them it is nearly all of it, for a quarter of the price.
    for (beside, goes) in [(1, true), (30, false)] {
        let mut cluster = Cluster::with_nodes(2, balanced);
        swap(&mut cluster, "pod-0", "many-0", "100m");
        let node = cluster.node_under("many-0");
        for number in 1..beside {
            let mut pod = pod(&format!("many-{number}"), &node);
            pod.shape = Arc::new(shape("100m"));
            cluster.store(Object::Pod(pod));
        }
        let former = names(&cluster);
        cluster.live(ENOUGH, |_| {});
        assert_eq!(names(&cluster) != former, goes, "{beside}: {:?}", cluster.log());
    }
}
