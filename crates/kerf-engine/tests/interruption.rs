//! What follows from a notice besides the end of its claim: capacity in its place, word to the
//! provider, and whatever a rebalance recommendation is to mean.
#![allow(clippy::unwrap_used)]

mod cluster;

use cluster::{Cluster, settings};
use kerf_engine::Settings;
use kerf_engine::action::{ActionClass, ActionKind};
use kerf_engine::event::{Event, Failure};
use kerf_engine::notice::{Notice, NoticeId, NoticeKind, NoticeOutcome, RebalancePolicy};
use kerf_engine::time::Span;
use kerf_model::labels::annotation::TERMINATION_TIMESTAMP;
use kerf_model::labels::well_known::{
    EXCLUDE_FROM_LOAD_BALANCERS, EXCLUDE_FROM_LOAD_BALANCERS_VALUE, INSTANCE_TYPE,
};
use kerf_model::taint::{disrupted, unschedulable};

const RECOMMENDATION: &str = "SpotRebalanceRecommendation";

/// A notice about the instance of the only claim.
fn notice(cluster: &mut Cluster, kind: NoticeKind) {
    let provider_id = cluster.claims()[0].status.provider_id.clone().unwrap();
    let instances = vec![provider_id.rsplit('/').next().unwrap().into()];
    let notice = Notice::new(NoticeId(1), kind, instances);
    cluster.undelivered.push_back(Event::Noticed(notice));
}

fn claims_ordered(cluster: &Cluster) -> usize {
    cluster.count(|kind| matches!(kind, ActionKind::CreateClaim(_)))
}

fn away() -> Failure {
    Failure::Unavailable { message: "away".to_owned() }
}

#[test]
fn capacity_is_planned_from_the_notice_itself_before_anything_leaves_the_node() {
    let mut cluster = Cluster::with_nodes(1, |_| {});
    assert_eq!(claims_ordered(&cluster), 1);
    // Neither can the claim be deleted nor the node be closed: no object says that it goes.
    cluster.refuses = |kind| {
        matches!(kind, ActionKind::DeleteClaim { .. } | ActionKind::PatchNode { .. }).then(away)
    };
    notice(&mut cluster, NoticeKind::SpotInterrupted);
    cluster.wait(Span::from_millis(1_500));
    assert_eq!(claims_ordered(&cluster), 2, "{:?}", cluster.log());
    assert_eq!(cluster.count(|kind| matches!(kind, ActionKind::EvictPod { .. })), 0);
}

/// What closes nodes, by when it was ordered, with its class.
fn closings(cluster: &Cluster) -> Vec<ActionClass> {
    let closes =
        |kind: &ActionKind| matches!(kind, ActionKind::PatchNode { patch, .. } if patch.closes());
    let closings = cluster.actions.iter().filter(|(_, action)| closes(&action.kind));
    closings.map(|(_, action)| action.class).collect()
}

#[test]
fn a_node_is_closed_by_the_notice_itself_before_its_claim_is_deleted() {
    let mut cluster = Cluster::with_nodes(1, |_| {});
    cluster.refuses = |kind| matches!(kind, ActionKind::DeleteClaim { .. }).then(away);
    notice(&mut cluster, NoticeKind::SpotInterrupted);
    cluster.seconds(10);
    let node = cluster.node();
    assert!(node.taints.contains(&disrupted()), "{:?}", cluster.log());
    assert_eq!(node.labels[EXCLUDE_FROM_LOAD_BALANCERS], EXCLUDE_FROM_LOAD_BALANCERS_VALUE);
    assert!(!node.meta.is_deleting() && !cluster.claims()[0].meta.is_deleting());
    assert_eq!(cluster.count(|kind| matches!(kind, ActionKind::EvictPod { .. })), 0);
    cluster.refuses = |_| None;
    cluster.seconds(120);
    assert_eq!(closings(&cluster), [ActionClass::Closing], "termination finds it done");
    assert!(cluster.nodes().iter().all(|node| !node.taints.contains(&disrupted())), "it went");
}

#[test]
fn nodes_are_closed_before_anything_else_is_done_about_notices() {
    let mut cluster = Cluster::with_nodes(4, |_| {});
    let done = cluster.actions.len();
    let claims = cluster.claims();
    let ids: Vec<_> =
        claims.iter().map(|claim| claim.status.provider_id.clone().unwrap()).collect();
    for (number, provider_id) in (1..).zip(ids) {
        let instances = vec![provider_id.rsplit('/').next().unwrap().into()];
        let (id, kind) = (NoticeId(number), NoticeKind::SpotInterrupted);
        cluster.engine.handle(Event::Noticed(Notice::new(id, kind, instances)), cluster.now);
    }
    let ordered = cluster.decide();
    let names: Vec<_> = ordered.iter().map(|action| action.kind.info().name).collect();
    let (first, rest) = names.split_at(4);
    assert!(first.iter().all(|name| *name == names[0]), "{names:?}");
    assert!(rest.len() >= 4 && !rest.contains(&names[0]), "{names:?}");
    cluster.actions.drain(..done);
    assert_eq!(closings(&cluster), [ActionClass::Closing; 4]);
}

#[test]
fn a_node_that_cannot_be_closed_yet_is_closed_when_it_can() {
    let mut cluster = Cluster::with_nodes(1, |_| {});
    cluster.refuses = |kind| {
        matches!(kind, ActionKind::DeleteClaim { .. } | ActionKind::PatchNode { .. }).then(away)
    };
    notice(&mut cluster, NoticeKind::InstanceStopped);
    cluster.seconds(5);
    assert!(!cluster.node().taints.contains(&disrupted()));
    cluster.refuses = |kind| matches!(kind, ActionKind::DeleteClaim { .. }).then(away);
    cluster.seconds(30);
    assert!(cluster.closed_nodes().len() == 1, "{:?}", cluster.log());
}

