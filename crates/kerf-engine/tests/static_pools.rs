//! Static pools have as many nodes as `replicas` says: no more, no fewer, and always up to date.

#![allow(clippy::unwrap_used)]

mod cluster;

use std::collections::BTreeSet;
use std::sync::Arc;

use cluster::{Cluster, budget, pod, ready_pool, settings, shape};
use kerf_engine::Settings;
use kerf_engine::action::ActionKind;
use kerf_engine::condition::claim::{DISRUPTION_REASON, DRIFTED, INITIALIZED};
use kerf_engine::event::{Event, Failure, Key, Object};
use kerf_engine::observed::{DoNotDisrupt, Name, Pod, PodOwner, Revision};
use kerf_engine::reading::allowances;
use kerf_engine::settings::TerminateFirst;
use kerf_model::budget::{Allowed, DisruptionReason};
use kerf_model::labels::annotation::DO_NOT_DISRUPT;
use kerf_model::labels::well_known::INSTANCE_TYPE;
use kerf_model::pool::{NodePool, Sizing};
use kerf_model::quantity::Quantity;
use kerf_model::requirement::{Operator, RequirementEntry};

/// Boot takes 20 s, a pod 30 s to end; a search is made every 10 s.
const ENOUGH: u64 = 120;

fn with_static_pools() -> Settings {
    Settings { static_capacity: true, ..settings() }
}

/// A cluster whose one pool shall have so many nodes, and has.
fn fixed(replicas: u64, change: impl FnOnce(&mut NodePool)) -> Cluster {
    let mut cluster = Cluster::new();
    cluster.restart_with(with_static_pools());
    cluster.add_pool(ready_pool("pool", |pool| {
        pool.sizing = Sizing::Static { replicas };
        budget(pool, "100%");
        change(pool);
    }));
    cluster.seconds(40);
    assert_eq!(up(&cluster), usize::try_from(replicas).unwrap(), "{:?}", cluster.log());
    cluster
}

fn edit_pool(cluster: &mut Cluster, change: impl FnOnce(&mut NodePool)) {
    cluster.edit(&Key::Pool("pool".into()), |object| {
        let Object::Pool(pool) = object else { unreachable!("a pool's key") };
        change(Arc::make_mut(&mut pool.spec));
        pool.meta.generation += 1;
    });
}

fn scale(cluster: &mut Cluster, replicas: u64) {
    edit_pool(cluster, |pool| pool.sizing = Sizing::Static { replicas });
}

fn limit(pool: &mut NodePool, nodes: i64) {
    pool.limits = [("nodes", Quantity::from_int(nodes))].into_iter().collect();
}

/// Makes every claim of the pool drift.
fn edit_template(cluster: &mut Cluster) {
    edit_pool(cluster, |pool| pool.hash = "4712".to_owned());
}

fn names(cluster: &Cluster) -> BTreeSet<Name> {
    cluster.claims().iter().map(|claim| claim.meta.name.clone()).collect()
}

/// The claims in the order of their names.
fn sorted(cluster: &Cluster) -> Vec<Name> {
    names(cluster).into_iter().collect()
}

fn up(cluster: &Cluster) -> usize {
    let claims = cluster.claims();
    claims.iter().filter(|claim| claim.status.conditions.is_true(INITIALIZED)).count()
}

/// Puts a pod on the node of a claim.
fn put(cluster: &mut Cluster, name: &str, claim: &Name, change: impl FnOnce(&mut Pod)) {
    let mut pod = pod(name, &format!("node-{claim}"));
    pod.shape = Arc::new(shape("1"));
    change(&mut pod);
    cluster.store(Object::Pod(pod));
    cluster.settle();
}

#[test]
fn a_static_pool_gets_its_nodes_without_any_pod() {
    let cluster = fixed(3, |_| {});
    assert_eq!(cluster.ordered_claims().len(), 3);
    let claim = cluster.claims()[0].clone();
    assert!(claim.spec.requests.is_empty(), "no pod asks for anything");
    let named = claim.spec.node.requirements.iter().any(|it| it.key.contains("instance-type"));
    assert!(!named, "which type it is, the provider chooses");
    assert_eq!(cluster.counted("karpenter_nodeclaims_created_total", "provisioned"), 3);
}

#[test]
fn without_the_gate_a_static_pool_is_left_alone() {
    let mut cluster = Cluster::with_pool(|pool| pool.sizing = Sizing::Static { replicas: 3 });
    cluster.seconds(ENOUGH);
    assert_eq!(cluster.ordered_claims().len(), 0);
}

