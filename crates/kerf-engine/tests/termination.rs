//! Nodes are drained in order and nothing is left behind.

#![allow(clippy::unwrap_used)]

mod cluster;

use std::sync::Arc;

use cluster::{Cluster, attachment, claim, pod, pod_key, pool};
use kerf_engine::action::ActionKind;
use kerf_engine::condition::Status;
use kerf_engine::condition::claim::{DRAINED, INSTANCE_TERMINATING, VOLUMES_DETACHED};
use kerf_engine::event::{Key, Object};
use kerf_engine::observed::{DoNotDisrupt, Pod, PodOwner};
use kerf_engine::time::{Span, Time};
use kerf_model::labels::well_known::{
    EXCLUDE_FROM_LOAD_BALANCERS, EXCLUDE_FROM_LOAD_BALANCERS_VALUE, TERMINATION_FINALIZER,
};
use kerf_model::pod::{PodShape, PodVolume};
use kerf_model::taint::{Toleration, disrupted};

/// A ready node with these pods.
fn ready(pods: impl IntoIterator<Item = Pod>) -> Cluster {
    let mut cluster = Cluster::new();
    cluster.store(Object::Pool(pool("pool")));
    cluster.store(Object::Claim(claim("one")));
    cluster.seconds(30);
    for pod in pods {
        cluster.store(Object::Pod(pod));
    }
    cluster.settle();
    cluster
}

fn with(name: &str, change: impl FnOnce(&mut Pod)) -> Pod {
    let mut pod = pod(name, "node-one");
    change(&mut pod);
    pod
}

fn claim_key() -> Key {
    Key::Claim("one".into())
}

fn node_key() -> Key {
    Key::Node("node-one".into())
}

/// When each pod was first asked to leave, seconds after `start`.
fn evictions(cluster: &Cluster, start: Time) -> Vec<(String, u64)> {
    let mut asked: Vec<(String, u64)> = Vec::new();
    for (at, action) in &cluster.actions {
        if let ActionKind::EvictPod { pod, .. } = &action.kind
            && !asked.iter().any(|(name, _)| **name == *pod.name)
        {
            asked.push((pod.name.to_string(), at.since(start).seconds()));
        }
    }
    asked
}

fn is_gone(cluster: &Cluster) -> bool {
    cluster.find_claim("one").is_none()
        && cluster.nodes().is_empty()
        && cluster.instances.is_empty()
}

#[test]
fn pods_leave_tier_by_tier() {
    let quick = |pod: &mut Pod| pod.termination_grace = Some(Span::from_seconds(10));
    let mut cluster = ready([
        with("critical-daemon", |pod| {
            quick(pod);
            pod.is_critical = true;
            pod.owner = PodOwner::DaemonSet;
        }),
        with("critical", |pod| {
            quick(pod);
            pod.is_critical = true;
        }),
        with("daemon", |pod| {
            quick(pod);
            pod.owner = PodOwner::DaemonSet;
        }),
        with("ordinary-1", quick),
        with("ordinary-2", |pod| pod.termination_grace = Some(Span::from_seconds(20))),
    ]);
    let start = cluster.now;
    cluster.delete(&claim_key());
    cluster.seconds(120);
    let expected = [
        ("ordinary-1", 0),
        ("ordinary-2", 0),
        ("daemon", 20),
        ("critical", 30),
        ("critical-daemon", 40),
    ];
    let expected: Vec<_> = expected.map(|(name, at)| (name.to_owned(), at)).into();
    assert_eq!(evictions(&cluster, start), expected);
    assert!(is_gone(&cluster));
    let evictions = cluster.count(|kind| matches!(kind, ActionKind::EvictPod { .. }));
    assert_eq!(evictions, 5, "each pod is asked once");
    assert_eq!(cluster.counted("karpenter_pods_eviction_requests_total", "200"), 5);
    assert_eq!(cluster.counted("karpenter_pods_drained_total", "Forceful Termination"), 5);
    assert!(cluster.has_said("Evicted"));
}

#[test]
fn a_node_is_closed_before_its_pods_are_asked_to_leave() {
    let mut cluster = ready([with("a", |_| ())]);
    cluster.delete(&node_key());
    cluster.seconds(1);
    let node = cluster.node();
    assert!(node.taints.contains(&disrupted()));
    assert_eq!(node.labels[EXCLUDE_FROM_LOAD_BALANCERS], EXCLUDE_FROM_LOAD_BALANCERS_VALUE);
    assert!(cluster.claim("one").meta.is_deleting(), "the claim goes with its node");
    let context = cluster.log();
    let at = |name| context.iter().rposition(|kind| *kind == name).unwrap();
    assert!(at("patch node") < at("evict pod"), "{context:?}");
    assert!(cluster.has_said("FailedDraining"), "people can see what is waited for");
}

