//! Nodes that boot slowly, while EC2 takes only so many calls: what is left of the time when the boot
//! is taken off, and what it costs in calls.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use kerf_testbed::{FaultProxy, Kubelets};
use serde_json::{Value, json};

use crate::process::Product;
use crate::stage::{Stage, calls_each};

/// From the launch of an instance to its node.
const BOOT: Duration = Duration::from_secs(30);

pub(crate) fn measure(product: Product, program: &Path, nodes: usize) -> Value {
    let stage = Stage::new(product);
    let proxy = FaultProxy::start(stage.aws.endpoint_url()).unwrap();
    let _kubelets = Kubelets::start(&stage.control_plane, &stage.aws, BOOT).unwrap();
    let controller = stage.start(program, &[("AWS_ENDPOINT_URL", &proxy.endpoint_url())]);
    stage.make_pool(&controller);
    proxy.limit_ec2();
    let seen = stage.watch();
    let seconds = stage.launch(&seen, nodes);
    let calls = stage.calls(false);
    let mut throttled = BTreeMap::new();
    for action in proxy.throttled() {
        *throttled.entry(action).or_insert(0) += 1;
    }
    let running = seconds["all pods running"].as_f64().unwrap();
    json!({
        "nodes": nodes,
        "seconds": seconds,
        "beside_boot_seconds": running - BOOT.as_secs_f64(),
        "calls_per_node": calls_each(&calls, nodes),
        "calls": calls,
        "throttled_count": throttled.values().sum::<usize>(),
        "throttled": throttled,
        "peak_memory_bytes": controller.peak_memory_bytes(),
        "processor_seconds": controller.processor_seconds(),
    })
}
