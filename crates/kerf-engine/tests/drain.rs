//! A termination handler drains nodes in a cluster without CRDs, claims or finalizers.

#![allow(clippy::unwrap_used)]

mod cluster;

use std::sync::Arc;

use cluster::{Cluster, START, claim, pod};
use kerf_engine::action::ActionKind;
use kerf_engine::event::{Event, Key, Kind, Object};
use kerf_engine::memory::{Closing, DrainReason};
use kerf_engine::notice::NoticeOutcome::{
    Blocked, Drained, NoNode, NotInTime, NotReady, Opened, Ready,
};
use kerf_engine::notice::{Handling, Notice, NoticeId, NoticeKind, NoticeOutcome};
use kerf_engine::observed::{DoNotDisrupt, Node, Pod, PodOwner};
use kerf_engine::time::{Span, Time};
use kerf_engine::{BlockingPods, DrainSettings, Engine, Marks, Role, Settings};
use kerf_model::pod::PodShape;
use kerf_model::taint::{Taint, TaintEffect, Toleration, unschedulable};

const SPOT: NoticeKind = NoticeKind::SpotInterrupted;
const STOPPED: NoticeKind = NoticeKind::InstanceStopped;

fn handler(drain: DrainSettings) -> Settings {
    Settings { role: Role::TerminationHandler, drain, ..Settings::default() }
}

/// Nodes `node-a`, `node-b`, … on instances `i-a`, `i-b`, …, as a node group makes them.
fn node_group(names: &[&str], drain: DrainSettings) -> Cluster {
    let mut cluster = Cluster::without_crds(handler(drain));
    for name in names {
        let mut node =
            cluster::booting_node(&claim(name), &format!("aws:///zone-a/i-{name}").into(), START);
        node.taints.clear();
        node.is_ready = true;
        cluster.store(Object::Node(node));
    }
    cluster.settle();
    cluster
}

/// A pod that takes so many seconds to end.
fn on(cluster: &mut Cluster, node: &str, name: &str, change: impl FnOnce(&mut Pod)) {
    let mut pod = pod(name, node);
    pod.termination_grace = Some(Span::from_seconds(10));
    change(&mut pod);
    cluster.store(Object::Pod(pod));
}

fn notice(cluster: &mut Cluster, id: u64, kind: NoticeKind, instances: &[&str]) {
    let instances = instances.iter().map(|instance| (*instance).into()).collect();
    cluster.undelivered.push_back(Event::Noticed(Notice::new(NoticeId(id), kind, instances)));
}

fn outcomes(cluster: &Cluster) -> Vec<(u64, NoticeOutcome)> {
    cluster.settled.iter().map(|settled| (settled.id.0, settled.outcome)).collect()
}

fn node<'a>(cluster: &'a Cluster, name: &str) -> &'a Node {
    cluster.nodes().into_iter().find(|node| *node.meta.name == *name).unwrap()
}

/// The pods that were evicted, in the order of the actions.
fn evicted(cluster: &Cluster) -> Vec<&str> {
    let evictions = cluster.actions.iter().filter_map(|(_, action)| match &action.kind {
        ActionKind::EvictPod { pod, .. } => Some(&*pod.name),
        _ => None,
    });
    evictions.collect()
}

/// Forced deletions: pod, seconds after `since`, seconds of grace.
fn forced(cluster: &Cluster, since: Time) -> Vec<(&str, u64, u64)> {
    let deletions = cluster.actions.iter().filter_map(|(at, action)| match &action.kind {
        ActionKind::DeletePod { pod, grace_seconds, .. } => {
            Some((&*pod.name, at.since(since).seconds(), *grace_seconds))
        }
        _ => None,
    });
    deletions.collect()
}

#[test]
fn a_role_decides_once_the_kinds_it_reads_are_listed() {
    let mut handler = Engine::new(handler(DrainSettings::default()));
    assert!(!handler.world().is_complete());
    handler.handle(Event::Listed(Kind::Pod), START);
    assert!(!handler.world().is_complete());
    handler.handle(Event::Listed(Kind::Node), START);
    assert!(handler.world().is_complete());
    let mut controller = Engine::new(Settings::default());
    for kind in [Kind::Pod, Kind::Node] {
        controller.handle(Event::Listed(kind), START);
    }
    assert!(!controller.world().is_complete());
}

