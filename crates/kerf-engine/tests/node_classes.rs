//! Node classes that the provider has managed: what is kept on them, and how they end.

#![allow(clippy::unwrap_used)]

mod cluster;

use std::sync::Arc;

use cluster::{Cluster, claim, class_ref, node_class, pool, settings};
use kerf_engine::Settings;
use kerf_engine::action::ActionKind;
use kerf_engine::condition::Status;
use kerf_engine::event::{Failure, Key, Object, ResolvedCondition, ResolvedNodeClass};
use kerf_engine::observed::{NodeClass, Readiness};
use kerf_engine::provider::ManagedNodeClass;
use kerf_engine::time::Span;
use kerf_model::node_spec::NodeClassRef;
use serde_json::json;

const FINALIZER: &str = "example.com/termination";
const HASH: &str = "example.com/hash";
const HASH_VERSION: &str = "example.com/hash-version";

fn managed() -> Settings {
    let mut settings = settings();
    settings.provider.node_classes[0].managed = Some(ManagedNodeClass {
        finalizer: FINALIZER.to_owned(),
        hash_annotation: HASH.to_owned(),
        hash_version_annotation: HASH_VERSION.to_owned(),
        hash_version: "v2".to_owned(),
        conditions: vec!["SubnetsReady".to_owned(), "ImagesReady".to_owned()],
        resolve_every: Span::from_minutes(5),
    });
    settings
}

/// A cluster whose provider finds these parts of every class.
fn cluster(parts: &[(&str, Status, &str)]) -> Cluster {
    let mut cluster = Cluster::new();
    cluster.resolved = found(parts);
    cluster.store(Object::NodeClass(NodeClass {
        hash: Some("123".to_owned()),
        ..NodeClass::new(node_class().meta, class_ref())
    }));
    cluster.restart_with(managed());
    cluster
}

fn found(parts: &[(&str, Status, &str)]) -> ResolvedNodeClass {
    let condition = |(kind, status, reason): &(&str, Status, &str)| ResolvedCondition {
        kind: (*kind).to_owned(),
        status: *status,
        reason: (*reason).to_owned(),
        message: "in a sentence".to_owned(),
    };
    let status = Arc::new(json!({ "subnets": ["subnet-1"] }));
    let conditions = parts.iter().map(condition).collect();
    ResolvedNodeClass { conditions, status, ..ResolvedNodeClass::default() }
}

const ALL_READY: [(&str, Status, &str); 2] =
    [("SubnetsReady", Status::True, "SubnetsReady"), ("ImagesReady", Status::True, "ImagesReady")];

fn class(cluster: &Cluster) -> &NodeClass {
    match &cluster.objects[&Key::NodeClass(class_ref())] {
        Object::NodeClass(class) => class,
        other => panic!("{other:?}"),
    }
}

fn resolves(cluster: &Cluster) -> usize {
    cluster.count(|kind| matches!(kind, ActionKind::ResolveNodeClass(_)))
}

#[test]
fn a_class_gets_its_finalizer_and_hash_before_anything_is_made_for_it() {
    let mut cluster = cluster(&ALL_READY);
    cluster.settle();
    let class = class(&cluster);
    assert_eq!(class.finalizers, [FINALIZER]);
    assert_eq!(class.annotations[HASH], "123");
    assert_eq!(class.annotations[HASH_VERSION], "v2");
    let log = cluster.log();
    let place = |name| log.iter().position(|it| *it == name).unwrap();
    assert!(place("patch node class") < place("resolve node class"), "{log:?}");
}

#[test]
fn a_class_is_ready_once_everything_it_selects_is_found() {
    let mut cluster = cluster(&[
        ("SubnetsReady", Status::True, ""),
        ("ImagesReady", Status::False, "ImageNotFound"),
    ]);
    cluster.settle();
    assert_eq!(*class(&cluster).status.resolved, json!({ "subnets": ["subnet-1"] }));
    assert!(matches!(class(&cluster).readiness(), Readiness::NotReady { .. }));
    let images = class(&cluster).status.conditions.get("ImagesReady").unwrap();
    assert_eq!((images.status, images.reason.as_str()), (Status::False, "ImageNotFound"));
    cluster.resolved = found(&ALL_READY);
    cluster.wait(Span::from_minutes(6));
    assert_eq!(class(&cluster).readiness(), Readiness::Ready);
}

