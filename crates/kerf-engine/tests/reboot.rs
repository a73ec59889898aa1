//! Nodes that a restart would heal are rebooted in place: their claims stay, their pods are asked
//! to leave, and who does not come back is replaced.

#![allow(clippy::unwrap_used)]

mod cluster;

use cluster::{Cluster, budget, pod_key, settings};
use kerf_engine::Settings;
use kerf_engine::action::ActionKind;
use kerf_engine::condition::claim::{DISRUPTION_REASON, INITIALIZED, REBOOTING};
use kerf_engine::condition::{Condition, Status};
use kerf_engine::event::{Failure, Key, Object};
use kerf_engine::observed::{Name, Node};
use kerf_engine::provider::{RepairAction, RepairPolicies, RepairPolicy};
use kerf_engine::time::Span;
use kerf_model::labels::annotation::{
    REBOOT_GRACE_PERIOD, REBOOT_PRE_BOOT_ID, TERMINATION_TIMESTAMP,
};
use kerf_model::labels::well_known::{INITIALIZED as INITIALIZED_LABEL, NODE_POOL};
use kerf_model::taint::rebooting;

/// A condition may hold so long.
const TOLERATED: u64 = 30;
/// A search is made every ten seconds.
const ENOUGH: u64 = 15;

fn policies(drain_within: Option<u64>) -> RepairPolicies {
    let fallback = RepairPolicy {
        condition: "Ready".to_owned(),
        status: Status::False,
        reason: String::new(),
        toleration: Span::from_seconds(600),
        drain_within: Some(Span::default()),
        priority: 0,
        action: RepairAction::ReplaceNode,
    };
    let reboots = RepairPolicy {
        condition: "Kernel".to_owned(),
        reason: "^Deadlock$".to_owned(),
        toleration: Span::from_seconds(TOLERATED),
        drain_within: drain_within.map(Span::from_seconds),
        action: RepairAction::RebootNode,
        ..fallback.clone()
    };
    RepairPolicies::new(vec![fallback, reboots]).unwrap()
}

fn with_reboots(drain_within: Option<u64>) -> Settings {
    let mut settings = Settings { node_repair: true, ..settings() };
    settings.provider.repair_policies = policies(drain_within);
    settings
}

/// Five nodes with a pod each, the first of them with a kernel that hangs. Returns its claim.
fn hung(drain_within: Option<u64>) -> (Cluster, Name) {
    let mut cluster = Cluster::with_nodes(5, |pool| budget(pool, "100%"));
    for node in cluster.nodes().iter().map(|it| it.meta.name.to_string()).collect::<Vec<_>>() {
        cluster.edit_node_named(&node, |node| {
            node.labels.insert(NODE_POOL.to_owned(), "pool".to_owned());
            node.profile.boot_id = "first".to_owned();
        });
    }
    cluster.restart_with(with_reboots(drain_within));
    cluster.settle();
    let claim = cluster.claim_under("pod-0");
    hangs(&mut cluster, &claim);
    (cluster, claim)
}

fn node_of<'c>(cluster: &'c Cluster, claim: &Name) -> &'c Node {
    let id = &cluster.claim(claim).status.provider_id;
    cluster.nodes().into_iter().find(|node| node.provider_id == *id).unwrap()
}

fn edit_node(cluster: &mut Cluster, claim: &Name, change: impl FnOnce(&mut Node)) {
    let name = node_of(cluster, claim).meta.name.to_string();
    cluster.edit_node_named(&name, change);
}

fn hangs(cluster: &mut Cluster, claim: &Name) {
    let now = cluster.now;
    edit_node(cluster, claim, |node| {
        node.profile.conditions.0.retain(|it| it.kind != "Kernel");
        node.profile.conditions.0.push(Condition {
            kind: "Kernel".to_owned(),
            status: Status::False,
            reason: "Deadlock".to_owned(),
            message: String::new(),
            changed_at: now,
            observed_generation: 0,
        });
    });
}

