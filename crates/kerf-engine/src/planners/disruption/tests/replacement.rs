//! What a command with a replacement does, in order, and what ends it.

use kerf_model::taint::disrupted;

use super::cluster::{Cluster, budget};
use super::{REPLACE, disrupt, live};
use crate::action::ActionKind;
use crate::command::CommandState;
use crate::command::record::{COMMAND, REPLACEMENT_FOR};
use crate::condition::claim::{DISRUPTION_REASON, INITIALIZED};
use crate::event::{Failure, Key, Object};
use crate::observed::Claim;

/// Looked at again after 15 s, launched, up after 20 s more, drained.
const ENOUGH: u64 = 120;

fn replacement(cluster: &Cluster) -> Option<&Claim> {
    cluster.claims().into_iter().find(|claim| claim.meta.name.contains("-replacement-"))
}

fn assert_clean(cluster: &Cluster) {
    for claim in cluster.claims() {
        assert!(claim.status.conditions.get(DISRUPTION_REASON).is_none(), "{claim:#?}");
        assert!(!claim.annotations().contains_key(COMMAND), "{claim:#?}");
        assert!(!claim.annotations().contains_key(REPLACEMENT_FOR), "{claim:#?}");
    }
    assert!(cluster.closed_nodes().is_empty(), "{:?}", cluster.log());
    assert!(cluster.engine.world().memory.commands.is_empty());
}

/// Takes back what made a claim a candidate.
fn keep(cluster: &mut Cluster, claim: &str) {
    cluster.edit(&Key::Claim(claim.into()), |object| {
        let Object::Claim(claim) = object else { unreachable!("a claim's key") };
        claim.spec.annotations.remove(REPLACE);
    });
}

#[test]
fn a_candidate_is_deleted_after_its_replacement_is_up_and_its_pod_comes_there() {
    let mut cluster = Cluster::with_nodes(2, |_| {});
    let candidate = disrupt(&mut cluster, "pod-0", "");
    let mut was_up = false;
    for _ in 0..ENOUGH {
        live(&mut cluster, 1);
        let is_up =
            replacement(&cluster).is_some_and(|it| it.status.conditions.is_true(INITIALIZED));
        was_up |= is_up;
        let is_going = cluster.find_claim(&candidate).is_none_or(|claim| claim.meta.is_deleting());
        assert!(was_up || !is_going, "{:?}", cluster.log());
    }
    assert!(cluster.find_claim(&candidate).is_none(), "{:?}", cluster.log());
    let name = replacement(&cluster).unwrap().meta.name.clone();
    assert_eq!(cluster.claim_under("pod-0-again"), name);
    assert_eq!(cluster.claims().len(), 2, "nothing else was bought: {:?}", cluster.log());
    assert_eq!(cluster.counted("karpenter_voluntary_disruption_decisions_total", "replace"), 1);
    assert_eq!(cluster.counted("karpenter_nodeclaims_created_total", "underutilized"), 1);
    assert_clean(&cluster);
}

#[test]
fn every_candidate_is_recorded_before_anything_is_bought() {
    let mut cluster = Cluster::with_nodes(2, |_| {});
    let candidates = [disrupt(&mut cluster, "pod-0", ""), disrupt(&mut cluster, "pod-1", "")];
    while replacement(&cluster).is_none() {
        cluster.seconds(1);
    }
    for candidate in candidates {
        let claim = cluster.claim(&candidate);
        assert!(claim.annotations().contains_key(COMMAND), "{claim:#?}");
        assert!(claim.status.conditions.is_true(DISRUPTION_REASON), "{claim:#?}");
    }
    assert_eq!(cluster.closed_nodes().len(), 2);
}

#[test]
fn a_replacement_that_cannot_be_launched_rolls_the_command_back() {
    let mut cluster = Cluster::with_nodes(2, |_| {});
    let message = "no such instance".to_owned();
    cluster.launch_fails = Some(Failure::InsufficientCapacity { message });
    let candidate = disrupt(&mut cluster, "pod-0", "");
    // It is created, refused and deleted again within a moment.
    while cluster.ordered_claims().len() < 3 {
        cluster.seconds(1);
    }
    keep(&mut cluster, &candidate);
    cluster.seconds(60);
    assert_eq!(cluster.claims().len(), 2, "{:?}", cluster.log());
    assert_eq!(cluster.count(|kind| matches!(kind, ActionKind::EvictPod { .. })), 0);
    let failed = "karpenter_voluntary_disruption_queue_failures_total";
    assert_eq!(cluster.counted(failed, "replace"), 1);
    assert_clean(&cluster);
}

#[test]
fn a_command_that_no_longer_holds_ends_its_replacement() {
    for seconds in [1, 12, 18] {
        let mut cluster = Cluster::with_nodes(2, |_| {});
        let candidate = disrupt(&mut cluster, "pod-0", "");
        while replacement(&cluster).is_none() {
            cluster.seconds(1);
        }
        cluster.seconds(seconds);
        keep(&mut cluster, &candidate);
        cluster.seconds(120);
        assert_eq!(cluster.claims().len(), 2, "{seconds} s: {:?}", cluster.log());
        assert_eq!(cluster.instances.len(), 2, "{seconds} s: {:?}", cluster.log());
        assert_clean(&cluster);
    }
}

