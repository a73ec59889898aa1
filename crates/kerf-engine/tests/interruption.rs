//! What follows from a notice besides the end of its claim: capacity in its place, word to the
//! provider, and whatever a rebalance recommendation is to mean.
#![allow(clippy::unwrap_used)]

mod cluster;

use cluster::{Cluster, settings};
use kerf_engine::Settings;
use kerf_engine::action::ActionKind;
use kerf_engine::event::{Event, Failure};
use kerf_engine::notice::{Notice, NoticeId, NoticeKind, NoticeOutcome, RebalancePolicy};
use kerf_engine::time::Span;
use kerf_model::labels::annotation::TERMINATION_TIMESTAMP;
use kerf_model::labels::well_known::INSTANCE_TYPE;
use kerf_model::taint::unschedulable;

const RECOMMENDATION: &str = "SpotRebalanceRecommendation";

/// A notice about the instance of the only claim.
fn notice(cluster: &mut Cluster, kind: NoticeKind) {
    let provider_id = cluster.claims()[0].status.provider_id.clone().unwrap();
    let instances = vec![provider_id.rsplit('/').next().unwrap().into()];
    let notice = Notice { id: NoticeId(1), kind, instances };
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
    for (kind, is_at_once) in
        [(NoticeKind::InstanceImpaired, true), (NoticeKind::ScheduledChange, false)]
    {
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
