//! Spot nodes, and their end: how long until a pod runs on each, and, when all of them are announced
//! to go at once, until each is closed to pods.

use std::path::Path;
use std::time::{Duration, Instant};

use kerf_testbed::{Kubelets, wait_until};
use serde_json::{Value, json};

use crate::process::Product;
use crate::queue::{self, Announced};
use crate::seen::Seen;
use crate::stage::{AT_MOST, Stage, calls_each};

/// From the launch of an instance to its node.
const BOOT: Duration = Duration::from_secs(1);

pub(crate) fn measure(product: Product, program: &Path, nodes: usize) -> Value {
    let stage = Stage::new(product);
    let _kubelets = Kubelets::start(&stage.control_plane, &stage.aws, BOOT).unwrap();
    let controller = stage.start(program, &[]);
    stage.make_pool(&controller);
    let seen = stage.watch();
    let seconds = stage.launch(&seen, nodes);
    let calls = stage.calls(false);
    json!({
        "nodes": nodes,
        "seconds": seconds,
        "calls_per_node": calls_each(&calls, nodes),
        "calls": calls,
        "announced": announced(&stage, &seen, nodes),
        "peak_memory_bytes": controller.peak_memory_bytes(),
        "processor_seconds": controller.processor_seconds(),
    })
}

/// How long until each node is closed, from the moment the last notice was sent.
fn announced(stage: &Stage, seen: &Seen, nodes: usize) -> Value {
    let instances = seen.instances();
    assert_eq!(instances.len(), nodes, "one instance for each node");
    let bodies: Vec<String> = instances
        .iter()
        .map(|instance| Announced::Spot.body(&stage.made, instance).to_string())
        .collect();
    let url = queue::url(&stage.aws, &stage.made.queue);
    let begun = Instant::now();
    queue::send(&stage.aws, &url, &bodies);
    let sent = Instant::now();
    let closed = seen.until(&stage.runtime, AT_MOST, |it| it.closed.len() >= nodes);
    let is_empty = || queue::depth(&stage.aws, &url) == 0;
    assert!(wait_until(AT_MOST, is_empty), "the queue is never empty");
    let emptied = Instant::now();
    let after = |moment: Instant| moment.saturating_duration_since(sent).as_secs_f64();
    json!({
        "sending": sent.duration_since(begun).as_secs_f64(),
        "last node closed": after(closed),
        "queue empty": after(emptied),
    })
}
