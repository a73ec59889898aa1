//! Empty nodes go: after a while, after a second look, within budgets, and never by halves.

#![allow(clippy::unwrap_used)]

mod cluster;

use std::collections::BTreeMap;

use cluster::{Cluster, budget, meta, pod_key, quick};
use kerf_engine::action::ActionKind;
use kerf_engine::condition::claim::{DISRUPTION_REASON, REBOOTING};
use kerf_engine::condition::{Condition, Status};
use kerf_engine::event::{Key, Object};
use kerf_engine::observed::{DoNotDisrupt, PodDisruptionBudget, PodOwner};
use kerf_engine::reason::Reason;
use kerf_engine::time::Span;
use kerf_model::budget::{Allowed, DisruptionReason};
use kerf_model::duration::NillableDuration;
use kerf_model::labels::annotation::{DO_NOT_DISRUPT, REBOOT_PRE_BOOT_ID};
use kerf_model::pool::{NodePool, Sizing};
use kerf_model::selector::LabelSelector;
use kerf_model::taint::{Toleration, TolerationOperator, disrupted};
use proptest::prelude::*;

/// Quiet for 30 s, found within 10 s, looked at again after 15 s, carried out.
const ENOUGH: u64 = 60;

fn one_empty_node(change: impl FnOnce(&mut NodePool)) -> Cluster {
    let mut cluster = Cluster::with_nodes(1, |pool| {
        quick(pool);
        change(pool);
    });
    cluster.empty_nodes(1);
    cluster
}

#[test]
fn an_empty_node_is_closed_then_told_why_then_deleted() {
    let mut cluster = one_empty_node(|_| {});
    cluster.seconds(ENOUGH);
    assert!(cluster.nodes().is_empty() && cluster.claims().is_empty(), "{:?}", cluster.log());
    let position = |fits: &dyn Fn(&ActionKind) -> bool| {
        cluster.actions.iter().position(|(_, action)| fits(&action.kind)).expect("it happened")
    };
    let closed = position(&|kind| match kind {
        ActionKind::PatchNode { patch, .. } => patch.taints_added.contains(&disrupted()),
        _ => false,
    });
    let messages = position(&|kind| match kind {
        ActionKind::WriteClaimStatus { status, .. } => {
            let reason = status.conditions.get(DISRUPTION_REASON);
            reason.is_some_and(|it| it.reason == "Empty" && it.message == "Empty")
        }
        _ => false,
    });
    let deleted = position(&|kind| matches!(kind, ActionKind::DeleteClaim { .. }));
    assert!(closed < deleted && messages < deleted, "{closed} {messages} {deleted}");
    assert_eq!(cluster.messages("DisruptionTerminating").len(), 2);
    assert_eq!(cluster.counted("karpenter_voluntary_disruption_decisions_total", "empty"), 1);
    assert_eq!(
        cluster.counted("karpenter_voluntary_disruption_decisions_by_nodepool_total", "pool"),
        1
    );
    assert_eq!(cluster.counted("karpenter_nodeclaims_disrupted_total", "empty"), 1);
}

#[test]
fn a_claim_both_empty_and_expired_is_counted_once() {
    let mut cluster = one_empty_node(|pool| {
        pool.template.spec.expire_after = NillableDuration::parse("2m").unwrap();
    });
    // The deletion is ordered because the node is empty, and answered when it has expired too.
    cluster.ignores = |kind| matches!(kind, ActionKind::DeleteClaim { .. });
    cluster.seconds(2 * ENOUGH);
    cluster.ignores = |_| false;
    let mut deletions = cluster
        .actions
        .iter()
        .filter(|(_, action)| matches!(&action.kind, ActionKind::DeleteClaim { .. }));
    let deletion = deletions.next_back().expect("the deletion was ordered").1.clone();
    let why = &deletion.reason;
    assert!(matches!(why, Reason::Disruption { reason: DisruptionReason::Empty, .. }), "{why:?}");
    cluster.carry_out(deletion);
    cluster.seconds(2 * ENOUGH);
    assert!(cluster.claims().is_empty(), "{:?}", cluster.log());
    assert_eq!(cluster.counted("karpenter_nodeclaims_disrupted_total", ""), 1);
}