#[test]
fn a_node_without_a_claim_is_cordoned_drained_and_reported() {
    let mut cluster = node_group(&["a", "b"], DrainSettings::default());
    on(&mut cluster, "node-a", "web", |_| ());
    on(&mut cluster, "node-a", "agent", |pod| pod.owner = PodOwner::DaemonSet);
    on(&mut cluster, "node-a", "mirror", |pod| pod.owner = PodOwner::Node);
    on(&mut cluster, "node-a", "tolerant", |pod| {
        let tolerations = vec![Toleration::of_everything()];
        pod.shape = Arc::new(PodShape { tolerations, ..PodShape::default() });
    });
    on(&mut cluster, "node-b", "other", |_| ());
    notice(&mut cluster, 1, SPOT, &["i-a"]);
    cluster.seconds(5);
    assert!(node(&cluster, "node-a").taints.contains(&unschedulable()));
    assert_eq!(evicted(&cluster), ["tolerant", "web"], "as kubectl drain does");
    assert_eq!(outcomes(&cluster), [], "its pods are still there");
    cluster.seconds(6);
    assert_eq!(outcomes(&cluster), [(1, Drained)]);
    assert_eq!(cluster.log(), ["patch node", "evict pod", "list pods of node"]);
    assert_eq!(node(&cluster, "node-a").finalizers, Vec::<String>::new());
    assert!(node(&cluster, "node-b").taints.is_empty());
    assert!(cluster.has_said("SpotInterrupted"));
    assert!(cluster.has_said("Evicted"));
}

#[test]
fn an_empty_node_is_watched_for_five_seconds_before_it_counts_as_drained() {
    let mut cluster = node_group(&["a"], DrainSettings::default());
    notice(&mut cluster, 1, SPOT, &["i-a"]);
    cluster.seconds(4);
    on(&mut cluster, "node-a", "late", |_| ());
    cluster.seconds(2);
    assert_eq!((evicted(&cluster), outcomes(&cluster)), (vec!["late"], vec![]));
    cluster.seconds(10);
    assert_eq!(outcomes(&cluster), [(1, Drained)]);
}

#[test]
fn a_taint_of_choice_closes_the_node_and_says_who_stays() {
    let taint = Taint::new("example.com/going", "soon", TaintEffect::NoSchedule);
    let closing = Closing::Taint(taint.clone());
    let mut cluster = node_group(&["a"], DrainSettings { closing, ..DrainSettings::default() });
    on(&mut cluster, "node-a", "agent", |pod| pod.owner = PodOwner::DaemonSet);
    on(&mut cluster, "node-a", "tolerant", |pod| {
        let tolerations = vec![Toleration::of_everything()];
        pod.shape = Arc::new(PodShape { tolerations, ..PodShape::default() });
    });
    notice(&mut cluster, 1, STOPPED, &["i-a"]);
    cluster.seconds(12);
    assert_eq!(node(&cluster, "node-a").taints, [taint]);
    assert_eq!(evicted(&cluster), ["agent"]);
    assert_eq!(outcomes(&cluster), [(1, Drained)]);
}

#[test]
fn pods_leave_tier_by_tier_without_a_claim_too() {
    let mut cluster = node_group(&["a"], DrainSettings::default());
    on(&mut cluster, "node-a", "critical", |pod| pod.is_critical = true);
    on(&mut cluster, "node-a", "ordinary", |_| ());
    notice(&mut cluster, 1, STOPPED, &["i-a"]);
    cluster.seconds(9);
    assert_eq!(evicted(&cluster), ["ordinary"]);
    cluster.seconds(20);
    assert_eq!(evicted(&cluster), ["ordinary", "critical"]);
}

