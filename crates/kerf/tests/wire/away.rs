//! An API server that is away.

use std::time::{Duration, Instant};

use kerf_testbed::{ApiFault, ApiRule, Calls};

use crate::cluster::Cluster;
use crate::controller::Controller;
use crate::objects::{alone, lasting_pool, shrinking_pool, together};

/// Longer than a Lease lasts. `KERF_AWAY_SECONDS=300` is the large run.
fn away_for() -> Duration {
    let seconds = std::env::var("KERF_AWAY_SECONDS").map_or(25, |text| text.parse().unwrap());
    Duration::from_secs(seconds)
}

#[test]
fn an_api_server_that_is_away_under_load_costs_time_and_nothing_else() {
    let cluster = Cluster::with(&[
        lasting_pool("alone"),
        alone("alone", 10),
        shrinking_pool("shared", 2),
        together("shared", 20),
    ]);
    let proxy = cluster.proxy();
    let mut controller = Controller::start(proxy.kubeconfig());
    cluster.wait("some pods run, others wait", || cluster.ready("alone") > 2);

    proxy.set_rules(vec![ApiRule::each(Calls::All, ApiFault::HangUp)]);
    let until = Instant::now() + away_for();
    let mut replicas = 10;
    while Instant::now() < until {
        replicas = (replicas + 1).min(20);
        cluster.scale("alone", replicas);
        if controller.has_ended() {
            // As a kubelet does.
            controller = Controller::start(proxy.kubeconfig());
        }
        std::thread::sleep(Duration::from_secs(1));
        assert!(!controller.answers("/healthz", "503"), "a new start would not help");
    }
    let evicted = |path: &str| path.ends_with("/eviction");
    proxy.set_rules(vec![]);
    for (pool, pods) in [("alone", replicas), ("shared", 20)] {
        cluster.wait_for(crate::cluster::SOON, "rest", || {
            if controller.has_ended() {
                controller = Controller::start(proxy.kubeconfig());
            }
            cluster.unrest(pool, pods as usize)
        });
    }
    assert_eq!(cluster.ledger.made("alone"), replicas as usize, "no claim was made twice");
    assert_eq!(cluster.ledger.launched_twice(), [""; 0]);
    assert_eq!(cluster.ledger.going_most("alone"), 0);
    assert!(!proxy.writes().iter().any(|call| evicted(&call.path)));
}
