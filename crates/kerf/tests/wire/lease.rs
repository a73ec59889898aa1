//! Two processes, of which one leads: stopped, cut off, asked to end.

use std::time::Instant;

use kerf_testbed::{ApiCall, ApiFault, ApiProxy, ApiRule, Calls};
use serde_json::json;

use crate::cluster::Cluster;
use crate::controller::Controller;
use crate::objects::{alone, pool, shrinking_pool};

const AT_A_TIME: u32 = 2;
/// Of the pool `limited`, in nodes.
const NODES_MAX: u32 = 8;

/// Two processes with a proxy each; the first leads and has begun to work.
struct Pair {
    cluster: Cluster,
    first: (Controller, ApiProxy),
    second: (Controller, ApiProxy),
}

impl Pair {
    /// There is more to do than the limit allows, and nodes that nobody needs.
    fn at_work() -> Self {
        let disruption = json!({"consolidateAfter": "Never"});
        let cluster = Cluster::with(&[
            pool("limited", disruption, json!({"nodes": NODES_MAX.to_string()})),
            alone("limited", 0),
            shrinking_pool("shrinking", AT_A_TIME),
            alone("shrinking", 6),
        ]);
        let (proxy, other) = (cluster.proxy(), cluster.proxy());
        let controller = Controller::start(proxy.kubeconfig());
        cluster.wait("the first leads", || controller.leads());
        let standby = Controller::start(other.kubeconfig());
        cluster.wait("the second stands by", || standby.says("another process leads"));
        cluster.wait("its pods run", || cluster.ready("shrinking") == 6);
        let before = proxy.writes().len();
        cluster.scale("limited", NODES_MAX + 4);
        cluster.scale("shrinking", 0);
        cluster.wait("the first works", || proxy.writes().len() > before + 5);
        Self { cluster, first: (controller, proxy), second: (standby, other) }
    }

    /// The second finishes what the first began, within limits and budgets.
    fn assert_finished(&self) {
        let Self { cluster, .. } = self;
        cluster.wait("all that the limit allows run", || {
            cluster.ready("limited") == NODES_MAX as usize
        });
        cluster.wait("empty nodes are gone", || {
            cluster.nodes("shrinking").is_empty() && cluster.claims("shrinking").is_empty()
        });
        let ledger = &cluster.ledger;
        assert_eq!(ledger.launched_twice(), [""; 0]);
        assert_eq!(ledger.present_most("limited"), NODES_MAX as usize, "the limit");
        let most = ledger.going_most("shrinking");
        assert!(most <= AT_A_TIME as usize, "{most} nodes went at once");
    }
}

fn since(writes: &[ApiCall], moment: Instant) -> Vec<String> {
    let late = writes.iter().filter(|call| call.at > moment);
    late.map(|call| format!("{} {}", call.method, call.path)).collect()
}

#[test]
fn a_leader_that_was_stopped_writes_nothing_when_it_goes_on_after_its_lease() {
    let mut pair = Pair::at_work();
    pair.first.0.signal("STOP");
    pair.cluster.wait("the second leads", || pair.second.0.leads());
    pair.cluster.wait("and works", || !pair.second.1.writes().is_empty());
    let moment = Instant::now();
    pair.first.0.signal("CONT");
    pair.cluster.wait("the first ends", || pair.first.0.has_ended());
    assert_eq!(since(&pair.first.1.writes(), moment), [""; 0]);
    pair.assert_finished();
}

#[test]
fn a_leader_that_is_cut_off_from_its_lease_ends_before_another_begins() {
    let mut pair = Pair::at_work();
    // Everything else still works: only its own discipline keeps it from writing.
    pair.first.1.set_rules(vec![ApiRule::each(Calls::All, ApiFault::Silence).of("leases")]);
    pair.cluster.wait("the second leads", || pair.second.0.leads());
    pair.cluster.wait("and works", || !pair.second.1.writes().is_empty());
    pair.cluster.wait("the first ends", || pair.first.0.has_ended());
    let begun = pair.second.1.writes().iter().map(|call| call.at).min().unwrap();
    assert_eq!(since(&pair.first.1.writes(), begun), [""; 0]);
    pair.assert_finished();
}

#[test]
fn a_leader_that_is_stopped_and_cut_off_writes_nothing_more() {
    let mut pair = Pair::at_work();
    pair.first.0.signal("STOP");
    pair.first.1.set_rules(vec![ApiRule::each(Calls::All, ApiFault::Silence)]);
    pair.cluster.wait("the second leads", || pair.second.0.leads());
    pair.cluster.wait("and works", || !pair.second.1.writes().is_empty());
    let moment = Instant::now();
    pair.first.1.set_rules(vec![]);
    pair.first.0.signal("CONT");
    pair.cluster.wait("the first ends", || pair.first.0.has_ended());
    assert_eq!(since(&pair.first.1.writes(), moment), [""; 0]);
    pair.assert_finished();
}

#[test]
fn a_leader_that_is_asked_to_end_gives_the_lease_back_although_its_calls_hang() {
    let pair = Pair::at_work();
    // Writes that never end, watches that break, Events that nobody takes.
    pair.first.1.set_rules(vec![
        ApiRule::each(Calls::Writes, ApiFault::Silence),
        ApiRule::each(Calls::All, ApiFault::Silence).of("events"),
        ApiRule::each(Calls::Watches, ApiFault::HangUp),
    ]);
    let Pair { cluster, first: (controller, proxy), second } = pair;
    let holder = cluster.holder();
    assert!(!holder.is_empty());
    let asked = Instant::now();
    let (success, log) = controller.end();
    println!("it ended after {:?}", asked.elapsed());
    assert!(success, "{log}");
    assert!(log.contains("released the leader lease"), "{log}");
    drop(proxy);
    assert_ne!(cluster.holder(), holder);
    cluster.wait("the second leads at once", || second.0.leads());
}
