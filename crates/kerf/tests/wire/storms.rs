//! An API server that says no far too often.

use std::collections::BTreeMap;
use std::time::Duration;

use kerf_testbed::{ApiCall, ApiFault, ApiRule, Calls};

use crate::cluster::{Cluster, SOON};
use crate::controller::Controller;
use crate::objects::{alone, lasting_pool, shrinking_pool, together};

/// Far longer than usual, and short beside the time in which a Lease is to be renewed.
const SLOW: Duration = Duration::from_secs(1);
/// A write that fails is tried again after a wait that doubles, and a node takes several writes one
/// after another.
const IN_A_STORM: Duration = Duration::from_secs(360);
const ALONE: u32 = 12;
const TOGETHER: u32 = 30;

/// Every fifth write is refused as one too many, every seventh fails, every fifth change is too
/// late, every seventh is done and nobody says so; one in twenty calls of any kind fails. Fewer than
/// half of all changes succeed at the first try.
fn storm() -> Vec<ApiRule> {
    let too_many = ApiFault::Answer { code: 429, retry_after_seconds: Some(1) };
    vec![
        ApiRule::each(Calls::All, ApiFault::code(503)).every(20),
        ApiRule::each(Calls::Writes, ApiFault::LostAnswer).every(7),
        ApiRule::each(Calls::Writes, ApiFault::code(500)).every(7),
        ApiRule::each(Calls::Changes, ApiFault::code(409)).every(5),
        ApiRule::each(Calls::Writes, too_many).every(5),
    ]
}

/// What was posted with success more than once, where each may be once, and how long after the
/// first time.
pub(crate) fn twice(writes: &[ApiCall], end: &str) -> Vec<String> {
    let mut done = BTreeMap::<&str, Vec<&ApiCall>>::new();
    for write in writes.iter().filter(|write| write.method == "POST" && write.is_done()) {
        if write.path.ends_with(end) {
            done.entry(&write.path).or_default().push(write);
        }
    }
    let twice = done.into_iter().filter(|(_, writes)| writes.len() > 1);
    let told = twice.map(|(path, writes)| {
        let later: Vec<_> = writes.iter().map(|write| write.at - writes[0].at).collect();
        format!("{path}: {later:?}")
    });
    told.collect()
}

#[test]
fn calls_that_are_throttled_refused_and_lost_delay_pods_and_nothing_else() {
    let cluster = Cluster::with(&[
        lasting_pool("alone"),
        lasting_pool("together"),
        alone("alone", ALONE),
        together("together", TOGETHER),
    ]);
    let proxy = cluster.proxy();
    proxy.set_rules(storm());
    let mut controller = Controller::start(proxy.kubeconfig());
    let mut revived = || {
        // Whoever loses the lead ends; a kubelet starts it again.
        if controller.has_ended() {
            controller = Controller::start(proxy.kubeconfig());
        }
    };
    cluster.wait_for(IN_A_STORM, "all pods run in the storm", || {
        revived();
        let (alone, together) = (cluster.ready("alone"), cluster.ready("together"));
        let is_served = alone == ALONE as usize && together == TOGETHER as usize;
        (!is_served).then(|| format!("{alone} and {together} pods are ready"))
    });
    proxy.set_rules(vec![]);
    for (pool, replicas) in [("alone", ALONE), ("together", TOGETHER)] {
        cluster.wait_for(SOON, "rest", || {
            revived();
            cluster.unrest(pool, replicas as usize)
        });
    }
    assert_eq!(cluster.ledger.made("alone"), ALONE as usize, "no claim was made twice");
    assert_eq!(cluster.ledger.launched_twice(), [""; 0]);
    let refused = proxy.writes().iter().filter(|write| !write.is_done()).count();
    println!("{refused} of {} writes failed", proxy.writes().len());
    assert!(refused > 20, "it was a storm: {refused}");
}

/// As with a store that takes its time over every change.
#[test]
fn a_server_that_takes_a_second_over_every_write_costs_time_and_nothing_else() {
    let cluster = Cluster::with(&[shrinking_pool("slow", 2), alone("slow", 6)]);
    let proxy = cluster.proxy();
    proxy.set_rules(vec![
        ApiRule::each(Calls::Writes, ApiFault::Slow(SLOW)),
        ApiRule::each(Calls::All, ApiFault::Slow(SLOW)).of("leases"),
    ]);
    let mut controller = Controller::start(proxy.kubeconfig());
    cluster.wait_for(SOON, "all pods run", || cluster.unrest("slow", 6));
    assert_eq!(cluster.ledger.made("slow"), 6, "no claim was made twice");
    cluster.scale("slow", 2);
    cluster.wait("empty nodes go", || cluster.nodes("slow").len() == 2);
    cluster.wait_for(SOON, "rest", || cluster.unrest("slow", 2));
    assert!(!controller.has_ended(), "it has kept its Lease");
    assert_eq!(cluster.ledger.launched_twice(), [""; 0]);
    assert!(cluster.ledger.going_most("slow") <= 2);
}