#[test]
fn the_second_look_comes_fifteen_seconds_after_the_choice() {
    let mut cluster = one_empty_node(|_| {});
    cluster.seconds(30);
    let chosen = loop {
        cluster.wait(Span::from_millis(100));
        if let Some(command) = cluster.engine.world().memory.commands.proposed().next() {
            break command.decided_at;
        }
    };
    cluster.seconds(20);
    let closed = cluster
        .actions
        .iter()
        .find(|(at, action)| *at >= chosen && matches!(&action.kind, ActionKind::PatchNode { .. }));
    assert_eq!(closed.expect("the node was closed").0, chosen + Span::from_seconds(15));
}

#[test]
fn a_pod_that_comes_before_the_second_look_saves_its_node_even_at_the_last_moment() {
    for millis in [0, 7_000, 14_900] {
        let mut cluster = one_empty_node(|_| {});
        cluster.seconds(30);
        while cluster.engine.world().memory.commands.proposed().next().is_none() {
            cluster.wait(Span::from_millis(100));
        }
        cluster.wait(Span::from_millis(millis));
        cluster.pend("late", "1");
        cluster.seconds(ENOUGH);
        let deletions = cluster.count(|kind| matches!(kind, ActionKind::DeleteClaim { .. }));
        assert_eq!(deletions, 0, "{millis} ms later");
        assert!(cluster.closed_nodes().is_empty(), "{millis} ms later");
        assert_eq!(cluster.claims().len(), 1, "{millis} ms later");
        let failed = "karpenter_voluntary_disruption_failed_validations_total";
        assert!(cluster.counted(failed, "empty") >= 1, "{millis} ms later");
    }
}

#[test]
fn nodes_that_nobody_may_take_away_stay() {
    type Change = fn(&mut Cluster);
    let stays: [(&str, Change); 8] = [
        ("its pool never consolidates", |cluster| {
            change_pool(cluster, |pool| pool.disruption.consolidate_after = NillableDuration::NEVER)
        }),
        ("its pool is static", |cluster| {
            change_pool(cluster, |pool| pool.sizing = Sizing::Static { replicas: 1 })
        }),
        ("its budget allows none", |cluster| change_pool(cluster, |pool| budget(pool, "0"))),
        ("the node says do-not-disrupt", |cluster| {
            cluster.edit_node(|node| {
                node.annotations.insert(DO_NOT_DISRUPT.to_owned(), "true".to_owned());
            })
        }),
        ("the node is being rebooted", reboot),
        ("a daemon's pod says do-not-disrupt", |cluster| {
            daemon(cluster, |pod| pod.do_not_disrupt = DoNotDisrupt::Always)
        }),
        ("a budget keeps a daemon's pod", |cluster| {
            daemon(cluster, |_| {});
            cluster.store(Object::PodDisruptionBudget(pdb("one", 0)));
        }),
        ("two budgets cover a daemon's pod", |cluster| {
            daemon(cluster, |_| {});
            cluster.store(Object::PodDisruptionBudget(pdb("one", 5)));
            cluster.store(Object::PodDisruptionBudget(pdb("two", 5)));
        }),
    ];
    for (why, change) in stays {
        let mut cluster = one_empty_node(|_| {});
        change(&mut cluster);
        cluster.seconds(3 * ENOUGH);
        assert_eq!(cluster.nodes().len(), 1, "{why}: {:?}", cluster.log());
        assert!(cluster.closed_nodes().is_empty(), "{why}");
    }
}