#[test]
fn a_pool_that_is_not_ready_gets_no_nodes() {
    let mut cluster = Cluster::new();
    cluster.restart_with(with_static_pools());
    cluster.remove(&Key::NodeClass(cluster::class_ref()));
    cluster.add_pool(ready_pool("pool", |pool| pool.sizing = Sizing::Static { replicas: 3 }));
    cluster.seconds(ENOUGH);
    assert!(cluster.ordered_claims().len() <= 3, "what was ready for a moment");
    let former = cluster.ordered_claims().len();
    scale(&mut cluster, 9);
    cluster.seconds(ENOUGH);
    assert_eq!(cluster.ordered_claims().len(), former, "{:?}", cluster.log());
}

#[test]
fn a_pool_that_is_scaled_up_grows_by_the_difference() {
    let mut cluster = fixed(2, |_| {});
    let former = names(&cluster);
    scale(&mut cluster, 5);
    cluster.seconds(40);
    assert_eq!(up(&cluster), 5);
    assert!(names(&cluster).is_superset(&former));
    assert_eq!(cluster.ordered_claims().len(), 5);
}

#[test]
fn a_node_that_is_lost_is_made_up_for() {
    let mut cluster = fixed(3, |_| {});
    let lost = sorted(&cluster)[1].clone();
    cluster.delete(&Key::Claim(lost.clone()));
    cluster.seconds(ENOUGH);
    assert_eq!(up(&cluster), 3, "{:?}", cluster.log());
    assert!(!names(&cluster).contains(&lost));
}

#[test]
fn a_pool_never_has_more_nodes_than_its_limit_while_some_still_go() {
    let mut cluster = fixed(3, |pool| limit(pool, 3));
    let first = sorted(&cluster)[0].clone();
    put(&mut cluster, "web", &first, |_| {});
    cluster.delete(&Key::Claim(first));
    for _ in 0..ENOUGH {
        cluster.seconds(1);
        assert!(cluster.claims().len() <= 3, "{:?}", cluster.log());
    }
    assert_eq!(up(&cluster), 3, "it grows again once there is room");
    scale(&mut cluster, 9);
    cluster.seconds(ENOUGH);
    assert_eq!(cluster.claims().len(), 3, "the limit holds");
}

#[test]
fn nodes_that_cost_least_to_lose_go_first() {
    let mut cluster = fixed(5, |_| {});
    let all = sorted(&cluster);
    put(&mut cluster, "kept", &all[0], |pod| pod.do_not_disrupt = DoNotDisrupt::Always);
    put(&mut cluster, "dear", &all[1], |pod| pod.priority = 1_000_000_000);
    put(&mut cluster, "cheap", &all[2], |_| {});
    put(&mut cluster, "daemon", &all[3], |pod| pod.owner = PodOwner::DaemonSet);
    put(&mut cluster, "guard", &all[4], |pod| {
        (pod.owner, pod.do_not_disrupt) = (PodOwner::DaemonSet, DoNotDisrupt::Always);
    });
    for (replicas, gone) in [(4, &all[3]), (3, &all[2]), (2, &all[1])] {
        scale(&mut cluster, replicas);
        cluster.seconds(ENOUGH);
        assert!(!names(&cluster).contains(gone), "{gone} of {all:?}: {:?}", cluster.log());
        assert_eq!(cluster.claims().len(), usize::try_from(replicas).unwrap());
    }
    let disrupted = "karpenter_nodeclaims_disrupted_total";
    assert_eq!(cluster.counted(disrupted, "overprovisioned"), 3);
}

#[test]
fn a_node_somebody_protects_goes_last() {
    let mut cluster = fixed(2, |_| {});
    let all = sorted(&cluster);
    put(&mut cluster, "one", &all[0], |_| {});
    put(&mut cluster, "other", &all[1], |pod| pod.priority = 1_000_000);
    cluster.edit_node_named(&format!("node-{}", all[0]), |node| {
        node.annotations.insert(DO_NOT_DISRUPT.to_owned(), "true".to_owned());
    });
    scale(&mut cluster, 1);
    cluster.seconds(ENOUGH);
    assert_eq!(sorted(&cluster), [all[0].clone()]);
}