#[test]
fn several_reasons_are_one_drain_and_each_is_completed() {
    let mut cluster = node_group(&["a"], DrainSettings::default());
    on(&mut cluster, "node-a", "web", |_| ());
    notice(&mut cluster, 1, SPOT, &["i-a"]);
    cluster.seconds(3);
    notice(&mut cluster, 2, STOPPED, &["i-a"]);
    notice(&mut cluster, 3, SPOT, &["i-a"]);
    cluster.seconds(12);
    assert_eq!(outcomes(&cluster), [(1, Drained), (2, Drained), (3, Drained)]);
    assert_eq!(evicted(&cluster), ["web"]);
    assert_eq!(cluster.count(|kind| matches!(kind, ActionKind::PatchNode { .. })), 1);
    let drains = &cluster.engine.world().memory.drains;
    let reasons: Vec<_> = drains["node-a"].requests.keys().copied().collect();
    assert_eq!(reasons, [DrainReason::Notice(SPOT), DrainReason::Notice(STOPPED)]);
    notice(&mut cluster, 4, SPOT, &["i-a"]);
    cluster.settle();
    assert_eq!(outcomes(&cluster)[3], (4, Drained), "known to be drained");
    cluster.remove(&Key::Node("node-a".into()));
    cluster.settle();
    assert!(cluster.engine.world().memory.drains.is_empty(), "nothing is remembered");
}

#[test]
fn a_drain_that_takes_long_is_given_back_and_goes_on() {
    let mut cluster = node_group(&["a"], DrainSettings::default());
    on(&mut cluster, "node-a", "slow", |pod| {
        pod.termination_grace = Some(Span::from_seconds(40));
    });
    notice(&mut cluster, 1, SPOT, &["i-a"]);
    cluster.seconds(20);
    assert_eq!(outcomes(&cluster), [(1, NotInTime)], "the queue shows the message again");
    notice(&mut cluster, 2, SPOT, &["i-a"]);
    cluster.seconds(14);
    assert_eq!(outcomes(&cluster).len(), 1);
    notice(&mut cluster, 3, SPOT, &["i-a"]);
    cluster.seconds(7);
    assert_eq!(outcomes(&cluster)[1..], [(2, NotInTime), (3, Drained)]);
    assert_eq!(evicted(&cluster), ["slow"], "asked once");
}

#[test]
fn a_restart_goes_on_when_the_notice_comes_again() {
    let mut cluster = node_group(&["a"], DrainSettings::default());
    on(&mut cluster, "node-a", "web", |_| ());
    notice(&mut cluster, 1, SPOT, &["i-a"]);
    cluster.seconds(2);
    cluster.restart_with(handler(DrainSettings::default()));
    cluster.seconds(2);
    assert_eq!(outcomes(&cluster), []);
    notice(&mut cluster, 2, SPOT, &["i-a"]);
    cluster.seconds(14);
    assert_eq!(outcomes(&cluster), [(2, Drained)]);
    assert_eq!(cluster.count(|kind| matches!(kind, ActionKind::PatchNode { .. })), 1);
}

#[test]
fn pods_are_deleted_before_the_instance_goes_only_where_that_is_wanted() {
    for forces_pods in [true, false] {
        let closing = Closing::Cordon;
        let mut cluster =
            node_group(&["a"], DrainSettings { closing, forces_pods, ..DrainSettings::default() });
        on(&mut cluster, "node-a", "guarded", |pod| {
            pod.termination_grace = Some(Span::from_seconds(30));
        });
        on(&mut cluster, "node-a", "precious", |pod| pod.do_not_disrupt = DoNotDisrupt::Always);
        cluster.unevictable.insert("guarded".to_owned());
        let start = cluster.now;
        notice(&mut cluster, 1, SPOT, &["i-a"]);
        cluster.seconds(130);
        let expected = [("guarded", 90, 30), ("precious", 110, 10)];
        let expected = if forces_pods { &expected[..] } else { &[] };
        assert_eq!(forced(&cluster, start), expected);
    }
}

#[test]
fn who_dies_first_is_drained_first() {
    let mut cluster = node_group(&["a", "b", "c"], DrainSettings::default());
    for name in ["a", "b", "c"] {
        on(&mut cluster, &format!("node-{name}"), &format!("pod-{name}"), |_| ());
    }
    notice(&mut cluster, 1, STOPPED, &["i-a"]);
    notice(&mut cluster, 2, SPOT, &["i-c"]);
    cluster.deliver();
    let closed: Vec<_> = cluster.decide();
    let names: Vec<_> = closed.iter().map(|action| action.kind.subject()).collect();
    assert_eq!(
        names,
        ["node-c", "node-a"].map(|name| kerf_engine::action::Subject::Node(name.into()))
    );
    closed.into_iter().for_each(|action| cluster.carry_out(action));
    cluster.settle();
    assert_eq!(evicted(&cluster), ["pod-c", "pod-a"]);
}