/// The node starts anew, well.
fn boots(cluster: &mut Cluster, claim: &Name, boot_id: &str) {
    edit_node(cluster, claim, |node| {
        node.profile.boot_id = boot_id.to_owned();
        node.profile.conditions.0.retain(|it| it.kind != "Kernel");
    });
    cluster.settle();
}

/// Waits until the provider was asked so often.
fn until_asked(cluster: &mut Cluster, times: usize) {
    for _ in 0..400 {
        if orders(cluster).len() >= times {
            return;
        }
        cluster.seconds(1);
    }
    panic!("nobody asked the provider: {:?}", cluster.log());
}

/// The operations the provider was asked for.
fn orders(cluster: &Cluster) -> Vec<String> {
    let order = |kind: &ActionKind| match kind {
        ActionKind::Reboot(order) => Some(order.operation.to_string()),
        _ => None,
    };
    cluster.actions.iter().filter_map(|(_, action)| order(&action.kind)).collect()
}

/// How far the reboot of a claim's node is: status and reason.
fn phase(cluster: &Cluster, claim: &Name) -> Option<(Status, String)> {
    let condition = cluster.claim(claim).status.conditions.get(REBOOTING)?;
    Some((condition.status, condition.reason.clone()))
}

fn is(status: Status, reason: &str) -> Option<(Status, String)> {
    Some((status, reason.to_owned()))
}

fn is_tainted(cluster: &Cluster, claim: &Name) -> bool {
    node_of(cluster, claim).taints.contains(&rebooting())
}

fn is_gone(cluster: &Cluster, claim: &Name) -> bool {
    cluster.find_claim(claim).is_none_or(|claim| claim.meta.is_deleting())
}

fn counted(cluster: &Cluster, result: &str) -> u64 {
    cluster.counted("karpenter_nodes_reboots_total", result)
}

#[test]
fn a_node_that_a_restart_would_heal_is_rebooted_and_keeps_its_claim() {
    let (mut cluster, claim) = hung(Some(60));
    cluster.seconds(TOLERATED - 1);
    assert_eq!(phase(&cluster, &claim), None);
    until_asked(&mut cluster, 1);
    let stored = cluster.claim(&claim);
    let condition = stored.status.conditions.get(REBOOTING).unwrap();
    assert_eq!(condition.message, "rebooting for Kernel/Deadlock");
    let since = condition.changed_at;
    assert_eq!(stored.annotations()[REBOOT_GRACE_PERIOD], "1m0s");
    assert_eq!(stored.annotations()[REBOOT_PRE_BOOT_ID], "first");
    let operation = format!("{}-{}000000-first", stored.meta.uid, since.millis());
    assert_eq!(orders(&cluster), [operation]);
    assert!(cluster.has_said("Evicted"), "its pod was asked to leave: {:?}", cluster.log());
    let asked_at = cluster.actions.iter().find(|(_, it)| matches!(it.kind, ActionKind::Reboot(_)));
    assert!(asked_at.unwrap().0.since(since) >= Span::from_seconds(5), "pods had five seconds");

    cluster.settle();
    assert_eq!(phase(&cluster, &claim), is(Status::True, "RebootIssued"));
    let initialized = cluster.claim(&claim).status.conditions.get(INITIALIZED).unwrap().clone();
    assert_eq!((initialized.status, &*initialized.reason), (Status::Unknown, "Rebooting"));
    assert!(!node_of(&cluster, &claim).labels.contains_key(INITIALIZED_LABEL));
    assert!(is_tainted(&cluster, &claim));

    boots(&mut cluster, &claim, "second");
    assert_eq!(phase(&cluster, &claim), is(Status::False, "RebootSucceeded"));
    assert!(cluster.has_said("RebootObserved") && !is_tainted(&cluster, &claim));
    assert!(!cluster.claim(&claim).annotations().contains_key(REBOOT_PRE_BOOT_ID));
    cluster.seconds(ENOUGH);
    let stored = cluster.claim(&claim);
    assert!(stored.status.conditions.is_true(INITIALIZED), "{:?}", stored.status.conditions);
    assert!(stored.status.conditions.get(DISRUPTION_REASON).is_none());
    assert_eq!(counted(&cluster, "succeeded"), 1);
    assert_eq!(cluster.counted("karpenter_voluntary_disruption_decisions_total", "reboot"), 1);
    let metric = "karpenter_nodeclaims_unhealthy_disrupted_total";
    assert_eq!((cluster.counted(metric, "kernel"), cluster.counted(metric, "eventual")), (1, 1));
}