#[test]
fn a_claim_that_was_not_launched_goes_before_an_empty_node() {
    let mut cluster = fixed(1, |_| {});
    let first = sorted(&cluster)[0].clone();
    cluster.ignores = |kind| matches!(kind, ActionKind::Launch(_));
    scale(&mut cluster, 2);
    cluster.seconds(5);
    assert_eq!(cluster.claims().len(), 2);
    scale(&mut cluster, 1);
    cluster.settle();
    assert_eq!(cluster.going(), 1, "{:?}", cluster.log());
    assert!(!cluster.claim(&first).meta.is_deleting());
}

#[test]
fn no_second_node_goes_because_the_first_choice_looks_worse_by_now() {
    let mut cluster = fixed(2, |_| {});
    let all = sorted(&cluster);
    cluster.ignores = |kind| matches!(kind, ActionKind::DeleteClaim { .. });
    scale(&mut cluster, 1);
    cluster.settle();
    put(&mut cluster, "late", &all[0], |_| {});
    cluster.seconds(120);
    let deleted: BTreeSet<Name> = cluster
        .actions
        .iter()
        .filter_map(|(_, action)| match &action.kind {
            ActionKind::DeleteClaim { name, .. } => Some(name.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(deleted, [all[0].clone()].into());
}

#[test]
fn a_node_that_is_not_deleted_yet_stays_when_the_pool_is_scaled_up_again() {
    let mut cluster = fixed(2, |_| {});
    let former = names(&cluster);
    cluster.refuses = |kind| match kind {
        ActionKind::DeleteClaim { .. } => Some(Failure::Unavailable { message: "no".into() }),
        _ => None,
    };
    scale(&mut cluster, 1);
    cluster.seconds(3);
    scale(&mut cluster, 2);
    cluster.settle();
    cluster.refuses = |_| None;
    cluster.seconds(ENOUGH);
    assert_eq!(names(&cluster), former, "{:?}", cluster.log());
    assert_eq!(cluster.ordered_claims().len(), 2);
}

#[test]
fn budgets_do_not_pace_scaling_down_but_count_it() {
    let mut cluster = fixed(4, |pool| budget(pool, "1"));
    let all = sorted(&cluster);
    for claim in &all {
        let name = format!("web-{claim}");
        put(&mut cluster, &name, claim, |_| {});
        cluster.unevictable.insert(name);
    }
    scale(&mut cluster, 1);
    cluster.settle();
    assert_eq!(cluster.going(), 3, "{:?}", cluster.log());
    let left = allowances(cluster.engine.world(), cluster.now);
    let drifted = left.iter().find(|it| it.reason == DisruptionReason::Drifted).unwrap();
    assert_eq!((drifted.allowed, drifted.disrupted), (Allowed::AtMost(1), 3));
}

#[test]
fn launches_that_fail_are_not_repeated_at_once() {
    let mut cluster = Cluster::new();
    cluster.restart_with(with_static_pools());
    cluster.launch_fails = Some(Failure::InsufficientCapacity { message: "none left".into() });
    cluster.add_pool(ready_pool("pool", |pool| pool.sizing = Sizing::Static { replicas: 2 }));
    cluster.seconds(55);
    assert_eq!(cluster.ordered_claims().len(), 2, "{:?}", cluster.log());
    cluster.seconds(60);
    assert_eq!(cluster.ordered_claims().len(), 4, "a minute later they are");
    cluster.launch_fails = None;
    cluster.seconds(300);
    assert_eq!(up(&cluster), 2);
}

#[test]
fn a_claim_nobody_can_read_is_not_made_up_for() {
    let mut cluster = fixed(2, |_| {});
    let key = Key::Claim(sorted(&cluster)[0].clone());
    let revision = Revision(u64::MAX);
    cluster.undelivered.push_back(Event::Unreadable { key, revision });
    scale(&mut cluster, 3);
    cluster.seconds(ENOUGH);
    assert_eq!(cluster.ordered_claims().len(), 2, "{:?}", cluster.log());
}

#[test]
fn a_crash_between_any_two_writes_neither_buys_nor_ends_too_much() {
    let mut cluster = fixed(2, |_| {});
    for replicas in [4, 1] {
        scale(&mut cluster, replicas);
        for _ in 0..60 {
            cluster.deliver();
            let actions = cluster.decide();
            if let Some(action) = actions.into_iter().next() {
                cluster.carry_out(action);
            }
            cluster.restart_with(with_static_pools());
            let stay = cluster.claims().iter().filter(|it| !it.meta.is_deleting()).count() as u64;
            assert!((replicas.min(2)..=replicas.max(4)).contains(&stay), "{stay}");
        }
        cluster.seconds(ENOUGH);
        assert_eq!(up(&cluster) as u64, replicas, "{:?}", cluster.log());
    }
}

#[test]
fn drifted_nodes_are_replaced_one_for_one_and_the_replacement_comes_first() {
    let mut cluster = fixed(4, |pool| budget(pool, "2"));
    let former = names(&cluster);
    edit_template(&mut cluster);
    for _ in 0..3 * ENOUGH {
        cluster.seconds(1);
        assert!(up(&cluster) >= 4, "{:?}", cluster.log());
        let stay = cluster.claims().iter().filter(|it| !it.meta.is_deleting()).count();
        assert!(stay <= 6, "two at a time: {:?}", cluster.log());
    }
    assert!(names(&cluster).is_disjoint(&former), "{:?}", cluster.log());
    assert_eq!((up(&cluster), cluster.ordered_claims().len()), (4, 8));
    let claims = cluster.claims();
    assert!(!claims.iter().any(|claim| claim.status.conditions.is_true(DRIFTED)));
    assert_eq!(cluster.counted("karpenter_nodeclaims_created_total", "drifted"), 4);
}

#[test]
fn nothing_drifts_away_while_there_are_too_many() {
    let mut cluster = fixed(3, |_| {});
    cluster.refuses = |kind| match kind {
        ActionKind::DeleteClaim { .. } => Some(Failure::Unavailable { message: "no".into() }),
        _ => None,
    };
    edit_pool(&mut cluster, |pool| {
        (pool.sizing, pool.hash) = (Sizing::Static { replicas: 2 }, "4712".to_owned());
    });
    cluster.seconds(30);
    let claims = cluster.claims();
    assert!(!claims.iter().any(|it| it.status.conditions.is_true(DISRUPTION_REASON)));
    assert_eq!(cluster.ordered_claims().len(), 3);
}

#[test]
fn a_replacement_that_fails_leaves_the_pool_as_it_was() {
    let mut cluster = fixed(2, |pool| budget(pool, "1"));
    let former = names(&cluster);
    cluster.launch_fails = Some(Failure::InsufficientCapacity { message: "none left".into() });
    edit_template(&mut cluster);
    cluster.seconds(ENOUGH);
    assert_eq!(names(&cluster), former, "{:?}", cluster.log());
    assert!(cluster.closed_nodes().is_empty());
    assert!(cluster.ordered_claims().len() <= 4, "{:?}", cluster.log());
}

#[test]
fn at_its_limit_a_node_goes_first_only_where_that_is_allowed() {
    let mut cluster = fixed(2, |pool| {
        budget(pool, "1");
        limit(pool, 2);
    });
    let former = names(&cluster);
    edit_template(&mut cluster);
    cluster.seconds(ENOUGH);
    assert_eq!(names(&cluster), former, "{:?}", cluster.log());
    assert!(cluster.has_said("DisruptionBlocked"));
    let terminate_first = TerminateFirst { drift: true, repair: false };
    cluster.restart_with(Settings { terminate_first, ..with_static_pools() });
    for _ in 0..3 * ENOUGH {
        cluster.seconds(1);
        assert!(cluster.claims().len() <= 2, "the limit holds: {:?}", cluster.log());
        assert!(up(&cluster) >= 1, "and the budget: {:?}", cluster.log());
    }
    assert!(names(&cluster).is_disjoint(&former), "{:?}", cluster.log());
    let decisions = "karpenter_voluntary_disruption_decisions_total";
    assert_eq!(cluster.counted(decisions, "terminate-first"), 2);
    let first = "karpenter_voluntary_disruption_terminate_first_decisions_total";
    assert_eq!(cluster.counted(first, "static-at-limit"), 2);
}

#[test]
fn empty_nodes_of_a_static_pool_stay() {
    let mut cluster = fixed(3, cluster::quick);
    cluster.seconds(600);
    assert_eq!(cluster.claims().len(), 3, "{:?}", cluster.log());
}

#[test]
fn pods_use_the_nodes_of_static_pools_as_any_other() {
    let mut cluster = fixed(2, |pool| {
        let entry = RequirementEntry::new(INSTANCE_TYPE, Operator::In, ["m-8x"]);
        pool.template.spec.requirements.push(entry);
    });
    cluster.add_pool(ready_pool("other", |_| {}));
    cluster.pend("web", "1");
    cluster.seconds(25);
    cluster.bind();
    assert!(cluster.node_under("web").contains("pool-"), "{:?}", cluster.log());
    assert_eq!(cluster.ordered_claims().len(), 2);
}
