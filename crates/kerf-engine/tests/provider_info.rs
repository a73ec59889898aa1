//! What a provider hands over as data, and what comes of it: registration hooks and tags.

#![allow(clippy::unwrap_used)]

mod cluster;

use cluster::{Cluster, settings};
use kerf_engine::action::ActionKind;
use kerf_engine::condition::Status;
use kerf_engine::condition::claim::REGISTERED;
use kerf_engine::provider::{DriftRule, RegistrationHook, Tagging};

const PARTITION: &str = "example.com/partition";

#[test]
fn an_instance_is_tagged_with_its_node_once_it_has_one() {
    let mut settings = settings();
    settings.provider.tagging = Some(Tagging {
        annotation: "example.com/tagged".to_owned(),
        node_tag: "Name".to_owned(),
        claim_tag: "karpenter.sh/nodeclaim".to_owned(),
    });
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.restart_with(settings);
    cluster.pend("web", "1");
    cluster.seconds(60);
    let claims = cluster.claims();
    let [claim] = claims[..] else { panic!("{claims:?}") };
    let tags = &cluster.tags[claim.status.provider_id.as_deref().unwrap()];
    assert_eq!(tags["Name"], **claim.status.node_name.as_ref().unwrap());
    assert_eq!(tags["karpenter.sh/nodeclaim"], *claim.meta.name);
    assert_eq!(claim.annotations()["example.com/tagged"], "true");
    let tagged = |kind: &ActionKind| matches!(kind, ActionKind::TagInstance { .. });
    assert_eq!(cluster.count(tagged), 1);
}

#[test]
fn a_node_is_registered_only_when_the_provider_knows_what_it_waits_for() {
    let mut settings = settings();
    let hook = RegistrationHook { name: "placement".to_owned(), label: PARTITION.to_owned() };
    settings.provider.registration_hooks.push(hook);
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.restart_with(settings);
    cluster.pend("web", "1");
    cluster.seconds(2);
    // The provider does not know yet, and says so with a label without a value.
    let name = cluster.claims()[0].meta.name.clone();
    cluster.edit(&kerf_engine::event::Key::Claim(name.clone()), |object| {
        let kerf_engine::event::Object::Claim(claim) = object else { panic!() };
        claim.spec.labels.insert(PARTITION.to_owned(), String::new());
    });
    cluster.seconds(60);
    let registered = cluster.claim(&name).status.conditions.get(REGISTERED).unwrap();
    assert_eq!(registered.status, Status::Unknown);
    assert_eq!(registered.reason, "RegistrationHookPending");
    assert!(registered.message.contains("placement"), "{}", registered.message);
    for instance in cluster.instances.values_mut() {
        instance.labels.insert(PARTITION.to_owned(), "3".to_owned());
    }
    cluster.seconds(300);
    let claim = cluster.claim(&name);
    assert!(claim.status.conditions.is_true(REGISTERED), "{:?}", claim.status.conditions);
    assert_eq!(claim.label(PARTITION), Some("3"));
    assert_eq!(cluster.node().labels[PARTITION], "3");
}

#[test]
fn an_instance_has_drifted_when_it_is_made_of_what_its_class_no_longer_selects() {
    let set = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
    let rule = |allowed: &[&str], is_exact| DriftRule {
        reason: "ImageDrift".to_owned(),
        allowed: set(allowed),
        is_exact,
    };
    let made_of = |values: &[&str]| {
        let mut instance = cluster::executor::instance_for(&cluster::claim("web"));
        instance.made_of.insert("ImageDrift".to_owned(), set(values));
        instance
    };
    assert!(!rule(&["new", "old"], false).is_broken_by(&made_of(&["old"])));
    assert!(rule(&["new"], false).is_broken_by(&made_of(&["old"])));
    assert!(rule(&["one", "two"], true).is_broken_by(&made_of(&["one"])));
    assert!(!rule(&["one", "two"], true).is_broken_by(&made_of(&["two", "one"])));
    let unknown = cluster::executor::instance_for(&cluster::claim("web"));
    assert!(!rule(&["new"], false).is_broken_by(&unknown), "unknown is not drifted");
}
