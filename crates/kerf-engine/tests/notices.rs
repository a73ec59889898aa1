//! What the cloud announces about instances: claims that go, people who are messages, and one outcome
//! for every notice.
#![allow(clippy::unwrap_used)]

mod cluster;

use cluster::{Cluster, claim, pod_key, pool};
use kerf_engine::action::ActionKind;
use kerf_engine::event::{Event, Failure, Key, Object};
use kerf_engine::notice::NoticeOutcome::{ClaimsDeleted, EventRecorded, Held, NoClaim, NotInTime};
use kerf_engine::notice::{Notice, NoticeId, NoticeKind, NoticeOutcome};
use kerf_model::labels::well_known::CAPACITY_TYPE;

const DISRUPTED: &str = "karpenter_nodeclaims_disrupted_total";

/// Every kind, with the reason people are messages and whether the claim goes.
const KINDS: [(NoticeKind, &str, bool); 9] = [
    (NoticeKind::SpotInterrupted, "SpotInterrupted", true),
    (NoticeKind::RebalanceRecommendation, "SpotRebalanceRecommendation", false),
    (NoticeKind::InstanceStopped, "InstanceStopping", true),
    (NoticeKind::InstanceTerminated, "InstanceTerminating", true),
    (NoticeKind::ScheduledChange, "InstanceUnhealthy", true),
    (NoticeKind::EventStatus, "InstanceUnhealthy", true),
    (NoticeKind::InstanceStatus, "InstanceUnhealthy", true),
    (NoticeKind::SystemStatus, "InstanceUnhealthy", true),
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
    cluster.undelivered.push_back(Event::Noticed(Notice::new(NoticeId(id), kind, instances)));
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

/// Claims `c-00`, `c-01`, … with nodes that are up, on instances `i-00`, `i-01`, ….
fn fleet(size: usize) -> Cluster {
    let mut cluster = Cluster::new();
    cluster.store(Object::Pool(pool("pool")));
    for number in 0..size {
        let mut claim = claim(&format!("c-{number:02}"));
        claim.meta.uid = format!("i-{number:02}").into();
        cluster.store(Object::Claim(claim));
    }
    cluster.seconds(60);
    assert_eq!(cluster.nodes().len(), size);
    cluster
}

#[test]
fn forged_notices_take_a_quarter_of_the_cluster_in_a_minute_and_no_more() {
    let mut cluster = fleet(40);
    for number in 0..40 {
        let instance = format!("i-{number:02}");
        notice(&mut cluster, number, NoticeKind::SpotInterrupted, &[&instance]);
    }
    cluster.settle();
    assert_eq!((deletions(&cluster), cluster.closed_nodes().len()), (10, 10));
    let held = outcomes(&cluster).iter().filter(|(_, outcome)| *outcome == Held).count();
    assert_eq!(held, 30);
    assert!(!Held.is_final(), "who brought it must not forget it");
    assert_eq!(objects_of(&cluster, "InterruptionHeld").len(), 2 * 30, "claims and nodes");
    assert!(cluster.engine.world().memory.notice_breaker.is_open(cluster.now));
    // They come again every twenty seconds.
    cluster.seconds(20);
    notice(&mut cluster, 100, NoticeKind::SpotInterrupted, &["i-39"]);
    cluster.settle();
    assert_eq!((deletions(&cluster), outcomes(&cluster).last()), (10, Some(&(100, Held))));
    cluster.seconds(41);
    notice(&mut cluster, 101, NoticeKind::SpotInterrupted, &["i-39"]);
    cluster.settle();
    assert_eq!(outcomes(&cluster).last(), Some(&(101, ClaimsDeleted)), "the minute is over");
    cluster.seconds(120);
    assert!(!cluster.engine.world().memory.notice_breaker.is_open(cluster.now));
}

#[test]
fn a_notice_about_more_than_may_go_is_carried_out_in_parts() {
    let mut cluster = fleet(40);
    let instances: Vec<String> = (0..16).map(|number| format!("i-{number:02}")).collect();
    let instances: Vec<&str> = instances.iter().map(String::as_str).collect();
    for round in 0..3 {
        notice(&mut cluster, round, NoticeKind::ScheduledChange, &instances);
        cluster.seconds(61);
    }
    let said: Vec<_> = outcomes(&cluster).into_iter().map(|(_, outcome)| outcome).collect();
    assert_eq!(said[0], Held);
    assert!(said[2].is_final(), "{said:?}");
    assert_eq!(deletions(&cluster), 16);
}

#[test]
fn notices_that_repeat_or_follow_one_that_counted_do_not_count_again() {
    let mut cluster = fleet(20);
    for id in 0..30 {
        notice(&mut cluster, id, NoticeKind::SpotInterrupted, &["i-00"]);
    }
    for number in 1..5 {
        let instance = format!("i-{number:02}");
        notice(&mut cluster, 100 + number, NoticeKind::InstanceTerminated, &[&instance]);
    }
    cluster.settle();
    assert!(outcomes(&cluster).iter().all(|(_, outcome)| *outcome == ClaimsDeleted));
    assert_eq!(deletions(&cluster), 5, "five may go, and thirty notices were about one");
}

#[test]
fn with_the_bound_taken_off_everything_announced_goes_at_once() {
    let mut cluster = fleet(40);
    let settings =
        kerf_engine::Settings { interruption_percent_per_minute: 100, ..cluster::settings() };
    cluster.restart_with(settings);
    cluster.settle();
    let instances: Vec<String> = (0..40).map(|number| format!("i-{number:02}")).collect();
    let instances: Vec<&str> = instances.iter().map(String::as_str).collect();
    notice(&mut cluster, 1, NoticeKind::SpotInterrupted, &instances);
    cluster.settle();
    assert_eq!((deletions(&cluster), outcomes(&cluster)), (40, vec![(1, ClaimsDeleted)]));
}
