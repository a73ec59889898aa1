//! What the cloud announces about instances: claims that go, people who are messages, and one outcome
//! for every notice.
#![allow(clippy::unwrap_used)]

mod cluster;

use cluster::{Cluster, claim, pod_key, pool};
use kerf_engine::action::ActionKind;
use kerf_engine::event::{Event, Failure, Key, Object};
use kerf_engine::notice::NoticeOutcome::{ClaimsDeleted, EventRecorded, NoClaim, NotInTime};
use kerf_engine::notice::{Notice, NoticeId, NoticeKind, NoticeOutcome};
use kerf_model::labels::well_known::CAPACITY_TYPE;

const DISRUPTED: &str = "karpenter_nodeclaims_disrupted_total";

/// Every kind, with the reason people are messages and whether the claim goes.
const KINDS: [(NoticeKind, &str, bool); 6] = [
    (NoticeKind::SpotInterrupted, "SpotInterrupted", true),
    (NoticeKind::RebalanceRecommendation, "SpotRebalanceRecommendation", false),
    (NoticeKind::InstanceStopped, "InstanceStopping", true),
    (NoticeKind::InstanceTerminated, "InstanceTerminating", true),
    (NoticeKind::ScheduledChange, "InstanceUnhealthy", true),
    (NoticeKind::CapacityReservationInterrupted, "CapacityReservationInstanceInterrupted", true),
];

/// Claims `one` and `two` with nodes that are up, on instances `i-one` and `i-two`.
fn two_nodes() -> Cluster {
    let mut cluster = Cluster::new();
    cluster.store(Object::Pool(pool("pool")));
    for name in ["one", "two"] {
        let mut claim = claim(name);
        claim.meta.uid = format!("i-{name}").into();
        cluster.store(Object::Claim(claim));
    }
    cluster.seconds(60);
    assert_eq!(cluster.nodes().len(), 2);
    cluster
}

fn notice(cluster: &mut Cluster, id: u64, kind: NoticeKind, instances: &[&str]) {
    let instances = instances.iter().map(|instance| (*instance).into()).collect();
    cluster.undelivered.push_back(Event::Noticed(Notice { id: NoticeId(id), kind, instances }));
}

fn outcomes(cluster: &Cluster) -> Vec<(u64, NoticeOutcome)> {
    cluster.settled.iter().map(|settled| (settled.id.0, settled.outcome)).collect()
}

/// Whom an announcement of that reason was shown at.
fn objects_of(cluster: &Cluster, reason: &str) -> Vec<Key> {
    let events = cluster.kubernetes_events.iter().filter(|event| event.reason == reason);
    events.map(|event| event.about.clone()).collect()
}

fn deletions(cluster: &Cluster) -> usize {
    cluster.count(|kind| matches!(kind, ActionKind::DeleteClaim { .. }))
}

#[test]
fn every_kind_but_a_recommendation_deletes_the_claim_of_its_instance_and_no_other() {
    for (kind, reason, is_the_end) in KINDS {
        let mut cluster = two_nodes();
        notice(&mut cluster, 7, kind, &["i-one"]);
        cluster.settle();
        let outcome = if is_the_end { ClaimsDeleted } else { EventRecorded };
        assert_eq!(outcomes(&cluster), [(7, outcome)], "{kind:?}");
        assert_eq!(deletions(&cluster), usize::from(is_the_end), "{kind:?}");
        let node_and_claim = [Key::Claim("one".into()), Key::Node("node-one".into())];
        assert_eq!(objects_of(&cluster, reason), node_and_claim, "{kind:?}");
        let messages = objects_of(&cluster, "TerminatingOnInterruption");
        assert_eq!(messages, if is_the_end { &node_and_claim[..] } else { &[] }, "{kind:?}");
        assert_eq!(cluster.counted(DISRUPTED, kind.label()), u64::from(is_the_end), "{kind:?}");
        cluster.seconds(120);
        assert_eq!(cluster.find_claim("one").is_none(), is_the_end, "{kind:?}");
        assert!(!cluster.claim("two").meta.is_deleting(), "{kind:?}");
    }
}

