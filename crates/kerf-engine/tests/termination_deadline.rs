//! A termination grace period is kept to the second.

#![allow(clippy::unwrap_used)]

mod cluster;

use cluster::{Cluster, attachment, claim, grace, pod, pod_key, pool};
use kerf_engine::action::ActionKind;
use kerf_engine::condition::Status;
use kerf_engine::condition::claim::VOLUMES_DETACHED;
use kerf_engine::event::{Key, Object};
use kerf_engine::observed::{DoNotDisrupt, Pod};
use kerf_engine::time::Span;
use kerf_model::labels::annotation::TERMINATION_TIMESTAMP;
use proptest::prelude::*;

const MINUTE: u64 = 60;

/// A ready node whose claim has a grace period, with these pods.
fn ready(grace_seconds: i64, pods: impl IntoIterator<Item = Pod>) -> Cluster {
    let mut cluster = Cluster::new();
    cluster.store(Object::Pool(pool("pool")));
    let mut claim = claim("one");
    grace(&mut claim, grace_seconds);
    cluster.store(Object::Claim(claim));
    cluster.seconds(30);
    for pod in pods {
        cluster.store(Object::Pod(pod));
    }
    cluster.settle();
    cluster
}

fn with(name: &str, grace_seconds: u64, change: impl FnOnce(&mut Pod)) -> Pod {
    let mut pod = pod(name, "node-one");
    pod.termination_grace = Some(Span::from_seconds(grace_seconds));
    change(&mut pod);
    pod
}

/// Forced deletions: pod, seconds after the claim was deleted, seconds of grace.
fn forced(cluster: &Cluster, since: kerf_engine::time::Time) -> Vec<(String, u64, u64)> {
    let deletions = cluster.actions.iter().filter_map(|(at, action)| match &action.kind {
        ActionKind::DeletePod { pod, grace_seconds, .. } => {
            Some((pod.name.to_string(), at.since(since).seconds(), *grace_seconds))
        }
        _ => None,
    });
    deletions.collect()
}

#[test]
fn the_ten_minute_timeline() {
    let mut cluster = ready(
        600,
        [
            with("precious", 30, |pod| pod.do_not_disrupt = DoNotDisrupt::Always),
            with("slow", 15 * MINUTE, |_| ()),
            with("guarded", 60, |_| ()),
        ],
    );
    cluster.unevictable.insert("guarded".to_owned());
    cluster.store(Object::VolumeAttachment(attachment("va", "node-one", "default/data")));
    let start = cluster.now;
    cluster.delete(&Key::Claim("one".into()));
    cluster.settle();
    assert_eq!(cluster.claim("one").annotations()[TERMINATION_TIMESTAMP], "2025-01-01T00:10:30Z");
    assert!(cluster.has_said("TerminationGracePeriodExpiring"));
    assert_eq!(forced(&cluster, start), [("slow".to_owned(), 0, 600)]);

    cluster.seconds(9 * MINUTE - 1);
    assert_eq!(forced(&cluster, start).len(), 1, "nobody else is touched");
    let asked = cluster
        .count(|kind| matches!(kind, ActionKind::EvictPod { pod, .. } if &*pod.name == "precious"));
    assert_eq!(asked, 0);
    cluster.seconds(1);
    assert_eq!(forced(&cluster, start)[1], ("guarded".to_owned(), 9 * MINUTE, 60));
    cluster.seconds(30);
    assert_eq!(forced(&cluster, start)[2], ("precious".to_owned(), 9 * MINUTE + 30, 30));
    let said: Vec<_> =
        cluster.kubernetes_events.iter().filter(|it| it.reason == "Disrupted").collect();
    assert_eq!(
        said[2].message,
        "Deleting the pod: its node must be gone by 2025-01-01T00:10:30Z; it is given 30 s to \
         end, it asks for 30 s"
    );

    cluster.seconds(29);
    assert_eq!(cluster.instances.len(), 1);
    cluster.seconds(2);
    let volumes = cluster.claim("one").status.conditions.get(VOLUMES_DETACHED).unwrap();
    assert_eq!(
        (volumes.status, volumes.reason.as_str()),
        (Status::False, "TerminationGracePeriodElapsed"),
        "volumes stop holding the node when time is up"
    );
    cluster.seconds(10);
    assert!(cluster.instances.is_empty());
    assert!(cluster.nodes().is_empty());
}

