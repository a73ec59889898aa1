//! Unhealthy nodes are replaced: after a while, the most urgent first, and never too many at once.

#![allow(clippy::unwrap_used)]

mod cluster;

use std::sync::Arc;

use cluster::{Cluster, budget, pod_key, settings};
use kerf_engine::Settings;
use kerf_engine::action::ActionKind;
use kerf_engine::condition::claim::{DISRUPTION_REASON, INITIALIZED as INITIALIZED_CONDITION};
use kerf_engine::condition::{Condition, Status};
use kerf_engine::event::{Key, Object};
use kerf_engine::observed::{DoNotDisrupt, Name};
use kerf_engine::provider::{RepairAction, RepairPolicies, RepairPolicy};
use kerf_engine::time::{Span, Time};
use kerf_model::labels::annotation::{DO_NOT_DISRUPT, DO_NOT_REPAIR, TERMINATION_TIMESTAMP};
use kerf_model::labels::well_known::{INITIALIZED, NODE_POOL};
use kerf_model::taint::{Taint, TaintEffect};

/// A condition may hold so long.
const TOLERATED: u64 = 600;
/// A search is made every ten seconds, and a replacement takes 20 to come up.
const ENOUGH: u64 = 60;

/// A policy for any reason.
fn policy(condition: &str, priority: u8, drain_within: Option<u64>) -> RepairPolicy {
    RepairPolicy {
        condition: condition.to_owned(),
        status: Status::False,
        reason: ".*".to_owned(),
        toleration: Span::from_seconds(TOLERATED),
        drain_within: drain_within.map(Span::from_seconds),
        priority,
        action: RepairAction::ReplaceNode,
    }
}

/// The policy for reasons that no other is for.
fn fallback() -> RepairPolicy {
    RepairPolicy { reason: String::new(), ..policy("Ready", 0, Some(0)) }
}

fn with_policies(policies: Vec<RepairPolicy>) -> Settings {
    let mut settings = Settings { node_repair: true, ..settings() };
    settings.provider.repair_policies = RepairPolicies::new(policies).unwrap();
    settings
}

fn with_repair() -> Settings {
    with_policies(vec![fallback(), policy("Disk", 50, Some(30)), policy("Net", 50, None)])
}

/// So many nodes with a pod each; unhealthy ones are replaced.
fn nodes(count: usize) -> Cluster {
    let mut cluster = Cluster::with_nodes(count, |pool| budget(pool, "100%"));
    for node in cluster.nodes().iter().map(|it| it.meta.name.to_string()).collect::<Vec<_>>() {
        cluster.edit_node_named(&node, |node| {
            node.labels.insert(NODE_POOL.to_owned(), "pool".to_owned());
        });
    }
    cluster.restart_with(with_repair());
    cluster.settle();
    cluster
}

/// Sets a condition of the node under a pod. Returns the claim of the node.
fn falls_ill(cluster: &mut Cluster, pod: &str, condition: &str) -> Name {
    falls_ill_because(cluster, pod, condition, "Broken")
}

fn falls_ill_because(cluster: &mut Cluster, pod: &str, condition: &str, reason: &str) -> Name {
    let (node, now) = (cluster.node_under(pod), cluster.now);
    cluster.edit_node_named(&node, |node| {
        node.is_ready &= condition != "Ready";
        node.profile.conditions.0.push(Condition {
            kind: condition.to_owned(),
            status: Status::False,
            reason: reason.to_owned(),
            message: String::new(),
            changed_at: now,
            observed_generation: 0,
        });
    });
    node.trim_start_matches("node-").into()
}

/// When it was decided until when the pods of a node may stay.
fn limited_at(cluster: &Cluster) -> Time {
    let first = cluster.actions.iter().find(|(_, action)| match &action.kind {
        ActionKind::PatchClaim { patch, .. } => {
            patch.annotations.contains_key(TERMINATION_TIMESTAMP)
        }
        _ => false,
    });
    first.unwrap().0
}

