//! What a provider hands over as data, and what comes of it: registration hooks and tags.

#![allow(clippy::unwrap_used)]

mod cluster;

use std::collections::BTreeSet;

use cluster::{Cluster, settings};
use kerf_engine::action::ActionKind;
use kerf_engine::condition::Status;
use kerf_engine::condition::claim::REGISTERED;
use kerf_engine::event::Instance;
use kerf_engine::provider::{Allowed, Choice, DriftRule, RegistrationHook, Tagging};
use kerf_model::requirement::{Operator, RequirementEntry};

const PARTITION: &str = "example.com/partition";

#[test]
fn an_instance_is_tagged_with_its_node_once_it_has_one() {
    let mut settings = settings();
    settings.provider.tagging = Some(Tagging {
        annotations: ["example.com/tagged", "example.com/named"].map(str::to_owned).into(),
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
    assert_eq!(claim.annotations()["example.com/named"], "true");
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

fn set(values: &[&str]) -> BTreeSet<String> {
    values.iter().map(|value| (*value).to_owned()).collect()
}

fn image_rule(allowed: Allowed) -> DriftRule {
    DriftRule { reason: "ImageDrift".to_owned(), allowed }
}

/// An instance with these labels, made of these images.
fn made_of(images: &[&str], labels: &[(&str, &str)]) -> Instance {
    let mut instance = cluster::executor::instance_for(&cluster::claim("web"));
    let labels = labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    instance.labels.extend(labels);
    instance.made_of.insert("ImageDrift".to_owned(), set(images));
    instance
}

#[test]
fn an_instance_has_drifted_when_it_is_made_of_what_its_class_no_longer_selects() {
    let some_of = |allowed: &[&str]| image_rule(Allowed::SomeOf(set(allowed)));
    let all_of = |allowed: &[&str]| image_rule(Allowed::AllOf(set(allowed)));
    assert!(!some_of(&["new", "old"]).is_broken_by(&made_of(&["old"], &[])));
    assert!(some_of(&["new"]).is_broken_by(&made_of(&["old"], &[])));
    assert!(all_of(&["one", "two"]).is_broken_by(&made_of(&["one"], &[])));
    assert!(!all_of(&["one", "two"]).is_broken_by(&made_of(&["two", "one"], &[])));
    let unknown = cluster::executor::instance_for(&cluster::claim("web"));
    assert!(!some_of(&["new"]).is_broken_by(&unknown), "unknown is not drifted");
}

#[test]
fn an_instance_has_drifted_when_its_labels_now_fit_another_image_first() {
    const ARCH: &str = "example.com/arch";
    const GPUS: &str = "example.com/gpus";
    let choice = |value: &str, arch, gpus| Choice {
        value: value.to_owned(),
        requirements: vec![
            RequirementEntry::new(ARCH, Operator::In, [arch]),
            RequirementEntry::new(GPUS, gpus, []),
        ],
    };
    let rule = image_rule(Allowed::FirstFit(vec![
        choice("new", "amd64", Operator::DoesNotExist),
        choice("old", "amd64", Operator::DoesNotExist),
        choice("gpu", "amd64", Operator::Exists),
    ]));
    let is_broken_by = |image, labels: &[_]| rule.is_broken_by(&made_of(&[image], labels));
    assert!(!is_broken_by("new", &[(ARCH, "amd64")]));
    assert!(is_broken_by("old", &[(ARCH, "amd64")]), "selected, but no longer the first");
    assert!(!is_broken_by("gpu", &[(ARCH, "amd64"), (GPUS, "8")]));
    assert!(is_broken_by("new", &[(ARCH, "amd64"), (GPUS, "8")]));
    assert!(!is_broken_by("other", &[(ARCH, "arm64")]), "nobody knows what it should have");
    assert!(!is_broken_by("other", &[]), "nobody knows what it is");
}
