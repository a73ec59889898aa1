//! A claim says that it has drifted, why, and no longer than it is so.

#![allow(clippy::unwrap_used)]

mod cluster;

use std::collections::BTreeSet;
use std::sync::Arc;

use cluster::{Cluster, class_ref, instances, settings};
use kerf_engine::Settings;
use kerf_engine::condition::Condition;
use kerf_engine::condition::claim::DRIFTED;
use kerf_engine::event::{Event, Instance, Key, Object, ResolvedNodeClass};
use kerf_engine::observed::NodeClass;
use kerf_engine::provider::{Allowed, DriftRule, ManagedNodeClass};
use kerf_engine::time::Span;
use kerf_model::instance_type::{InstanceType, Reservation};
use kerf_model::labels::well_known::{CAPACITY_TYPE, RESERVED, ZONE};
use kerf_model::pool::NodePool;
use kerf_model::requirement::{Operator, RequirementEntry};

/// The Drifted condition of the one claim there is.
fn drifted(cluster: &Cluster) -> Option<&Condition> {
    cluster.claims()[0].status.conditions.get(DRIFTED)
}

fn reason(cluster: &Cluster) -> Option<&str> {
    drifted(cluster).map(|condition| condition.reason.as_str())
}

/// One node with a pod.
fn one_node() -> Cluster {
    Cluster::with_nodes(1, |pool| cluster::budget(pool, "0"))
}

fn edit_pool(cluster: &mut Cluster, change: impl FnOnce(&mut NodePool)) {
    cluster.edit(&Key::Pool("pool".into()), |object| {
        let Object::Pool(pool) = object else { unreachable!("a pool's key") };
        change(Arc::make_mut(&mut pool.spec));
        pool.meta.generation += 1;
    });
}

fn require(pool: &mut NodePool, key: &str, operator: Operator, value: &str) {
    let values = [value].into_iter().filter(|value| !value.is_empty());
    pool.template.spec.requirements = vec![RequirementEntry::new(key, operator, values)];
}

#[test]
fn a_claim_of_a_pool_with_another_template_has_drifted_at_once_and_until_it_is_put_back() {
    let mut cluster = one_node();
    assert_eq!(reason(&cluster), None);
    edit_pool(&mut cluster, |pool| pool.hash = "4712".to_owned());
    cluster.settle();
    assert_eq!(reason(&cluster), Some("NodePoolDrifted"));
    assert_eq!(drifted(&cluster).unwrap().message, "NodePoolDrifted");
    edit_pool(&mut cluster, |pool| pool.hash = "4711".to_owned());
    cluster.settle();
    assert_eq!(reason(&cluster), None);
}

#[test]
fn a_hash_of_another_version_says_nothing() {
    let mut cluster = one_node();
    let claim = cluster.claims()[0].meta.name.clone();
    cluster.edit(&Key::Claim(claim), |object| {
        let Object::Claim(claim) = object else { unreachable!("a claim's key") };
        let version = "karpenter.sh/nodepool-hash-version".to_owned();
        claim.spec.annotations.insert(version, "v2".to_owned());
    });
    edit_pool(&mut cluster, |pool| pool.hash = "4712".to_owned());
    cluster.settle();
    assert_eq!(reason(&cluster), None);
}

#[test]
fn a_claim_whose_labels_are_not_what_its_pool_requires_has_drifted() {
    let rows = [
        (ZONE, Operator::In, "zone-a", None),
        (ZONE, Operator::In, "zone-b", Some("RequirementsDrifted")),
        (ZONE, Operator::NotIn, "zone-a", Some("RequirementsDrifted")),
        ("team", Operator::Exists, "", Some("RequirementsDrifted")),
        ("team", Operator::NotIn, "blue", None),
        // An old spelling of the zone's key.
        ("failure-domain.beta.kubernetes.io/zone", Operator::In, "zone-a", None),
        (
            "failure-domain.beta.kubernetes.io/zone",
            Operator::In,
            "zone-b",
            Some("RequirementsDrifted"),
        ),
    ];
    let mut cluster = one_node();
    for (key, operator, value, expected) in rows {
        edit_pool(&mut cluster, |pool| require(pool, key, operator, value));
        cluster.settle();
        assert_eq!(reason(&cluster), expected, "{key} {operator:?} {value}");
    }
}