#[test]
fn no_grace_at_all_means_now() {
    let mut cluster = ready(
        0,
        [
            with("precious", 30, |pod| pod.do_not_disrupt = DoNotDisrupt::Always),
            with("critical", 30, |pod| pod.is_critical = true),
        ],
    );
    let start = cluster.now;
    cluster.delete(&Key::Claim("one".into()));
    cluster.settle();
    let mut deletions = forced(&cluster, start);
    deletions.sort();
    assert_eq!(deletions, [("critical".to_owned(), 0, 1), ("precious".to_owned(), 0, 1)]);
    cluster.seconds(20);
    assert!(cluster.instances.is_empty());
}

#[test]
fn a_pod_that_leaves_too_slowly_is_hurried() {
    let mut cluster = ready(300, [with("slow", 10 * MINUTE, |_| ())]);
    cluster.delete(&Key::Pod(pod_key("slow")));
    cluster.seconds(30);
    let start = cluster.now;
    cluster.delete(&Key::Claim("one".into()));
    cluster.settle();
    assert_eq!(forced(&cluster, start), [("slow".to_owned(), 0, 300)]);
    cluster.seconds(120);
    assert_eq!(forced(&cluster, start).len(), 1, "once is enough");
}

#[test]
fn a_deadline_written_by_others_counts() {
    let mut cluster = ready(600, [with("a", 30, |pod| pod.do_not_disrupt = DoNotDisrupt::Always)]);
    cluster.edit(&Key::Claim("one".into()), |object| {
        let Object::Claim(claim) = object else { unreachable!("a claim's key") };
        let soon = "2025-01-01T00:02:00Z".to_owned();
        claim.spec.annotations.insert(TERMINATION_TIMESTAMP.to_owned(), soon);
    });
    let start = cluster.now;
    cluster.delete(&Key::Claim("one".into()));
    cluster.seconds(600);
    assert_eq!(forced(&cluster, start), [("a".to_owned(), 60, 30)]);
}

/// A pod of any kind.
fn any_pod(number: usize) -> impl Strategy<Value = Pod> {
    let protection = prop_oneof![
        Just(DoNotDisrupt::Absent),
        Just(DoNotDisrupt::Always),
        (1u64..900).prop_map(|seconds| DoNotDisrupt::For(Span::from_seconds(seconds))),
        Just(DoNotDisrupt::Unreadable),
    ];
    (protection, 1u64..1_200, any::<bool>()).prop_map(move |(protection, grace, is_critical)| {
        with(&format!("pod-{number}"), grace, |pod| {
            pod.do_not_disrupt = protection;
            pod.is_critical = is_critical;
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// A protected pod is never asked to leave, and never deleted before it must be; and with a
    /// grace period the instance always goes.
    #[test]
    fn protection_holds_until_the_deadline_and_not_longer(
        pods in [any_pod(0), any_pod(1), any_pod(2)],
        grace_seconds in 0i64..900,
    ) {
        let mut cluster = ready(grace_seconds, pods.clone());
        let start = cluster.now;
        let deadline = start + Span::from_seconds(grace_seconds as u64);
        cluster.delete(&Key::Claim("one".into()));
        cluster.seconds(grace_seconds as u64 + 60);
        for (at, action) in &cluster.actions {
            match &action.kind {
                ActionKind::EvictPod { pod, .. } => {
                    let pod = pods.iter().find(|own| own.key == *pod).unwrap();
                    prop_assert!(!pod.is_protected(*at), "{pod:?} asked at {at:?}");
                }
                ActionKind::DeletePod { pod, grace_seconds, .. } => {
                    let pod = pods.iter().find(|own| own.key == *pod).unwrap();
                    let due = deadline - pod.termination_grace.unwrap();
                    prop_assert!(*at >= due, "{pod:?} deleted at {at:?}, due at {due:?}");
                    let gone = *at + Span::from_seconds(*grace_seconds);
                    prop_assert!(gone <= deadline.max(*at + Span::from_seconds(1)));
                }
                _ => {}
            }
        }
        prop_assert!(cluster.instances.is_empty());
        prop_assert!(cluster.find_claim("one").is_none());
    }
}