#[test]
fn a_notice_about_no_node_of_the_cluster_has_its_outcome() {
    let mut cluster = node_group(&["a"], DrainSettings::default());
    notice(&mut cluster, 1, SPOT, &["i-elsewhere"]);
    cluster.settle();
    assert_eq!((outcomes(&cluster), cluster.actions.len()), (vec![(1, NoNode)], 0));
}

#[test]
fn a_node_made_anew_under_the_same_name_is_not_drained() {
    let mut cluster = node_group(&["a"], DrainSettings::default());
    notice(&mut cluster, 1, SPOT, &["i-a"]);
    cluster.seconds(1);
    let mut anew = node(&cluster, "node-a").clone();
    anew.meta.uid = "another-uid".into();
    anew.taints.clear();
    cluster.store(Object::Node(anew));
    on(&mut cluster, "node-a", "web", |_| ());
    cluster.seconds(60);
    assert_eq!(evicted(&cluster), Vec::<&str>::new());
    assert_eq!(outcomes(&cluster), [(1, Drained)], "the node it was about is gone");
}

#[test]
fn what_other_roles_do_is_left_alone() {
    let mut cluster = node_group(&["a"], DrainSettings::default());
    cluster.store(Object::Pod(cluster::waiting_pod("waiting", "1", START)));
    cluster.edit_node(|node| node.finalizers.push("karpenter.sh/termination".to_owned()));
    cluster.delete(&Key::Node("node-a".into()));
    cluster.seconds(600);
    assert_eq!(cluster.actions.len(), 0, "{:?}", cluster.log());
}

/// A notice that a termination handler says more about.
fn handled(cluster: &mut Cluster, id: u64, kind: NoticeKind, instance: &str, handling: Handling) {
    let notice = Notice { handling, ..Notice::new(NoticeId(id), kind, vec![instance.into()]) };
    cluster.undelivered.push_back(Event::Noticed(notice));
}

#[test]
fn a_node_is_tainted_with_the_write_that_cordons_it_unless_it_has_the_key() {
    let mut cluster = node_group(&["a"], DrainSettings::default());
    let taint = |value| Taint::new("handler/spot", value, TaintEffect::NoSchedule);
    let tainted = |value| Handling { taints: vec![taint(value)], ..Handling::default() };
    handled(&mut cluster, 1, SPOT, "i-a", tainted("first"));
    handled(&mut cluster, 2, STOPPED, "i-a", tainted("second"));
    cluster.seconds(12);
    assert_eq!(node(&cluster, "node-a").taints, [taint("first"), unschedulable()]);
    assert_eq!(outcomes(&cluster), [(1, Drained), (2, Drained)]);
    assert_eq!(cluster.log(), ["patch node", "list pods of node"]);
}

#[test]
fn a_node_that_is_only_cordoned_keeps_its_pods_and_is_reported_at_once() {
    let mut cluster = node_group(&["a"], DrainSettings::default());
    on(&mut cluster, "node-a", "web", |_| ());
    let cordon = Handling { cordons_only: true, ..Handling::default() };
    handled(&mut cluster, 1, NoticeKind::RebalanceRecommendation, "i-a", cordon);
    cluster.seconds(2);
    assert!(node(&cluster, "node-a").taints.contains(&unschedulable()));
    assert_eq!((evicted(&cluster), outcomes(&cluster)), (vec![], vec![(1, Drained)]));
    notice(&mut cluster, 2, SPOT, &["i-a"]);
    cluster.seconds(20);
    assert_eq!(evicted(&cluster), ["web"], "what follows is a drain all the same");
    assert_eq!(outcomes(&cluster), [(1, Drained), (2, Drained)]);
}