#[test]
fn an_empty_node_waits_five_seconds_before_its_instance_ends() {
    let mut cluster = ready([]);
    cluster.delete(&claim_key());
    cluster.seconds(4);
    let drained = cluster.claim("one").status.conditions.get(DRAINED).unwrap();
    assert_eq!((drained.status, drained.reason.as_str()), (Status::Unknown, "Draining"));
    assert_eq!(cluster.instances.len(), 1);
    cluster.seconds(2);
    let conditions = &cluster.claim("one").status.conditions;
    assert!(conditions.is_true(DRAINED));
    assert!(conditions.is_true(VOLUMES_DETACHED));
    assert!(conditions.is_true(INSTANCE_TERMINATING));
    let asked =
        |cluster: &Cluster| cluster.count(|kind| matches!(kind, ActionKind::Terminate { .. }));
    assert_eq!(asked(&cluster), 1);
    cluster.seconds(3);
    assert_eq!(asked(&cluster), 1, "the cloud is asked every five seconds, not more often");
    cluster.seconds(10);
    assert!(is_gone(&cluster));
    assert_eq!(asked(&cluster), 2);
}

#[test]
fn pods_that_stay_to_the_end_are_not_asked_and_not_waited_for() {
    let stays = |pod: &mut Pod| {
        let tolerations = vec![Toleration::of_everything()];
        pod.shape = Arc::new(PodShape { tolerations, ..PodShape::default() });
    };
    let mut cluster =
        ready([with("stays", stays), with("mirror", |pod| pod.owner = PodOwner::Node)]);
    cluster.delete(&claim_key());
    cluster.seconds(30);
    assert!(is_gone(&cluster));
    assert_eq!(cluster.count(|kind| matches!(kind, ActionKind::EvictPod { .. })), 0);
}

#[test]
fn a_protected_pod_holds_its_node_as_long_as_it_is_there() {
    let mut cluster = ready([with("precious", |pod| pod.do_not_disrupt = DoNotDisrupt::Always)]);
    cluster.delete(&claim_key());
    cluster.seconds(86_400);
    assert_eq!(cluster.count(|kind| matches!(kind, ActionKind::EvictPod { .. })), 0);
    assert_eq!(cluster.node().finalizers, [TERMINATION_FINALIZER]);
    cluster.delete(&Key::Pod(pod_key("precious")));
    cluster.seconds(60);
    assert!(is_gone(&cluster));
}

#[test]
fn protection_for_a_time_ends_with_it() {
    let hour = Span::from_minutes(60);
    let mut cluster = ready([
        with("timed", |pod| pod.do_not_disrupt = DoNotDisrupt::For(hour)),
        with("unreadable", |pod| pod.do_not_disrupt = DoNotDisrupt::Unreadable),
    ]);
    cluster.delete(&claim_key());
    cluster.seconds(1);
    let asked: Vec<_> = evictions(&cluster, cluster::START);
    assert_eq!(asked, [("unreadable".to_owned(), 30)]);
    assert!(cluster.has_said("InvalidDoNotDisruptAnnotation"));
    assert!(cluster.has_said("DoNotDisruptUntil"));
    cluster.seconds(3_600);
    let asked: Vec<_> = evictions(&cluster, cluster::START);
    assert_eq!(asked[1], ("timed".to_owned(), 3_600), "an hour after it started");
    assert!(cluster.has_said("DoNotDisruptGracePeriodElapsed"));
}

#[test]
fn a_budget_that_says_no_is_asked_less_and_less_often() {
    let mut cluster = ready([with("guarded", |_| ())]);
    cluster.unevictable.insert("guarded".to_owned());
    cluster.delete(&claim_key());
    cluster.seconds(3_600);
    // 100 ms doubling to 10 s: 7 tries in the first 13 s, then six a minute.
    let asked = cluster.count(|kind| matches!(kind, ActionKind::EvictPod { .. }));
    assert!((300..=400).contains(&asked), "{asked}");
    assert_eq!(cluster.counted("karpenter_pods_eviction_requests_total", "429"), asked as u64);
    let said =
        cluster.kubernetes_events.iter().filter(|event| event.reason == "FailedDraining").count();
    assert!(said <= 2 * 31, "said every two minutes, not with every try: {said}");
    cluster.unevictable.clear();
    cluster.seconds(60);
    assert!(is_gone(&cluster));
}

#[test]
fn a_pod_that_never_ends_is_given_up_a_minute_after_its_time() {
    let mut cluster = ready([with("zombie", |_| ())]);
    cluster.immortal.insert("zombie".to_owned());
    cluster.delete(&claim_key());
    cluster.seconds(90);
    assert_eq!(cluster.instances.len(), 1, "30 s of grace and a minute");
    cluster.seconds(15);
    assert!(cluster.instances.is_empty());
    assert!(cluster.find_claim("one").is_none());
}

fn volume(claim: &str) -> PodVolume {
    PodVolume { claim: claim.to_owned(), driver: None, reachable_from: Vec::new() }
}

