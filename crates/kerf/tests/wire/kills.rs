//! The process is killed with -9 between any two of its writes, again and again.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kerf_model::rng::SplitMix64;
use kerf_testbed::{ApiProxy, Held};
use kube::ResourceExt;

use crate::cluster::{Cluster, SOON};
use crate::controller::Controller;
use crate::objects::{alone, budget, lasting_pool, shrinking_pool, together};
use crate::storms::twice;

/// Nodes of the pool `shrinking` that may go at a time.
const AT_A_TIME: u32 = 2;
/// Writes before a kill, at most.
const WRITES_MAX: u64 = 12;
/// A process that has nothing to write is killed after so long.
const IDLE_AT_MOST: Duration = Duration::from_secs(6);
/// After so many kills everything must come to rest.
const KILLS_PER_REST: u32 = 10;

/// `KERF_KILLS=200` is the large run.
fn kills() -> u32 {
    std::env::var("KERF_KILLS").map_or(10, |count| count.parse().unwrap())
}

/// `KERF_SEED` repeats a run.
fn seed() -> u64 {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    std::env::var("KERF_SEED").map_or_else(|_| now() as u64, |seed| seed.parse().unwrap())
}

/// What the Deployments are scaled to. Pods of `growing` and `shrinking` have a node each; nodes of
/// `growing` stay, so there are as many as there ever were pods.
struct Load<'a> {
    cluster: &'a Cluster,
    random: SplitMix64,
    growing: u32,
    shrinking: u32,
}

impl Load<'_> {
    fn below(&mut self, bound: u64) -> u64 {
        self.random.next_u64() % bound
    }

    /// More pods here, fewer there, and a node with pods that has to go.
    fn change(&mut self) {
        self.growing += self.below(3) as u32;
        self.shrinking = self.below(6) as u32;
        self.cluster.scale("growing", self.growing);
        self.cluster.scale("shrinking", self.shrinking);
        let claims = self.cluster.claims("drained");
        if !claims.is_empty() && claims.iter().all(|it| it.metadata.deletion_timestamp.is_none()) {
            let chosen = self.below(claims.len() as u64) as usize;
            self.cluster.delete_claim(&claims[chosen].name_any());
        }
    }
}

#[test]
fn a_process_killed_between_any_two_writes_leaks_doubles_and_disrupts_nothing() {
    let (kills, seed) = (kills(), seed());
    println!("KERF_KILLS={kills} KERF_SEED={seed}");
    let cluster = Cluster::with(&[
        lasting_pool("growing"),
        alone("growing", 2),
        shrinking_pool("shrinking", AT_A_TIME),
        alone("shrinking", 4),
        lasting_pool("drained"),
        together("drained", 6),
        budget("drained"),
    ]);
    let proxy = cluster.proxy();
    let mut load =
        Load { cluster: &cluster, random: SplitMix64::new(seed), growing: 2, shrinking: 4 };
    rest(&proxy, &load, 0);
    for kill in 1..=kills {
        load.change();
        let nth = 1 + load.below(WRITES_MAX);
        let held = if load.below(2) == 0 { Held::Before } else { Held::After };
        let told = proxy.hold(nth, held);
        let controller = Controller::start(proxy.kubeconfig());
        let met = told.recv_timeout(IDLE_AT_MOST);
        controller.kill();
        proxy.freeze(false);
        cluster.drop_lease();
        match met {
            Ok(call) => println!("kill {kill}: {held:?} {} {}", call.method, call.path),
            Err(_) => println!("kill {kill}: with nothing to write"),
        }
        if kill % KILLS_PER_REST == 0 || kill == kills {
            rest(&proxy, &load, kill);
        }
    }
    let writes = proxy.writes();
    let evictions = writes.iter().filter(|call| call.path.ends_with("/eviction")).count();
    println!(
        "{kills} kills, {} writes, {evictions} evictions, {} nodes of growing, seed {seed}",
        writes.len(),
        load.growing
    );
}

/// Lets everything come to rest, and looks at what has become of it.
fn rest(proxy: &ApiProxy, load: &Load<'_>, kill: u32) {
    let Load { cluster, growing, shrinking, .. } = load;
    let controller = Controller::start(proxy.kubeconfig());
    let pools = [("growing", *growing), ("shrinking", *shrinking), ("drained", 6)];
    for (pool, replicas) in pools {
        let what = format!("rest after kill {kill}");
        cluster.wait_for(SOON, &what, || cluster.unrest(pool, replicas as usize));
    }
    cluster
        .wait("empty nodes are gone", || cluster.nodes("shrinking").len() == *shrinking as usize);
    drop(controller);
    cluster.drop_lease();
    let ledger = &cluster.ledger;
    assert_eq!(ledger.launched_twice(), [""; 0], "two instances for one claim");
    assert_eq!(ledger.made("growing"), *growing as usize, "a claim for each pod, and no other");
    let most = ledger.going_most("shrinking");
    assert!(most <= AT_A_TIME as usize, "{most} nodes went at once");
    let writes = proxy.writes();
    assert_eq!(twice(&writes, "/eviction"), [""; 0], "pods that were evicted twice");
}