#[test]
fn a_deletion_is_counted_with_pool_and_capacity_type() {
    let mut cluster = two_nodes();
    notice(&mut cluster, 1, NoticeKind::SpotInterrupted, &["i-one"]);
    cluster.settle();
    let labels = cluster.samples.iter().find_map(|sample| match sample {
        kerf_engine::sample::Sample::Count { metric, labels, by: 1 } if *metric == DISRUPTED => {
            Some(labels.clone())
        }
        _ => None,
    });
    let labels = labels.unwrap();
    let capacity_type = cluster.claim("one").label(CAPACITY_TYPE).unwrap().to_owned();
    for pair in [
        ("reason", "spot_interrupted".to_owned()),
        ("nodepool", "pool".to_owned()),
        ("capacity_type", capacity_type),
    ] {
        assert!(labels.contains(&pair), "{pair:?} in {labels:?}");
    }
}

#[test]
fn a_notice_about_many_instances_waits_for_all_of_ours_and_passes_over_others() {
    let mut cluster = two_nodes();
    cluster.refuses = |kind| match kind {
        ActionKind::DeleteClaim { name, .. } if &**name == "two" => {
            Some(Failure::Unavailable { message: "away".to_owned() })
        }
        _ => None,
    };
    notice(&mut cluster, 1, NoticeKind::ScheduledChange, &["i-one", "i-stranger", "i-two"]);
    cluster.settle();
    assert_eq!(outcomes(&cluster), [], "one deletion is not stored yet");
    assert!(cluster.claim("one").meta.is_deleting());
    cluster.refuses = |_| None;
    cluster.seconds(5);
    assert_eq!(outcomes(&cluster), [(1, ClaimsDeleted)]);
    assert!(cluster.find_claim("two").is_none_or(|claim| claim.meta.is_deleting()));
}

#[test]
fn a_notice_about_nobody_does_nothing() {
    let mut cluster = two_nodes();
    let before = cluster.actions.len();
    let said = cluster.kubernetes_events.len();
    // A part of an id is not the id.
    for (id, instance) in [(1, "i-stranger"), (2, "one"), (3, "i-on"), (4, "")] {
        notice(&mut cluster, id, NoticeKind::SpotInterrupted, &[instance]);
    }
    notice(&mut cluster, 5, NoticeKind::ScheduledChange, &[]);
    cluster.settle();
    let expected: Vec<_> = (1..=5).map(|id| (id, NoClaim)).collect();
    assert_eq!(outcomes(&cluster), expected);
    assert_eq!(cluster.actions.len(), before);
    assert_eq!(cluster.kubernetes_events.len(), said);
}

#[test]
fn duplicates_and_followers_each_get_an_outcome_and_delete_once() {
    let mut cluster = two_nodes();
    notice(&mut cluster, 1, NoticeKind::SpotInterrupted, &["i-one"]);
    notice(&mut cluster, 2, NoticeKind::SpotInterrupted, &["i-one"]);
    cluster.settle();
    // What a dying instance is followed by.
    notice(&mut cluster, 3, NoticeKind::InstanceTerminated, &["i-one"]);
    cluster.settle();
    assert_eq!(outcomes(&cluster), [(1, ClaimsDeleted), (2, ClaimsDeleted), (3, ClaimsDeleted)]);
    assert_eq!(deletions(&cluster), 1);
    assert_eq!(cluster.counted(DISRUPTED, ""), 1);
    assert_eq!(objects_of(&cluster, "SpotInterrupted").len(), 2, "claim and node, once");
    cluster.seconds(120);
    notice(&mut cluster, 4, NoticeKind::InstanceTerminated, &["i-one"]);
    cluster.settle();
    assert_eq!(outcomes(&cluster)[3], (4, NoClaim), "it is gone by now");
}