#[test]
fn a_class_that_changes_is_looked_at_anew_and_one_that_does_not_every_five_minutes() {
    let mut cluster = cluster(&ALL_READY);
    cluster.settle();
    assert_eq!(resolves(&cluster), 1);
    cluster.wait(Span::from_minutes(4));
    assert_eq!(resolves(&cluster), 1);
    cluster.wait(Span::from_minutes(2));
    assert_eq!(resolves(&cluster), 2);
    cluster.edit(&Key::NodeClass(class_ref()), |object| object.meta_mut().generation += 1);
    cluster.settle();
    assert_eq!(resolves(&cluster), 3);
}

#[test]
fn a_class_of_which_a_part_gave_no_answer_is_looked_at_sooner() {
    let mut cluster = cluster(&ALL_READY);
    cluster.resolved.again_after = Some(Span::from_seconds(10));
    cluster.settle();
    assert_eq!(resolves(&cluster), 1);
    cluster.seconds(11);
    assert_eq!(resolves(&cluster), 2);
    cluster.resolved.again_after = Some(Span::from_minutes(60));
    cluster.wait(Span::from_minutes(6));
    assert_eq!(resolves(&cluster), 4, "never later than usual");
}

#[test]
fn what_cannot_be_found_out_is_asked_again_with_growing_pauses() {
    let mut cluster = cluster(&ALL_READY);
    cluster.refuses = |kind| {
        let failure = Failure::Unavailable { message: "throttled".to_owned() };
        matches!(kind, ActionKind::ResolveNodeClass(_)).then_some(failure)
    };
    cluster.wait(Span::from_minutes(5));
    let tries = resolves(&cluster);
    assert!((5..30).contains(&tries), "{tries}");
    assert_eq!(class(&cluster).readiness(), Readiness::Unknown);
}

#[test]
fn a_class_that_is_deleted_waits_for_its_claims_and_then_goes() {
    let mut cluster = cluster(&ALL_READY);
    cluster.store(Object::Claim(claim("web")));
    cluster.settle();
    cluster.delete(&Key::NodeClass(class_ref()));
    cluster.wait(Span::from_minutes(1));
    assert!(cluster.has_said("WaitingOnNodeClaimTermination"));
    assert!(cluster.objects.contains_key(&Key::NodeClass(class_ref())));
    assert_eq!(cluster.count(|kind| matches!(kind, ActionKind::ReleaseNodeClass(_))), 0);
    cluster.delete(&Key::Claim("web".into()));
    cluster.wait(Span::from_minutes(1));
    assert!(!cluster.objects.contains_key(&Key::NodeClass(class_ref())), "at once, not when told");
    assert_eq!(cluster.count(|kind| matches!(kind, ActionKind::ReleaseNodeClass(_))), 1);
}

#[test]
fn a_class_that_is_deleted_names_five_of_the_claims_it_waits_for() {
    let mut cluster = cluster(&ALL_READY);
    for number in 1..=7 {
        cluster.store(Object::Claim(claim(&format!("web-{number}"))));
    }
    cluster.settle();
    cluster.delete(&Key::NodeClass(class_ref()));
    cluster.settle();
    let reason = "WaitingOnNodeClaimTermination";
    let event = cluster.kubernetes_events.iter().find(|event| event.reason == reason).unwrap();
    let expected = "Waiting on NodeClaim termination for \
                    web-1, web-2, web-3, web-4, web-5 and 2 other(s)";
    assert_eq!(event.message, expected);
}