#[test]
fn another_template_is_named_before_other_requirements() {
    let mut cluster = one_node();
    edit_pool(&mut cluster, |pool| require(pool, ZONE, Operator::In, "zone-b"));
    cluster.settle();
    let since = drifted(&cluster).unwrap().changed_at;
    cluster.seconds(5);
    edit_pool(&mut cluster, |pool| pool.hash = "4712".to_owned());
    cluster.settle();
    assert_eq!(reason(&cluster), Some("NodePoolDrifted"));
    assert_eq!(drifted(&cluster).unwrap().changed_at, since, "it has drifted all the time");
}

fn offer(cluster: &mut Cluster, change: impl Fn(&mut InstanceType)) {
    let mut types = instances().to_vec();
    types.iter_mut().for_each(change);
    let (pool, instance_types) = ("pool".into(), types.into());
    cluster.undelivered.push_back(Event::Offered { pool, instance_types });
}

#[test]
fn an_instance_type_or_offering_that_is_no_longer_sold_is_missed_after_an_hour() {
    let gone: [fn(&mut InstanceType); 2] = [
        |kind| kind.name = format!("{}-new", kind.name),
        |kind| {
            let rest = kind.offerings.iter().filter(|it| it.requirements[0].values != ["zone-a"]);
            kind.offerings = rest.cloned().collect();
        },
    ];
    for change in gone {
        let mut cluster = one_node();
        offer(&mut cluster, change);
        cluster.seconds(55 * 60);
        assert_eq!(reason(&cluster), None);
        cluster.seconds(10 * 60);
        assert_eq!(reason(&cluster), Some("InstanceTypeNotFound"));
        offer(&mut cluster, |_| {});
        cluster.seconds(5 * 60);
        assert_eq!(reason(&cluster), None);
    }
}

#[test]
fn an_offering_that_is_sold_out_or_a_list_that_is_empty_makes_nothing_drift() {
    let mut cluster = one_node();
    offer(&mut cluster, |kind| {
        Arc::make_mut(&mut kind.offerings).iter_mut().for_each(|it| it.available = false);
    });
    cluster.seconds(70 * 60);
    assert_eq!(reason(&cluster), None);
    cluster
        .undelivered
        .push_back(Event::Offered { pool: "pool".into(), instance_types: [].into() });
    cluster.seconds(70 * 60);
    assert_eq!(reason(&cluster), None);
}

#[test]
fn what_was_found_on_sale_is_looked_for_again_after_half_an_hour() {
    let mut cluster = one_node();
    cluster.seconds(65 * 60);
    offer(&mut cluster, |kind| kind.offerings = Arc::default());
    cluster.seconds(20 * 60);
    assert_eq!(reason(&cluster), None);
    cluster.seconds(20 * 60);
    assert_eq!(reason(&cluster), Some("InstanceTypeNotFound"));
}

#[test]
fn a_reserved_instance_stays_what_it_is_when_its_reservation_ends() {
    let mut cluster = one_node();
    let claim = cluster.claims()[0].meta.name.clone();
    cluster.edit(&Key::Claim(claim), |object| {
        let Object::Claim(claim) = object else { unreachable!("a claim's key") };
        claim.spec.labels.insert(CAPACITY_TYPE.to_owned(), RESERVED.to_owned());
        claim.spec.labels.insert("example.com/reservation".to_owned(), "cr-1".to_owned());
    });
    // On-demand capacity is sold, and capacity of another reservation.
    offer(&mut cluster, |kind| {
        let mut other = kind.offerings[0].clone();
        let entry = |key: &str, value: &str| RequirementEntry::new(key, Operator::In, [value]);
        other.requirements = [
            entry(ZONE, "zone-a"),
            entry(CAPACITY_TYPE, RESERVED),
            entry("example.com/reservation", "cr-2"),
        ]
        .into();
        other.reservation = Some(Reservation { id: "cr-2".to_owned(), remaining: 1 });
        kind.offerings = kind.offerings.iter().cloned().chain([other]).collect();
    });
    cluster.seconds(70 * 60);
    assert_eq!(reason(&cluster), None);
    offer(&mut cluster, |kind| kind.offerings = kind.offerings[1..].into());
    cluster.seconds(40 * 60);
    assert_eq!(reason(&cluster), Some("InstanceTypeNotFound"), "its zone is no longer sold");
}

