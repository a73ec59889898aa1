//! What pools say about themselves.

#![allow(clippy::unwrap_used)]

mod cluster;

use std::sync::Arc;

use cluster::{CLASS_KIND, Cluster, budget, claim, node_class, pool};
use kerf_engine::action::ActionKind;
use kerf_engine::condition::claim::DRIFTED;
use kerf_engine::condition::pool::{
    DISRUPTION_ALLOWED, NODE_CLASS_READY, NODE_REGISTRATION_HEALTHY, VALIDATION_SUCCEEDED,
};
use kerf_engine::condition::{Condition, Status};
use kerf_engine::event::{Failure, Key, Object};
use kerf_engine::observed::Pool;
use kerf_model::budget::{BudgetList, BudgetText};
use kerf_model::labels::annotation::{NODE_POOL_HASH, NODE_POOL_HASH_VERSION};
use kerf_model::quantity::Quantity;

fn with(change: impl FnOnce(&mut Pool)) -> Cluster {
    let mut cluster = Cluster::new();
    let mut pool = pool("pool");
    change(&mut pool);
    cluster.store(Object::Pool(pool));
    cluster.settle();
    cluster
}

/// Status, reason and message of a condition of the pool.
fn condition(cluster: &Cluster, kind: &str) -> (Status, String, String) {
    let condition = cluster.pool("pool").status.conditions.get(kind).unwrap();
    (condition.status, condition.reason.clone(), condition.message.clone())
}

#[test]
fn a_good_pool_is_ready() {
    let cluster = with(|_| ());
    for kind in [VALIDATION_SUCCEEDED, NODE_CLASS_READY, "Ready"] {
        assert_eq!(condition(&cluster, kind).0, Status::True, "{kind}");
    }
}

#[test]
fn every_fault_of_a_pool_is_named() {
    let cluster =
        with(|pool| pool.faults = vec!["label a is bad".to_owned(), "taint b is bad".to_owned()]);
    let (status, reason, message) = condition(&cluster, VALIDATION_SUCCEEDED);
    assert_eq!((status, reason.as_str()), (Status::False, "NodePoolValidationFailed"));
    assert_eq!(message, "label a is bad; taint b is bad");
    assert_eq!(condition(&cluster, "Ready").0, Status::False);
}

#[test]
fn a_pool_follows_its_node_class() {
    let table = [
        (Status::False, "NoSubnets", Status::False, "NoSubnets"),
        (Status::Unknown, "Waiting", Status::False, "NodeClassReadinessUnknown"),
        (Status::True, "Ready", Status::True, NODE_CLASS_READY),
    ];
    let mut cluster = with(|_| ());
    for (ready, why, status, reason) in table {
        let class = node_class().with_ready(ready, why, "");
        cluster.store(Object::NodeClass(class));
        cluster.settle();
        let found = condition(&cluster, NODE_CLASS_READY);
        assert_eq!((found.0, found.1.as_str()), (status, reason));
    }
    let mut class = node_class();
    class.meta.deleting_since = Some(cluster.now);
    let key = class.key.clone();
    cluster.store(Object::NodeClass(class));
    cluster.settle();
    assert_eq!(condition(&cluster, NODE_CLASS_READY).1, "NodeClassTerminating");
    cluster.remove(&Key::NodeClass(key));
    cluster.settle();
    assert_eq!(condition(&cluster, NODE_CLASS_READY).1, "NodeClassNotFound");
    assert!(condition(&cluster, NODE_CLASS_READY).2.contains(CLASS_KIND));
}