#[test]
fn a_candidate_stays_whose_replacement_is_gone_before_it_could_be_deleted() {
    let mut cluster = Cluster::with_nodes(2, |_| {});
    let candidate = disrupt(&mut cluster, "pod-0", "");
    cluster.refuses = |kind| {
        let is_claim = matches!(kind, ActionKind::DeleteClaim { .. });
        is_claim.then(|| Failure::Unavailable { message: "away".to_owned() })
    };
    let deletes = |kind: &ActionKind| matches!(kind, ActionKind::DeleteClaim { .. });
    while cluster.count(deletes) == 0 {
        cluster.seconds(1);
    }
    let gone = replacement(&cluster).unwrap().meta.name.clone();
    keep(&mut cluster, &candidate);
    cluster.delete(&Key::Claim(gone));
    cluster.settle();
    cluster.refuses = |_| None;
    cluster.seconds(120);
    assert!(!cluster.claim(&candidate).meta.is_deleting(), "{:?}", cluster.log());
    assert_eq!(cluster.count(|kind| matches!(kind, ActionKind::EvictPod { .. })), 0);
    assert_clean(&cluster);
}

#[test]
fn a_node_that_somebody_deletes_meanwhile_stays_closed() {
    let mut cluster = Cluster::with_nodes(2, |_| {});
    disrupt(&mut cluster, "pod-0", "");
    let node = cluster.node_under("pod-0");
    while cluster.closed_nodes().is_empty() {
        cluster.seconds(1);
    }
    // The command is given up, because its candidate goes by itself. That its claim goes too is
    // not stored for a while.
    cluster.refuses = |kind| {
        let is_claim = matches!(kind, ActionKind::DeleteClaim { .. });
        is_claim.then(|| Failure::Unavailable { message: "away".to_owned() })
    };
    cluster.delete(&Key::Node(node.as_str().into()));
    cluster.seconds(60);
    cluster.refuses = |_| None;
    cluster.seconds(120);
    let opens = |kind: &ActionKind| {
        matches!(kind, ActionKind::PatchNode { name, patch, .. }
            if **name == *node && patch.taints_removed.contains(&disrupted()))
    };
    assert_eq!(cluster.count(opens), 0, "{:?}", cluster.log());
    assert!(!cluster.nodes().iter().any(|it| *it.meta.name == *node), "{:?}", cluster.log());
}

#[test]
fn a_replacement_that_never_comes_up_is_waited_for_ten_minutes() {
    let mut cluster = Cluster::with_nodes(2, |_| {});
    let candidate = disrupt(&mut cluster, "pod-0", "");
    while cluster.nodes().len() < 3 {
        cluster.seconds(1);
    }
    // Its node has joined and never becomes ready.
    cluster.boots = false;
    cluster.seconds(9 * 60);
    assert!(replacement(&cluster).is_some(), "{:?}", cluster.log());
    assert!(!cluster.claim(&candidate).meta.is_deleting());
    assert!(!cluster.engine.world().memory.commands.is_empty());
    let failed = "karpenter_voluntary_disruption_queue_failures_total";
    assert_eq!(cluster.counted(failed, "replace"), 0);
    cluster.seconds(60);
    assert_eq!(cluster.counted(failed, "replace"), 1);
    keep(&mut cluster, &candidate);
    cluster.seconds(120);
    assert!(cluster.closed_nodes().is_empty(), "{:?}", cluster.log());
    assert_eq!(cluster.claims().len(), 3, "it may come up yet: {:?}", cluster.log());
    cluster.seconds(4 * 60);
    assert_clean(&cluster);
    assert_eq!(cluster.claims().len(), 2, "{:?}", cluster.log());
}

#[test]
fn a_budget_holds_for_commands_with_replacements() {
    let mut cluster = Cluster::with_nodes(3, |pool| budget(pool, "1"));
    for pod in ["pod-0", "pod-1", "pod-2"] {
        disrupt(&mut cluster, pod, "");
    }
    for _ in 0..200 {
        cluster.seconds(1);
        assert!(cluster.closed_nodes().len() <= 1, "{:?}", cluster.log());
    }
}

#[test]
fn a_command_is_executing_until_its_replacement_is_up() {
    let mut cluster = Cluster::with_nodes(1, |_| {});
    disrupt(&mut cluster, "pod-0", "");
    let state =
        |cluster: &Cluster| cluster.engine.world().memory.commands.iter().next().map(|it| it.state);
    let mut states = Vec::new();
    for _ in 0..ENOUGH {
        live(&mut cluster, 1);
        states.push(state(&cluster));
    }
    states.dedup();
    let all = [
        Some(CommandState::Proposed),
        Some(CommandState::Executing),
        Some(CommandState::Deleting),
        None,
    ];
    assert!(states.ends_with(&all), "{states:?}");
}
