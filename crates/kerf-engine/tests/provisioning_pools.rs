//! Where new nodes may come from.

#![allow(clippy::unwrap_used)]

mod cluster;

use std::sync::Arc;

use cluster::{Cluster, allowed, ready_pool, settings};
use kerf_engine::event::{Event, Object};
use kerf_engine::observed::Pool;
use kerf_model::duration::GoDuration;
use kerf_model::labels::annotation::MIN_VALUES_RELAXED;
use kerf_model::labels::well_known::INSTANCE_TYPE;
use kerf_model::pool::{NodePool, Sizing};
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_scheduler::MinValuesPolicy;

fn change(pool: &mut Pool, change: impl FnOnce(&mut NodePool)) {
    let mut spec = (*pool.spec).clone();
    change(&mut spec);
    pool.spec = Arc::new(spec);
}

#[test]
fn pools_that_cannot_get_nodes_get_none_and_the_pod_is_told() {
    type Spoil = fn(&mut Pool);
    let spoilt: [(&str, Spoil); 4] = [
        ("its spec makes no sense", |pool| pool.faults.push("weight".to_owned())),
        ("it is static", |pool| {
            change(pool, |spec| spec.sizing = Sizing::Static { replicas: 3 });
        }),
        ("it is being deleted", |pool| pool.meta.deleting_since = Some(cluster::START)),
        ("its node class is somebody else's", |pool| {
            change(pool, |spec| spec.template.spec.node_class.kind = "Other".to_owned());
        }),
    ];
    for (why, spoil) in spoilt {
        let mut cluster = Cluster::new();
        let mut pool = ready_pool("pool", |_| {});
        spoil(&mut pool);
        cluster.add_pool(pool);
        cluster.seconds(1);
        cluster.pend("web", "1");
        cluster.seconds(15);
        assert!(cluster.ordered_claims().is_empty(), "{why}");
        let messages = cluster.messages("FailedScheduling");
        assert_eq!(messages.len(), 1, "{why}: {messages:?}");
        assert!(messages[0].contains("no NodePool is there"), "{why}: {messages:?}");
    }
}

#[test]
fn a_pool_without_machines_is_passed_over() {
    let mut cluster = Cluster::with_pool(|pool| pool.weight = 10);
    cluster.add_pool(ready_pool("other", |_| {}));
    cluster.instance_types.insert("pool".into(), Arc::new([]));
    cluster.offer_all();
    cluster.pend("web", "1");
    cluster.seconds(2);
    assert_eq!(&*cluster.ordered_claims()[0].pool.0, "other");
}

#[test]
fn heavier_pools_come_first_then_those_later_in_the_alphabet() {
    let mut cluster = Cluster::new();
    for (name, weight) in [("a", 0), ("b", 0), ("c", 5), ("d", 1)] {
        cluster.add_pool(ready_pool(name, |pool| pool.weight = weight));
    }
    cluster.pend("web", "1");
    cluster.seconds(2);
    let (_, problem) = cluster.solves()[0];
    let order: Vec<_> = problem.pools.iter().map(|pool| pool.pool.name.as_str()).collect();
    assert_eq!(order, ["c", "d", "b", "a"]);
    assert_eq!(&*cluster.ordered_claims()[0].pool.0, "c");
}

#[test]
fn a_pool_that_excludes_every_machine_is_told_so() {
    let entry = |min_values| {
        let types = ["m-2x", "m-4x"];
        RequirementEntry { min_values, ..RequirementEntry::new(INSTANCE_TYPE, Operator::In, types) }
    };
    let none = RequirementEntry::new(INSTANCE_TYPE, Operator::In, ["x-99"]);
    for (why, entry, messages) in [
        ("no such machine", none, 1),
        ("too few different ones", entry(Some(3)), 1),
        ("just enough different ones", entry(Some(2)), 0),
    ] {
        let mut cluster = Cluster::with_pool(|pool| pool.template.spec.requirements.push(entry));
        cluster.pend("web", "1");
        cluster.seconds(59);
        assert_eq!(cluster.messages("NoCompatibleInstanceTypes").len(), messages, "{why}");
        assert_eq!(cluster.ordered_claims().len(), 1 - messages, "{why}");
    }
}

#[test]
fn min_values_that_cannot_be_kept_are_lowered_where_that_is_allowed() {
    let mut cluster = Cluster::with_pool(|pool| {
        let entry = RequirementEntry::new(INSTANCE_TYPE, Operator::Exists, []);
        let entry = RequirementEntry { min_values: Some(3), ..entry };
        pool.template.spec.requirements.push(entry);
    });
    let mut relaxed = settings();
    relaxed.scheduler.min_values = MinValuesPolicy::BestEffort;
    cluster.restart_with(relaxed);
    cluster.pend("web", "3");
    cluster.seconds(2);
    let claim = cluster.ordered_claims()[0];
    assert_eq!(allowed(claim, INSTANCE_TYPE), ["m-4x", "m-8x"]);
    let entries = &claim.spec.node.requirements;
    let entry = entries.iter().find(|entry| entry.key == INSTANCE_TYPE).unwrap();
    assert_eq!(entry.min_values, Some(2));
    assert_eq!(claim.spec.annotations[MIN_VALUES_RELAXED], "true");
}

#[test]
fn the_drain_limit_is_the_pools_or_else_the_clouds() {
    let minutes = |minutes: i64| GoDuration::from_seconds(60 * minutes);
    for (own, of_cloud, then) in
        [(None, None, None), (None, minutes(5), minutes(5)), (minutes(1), minutes(5), minutes(1))]
    {
        let mut cluster = Cluster::with_pool(|pool| pool.template.spec.termination_grace = own);
        let mut settings = settings();
        settings.provider.termination_grace_default = of_cloud;
        cluster.restart_with(settings);
        cluster.pend("web", "1");
        cluster.seconds(2);
        assert_eq!(cluster.ordered_claims()[0].spec.node.termination_grace, then);
    }
}

#[test]
fn a_pool_whose_machines_come_late_is_used_when_they_come() {
    let mut cluster = Cluster::new();
    cluster.store(Object::Pool(ready_pool("pool", |_| {})));
    cluster.pend("web", "1");
    cluster.seconds(3);
    assert!(cluster.ordered_claims().is_empty());
    cluster
        .undelivered
        .push_back(Event::Offered { pool: "pool".into(), instance_types: cluster::instances() });
    cluster.seconds(2);
    assert_eq!(cluster.ordered_claims().len(), 1);
}
