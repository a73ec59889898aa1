//! Unhealthy nodes are replaced: after a while, the most urgent first, and never too many at once.

#![allow(clippy::unwrap_used)]

mod cluster;

use std::sync::Arc;

use cluster::{Cluster, budget, pod_key, settings};
use kerf_engine::Settings;
use kerf_engine::action::ActionKind;
use kerf_engine::condition::claim::DISRUPTION_REASON;
use kerf_engine::condition::{Condition, Status};
use kerf_engine::event::{Key, Object};
use kerf_engine::observed::{DoNotDisrupt, Name};
use kerf_engine::provider::RepairPolicy;
use kerf_engine::time::Span;
use kerf_model::labels::annotation::{DO_NOT_DISRUPT, DO_NOT_REPAIR, TERMINATION_TIMESTAMP};
use kerf_model::labels::well_known::NODE_POOL;

/// A condition may hold so long.
const TOLERATED: u64 = 600;
/// A search is made every ten seconds, and a replacement takes 20 to come up.
const ENOUGH: u64 = 60;

fn policy(condition: &str, priority: u8, drain_within: Option<u64>) -> RepairPolicy {
    RepairPolicy {
        condition: condition.to_owned(),
        status: Status::False,
        toleration: Span::from_seconds(TOLERATED),
        drain_within: drain_within.map(Span::from_seconds),
        priority,
    }
}

fn with_repair() -> Settings {
    let mut settings = settings();
    settings.node_repair = true;
    settings.provider.repair_policies =
        vec![policy("Ready", 0, Some(0)), policy("Disk", 50, Some(30)), policy("Net", 50, None)];
    settings
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
    let (node, now) = (cluster.node_under(pod), cluster.now);
    cluster.edit_node_named(&node, |node| {
        node.is_ready &= condition != "Ready";
        node.profile.conditions.0.push(Condition {
            kind: condition.to_owned(),
            status: Status::False,
            reason: "Broken".to_owned(),
            message: String::new(),
            changed_at: now,
            observed_generation: 0,
        });
    });
    node.trim_start_matches("node-").into()
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
    let first = cluster.actions.iter().position(|(_, action)| match &action.kind {
        ActionKind::PatchClaim { patch, .. } => {
            patch.annotations.contains_key(TERMINATION_TIMESTAMP)
        }
        _ => false,
    });
    let at = cluster.actions[first.unwrap()].0;
    assert!(deleted.since(at) <= Span::from_seconds(1), "{text}");
    let deadline = at + Span::from_seconds(30);
    let seconds = deadline.seconds() % 60;
    assert!(text.ends_with(&format!(":{seconds:02}Z")), "{text} for {deadline:?}");
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