const HASH: &str = "example.com/hash";
const HASH_VERSION: &str = "example.com/hash-version";

fn managed() -> Settings {
    let mut settings = settings();
    settings.provider.node_classes[0].managed = Some(ManagedNodeClass {
        finalizer: "example.com/termination".to_owned(),
        hash_annotation: HASH.to_owned(),
        hash_version_annotation: HASH_VERSION.to_owned(),
        hash_version: "v2".to_owned(),
        conditions: Vec::new(),
        resolve_every: Span::from_minutes(1),
    });
    settings
}

fn set(values: &[&str]) -> BTreeSet<String> {
    values.iter().map(|value| (*value).to_owned()).collect()
}

fn selecting(images: &[&str]) -> ResolvedNodeClass {
    let rule = |reason: &str, allowed| DriftRule { reason: reason.to_owned(), allowed };
    let drift_rules = vec![
        rule("ImageDrift", Allowed::SomeOf(set(images))),
        rule("SubnetDrift", Allowed::SomeOf(set(&["subnet-1"]))),
    ];
    ResolvedNodeClass { drift_rules, ..ResolvedNodeClass::default() }
}

fn edit_class(cluster: &mut Cluster, change: impl FnOnce(&mut NodeClass)) {
    cluster.edit(&Key::NodeClass(class_ref()), |object| {
        let Object::NodeClass(class) = object else { unreachable!("a class's key") };
        change(class);
        class.meta.generation += 1;
    });
}

fn edit_instance(cluster: &mut Cluster, change: impl FnOnce(&mut Instance)) {
    change(cluster.instances.values_mut().next().unwrap());
}

/// One node whose class is managed and whose instance is made of `image-1`.
fn one_node_of_a_managed_class() -> Cluster {
    let mut cluster = one_node();
    edit_class(&mut cluster, |class| class.hash = Some("1".to_owned()));
    edit_instance(&mut cluster, |instance| {
        instance.made_of.insert("ImageDrift".to_owned(), set(&["image-1"]));
        instance.made_of.insert("SubnetDrift".to_owned(), set(&["subnet-1"]));
    });
    cluster.resolved = selecting(&["image-1"]);
    cluster.restart_with(managed());
    cluster.seconds(5);
    assert_eq!(cluster.claims()[0].annotations()[HASH], "1");
    assert_eq!(reason(&cluster), None);
    cluster
}

#[test]
fn a_claim_of_a_class_with_another_spec_has_drifted() {
    let mut cluster = one_node_of_a_managed_class();
    edit_class(&mut cluster, |class| class.hash = Some("2".to_owned()));
    cluster.settle();
    assert_eq!(reason(&cluster), Some("NodeClassDrift"));
    edit_class(&mut cluster, |class| class.hash = Some("1".to_owned()));
    cluster.settle();
    assert_eq!(reason(&cluster), None);
}

#[test]
fn a_claim_drifts_when_its_class_selects_something_else_and_the_first_rule_is_named() {
    let mut cluster = one_node_of_a_managed_class();
    edit_instance(&mut cluster, |instance| {
        instance.made_of.insert("SubnetDrift".to_owned(), set(&["subnet-9"]));
    });
    cluster.seconds(150);
    assert_eq!(reason(&cluster), Some("SubnetDrift"), "instances are listed every two minutes");
    cluster.resolved = selecting(&["image-2"]);
    cluster.seconds(65);
    assert_eq!(reason(&cluster), Some("ImageDrift"), "classes are looked up every minute");
}

#[test]
fn what_is_not_known_yet_takes_no_condition_back() {
    let mut cluster = one_node_of_a_managed_class();
    cluster.resolved = selecting(&["image-2"]);
    cluster.seconds(65);
    let known = drifted(&cluster).unwrap().clone();
    assert_eq!(known.reason, "ImageDrift");
    // Another process starts, and the provider answers nothing for a while.
    cluster.ignores = |kind| {
        use kerf_engine::action::ActionKind::{ListInstances, ResolveNodeClass};
        matches!(kind, ListInstances | ResolveNodeClass(_))
    };
    cluster.restart_with(managed());
    cluster.seconds(60);
    assert_eq!(drifted(&cluster), Some(&known));
}