fn reboot(cluster: &mut Cluster) {
    let (name, now) = (cluster.claims()[0].meta.name.clone(), cluster.now);
    cluster.edit(&Key::Claim(name), |object| {
        let Object::Claim(claim) = object else { unreachable!("a claim is stored by that key") };
        // The node has not started anew yet.
        let boot_id = claim.spec.annotations.entry(REBOOT_PRE_BOOT_ID.to_owned());
        boot_id.or_default();
        claim.status.conditions.0.push(Condition {
            kind: REBOOTING.to_owned(),
            status: Status::True,
            reason: "RebootIssued".to_owned(),
            message: "rebooting for Ready/KubeletNotReady".to_owned(),
            changed_at: now,
            observed_generation: 1,
        });
    });
}

/// What the budgets say of a pool's one reason: how many may go, how many are away.
fn allowance(cluster: &Cluster, reason: DisruptionReason) -> (Allowed, u32) {
    let allowances = kerf_engine::reading::allowances(cluster.engine.world(), cluster.now);
    let found = allowances.into_iter().find(|it| it.reason == reason).expect("every reason");
    (found.allowed, found.disrupted)
}

#[test]
fn a_rebooting_node_counts_against_every_budget_and_one_not_ready_not_against_its_repair() {
    let mut cluster = Cluster::with_nodes(3, |pool| budget(pool, "100%"));
    let node = cluster.nodes()[0].meta.name.clone();
    cluster.edit_node_named(&node, |node| node.is_ready = false);
    cluster.settle();
    assert_eq!(allowance(&cluster, DisruptionReason::Drifted), (Allowed::AtMost(3), 1));
    assert_eq!(allowance(&cluster, DisruptionReason::Unhealthy), (Allowed::AtMost(3), 0));
    cluster.edit_node_named(&node, |node| node.is_ready = true);
    reboot(&mut cluster);
    cluster.settle();
    for reason in DisruptionReason::ALL {
        assert_eq!(allowance(&cluster, reason), (Allowed::AtMost(3), 1), "{reason}");
    }
}

#[test]
fn nodes_whose_pods_are_nobodys_loss_go() {
    type Change = fn(&mut Cluster);
    let goes: [(&str, Change); 4] = [
        ("only a daemon's pod is left", |cluster| daemon(cluster, |_| {})),
        ("a budget lets the daemon's pod go", |cluster| {
            daemon(cluster, |_| {});
            cluster.store(Object::PodDisruptionBudget(pdb("one", 1)));
        }),
        ("the pod that a budget keeps stays to the end anyway", |cluster| {
            daemon(cluster, |pod| {
                let mut shape = (*pod.shape).clone();
                shape.tolerations.push(Toleration {
                    key: String::new(),
                    operator: TolerationOperator::Exists,
                    value: String::new(),
                    effect: None,
                });
                pod.shape = shape.into();
            });
            cluster.store(Object::PodDisruptionBudget(pdb("one", 0)));
        }),
        ("its pod costs nothing to move", |cluster| {
            let node = cluster.node().meta.name.clone();
            let mut pod = cluster::pod("cheap", &node);
            pod.priority = -(1 << 25);
            cluster.store(Object::Pod(pod));
        }),
    ];
    for (why, change) in goes {
        let mut cluster = one_empty_node(|_| {});
        change(&mut cluster);
        cluster.seconds(3 * ENOUGH);
        assert!(cluster.count(|kind| matches!(kind, ActionKind::DeleteClaim { .. })) > 0, "{why}");
    }
}

#[test]
fn those_held_back_are_told_why_and_not_every_ten_seconds() {
    let mut cluster = one_empty_node(|pool| budget(pool, "0"));
    cluster.seconds(30 + 59);
    assert_eq!(
        cluster.messages("DisruptionBlocked").len(),
        1,
        "{:?}",
        cluster.messages("DisruptionBlocked")
    );
    let mut cluster = one_empty_node(|_| {});
    daemon(&mut cluster, |pod| pod.do_not_disrupt = DoNotDisrupt::Always);
    cluster.seconds(30 + 110);
    let messages = cluster.messages("DisruptionBlocked");
    assert_eq!(messages.len(), 2, "node and claim, once in two minutes: {messages:?}");
    assert!(messages[0].contains("default/daemon"), "{messages:?}");
}

