//! IMDS mode on a node about which nothing is announced.

use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use kerf_testbed::ImdsStandIn;
use serde_json::{Value, json};

use crate::handler::Handler;
use crate::stage::Stage;

/// The start is over by then.
const SETTLED: Duration = Duration::from_secs(10);
/// Pods on each node.
const PODS: usize = 1;

pub(crate) fn measure(program: &Path, nodes: usize, seconds: usize) -> Value {
    let stage = Stage::new();
    let instances: Vec<String> = (0..nodes).map(|number| format!("i-{number:017x}")).collect();
    stage.make_nodes(&instances, PODS);
    let own = instances.first().unwrap();
    let imds = ImdsStandIn::start(own).unwrap();
    let handler = Handler::on_node(program, &stage, &imds, own);
    sleep(SETTLED);
    let watched = Duration::from_secs(seconds as u64);
    let worked_before = handler.processor_seconds();
    sleep(watched);
    let worked = handler.processor_seconds() - worked_before;
    let (resident, private) = handler.memory_bytes();
    let report = json!({
        "nodes": nodes,
        "seconds": seconds,
        "start_seconds": handler.start_seconds,
        "processor_percent": 100.0 * worked / watched.as_secs_f64(),
        "peak_memory_bytes": handler.peak_memory_bytes(),
        "resident_bytes": resident,
        "private_bytes": private,
    });
    handler.end();
    report
}