#[test]
fn pods_that_had_to_leave_are_planned_back_onto_the_node() {
    let (mut cluster, claim) = hung(Some(60));
    until_asked(&mut cluster, 1);
    let claims = cluster.claims().len();
    cluster.pend("pod-back", "7");
    cluster.seconds(ENOUGH);
    assert_eq!(cluster.target_of("pod-back"), Some(claim), "{:?}", cluster.log());
    assert_eq!(cluster.claims().len(), claims, "nothing is launched for it");
}

#[test]
fn pods_that_do_not_leave_in_time_ride_through_and_are_never_deleted() {
    for (bound, is_evicted) in [(Some(60), true), (Some(0), false)] {
        let (mut cluster, claim) = hung(bound);
        cluster.unevictable.insert("pod-0".to_owned());
        until_asked(&mut cluster, 1);
        let since = cluster.claim(&claim).status.conditions.get(REBOOTING).unwrap().changed_at;
        let took = cluster.now.since(since).seconds();
        let expected = bound.unwrap()..=bound.unwrap() + 2;
        assert!(expected.contains(&took), "{took} s of {bound:?}");
        let count = |fits: fn(&ActionKind) -> bool| cluster.count(fits);
        assert_eq!(count(|it| matches!(it, ActionKind::EvictPod { .. })) > 0, is_evicted);
        assert_eq!(count(|it| matches!(it, ActionKind::DeletePod { .. })), 0);
        assert!(cluster.objects.contains_key(&Key::Pod(pod_key("pod-0"))));
    }
}

#[test]
fn without_a_limit_pods_are_waited_for_as_long_as_it_takes() {
    let (mut cluster, claim) = hung(None);
    cluster.unevictable.insert("pod-0".to_owned());
    cluster.seconds(3600);
    assert_eq!(phase(&cluster, &claim), is(Status::True, "RebootRequested"));
    assert!(!cluster.claim(&claim).annotations().contains_key(REBOOT_GRACE_PERIOD));
    assert!(orders(&cluster).is_empty());
    cluster.unevictable.clear();
    until_asked(&mut cluster, 1);
}

#[test]
fn a_provider_that_cannot_reboot_has_the_node_replaced_at_once() {
    let (mut cluster, claim) = hung(Some(60));
    cluster.refuses = |kind| match kind {
        ActionKind::Reboot(_) => {
            Some(Failure::RebootNotImplemented { message: "no such call".to_owned() })
        }
        _ => None,
    };
    until_asked(&mut cluster, 1);
    cluster.settle();
    assert!(is_gone(&cluster, &claim), "{:?}", cluster.log());
    assert_eq!((orders(&cluster).len(), counted(&cluster, "provider_error")), (1, 1));
    assert!(cluster.has_said("RebootFailed"));
    assert!(cluster.claim(&claim).annotations().contains_key(TERMINATION_TIMESTAMP));
}

#[test]
fn a_provider_that_fails_is_asked_for_five_minutes_with_the_same_operation() {
    let (mut cluster, claim) = hung(Some(60));
    cluster.refuses = |kind| match kind {
        ActionKind::Reboot(_) => Some(Failure::Unavailable { message: "away".to_owned() }),
        _ => None,
    };
    until_asked(&mut cluster, 1);
    cluster.seconds(290);
    assert!(!is_gone(&cluster, &claim), "{:?}", cluster.log());
    let asked = orders(&cluster);
    assert!(asked.len() > 3 && asked.iter().all(|it| *it == asked[0]), "{asked:?}");
    cluster.seconds(15);
    assert!(is_gone(&cluster, &claim), "{:?}", cluster.log());
    assert_eq!(counted(&cluster, "provider_error"), 1);
}