#[test]
fn a_protection_that_runs_out_lets_the_node_go() {
    let mut cluster = one_empty_node(|_| {});
    daemon(&mut cluster, |pod| pod.do_not_disrupt = DoNotDisrupt::For(Span::from_minutes(5)));
    cluster.seconds(4 * 60);
    assert_eq!(cluster.nodes().len(), 1);
    cluster.seconds(2 * 60);
    assert_eq!(cluster.count(|kind| matches!(kind, ActionKind::DeleteClaim { .. })), 1);
}

#[test]
fn a_budget_of_one_takes_empty_nodes_away_one_by_one() {
    let mut cluster = Cluster::with_nodes(3, |pool| {
        quick(pool);
        budget(pool, "1");
    });
    cluster.empty_nodes(3);
    for _ in 0..400 {
        cluster.wait(Span::from_millis(500));
        assert!(cluster.closed_nodes().len() <= 1, "{:?}", cluster.log());
        assert!(cluster.going() <= 1);
    }
    assert!(cluster.claims().is_empty(), "{:?}", cluster.log());
}

#[test]
fn a_node_that_is_not_ready_uses_the_budget_up() {
    let mut cluster = Cluster::with_nodes(2, |pool| {
        quick(pool);
        budget(pool, "1");
    });
    let sick = cluster.node_under("pod-0");
    cluster.remove(&Key::Pod(pod_key("pod-1")));
    cluster.edit_node_named(&sick, |node| node.is_ready = false);
    cluster.seconds(3 * ENOUGH);
    assert_eq!(cluster.nodes().len(), 2, "{:?}", cluster.log());
    cluster.edit_node_named(&sick, |node| node.is_ready = true);
    cluster.seconds(ENOUGH);
    assert_eq!(cluster.nodes().len(), 1, "{:?}", cluster.log());
}

#[test]
fn a_budget_that_closes_before_the_deletion_spares_the_node_and_reopens_it() {
    let mut cluster = one_empty_node(|_| {});
    cluster.ignores = |kind| matches!(kind, ActionKind::ConfirmDrained { .. });
    cluster.seconds(ENOUGH);
    assert_eq!(cluster.closed_nodes().len(), 1, "it waits for its deletion");
    change_pool(&mut cluster, |pool| budget(pool, "0"));
    cluster.seconds(5);
    assert!(cluster.closed_nodes().is_empty(), "{:?}", cluster.log());
    cluster.seconds(30);
    let claim = cluster.claims()[0].meta.name.clone();
    assert!(cluster.claim(&claim).status.conditions.get(DISRUPTION_REASON).is_none());
    assert!(cluster.engine.world().memory.commands.is_empty());
}

#[test]
fn a_new_leader_resumes_a_disruption_that_still_holds() {
    let mut cluster = one_empty_node(|_| {});
    cluster.ignores = |kind| matches!(kind, ActionKind::DeleteClaim { .. });
    cluster.seconds(ENOUGH);
    assert_eq!(cluster.closed_nodes().len(), 1);
    let before = cluster.actions.len();
    cluster.crash();
    cluster.ignores = |_| false;
    // It is not validated anew, which takes 15 s, nor is the node reopened before.
    cluster.seconds(1);
    assert_eq!(cluster.going(), 1, "{:?}", cluster.log());
    let reopened = cluster.actions[before..].iter().any(|(_, action)| match &action.kind {
        ActionKind::PatchNode { patch, .. } => patch.taints_removed.contains(&disrupted()),
        _ => false,
    });
    assert!(!reopened, "{:?}", cluster.log());
}

