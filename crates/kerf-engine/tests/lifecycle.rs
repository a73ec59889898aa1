//! Claims become nodes and end without a trace.

#![allow(clippy::unwrap_used)]

mod cluster;

use cluster::{Cluster, claim, pool};
use kerf_engine::condition::claim::{INITIALIZED, LAUNCHED, REGISTERED};
use kerf_engine::event::{Key, Object};

fn with_claim() -> Cluster {
    let mut cluster = Cluster::new();
    cluster.store(Object::Pool(pool("pool")));
    cluster.store(Object::Claim(claim("one")));
    cluster
}

#[test]
fn a_claim_becomes_a_ready_node_and_goes_without_a_trace() {
    let mut cluster = with_claim();
    cluster.seconds(60);
    let conditions = &cluster.claim("one").status.conditions;
    for kind in [LAUNCHED, REGISTERED, INITIALIZED, "Ready"] {
        assert!(conditions.is_true(kind), "{kind}: {conditions:#?}");
    }
    cluster.delete(&Key::Claim("one".into()));
    cluster.seconds(30);
    assert!(cluster.find_claim("one").is_none(), "{:#?}", cluster.claim("one"));
    assert!(cluster.nodes().is_empty());
    assert!(cluster.machines.is_empty());
}