#[test]
fn a_node_closed_for_a_notice_that_is_lost_in_a_crash_is_opened_until_it_comes_again() {
    let mut cluster = Cluster::with_nodes(1, |_| {});
    cluster.refuses = |kind| matches!(kind, ActionKind::DeleteClaim { .. }).then(away);
    notice(&mut cluster, NoticeKind::SpotInterrupted);
    cluster.settle();
    assert_eq!(cluster.closed_nodes().len(), 1);
    cluster.crash();
    cluster.seconds(30);
    assert_eq!(cluster.closed_nodes().len(), 0, "{:?}", cluster.log());
    assert!(!cluster.node().labels.contains_key(EXCLUDE_FROM_LOAD_BALANCERS));
    notice(&mut cluster, NoticeKind::SpotInterrupted);
    cluster.settle();
    assert_eq!(cluster.closed_nodes().len(), 1, "{:?}", cluster.log());
}

#[test]
fn a_window_that_a_notice_opened_is_not_held_open_by_the_closing_of_its_node() {
    let mut cluster = Cluster::with_nodes(1, |_| {});
    cluster.unevictable.insert("pod-0".to_owned());
    notice(&mut cluster, NoticeKind::SpotInterrupted);
    cluster.settle();
    let heard = cluster.now;
    cluster.seconds(5);
    let solve = |kind: &ActionKind| matches!(kind, ActionKind::Solve(_));
    let solved = cluster.actions.iter().filter(|(at, _)| *at >= heard);
    let (at, _) = solved.clone().find(|(_, action)| solve(&action.kind)).unwrap();
    assert_eq!(*at, heard + Span::from_seconds(1), "one idle window after the notice");
}

#[test]
fn the_provider_hears_what_is_announced_and_of_which_instance() {
    let mut cluster = Cluster::with_nodes(1, |_| {});
    let instance_type = cluster.claims()[0].label(INSTANCE_TYPE).unwrap().to_owned();
    notice(&mut cluster, NoticeKind::SpotInterrupted);
    cluster.settle();
    let [announced] = &cluster.announced[..] else { panic!("{:?}", cluster.announced) };
    assert_eq!(announced.kind, NoticeKind::SpotInterrupted);
    assert_eq!(announced.labels[INSTANCE_TYPE], instance_type);
}

#[test]
fn a_recommendation_means_what_the_settings_say() {
    use NoticeOutcome::{ClaimsDeleted, Cordoned, EventRecorded, Ignored};
    use RebalancePolicy::{Cordon, Event as Tell, Ignore, Replace};
    for (policy, outcome, is_told, is_closed, goes) in [
        (Ignore, Ignored, false, false, false),
        (Tell, EventRecorded, true, false, false),
        (Cordon, Cordoned, true, true, false),
        (Replace, ClaimsDeleted, true, false, true),
    ] {
        let mut cluster = Cluster::with_nodes(1, |_| {});
        cluster.restart_with(Settings { rebalance: policy, ..settings() });
        cluster.settle();
        notice(&mut cluster, NoticeKind::RebalanceRecommendation);
        cluster.settle();
        let outcomes: Vec<_> = cluster.settled.iter().map(|settled| settled.outcome).collect();
        assert_eq!(outcomes, [outcome], "{policy:?}");
        assert_eq!(cluster.has_said(RECOMMENDATION), is_told, "{policy:?}");
        let closed = cluster.node().taints.contains(&unschedulable());
        assert_eq!(closed, is_closed, "{policy:?}");
        assert_eq!(cluster.claims()[0].meta.is_deleting(), goes, "{policy:?}");
    }
}

#[test]
fn a_node_that_cannot_be_closed_gives_the_recommendation_back() {
    let mut cluster = Cluster::with_nodes(1, |_| {});
    cluster.restart_with(Settings { rebalance: RebalancePolicy::Cordon, ..settings() });
    cluster.settle();
    cluster.refuses = |kind| matches!(kind, ActionKind::PatchNode { .. }).then(away);
    notice(&mut cluster, NoticeKind::RebalanceRecommendation);
    cluster.seconds(16);
    let outcomes: Vec<_> = cluster.settled.iter().map(|settled| settled.outcome).collect();
    assert_eq!(outcomes, [NoticeOutcome::NotInTime]);
}

#[test]
fn pods_on_an_instance_that_does_not_work_are_not_waited_for() {
    for (kind, is_at_once) in [
        (NoticeKind::InstanceStatus, true),
        (NoticeKind::SystemStatus, true),
        (NoticeKind::EventStatus, false),
        (NoticeKind::ScheduledChange, false),
    ] {
        let mut cluster = Cluster::with_nodes(1, |_| {});
        cluster.unevictable.insert("pod-0".to_owned());
        notice(&mut cluster, kind);
        cluster.settle();
        let deadline = cluster.claims()[0].annotations().get(TERMINATION_TIMESTAMP).cloned();
        assert_eq!(deadline.is_some(), is_at_once, "{kind:?}: {deadline:?}");
        cluster.seconds(60);
        let deleted = cluster.count(|kind| matches!(kind, ActionKind::DeletePod { .. }));
        assert_eq!(deleted > 0, is_at_once, "{kind:?}: {:?}", cluster.log());
    }
}