#[test]
fn marks_that_a_crash_left_behind_are_taken_off_where_pods_came_back() {
    let mut cluster = one_empty_node(|_| {});
    cluster.ignores = |kind| matches!(kind, ActionKind::DeleteClaim { .. });
    cluster.seconds(ENOUGH);
    assert_eq!(cluster.closed_nodes().len(), 1);
    let node = cluster.node().meta.name.clone();
    cluster.store(Object::Pod(cluster::pod("back", &node)));
    cluster.crash();
    cluster.ignores = |_| false;
    cluster.seconds(ENOUGH);
    assert!(cluster.closed_nodes().is_empty(), "{:?}", cluster.log());
    let claim = &cluster.claims()[0];
    assert!(claim.status.conditions.get(DISRUPTION_REASON).is_none());
}

#[test]
fn the_end_of_quiet_is_remembered_across_a_restart() {
    let mut cluster = one_empty_node(|_| {});
    cluster.seconds(20);
    cluster.crash();
    cluster.seconds(ENOUGH - 20);
    assert!(cluster.claims().is_empty(), "{:?}", cluster.log());
}

#[test]
fn nothing_is_asked_of_a_cluster_that_is_content() {
    let mut cluster = Cluster::with_nodes(1, quick);
    cluster.seconds(ENOUGH);
    let before = cluster.actions.len();
    cluster.seconds(300);
    let after: Vec<_> =
        cluster.actions[before..].iter().map(|(_, it)| it.kind.info().name).collect();
    assert!(after.iter().all(|name| *name == "list instances"), "{after:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Crashes, pods that come and go, and nodes that fall sick at any moment: never more nodes
    /// are away by choice than the budget allows, and no node stays closed for nothing.
    #[test]
    fn a_crash_between_any_two_steps_never_breaks_a_budget_nor_leaves_a_node_closed(
        steps in prop::collection::vec((0u64..20_000, 0usize..4), 1..40),
        allowed in 1usize..3,
    ) {
        const NODES: usize = 4;
        let mut cluster = Cluster::with_nodes(NODES, |pool| {
            quick(pool);
            budget(pool, &allowed.to_string());
        });
        cluster.empty_nodes(NODES);
        for (millis, what) in steps {
            match what {
                0 => cluster.crash(),
                1 => {
                    cluster.deliver();
                    let mut actions = cluster.decide();
                    actions.truncate(actions.len() / 2);
                    actions.into_iter().for_each(|action| cluster.carry_out(action));
                    cluster.crash();
                }
                _ => cluster.wait(Span::from_millis(millis)),
            }
            prop_assert!(cluster.going() <= allowed, "{:?}", cluster.log());
        }
        cluster.seconds(600);
        prop_assert!(cluster.claims().is_empty(), "{:?}", cluster.log());
        prop_assert!(cluster.nodes().is_empty());
    }
}

fn change_pool(cluster: &mut Cluster, change: impl FnOnce(&mut NodePool)) {
    cluster.edit(&Key::Pool("pool".into()), |object| {
        let Object::Pool(pool) = object else { unreachable!("a pool's key") };
        let mut spec = (*pool.spec).clone();
        change(&mut spec);
        pool.spec = spec.into();
        pool.meta.generation += 1;
    });
}

/// A pod of a daemon set on the one node there is.
fn daemon(cluster: &mut Cluster, change: impl FnOnce(&mut kerf_engine::observed::Pod)) {
    let node = cluster.node().meta.name.clone();
    let mut pod = cluster::pod("daemon", &node);
    pod.owner = PodOwner::DaemonSet;
    pod.started_at = Some(cluster.now);
    change(&mut pod);
    cluster.store(Object::Pod(pod));
}

/// A budget for every pod of the namespace.
fn pdb(name: &str, disruptions_allowed: u32) -> PodDisruptionBudget {
    PodDisruptionBudget {
        meta: meta(name),
        namespace: "default".into(),
        selector: LabelSelector { match_labels: BTreeMap::new(), match_expressions: Vec::new() },
        disruptions_allowed,
        is_absolute: false,
        frees_unready: false,
    }
}