#[test]
fn claims_carry_the_new_version_of_a_hash_before_their_class_does() {
    let mut cluster = cluster(&ALL_READY);
    let mut old = claim("web");
    old.spec.annotations.insert(HASH.to_owned(), "old".to_owned());
    old.spec.annotations.insert(HASH_VERSION.to_owned(), "v1".to_owned());
    cluster.store(Object::Claim(old));
    cluster.wait(Span::from_minutes(1));
    assert_eq!(cluster.claim("web").annotations()[HASH], "123");
    assert_eq!(class(&cluster).annotations[HASH_VERSION], "v2");
}

#[test]
fn a_class_of_a_kind_that_is_only_read_is_never_written() {
    let mut cluster = Cluster::new();
    cluster.wait(Span::from_minutes(10));
    assert_eq!(resolves(&cluster), 0);
    assert!(class(&cluster).finalizers.is_empty());
}

/// The same for classes of the kind that dashboards know.
fn ec2_cluster(parts: &[(&str, Status, &str)]) -> (Cluster, NodeClassRef) {
    let mut settings = managed();
    let kind = &mut settings.provider.node_classes[0];
    kind.kind = "EC2NodeClass".to_owned();
    let key =
        NodeClassRef { group: kind.group.clone(), kind: kind.kind.clone(), name: class_ref().name };
    let mut cluster = Cluster::new();
    cluster.resolved = found(parts);
    let class = NodeClass {
        hash: Some("123".to_owned()),
        ..NodeClass::new(node_class().meta, key.clone())
    };
    cluster.store(Object::NodeClass(class));
    cluster.restart_with(settings);
    (cluster, key)
}

#[test]
fn conditions_of_a_class_that_change_are_counted_and_told() {
    let bad = [
        ("SubnetsReady", Status::False, "SubnetsNotFound"),
        ("ImagesReady", Status::False, "None"),
    ];
    let (mut cluster, key) = ec2_cluster(&bad);
    cluster.settle();
    let Some(Object::NodeClass(class)) = cluster.objects.get(&Key::NodeClass(key.clone())) else {
        panic!("the class is there")
    };
    let ready = class.status.conditions.get("Ready").unwrap();
    assert_eq!(ready.message, "SubnetsReady=False, ImagesReady=False");
    let counted = |cluster: &Cluster, word: &str| {
        let metric = "operator_ec2nodeclass_status_condition_transitions_total";
        let older = "operator_status_condition_transitions_total";
        assert_eq!(cluster.counted(older, word), cluster.counted(metric, word), "{word}");
        cluster.counted(metric, word)
    };
    assert_eq!(counted(&cluster, "SubnetsNotFound"), 1);
    assert_eq!(counted(&cluster, "Ready"), 1);
    cluster.resolved = found(&ALL_READY);
    cluster.wait(Span::from_minutes(6));
    assert_eq!(counted(&cluster, "SubnetsReady"), 2);
    let told =
        cluster.kubernetes_events.iter().filter(|it| it.about == Key::NodeClass(key.clone()));
    let told: Vec<&str> =
        told.filter(|it| it.reason == "SubnetsReady").map(|it| &*it.message).collect();
    let expected = "Status condition transitioned, Type: SubnetsReady, Status: False -> True, \
                    Reason: SubnetsReady, Message: in a sentence";
    assert_eq!(told.last(), Some(&expected), "{told:?}");
}

#[test]
fn a_pool_and_a_claim_whose_class_is_gone_say_so() {
    let mut cluster = Cluster::new();
    cluster.store(Object::Pool(pool("web")));
    cluster.settle();
    assert!(!cluster.has_said("FailedResolvingNodeClass"));
    cluster.delete(&Key::NodeClass(class_ref()));
    let message = "there is no such class".to_owned();
    cluster.launch_fails = Some(Failure::InsufficientCapacity { message });
    cluster.store(Object::Claim(claim("web-1")));
    cluster.settle();
    let reason = "FailedResolvingNodeClass";
    let told = cluster.kubernetes_events.iter().filter(|event| event.reason == reason);
    let mut about: Vec<Key> = told.map(|event| event.about.clone()).collect();
    about.sort();
    about.dedup();
    assert_eq!(about, [Key::Pool("web".into()), Key::Claim("web-1".into())]);
}