#[test]
fn volumes_of_a_pod_that_is_given_up_hold_nothing_up() {
    let mut cluster = ready([with("zombie", |pod| {
        let volumes = vec![volume("default/data")];
        pod.shape = Arc::new(PodShape { volumes, ..PodShape::default() });
    })]);
    cluster.immortal.insert("zombie".to_owned());
    cluster.store(Object::VolumeAttachment(attachment("va-1", "node-one", "default/data")));
    cluster.edit_node(|node| node.is_ready = false);
    cluster.delete(&claim_key());
    cluster.seconds(90);
    assert_eq!(cluster.instances.len(), 1, "30 s of grace and a minute");
    cluster.seconds(15);
    assert!(cluster.instances.is_empty(), "its kubelet is dead: nobody detaches the volume");
    assert!(cluster.find_claim("one").is_none());
}

#[test]
fn volumes_are_waited_for_but_not_those_that_stay() {
    let mut cluster = ready([with("stays", |pod| {
        let tolerations = vec![Toleration::of_everything()];
        let volumes = vec![volume("default/kept")];
        pod.shape = Arc::new(PodShape { tolerations, volumes, ..PodShape::default() });
    })]);
    cluster.store(Object::VolumeAttachment(attachment("va-1", "node-one", "default/data")));
    cluster.store(Object::VolumeAttachment(attachment("va-2", "node-one", "default/kept")));
    let mut foreign = attachment("va-3", "node-one", "");
    foreign.volume_claim = None;
    cluster.store(Object::VolumeAttachment(foreign));
    cluster.delete(&claim_key());
    cluster.seconds(600);
    assert_eq!(cluster.instances.len(), 1);
    let waiting = cluster.claim("one").status.conditions.get(VOLUMES_DETACHED).unwrap();
    assert_eq!(
        (waiting.status, waiting.reason.as_str()),
        (Status::Unknown, "AwaitingVolumeDetachment")
    );
    let said =
        cluster.kubernetes_events.iter().find(|event| event.reason == "AwaitingVolumeDetachment");
    let said = said.unwrap();
    assert!(said.message.contains("va-1") && !said.message.contains("va-2"), "{}", said.message);
    cluster.remove(&Key::VolumeAttachment("va-1".into()));
    cluster.seconds(20);
    assert!(is_gone(&cluster));
}

#[test]
fn a_silent_node_whose_instance_is_gone_is_not_drained() {
    let mut cluster = ready([with("a", |_| ())]);
    cluster.unevictable.insert("a".to_owned());
    cluster.instances.clear();
    cluster.edit_node(|node| node.is_ready = false);
    cluster.delete(&node_key());
    cluster.seconds(30);
    assert!(cluster.nodes().is_empty(), "{:#?}", cluster.nodes());
    assert!(cluster.find_claim("one").is_none());
}

#[test]
fn a_node_whose_claim_is_lost_is_drained_and_ended_all_the_same() {
    let mut cluster = ready([with("a", |_| ())]);
    let orphan = cluster.claim("one").clone();
    cluster.edit(&claim_key(), |object| match object {
        Object::Claim(claim) => claim.finalizers.clear(),
        _ => unreachable!("a claim's key"),
    });
    cluster.delete(&claim_key());
    cluster.settle();
    assert!(cluster.find_claim("one").is_none());
    cluster.delete(&node_key());
    cluster.seconds(120);
    assert!(cluster.nodes().is_empty());
    assert!(cluster.instances.is_empty(), "the instance of {} is ended", orphan.meta.name);
    let evictions = cluster.count(|kind| matches!(kind, ActionKind::EvictPod { .. }));
    assert_eq!(evictions, 1);
    assert!(cluster.engine.world().memory.instance_gone.is_empty(), "nothing is remembered");
}

#[test]
fn nodes_of_others_are_never_touched() {
    let mut cluster = Cluster::new();
    let mut node = cluster::booting_node(&claim("one"), &"other://1".into(), cluster.now);
    node.finalizers.push("someone/else".to_owned());
    cluster.store(Object::Node(node));
    cluster.store(Object::Pod(with("a", |_| ())));
    cluster.delete(&node_key());
    cluster.seconds(600);
    let others = |kind: &ActionKind| !matches!(kind, ActionKind::ListInstances);
    assert_eq!(cluster.count(others), 0, "{:?}", cluster.log());
}

#[test]
fn every_node_on_the_instance_is_drained() {
    let mut cluster = ready([with("a", |_| ())]);
    let mut twin = cluster.node().clone();
    twin.meta.name = "node-twin".into();
    twin.meta.uid = "node-twin-uid".into();
    cluster.store(Object::Node(twin));
    cluster.store(Object::Pod(pod("b", "node-twin")));
    cluster.delete(&claim_key());
    cluster.seconds(120);
    assert!(is_gone(&cluster), "{:?}", cluster.log());
    assert_eq!(cluster.count(|kind| matches!(kind, ActionKind::EvictPod { .. })), 2);
}