#[test]
fn the_handler_itself_stays_and_protected_pods_leave_where_that_is_set() {
    let own = pod("handler", "node-a").key;
    let drain =
        DrainSettings { own_pod: Some(own), evicts_protected: true, ..DrainSettings::default() };
    let mut cluster = node_group(&["a"], drain);
    on(&mut cluster, "node-a", "handler", |_| ());
    on(&mut cluster, "node-a", "protected", |pod| pod.do_not_disrupt = DoNotDisrupt::Always);
    notice(&mut cluster, 1, SPOT, &["i-a"]);
    cluster.seconds(14);
    assert_eq!(evicted(&cluster), ["protected"]);
    assert_eq!(outcomes(&cluster), [(1, Drained)]);
}

#[test]
fn a_drain_has_the_time_that_is_set_before_its_notice_has_to_come_again() {
    let time_out = Some(Span::from_seconds(120));
    let mut cluster = node_group(&["a"], DrainSettings { time_out, ..DrainSettings::default() });
    on(&mut cluster, "node-a", "slow", |pod| pod.termination_grace = Some(Span::from_seconds(100)));
    notice(&mut cluster, 1, SPOT, &["i-a"]);
    cluster.seconds(99);
    assert_eq!(outcomes(&cluster), []);
    cluster.seconds(5);
    assert_eq!(outcomes(&cluster), [(1, Drained)]);
}

#[test]
fn a_second_event_of_a_drained_node_has_its_outcome_at_once() {
    let mut cluster = node_group(&["a"], DrainSettings::default());
    on(&mut cluster, "node-a", "web", |_| ());
    notice(&mut cluster, 1, SPOT, &["i-a"]);
    cluster.seconds(14);
    notice(&mut cluster, 2, NoticeKind::LifecycleTermination, &["i-a"]);
    cluster.seconds(1);
    assert_eq!(outcomes(&cluster), [(1, Drained), (2, Drained)]);
    assert_eq!(evicted(&cluster), ["web"]);
}

#[test]
fn a_launched_instance_is_ready_when_its_node_is() {
    let mut cluster = node_group(&["a"], DrainSettings::default());
    let launched = NoticeKind::LifecycleLaunch;
    notice(&mut cluster, 1, launched, &["i-b"]);
    cluster.seconds(1);
    let mut unready = node(&cluster, "node-a").clone();
    unready.is_ready = false;
    cluster.store(Object::Node(unready.clone()));
    notice(&mut cluster, 2, launched, &["i-a"]);
    cluster.seconds(1);
    unready.is_ready = true;
    cluster.store(Object::Node(unready));
    notice(&mut cluster, 3, launched, &["i-a"]);
    cluster.seconds(1);
    assert_eq!(outcomes(&cluster), [(1, NotReady), (2, NotReady), (3, Ready)]);
    assert!(!node(&cluster, "node-a").taints.contains(&unschedulable()));
}

#[test]
fn a_name_finds_a_node_only_where_no_provider_id_says_otherwise() {
    let named = |name: &str| Handling { node_names: vec![name.into()], ..Handling::default() };
    for (hides_id, hostnames, name, outcome) in [
        (true, ["x", "y"], "node-a", Drained),
        (true, ["ip-1.internal", "y"], "ip-1.internal", Drained),
        (true, ["ip-1", "y"], "ip-1.internal", Drained),
        (true, ["ip-1", "ip-1"], "ip-1.internal", NoNode),
        // The node of that name is another instance: names recur.
        (false, ["x", "y"], "node-a", NoNode),
    ] {
        let mut cluster = node_group(&["a", "b"], DrainSettings::default());
        for (node_name, hostname) in [("node-a", hostnames[0]), ("node-b", hostnames[1])] {
            let mut node = node(&cluster, node_name).clone();
            node.labels.insert("kubernetes.io/hostname".to_owned(), hostname.to_owned());
            node.provider_id = node.provider_id.filter(|_| !hides_id);
            cluster.store(Object::Node(node));
        }
        handled(&mut cluster, 1, SPOT, "i-new", named(name));
        cluster.seconds(12);
        assert_eq!(outcomes(&cluster), [(1, outcome)], "{name} {hostnames:?}");
    }
}