#[test]
fn what_a_pool_uses_is_written_down_at_most_every_five_seconds() {
    let mut cluster = with(|_| ());
    assert_eq!(cluster.pool("pool").status.resources.get("nodes"), Some(Quantity::ZERO));
    for number in 0..3 {
        cluster.store(Object::Claim(claim(&format!("c{number}"))));
        cluster.seconds(1);
    }
    cluster.seconds(10);
    let status = &cluster.pool("pool").status;
    assert_eq!(status.nodes, 3);
    assert_eq!(status.resources.quantity("cpu"), Quantity::from_int(12));
    assert_eq!(status.resources.get("ephemeral-storage"), Some(Quantity::ZERO));
    let writes: Vec<_> = (cluster.actions.iter())
        .filter(|(_, action)| matches!(action.kind, ActionKind::WritePoolStatus { .. }))
        .map(|(at, _)| *at)
        .collect();
    for pair in writes[1..].windows(2) {
        assert!(pair[1].since(pair[0]).seconds() >= 5, "{writes:?}");
    }
    cluster.delete(&Key::Claim("c0".into()));
    cluster.seconds(10);
    assert_eq!(cluster.pool("pool").status.nodes, 2, "what is on its way out does not count");
}

#[test]
fn the_hash_of_the_template_is_kept_on_the_pool() {
    let mut cluster = with(|_| ());
    assert_eq!(cluster.pool("pool").annotations[NODE_POOL_HASH], "4711");
    assert_eq!(cluster.pool("pool").annotations[NODE_POOL_HASH_VERSION], "v3");
    cluster.edit(&Key::Pool("pool".into()), |object| {
        let Object::Pool(pool) = object else { unreachable!("a pool's key") };
        Arc::make_mut(&mut pool.spec).hash = "4712".to_owned();
    });
    cluster.settle();
    assert_eq!(cluster.pool("pool").annotations[NODE_POOL_HASH], "4712");
}

#[test]
fn claims_of_an_older_hash_function_move_to_the_new_one_first() {
    let mut cluster = Cluster::new();
    for name in ["plain", "drifted"] {
        let mut claim = claim(name);
        claim.spec.annotations.insert(NODE_POOL_HASH.to_owned(), "old".to_owned());
        claim.spec.annotations.insert(NODE_POOL_HASH_VERSION.to_owned(), "v2".to_owned());
        if name == "drifted" {
            claim.status.conditions.0.push(Condition {
                kind: DRIFTED.to_owned(),
                status: Status::True,
                reason: "NodePoolDrifted".to_owned(),
                message: String::new(),
                changed_at: cluster.now,
                observed_generation: 1,
            });
        }
        cluster.store(Object::Claim(claim));
    }
    let mut pool = pool("pool");
    pool.annotations.insert(NODE_POOL_HASH_VERSION.to_owned(), "v2".to_owned());
    cluster.store(Object::Pool(pool));
    cluster.seconds(10);
    let hash = |name: &str| {
        let annotations = cluster.claim(name).annotations();
        (annotations[NODE_POOL_HASH].as_str(), annotations[NODE_POOL_HASH_VERSION].as_str())
    };
    assert_eq!(hash("plain"), ("4711", "v3"));
    assert_eq!(hash("drifted"), ("old", "v3"), "what had drifted has drifted still");
    assert_eq!(cluster.pool("pool").annotations[NODE_POOL_HASH_VERSION], "v3");
    let claims = cluster.actions.iter().rposition(|(_, action)| {
        matches!(&action.kind, ActionKind::PatchClaim { patch, .. }
            if patch.annotations.contains_key(NODE_POOL_HASH_VERSION))
    });
    let pools = cluster
        .actions
        .iter()
        .position(|(_, action)| matches!(action.kind, ActionKind::PatchPool { .. }));
    assert!(claims.unwrap() < pools.unwrap(), "the pool says so last");
}

