//! What becomes of claims whose launch fails, and of those that never become nodes.

#![allow(clippy::unwrap_used)]

mod cluster;

use cluster::{Cluster, claim, pool};
use kerf_engine::action::ActionKind;
use kerf_engine::condition::Status;
use kerf_engine::condition::claim::LAUNCHED;
use kerf_engine::event::{Failure, Object};

const DISRUPTED: &str = "karpenter_nodeclaims_disrupted_total";

fn refusing(failure: Failure) -> Cluster {
    let mut cluster = Cluster::new();
    cluster.launch_fails = Some(failure);
    cluster.store(Object::Pool(pool("pool")));
    cluster.store(Object::Claim(claim("one")));
    cluster
}

fn launches(cluster: &Cluster) -> usize {
    cluster.count(|kind| matches!(kind, ActionKind::Launch(_)))
}

#[test]
fn no_capacity_ends_the_claim_with_an_event() {
    let message = "no m-4x in zone-a".to_owned();
    let mut cluster = refusing(Failure::InsufficientCapacity { message });
    cluster.seconds(1);
    assert!(cluster.find_claim("one").is_none());
    assert!(cluster.has_said("InsufficientCapacityError"));
    assert_eq!(cluster.counted(DISRUPTED, "insufficient_capacity"), 1);
    assert_eq!(launches(&cluster), 1, "what the cloud does not have is not asked for again");
    let ends = cluster.count(|kind| matches!(kind, ActionKind::Terminate { .. }));
    assert_eq!(ends, 0, "the cloud said it launched nothing");
}

#[test]
fn an_account_without_a_role_for_spot_instances_is_told_of() {
    for (said, is_told) in [("NoSpotRole: not permitted (m-4x)", true), ("none in zone-a", false)] {
        let mut cluster = refusing(Failure::InsufficientCapacity { message: said.to_owned() });
        cluster.seconds(1);
        assert_eq!(cluster.has_said("SpotSLRCreationFailed"), is_told, "{said}");
    }
}

#[test]
fn a_node_class_that_is_not_ready_ends_the_claim_quietly() {
    let mut cluster = refusing(Failure::NodeClassNotReady { message: "no subnets".to_owned() });
    cluster.seconds(1);
    assert!(cluster.find_claim("one").is_none());
    assert!(!cluster.has_said("InsufficientCapacityError"));
    assert_eq!(cluster.counted(DISRUPTED, "nodeclass_not_ready"), 1);
}

#[test]
fn other_failures_are_shown_and_tried_again_until_time_is_up() {
    let long = "x".repeat(1025);
    let refused = Failure::LaunchRefused { reason: "Denied".to_owned(), message: "no".to_owned() };
    let table = [
        (refused, "Denied", "no".to_owned()),
        (Failure::Invalid { message: "bad".to_owned() }, "LaunchFailed", "bad".to_owned()),
        (
            Failure::Unavailable { message: long.clone() },
            "LaunchFailed",
            long[..1021].to_owned() + "...",
        ),
    ];
    for (failure, reason, message) in table {
        let mut cluster = refusing(failure);
        cluster.seconds(299);
        let launched = cluster.claim("one").status.conditions.get(LAUNCHED).unwrap().clone();
        assert_eq!(launched.status, Status::Unknown);
        assert_eq!((launched.reason.as_str(), launched.message), (reason, message));
        // 1 + 2 + 4 + … + 32 s, then every 60 s: back-off, not hammering.
        assert!((8..=12).contains(&launches(&cluster)), "{}", launches(&cluster));
        cluster.seconds(30);
        assert!(cluster.find_claim("one").is_none(), "given up after 5 minutes");
        assert_eq!(cluster.counted(DISRUPTED, "launch_timeout"), 1);
    }
}

#[test]
fn a_launch_that_succeeds_in_the_end_forgets_its_failures() {
    let mut cluster = refusing(Failure::Unavailable { message: "throttled".to_owned() });
    cluster.seconds(20);
    cluster.launch_fails = None;
    cluster.seconds(100);
    let launched = cluster.claim("one").status.conditions.get(LAUNCHED).unwrap();
    assert_eq!((launched.status, launched.reason.as_str()), (Status::True, "Launched"));
    assert!(cluster.engine.world().memory.launch_failures.is_empty());
}

#[test]
fn a_machine_whose_node_never_joins_is_given_up_after_15_minutes() {
    let mut cluster = Cluster::new();
    cluster.boots = false;
    cluster.store(Object::Pool(pool("pool")));
    cluster.store(Object::Claim(claim("one")));
    cluster.seconds(899);
    assert!(!cluster.claim("one").meta.is_deleting());
    cluster.seconds(30);
    assert!(cluster.find_claim("one").is_none());
    assert!(cluster.instances.is_empty(), "its machine is ended");
    assert_eq!(cluster.counted(DISRUPTED, "registration_timeout"), 1);
}

#[test]
fn a_launch_that_is_never_answered_does_not_hold_a_deleted_claim_for_ever() {
    let mut cluster = Cluster::new();
    cluster.store(Object::Pool(pool("pool")));
    cluster.store(Object::Claim(claim("one")));
    cluster.ignores = |kind| matches!(kind, ActionKind::Launch(_));
    cluster.seconds(1);
    cluster.delete(&kerf_engine::event::Key::Claim("one".into()));
    cluster.seconds(60);
    assert!(cluster.find_claim("one").is_some(), "the launch may still be answered");
    cluster.seconds(120);
    assert!(cluster.find_claim("one").is_none());
}