#[test]
fn pods_that_may_not_be_evicted_fail_the_drain_before_anything_leaves() {
    let of = |with_local_data, of_daemon_sets| BlockingPods { with_local_data, of_daemon_sets };
    for (blocking, expected) in [
        (of(false, false), vec![(1, Drained)]),
        (of(true, false), vec![(1, Blocked)]),
        (of(false, true), vec![(1, Blocked)]),
    ] {
        let drain = DrainSettings { blocking, ..DrainSettings::default() };
        let mut cluster = node_group(&["a"], drain);
        on(&mut cluster, "node-a", "web", |_| ());
        on(&mut cluster, "node-a", "cache", |pod| pod.has_local_data = true);
        on(&mut cluster, "node-a", "agent", |pod| pod.owner = PodOwner::DaemonSet);
        notice(&mut cluster, 1, SPOT, &["i-a"]);
        cluster.seconds(14);
        let leaves = if blocking == of(false, false) { vec!["cache", "web"] } else { vec![] };
        assert_eq!((outcomes(&cluster), evicted(&cluster)), (expected, leaves), "{blocking:?}");
        assert!(node(&cluster, "node-a").taints.contains(&unschedulable()), "closed all the same");
    }
}

#[test]
fn a_drain_that_pods_blocked_is_done_once_they_are_gone() {
    let blocking = BlockingPods { with_local_data: true, of_daemon_sets: false };
    let mut cluster = node_group(&["a"], DrainSettings { blocking, ..DrainSettings::default() });
    on(&mut cluster, "node-a", "web", |_| ());
    on(&mut cluster, "node-a", "cache", |pod| pod.has_local_data = true);
    notice(&mut cluster, 1, SPOT, &["i-a"]);
    cluster.seconds(10);
    notice(&mut cluster, 2, SPOT, &["i-a"]);
    cluster.seconds(10);
    cluster.delete(&Key::Pod(cluster::pod_key("cache")));
    cluster.seconds(11);
    notice(&mut cluster, 3, SPOT, &["i-a"]);
    cluster.seconds(20);
    assert_eq!(outcomes(&cluster), [(1, Blocked), (2, Blocked), (3, Drained)]);
    assert_eq!(evicted(&cluster), ["web"]);
}

#[test]
fn what_is_called_off_opens_the_node_and_takes_only_the_handlers_marks_away() {
    let text = str::to_owned;
    let label = (text("lb/exclude"), text("handler"));
    let out_of_service = Taint::new("out-of-service", "nodeshutdown", TaintEffect::NoExecute);
    let marks = Marks {
        labels: vec![(text("handler/event-id"), None), (label.0.clone(), Some(label.1.clone()))],
        taints: vec![text("handler/maintenance"), text("out-of-service")],
    };
    let drain = DrainSettings {
        marks,
        label: Some(label.clone()),
        taint_after: Some(out_of_service.clone()),
        ..DrainSettings::default()
    };
    let mut cluster = node_group(&["a", "b"], drain);
    let foreign = Taint::new("dedicated", "x", TaintEffect::NoSchedule);
    for (name, value) in [("node-a", None), ("node-b", Some("another's"))] {
        let mut node = node(&cluster, name).clone();
        node.taints.push(foreign.clone());
        node.labels.extend(value.map(|value| (label.0.clone(), value.to_owned())));
        cluster.store(Object::Node(node));
    }
    let maintenance = || Handling {
        taints: vec![Taint::new("handler/maintenance", "e", TaintEffect::NoSchedule)],
        labels: [(text("handler/event-id"), text("e"))].into(),
        labels_if_open: [(text("handler/action"), text("UncordonAfterReboot"))].into(),
        ..Handling::default()
    };
    let planned = NoticeKind::ScheduledChange;
    handled(&mut cluster, 1, planned, "i-a", maintenance());
    handled(&mut cluster, 2, planned, "i-b", maintenance());
    cluster.seconds(12);
    let closed = node(&cluster, "node-a");
    assert!(closed.taints.contains(&out_of_service) && closed.taints.contains(&unschedulable()));
    assert_eq!(
        closed.labels.get("handler/action").map(String::as_str),
        Some("UncordonAfterReboot")
    );
    assert_eq!(closed.labels.get("lb/exclude").map(String::as_str), Some("handler"));
    notice(&mut cluster, 3, NoticeKind::Withdrawn, &["i-a", "i-b"]);
    cluster.seconds(12);
    assert_eq!(outcomes(&cluster), [(1, Drained), (2, Drained), (3, Opened)]);
    let labels = |name| node(&cluster, name).labels.get("lb/exclude").map(String::as_str);
    assert_eq!((labels("node-a"), labels("node-b")), (None, Some("another's")));
    for name in ["node-a", "node-b"] {
        let node = node(&cluster, name);
        assert_eq!(node.taints, std::slice::from_ref(&foreign));
        assert_eq!(node.labels.get("handler/event-id"), None);
    }
    notice(&mut cluster, 4, SPOT, &["i-a"]);
    cluster.seconds(12);
    assert_eq!(outcomes(&cluster).last(), Some(&(4, Drained)), "it is drained anew");
    assert!(node(&cluster, "node-a").taints.contains(&unschedulable()));
}