#[test]
fn two_of_four_launches_failing_is_unhealthy_and_successes_heal_it() {
    let mut cluster = with(|_| ());
    assert_eq!(condition(&cluster, NODE_REGISTRATION_HEALTHY).0, Status::Unknown);
    let failure =
        Failure::LaunchRefused { reason: "Denied".to_owned(), message: "not allowed".to_owned() };
    cluster.launch_fails = Some(failure);
    let launch = |cluster: &mut Cluster, name: &str| {
        let mut claim = claim(name);
        claim.meta.created_at = cluster.now;
        cluster.store(Object::Claim(claim));
        cluster.seconds(360);
        condition(cluster, NODE_REGISTRATION_HEALTHY)
    };
    assert_eq!(launch(&mut cluster, "f1").0, Status::Unknown, "one failure is not enough");
    let unhealthy = (Status::False, "Denied".to_owned(), "not allowed".to_owned());
    assert_eq!(launch(&mut cluster, "f2"), unhealthy);
    cluster.launch_fails = None;
    assert_eq!(launch(&mut cluster, "s1").0, Status::False);
    assert_eq!(launch(&mut cluster, "s2").0, Status::False);
    assert_eq!(launch(&mut cluster, "s3").0, Status::True);
    assert_eq!(condition(&cluster, "Ready").0, Status::True, "it is messages, and stops nothing");
}

#[test]
fn a_changed_node_class_is_a_new_start_for_health() {
    let mut cluster = with(|_| ());
    cluster.store(Object::Claim(claim("one")));
    cluster.seconds(60);
    assert_eq!(condition(&cluster, NODE_REGISTRATION_HEALTHY).0, Status::True);
    cluster.crash();
    cluster.seconds(10);
    assert_eq!(condition(&cluster, NODE_REGISTRATION_HEALTHY).0, Status::True);
    let mut class = node_class();
    class.meta.generation = 2;
    cluster.store(Object::NodeClass(class));
    cluster.settle();
    assert_eq!(condition(&cluster, NODE_REGISTRATION_HEALTHY).0, Status::Unknown);
    assert_eq!(cluster.pool("pool").status.node_class_observed_generation, Some(2));
}

#[test]
fn a_pool_says_what_its_budgets_leave_and_when_that_changes() {
    // Midnight begins the test; nothing drifts away between eight and eighteen.
    let mut cluster = Cluster::with_nodes(3, |pool| {
        let day = BudgetText {
            nodes: "0",
            reasons: Some(&["Drifted"]),
            schedule: Some("0 8 * * *"),
            duration: Some("10h"),
        };
        let text = BudgetText { nodes: "2", ..BudgetText::default() };
        pool.disruption.budgets = BudgetList::parse([text, day]);
    });
    cluster.seconds(10);
    let expected =
        "Drifted: 2 of 2 until 2025-01-01T08:00:00Z; Empty, Underutilized, Unhealthy: 2 of 2";
    let within = || (Status::True, "WithinBudgets".to_owned(), expected.to_owned());
    assert_eq!(condition(&cluster, DISRUPTION_ALLOWED), within());
    // One is on its way out, whoever wants that.
    let claim = cluster.claim_under("pod-0");
    cluster.delete(&Key::Claim(claim));
    cluster.seconds(6);
    let (_, _, message) = condition(&cluster, DISRUPTION_ALLOWED);
    assert!(message.starts_with("Drifted: 1 of 2 until"), "{message}");
    // The window opens by itself.
    cluster.seconds(8 * 3600);
    let (status, _, message) = condition(&cluster, DISRUPTION_ALLOWED);
    assert_eq!(status, Status::True, "the other reasons are not concerned");
    assert!(message.starts_with("Drifted: 0 of 0 until 2025-01-01T18:00:00Z"), "{message}");
    cluster.edit(&Key::Pool("pool".into()), |object| {
        let Object::Pool(pool) = object else { unreachable!("a pool's key") };
        budget(Arc::make_mut(&mut pool.spec), "0");
        pool.meta.generation += 1;
    });
    cluster.seconds(6);
    let closed = "Drifted, Empty, Underutilized, Unhealthy: 0 of 0";
    let found = condition(&cluster, DISRUPTION_ALLOWED);
    assert_eq!(found, (Status::False, "BudgetsClosed".to_owned(), closed.to_owned()));
}