#[test]
fn a_node_that_does_not_come_back_within_twenty_minutes_is_replaced() {
    let (mut cluster, claim) = hung(Some(60));
    until_asked(&mut cluster, 1);
    edit_node(&mut cluster, &claim, |node| node.is_ready = false);
    cluster.seconds(19 * 60);
    assert!(!is_gone(&cluster, &claim), "{:?}", cluster.log());
    cluster.seconds(70);
    assert!(is_gone(&cluster, &claim), "{:?}", cluster.log());
    assert_eq!(counted(&cluster, "recovery_timeout"), 1);
    assert_eq!(counted(&cluster, "succeeded"), 0);
}

#[test]
fn a_bound_that_makes_no_sense_ends_the_reboot_and_the_node_stays() {
    for bound in ["soon", "-5m"] {
        let (mut cluster, claim) = hung(Some(60));
        cluster.unevictable.insert("pod-0".to_owned());
        cluster.seconds(TOLERATED + ENOUGH);
        assert_eq!(phase(&cluster, &claim), is(Status::True, "RebootRequested"));
        cluster.edit(&Key::Claim(claim.clone()), |object| {
            let Object::Claim(claim) = object else { unreachable!("a claim's key") };
            claim.spec.annotations.insert(REBOOT_GRACE_PERIOD.to_owned(), bound.to_owned());
        });
        cluster.settle();
        assert_eq!(phase(&cluster, &claim), is(Status::False, "RebootFailed"), "{bound}");
        assert!(!is_gone(&cluster, &claim) && !is_tainted(&cluster, &claim), "{bound}");
        assert_eq!(counted(&cluster, "invalid_request"), 1);
        assert!(cluster.has_said("RebootFailed"));
    }
}

#[test]
fn after_two_reboots_within_a_day_the_node_is_replaced() {
    let (mut cluster, claim) = hung(Some(0));
    for boot in ["second", "third"] {
        let before = orders(&cluster).len();
        until_asked(&mut cluster, before + 1);
        cluster.settle();
        boots(&mut cluster, &claim, boot);
        cluster.seconds(ENOUGH);
        assert_eq!(phase(&cluster, &claim), is(Status::False, "RebootSucceeded"));
        hangs(&mut cluster, &claim);
    }
    cluster.seconds(TOLERATED + 60);
    assert!(is_gone(&cluster, &claim), "{:?}", cluster.log());
    assert_eq!(orders(&cluster).len(), 2);
}

#[test]
fn whoever_takes_over_goes_on_and_asks_for_the_same_operation() {
    let (mut cluster, claim) = hung(Some(60));
    cluster.ignores = |kind| matches!(kind, ActionKind::Reboot(_));
    until_asked(&mut cluster, 1);
    cluster.ignores = |_| false;
    // The first to be asked did begin, and nobody heard of it.
    cluster.restart_with(with_reboots(Some(60)));
    until_asked(&mut cluster, 2);
    let asked = orders(&cluster);
    assert_eq!(asked[0], asked[1]);
    cluster.settle();
    assert_eq!(phase(&cluster, &claim), is(Status::True, "RebootIssued"));
    cluster.restart_with(with_reboots(Some(60)));
    boots(&mut cluster, &claim, "second");
    assert_eq!(phase(&cluster, &claim), is(Status::False, "RebootSucceeded"));
}

#[test]
fn a_node_that_booted_unheard_is_not_rebooted_again() {
    let (mut cluster, claim) = hung(Some(60));
    cluster.ignores = |kind| matches!(kind, ActionKind::Reboot(_));
    until_asked(&mut cluster, 1);
    edit_node(&mut cluster, &claim, |node| node.profile.boot_id = "second".to_owned());
    cluster.restart_with(with_reboots(Some(60)));
    cluster.settle();
    assert_eq!(phase(&cluster, &claim), is(Status::False, "RebootSucceeded"));
    assert_eq!(orders(&cluster).len(), 1);
}