#[test]
fn a_deletion_that_cannot_be_stored_gives_the_notice_back_and_is_tried_on() {
    let mut cluster = two_nodes();
    cluster.refuses = |kind| {
        let message = "away".to_owned();
        matches!(kind, ActionKind::DeleteClaim { .. }).then_some(Failure::Unavailable { message })
    };
    notice(&mut cluster, 1, NoticeKind::SpotInterrupted, &["i-one"]);
    cluster.seconds(14);
    assert_eq!(outcomes(&cluster), [], "there is still time");
    cluster.seconds(2);
    assert_eq!(outcomes(&cluster), [(1, NotInTime)]);
    assert!(!NotInTime.is_final(), "who brought it must not forget it");
    cluster.refuses = |_| None;
    cluster.seconds(60);
    assert!(cluster.find_claim("one").is_none_or(|claim| claim.meta.is_deleting()));
    notice(&mut cluster, 2, NoticeKind::SpotInterrupted, &["i-one"]);
    cluster.settle();
    let (_, outcome) = outcomes(&cluster)[1];
    assert!(outcome.is_final());
}

#[test]
fn a_notice_heard_before_the_cluster_is_known_waits_for_that() {
    let mut cluster = two_nodes();
    cluster.crash();
    let known = std::mem::take(&mut cluster.undelivered);
    notice(&mut cluster, 1, NoticeKind::SpotInterrupted, &["i-one"]);
    cluster.settle();
    assert_eq!(outcomes(&cluster), [], "nothing is known, which is not the same as nobody");
    cluster.undelivered = known;
    cluster.settle();
    assert_eq!(outcomes(&cluster), [(1, ClaimsDeleted)]);
}

#[test]
fn an_instance_whose_launch_is_not_stored_yet_is_known_by_its_claim() {
    let mut cluster = Cluster::new();
    cluster.store(Object::Pool(pool("pool")));
    // Its status cannot be written for a while.
    cluster.refuses = |kind| {
        let message = "away".to_owned();
        matches!(kind, ActionKind::WriteClaimStatus { .. } | ActionKind::PatchClaim { .. })
            .then_some(Failure::Unavailable { message })
    };
    let mut young = claim("young");
    young.meta.uid = "i-young".into();
    cluster.store(Object::Claim(young));
    cluster.settle();
    assert_eq!(cluster.claim("young").status.provider_id, None);
    notice(&mut cluster, 1, NoticeKind::SpotInterrupted, &["i-young"]);
    cluster.settle();
    assert_eq!(outcomes(&cluster), [(1, ClaimsDeleted)]);
}

#[test]
fn claims_of_another_provider_are_nobodys() {
    let mut cluster = two_nodes();
    cluster.edit(&Key::Claim("one".into()), |object| match object {
        Object::Claim(claim) => claim.spec.node.node_class.kind = "OtherNodeClass".to_owned(),
        _ => unreachable!("a claim's key"),
    });
    notice(&mut cluster, 1, NoticeKind::SpotInterrupted, &["i-one"]);
    cluster.settle();
    assert_eq!((outcomes(&cluster), deletions(&cluster)), (vec![(1, NoClaim)], 0));
}

#[test]
fn a_pod_that_may_not_leave_an_interrupted_node_yet_gets_a_new_one_meanwhile() {
    let mut cluster = Cluster::with_nodes(1, |_| {});
    let instance = cluster.claims()[0].status.provider_id.clone().unwrap();
    let instance = instance.rsplit('/').next().unwrap().to_owned();
    cluster.unevictable.insert("pod-0".to_owned());
    notice(&mut cluster, 1, NoticeKind::SpotInterrupted, &[&instance]);
    cluster.seconds(30);
    let staying = cluster.claims().iter().filter(|claim| !claim.meta.is_deleting()).count();
    assert_eq!(staying, 1, "a claim for its pod: {:?}", cluster.log());
    assert!(cluster.objects.contains_key(&Key::Pod(pod_key("pod-0"))), "which still runs");
}

#[test]
fn more_notices_than_can_be_kept_open_are_given_back_at_once() {
    let mut cluster = two_nodes();
    cluster.refuses = |kind| {
        let message = "away".to_owned();
        matches!(kind, ActionKind::DeleteClaim { .. }).then_some(Failure::Unavailable { message })
    };
    for id in 0..1_001 {
        notice(&mut cluster, id, NoticeKind::SpotInterrupted, &["i-one"]);
    }
    cluster.settle();
    assert_eq!(outcomes(&cluster), [(1_000, NotInTime)]);
    cluster.seconds(60);
    let mut ids: Vec<_> = outcomes(&cluster).iter().map(|(id, _)| *id).collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..=1_000).collect::<Vec<_>>(), "each has exactly one outcome");
}