#[test]
fn what_is_called_off_in_the_middle_of_a_drain_ends_it() {
    let time_out = Some(Span::from_seconds(300));
    let mut cluster = node_group(&["a"], DrainSettings { time_out, ..DrainSettings::default() });
    on(&mut cluster, "node-a", "web", |_| ());
    on(&mut cluster, "node-a", "guarded", |_| ());
    cluster.unevictable.insert("guarded".to_owned());
    notice(&mut cluster, 1, NoticeKind::ScheduledChange, &["i-a"]);
    cluster.seconds(20);
    assert_eq!(outcomes(&cluster), []);
    notice(&mut cluster, 2, NoticeKind::Withdrawn, &["i-a"]);
    cluster.seconds(20);
    assert_eq!(outcomes(&cluster), [(1, Opened), (2, Opened)]);
    assert!(!node(&cluster, "node-a").taints.contains(&unschedulable()));
}

#[test]
fn a_node_closed_by_others_gets_no_label_that_would_open_it() {
    let mut cluster = node_group(&["a"], DrainSettings::default());
    let mut cordoned = node(&cluster, "node-a").clone();
    cordoned.taints.push(unschedulable());
    cluster.store(Object::Node(cordoned));
    let (always, if_open) =
        (("always".to_owned(), "1".to_owned()), ("if-open".to_owned(), "1".to_owned()));
    let handling = Handling {
        labels: [always].into(),
        labels_if_open: [if_open].into(),
        ..Handling::default()
    };
    handled(&mut cluster, 1, NoticeKind::ScheduledChange, "i-a", handling);
    cluster.seconds(12);
    let labels = &node(&cluster, "node-a").labels;
    assert!(labels.contains_key("always") && !labels.contains_key("if-open"), "{labels:?}");
}

#[test]
fn a_handler_on_the_node_need_not_look_for_it() {
    let own_node = Some("node-a".into());
    let mut cluster = node_group(&["a"], DrainSettings { own_node, ..DrainSettings::default() });
    on(&mut cluster, "node-a", "web", |_| ());
    notice(&mut cluster, 1, SPOT, &["i-whatever"]);
    cluster.seconds(14);
    assert_eq!((outcomes(&cluster), evicted(&cluster)), (vec![(1, Drained)], vec!["web"]));
}

#[test]
fn load_balancers_have_time_to_leave_a_node_out_before_the_first_eviction() {
    for (kind, seconds_before_first) in [(STOPPED, 90), (SPOT, 60)] {
        let drain = DrainSettings {
            evict_after: Span::from_seconds(90),
            time_out: Some(Span::from_seconds(300)),
            ..DrainSettings::default()
        };
        let mut cluster = node_group(&["a"], drain);
        on(&mut cluster, "node-a", "web", |_| ());
        notice(&mut cluster, 1, kind, &["i-a"]);
        cluster.seconds(seconds_before_first - 2);
        assert!(node(&cluster, "node-a").taints.contains(&unschedulable()));
        assert_eq!(evicted(&cluster), Vec::<&str>::new());
        cluster.seconds(20);
        assert_eq!((outcomes(&cluster), evicted(&cluster)), (vec![(1, Drained)], vec!["web"]));
    }
}