/// The time of day as times end that are stored.
fn clock(time: Time) -> String {
    let seconds = time.seconds() % 86_400;
    format!("T{:02}:{:02}:{:02}Z", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

/// Lets so many nodes go at once.
fn allow(cluster: &mut Cluster, nodes: &str) {
    cluster.edit(&Key::Pool("pool".into()), |object| {
        let Object::Pool(pool) = object else { unreachable!("a pool's key") };
        budget(Arc::make_mut(&mut pool.spec), nodes);
    });
}

fn is_chosen(cluster: &Cluster, claim: &Name) -> bool {
    cluster.find_claim(claim).is_none_or(|claim| {
        let reason = claim.status.conditions.get(DISRUPTION_REASON);
        reason.is_some_and(|reason| reason.reason == "Unhealthy")
    })
}

fn is_gone(cluster: &Cluster, claim: &Name) -> bool {
    cluster.find_claim(claim).is_none_or(|claim| claim.meta.is_deleting())
}

#[test]
fn a_node_that_is_unhealthy_for_longer_than_tolerated_is_replaced() {
    let mut cluster = nodes(5);
    let claim = falls_ill(&mut cluster, "pod-0", "Ready");
    cluster.seconds(TOLERATED - 1);
    assert!(!is_chosen(&cluster, &claim), "{:?}", cluster.log());
    cluster.seconds(2);
    assert!(is_chosen(&cluster, &claim), "{:?}", cluster.log());
    assert!(!is_gone(&cluster, &claim), "its replacement comes first");
    cluster.seconds(ENOUGH);
    assert!(is_gone(&cluster, &claim), "{:?}", cluster.log());
    let counted =
        |label: &str| cluster.counted("karpenter_nodeclaims_unhealthy_disrupted_total", label);
    assert_eq!((counted("ready"), counted("forceful")), (1, 1));
    assert_eq!(cluster.counted("karpenter_nodeclaims_disrupted_total", "unhealthy"), 1);
}

#[test]
fn nothing_is_repaired_where_that_is_not_switched_on() {
    let mut cluster = nodes(5);
    cluster.restart_with(Settings { node_repair: false, ..with_repair() });
    let claim = falls_ill(&mut cluster, "pod-0", "Ready");
    cluster.seconds(2 * TOLERATED);
    assert!(!is_chosen(&cluster, &claim));
}

#[test]
fn a_node_that_recovers_in_time_is_left_alone() {
    let mut cluster = nodes(5);
    let claim = falls_ill(&mut cluster, "pod-0", "Ready");
    cluster.seconds(TOLERATED - 10);
    let node = cluster.node_under("pod-0");
    cluster.edit_node_named(&node, |node| {
        node.is_ready = true;
        node.profile.conditions.0.clear();
    });
    cluster.seconds(TOLERATED);
    assert!(!is_chosen(&cluster, &claim));
}

#[test]
fn the_pods_of_an_unhealthy_node_have_as_long_as_the_shortest_policy_says() {
    let mut cluster = nodes(5);
    falls_ill(&mut cluster, "pod-0", "Net");
    let claim = falls_ill(&mut cluster, "pod-0", "Disk");
    while !is_gone(&cluster, &claim) {
        cluster.seconds(1);
    }
    let text = cluster.claim(&claim).annotations()[TERMINATION_TIMESTAMP].clone();
    let deleted = cluster.claim(&claim).meta.deleting_since.unwrap();
    let at = limited_at(&cluster);
    assert!(deleted.since(at) <= Span::from_seconds(1), "{text}");
    assert!(text.ends_with(&clock(at + Span::from_seconds(30))), "{text}");
}

#[test]
fn where_more_than_a_fifth_of_a_pool_is_unhealthy_nothing_is_replaced() {
    let mut cluster = nodes(5);
    let one = falls_ill(&mut cluster, "pod-0", "Ready");
    let other = falls_ill(&mut cluster, "pod-1", "Disk");
    cluster.seconds(TOLERATED + ENOUGH);
    assert!(!is_chosen(&cluster, &one) && !is_chosen(&cluster, &other));
    assert!(cluster.messages("NodeRepairBlocked").len() >= 3, "node, claim and pool are told");
    // One of them recovers.
    let node = cluster.node_under("pod-1");
    cluster.edit_node_named(&node, |node| node.profile.conditions.0.clear());
    cluster.seconds(ENOUGH);
    assert!(is_gone(&cluster, &one) && !is_chosen(&cluster, &other), "{:?}", cluster.log());
}

#[test]
fn the_most_urgent_node_goes_first_and_half_an_hour_counts_as_one_priority() {
    for (minutes, first_goes) in [(0, false), (25, false), (35, true)] {
        let mut cluster = nodes(10);
        allow(&mut cluster, "0");
        let low = falls_ill(&mut cluster, "pod-0", "Ready");
        cluster.seconds(minutes * 60);
        let high = falls_ill(&mut cluster, "pod-1", "Disk");
        cluster.seconds(TOLERATED + 5);
        allow(&mut cluster, "1");
        cluster.seconds(12);
        let chosen = (is_chosen(&cluster, &low), is_chosen(&cluster, &high));
        assert_eq!(chosen, (first_goes, !first_goes), "{minutes} min: {:?}", cluster.log());
    }
}

#[test]
fn budgets_pace_repair_and_nodes_that_are_not_ready_do_not_use_them_up() {
    let mut cluster = nodes(10);
    allow(&mut cluster, "10%");
    let claims =
        [falls_ill(&mut cluster, "pod-0", "Ready"), falls_ill(&mut cluster, "pod-1", "Ready")];
    let chosen =
        |cluster: &Cluster| claims.iter().filter(|claim| is_chosen(cluster, claim)).count();
    cluster.seconds(TOLERATED + 5);
    assert_eq!(chosen(&cluster), 1, "{:?}", cluster.log());
    cluster.seconds(4 * ENOUGH);
    assert_eq!(chosen(&cluster), 2, "{:?}", cluster.log());
}

#[test]
fn who_is_not_to_be_repaired_is_not_and_a_drain_limit_overrules_pods() {
    let rows = [(DO_NOT_REPAIR, false), (DO_NOT_DISRUPT, true)];
    for (annotation, goes) in rows {
        let mut cluster = nodes(5);
        let claim = falls_ill(&mut cluster, "pod-0", "Ready");
        let node = cluster.node_under("pod-0");
        cluster.edit_node_named(&node, |node| {
            node.annotations.insert(annotation.to_owned(), "true".to_owned());
        });
        cluster.seconds(TOLERATED + ENOUGH);
        assert_eq!(is_gone(&cluster, &claim), goes, "{annotation}: {:?}", cluster.log());
    }
    // The policy for `Net` sets no limit, the one for `Ready` does.
    for (condition, goes) in [("Net", false), ("Ready", true)] {
        let mut cluster = nodes(5);
        let claim = falls_ill(&mut cluster, "pod-0", condition);
        cluster.edit(&Key::Pod(pod_key("pod-0")), |object| {
            let Object::Pod(pod) = object else { unreachable!("a pod's key") };
            pod.do_not_disrupt = DoNotDisrupt::Always;
        });
        cluster.seconds(TOLERATED + ENOUGH);
        assert_eq!(is_gone(&cluster, &claim), goes, "{condition}: {:?}", cluster.log());
    }
}

#[test]
fn a_condition_that_no_policy_names_makes_nothing_unhealthy() {
    let mut cluster = nodes(5);
    let claim = falls_ill(&mut cluster, "pod-1", "Other");
    cluster.seconds(2 * TOLERATED);
    assert!(!is_chosen(&cluster, &claim));
}

#[test]
fn a_reason_that_a_policy_is_for_keeps_the_one_for_all_others_away() {
    let slow = |reason: &str| RepairPolicy {
        reason: reason.to_owned(),
        toleration: Span::from_seconds(3 * TOLERATED),
        ..policy("Gpu", 0, None)
    };
    for (reason, is_fallback) in [("Xid79", false), ("FanStopped", true), ("", true)] {
        let mut cluster = nodes(5);
        cluster.restart_with(with_policies(vec![fallback(), slow("^Xid(48|79)$")]));
        let claim = falls_ill_because(&mut cluster, "pod-0", "Gpu", reason);
        cluster.seconds(TOLERATED + 5);
        assert_eq!(is_chosen(&cluster, &claim), is_fallback, "{reason}: {:?}", cluster.log());
        cluster.seconds(2 * TOLERATED);
        assert!(is_chosen(&cluster, &claim), "{reason}: {:?}", cluster.log());
    }
}

/// Three things are wrong with one node: the one that has been for longest among those for which it
/// is replaced is the reason, and the shortest limit counts, whoever sets it.
#[test]
fn what_is_wrong_with_one_node_makes_one_decision() {
    for (own, expected) in [(None, 180), (Some(90), 90)] {
        let mut cluster = nodes(5);
        let gpu = RepairPolicy { action: RepairAction::RebootNode, ..policy("Gpu", 0, Some(180)) };
        let others = [policy("Disk", 0, Some(480)), policy("Net", 0, None)];
        cluster.restart_with(with_policies([fallback(), gpu].into_iter().chain(others).collect()));
        allow(&mut cluster, "0");
        let claim = falls_ill(&mut cluster, "pod-0", "Gpu");
        if let Some(seconds) = own {
            cluster.edit(&Key::Claim(claim.clone()), |object| {
                let Object::Claim(claim) = object else { unreachable!("a claim's key") };
                cluster::grace(claim, seconds);
            });
        }
        cluster.seconds(TOLERATED);
        falls_ill(&mut cluster, "pod-0", "Net");
        cluster.seconds(TOLERATED);
        falls_ill(&mut cluster, "pod-0", "Disk");
        cluster.seconds(TOLERATED + 5);
        allow(&mut cluster, "1");
        while !is_gone(&cluster, &claim) {
            cluster.seconds(1);
        }
        let metric = "karpenter_nodeclaims_unhealthy_disrupted_total";
        assert_eq!((cluster.counted(metric, "net"), cluster.counted(metric, "eventual")), (1, 1));
        let at = limited_at(&cluster);
        let text = cluster.claim(&claim).annotations()[TERMINATION_TIMESTAMP].clone();
        let deadline = at + Span::from_seconds(expected);
        assert!(text.ends_with(&clock(deadline)), "{text}; the claim's own limit: {own:?}");
        let deletion = cluster.actions.iter().find_map(|(_, action)| match &action.kind {
            ActionKind::DeleteClaim { .. } => Some(action.reason.to_string()),
            _ => None,
        });
        let text = deletion.unwrap();
        let parts = ["Net is False (Broken)", "\".*\"", "ReplaceNode", "180s because of Gpu"];
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    }
}

#[test]
fn a_node_that_joined_and_never_came_up_is_repaired_and_takes_no_budget() {
    let mut cluster = nodes(5);
    allow(&mut cluster, "0");
    let node = cluster.node_under("pod-0");
    cluster.edit_node_named(&node, |node| drop(node.labels.remove(INITIALIZED)));
    let claim = falls_ill(&mut cluster, "pod-0", "Disk");
    cluster.edit(&Key::Claim(claim.clone()), |object| {
        let Object::Claim(claim) = object else { unreachable!("a claim's key") };
        let conditions = claim.status.conditions.0.iter_mut();
        conditions.filter(|it| it.kind == INITIALIZED_CONDITION).for_each(|it| {
            it.status = Status::Unknown;
        });
    });
    // A taint that should go by itself keeps it from coming up.
    cluster.edit_node_named(&node, |node| {
        node.taints.push(Taint::new("node.kubernetes.io/not-ready", "", TaintEffect::NoSchedule));
    });
    let other = falls_ill(&mut cluster, "pod-1", "Ready");
    cluster.edit_node_named(&cluster.node_under("pod-1"), |node| {
        node.profile.conditions.0.clear();
    });
    cluster.seconds(TOLERATED + ENOUGH);
    assert!(is_gone(&cluster, &claim), "{:?}", cluster.log());
    assert!(!is_chosen(&cluster, &other));
}

#[test]
fn of_two_that_are_as_urgent_the_one_that_costs_less_goes_first() {
    let mut cluster = nodes(10);
    allow(&mut cluster, "0");
    let pods = ["pod-0", "pod-1", "pod-2"];
    let sorted = |pods: &[&'static str], cluster: &Cluster| {
        let mut pods = pods.to_vec();
        pods.sort_by_key(|pod| cluster.claim_under(pod));
        pods
    };
    // By name alone the first would go.
    let [dear, cheap, _] = sorted(&pods, &cluster)[..] else { unreachable!("three pods") };
    cluster.edit(&Key::Pod(pod_key(dear)), |object| {
        let Object::Pod(pod) = object else { unreachable!("a pod's key") };
        pod.deletion_cost = 1_000_000;
    });
    let dear = falls_ill(&mut cluster, dear, "Disk");
    let cheap = falls_ill(&mut cluster, cheap, "Disk");
    cluster.seconds(TOLERATED + 5);
    allow(&mut cluster, "1");
    cluster.seconds(12);
    let chosen = (is_chosen(&cluster, &dear), is_chosen(&cluster, &cheap));
    assert_eq!(chosen, (false, true), "{:?}", cluster.log());
}
