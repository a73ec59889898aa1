//! The calls that a quiet cluster costs.

use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use kerf_testbed::Kubelets;
use serde_json::{Value, json};

use crate::process::Product;
use crate::stage::Stage;

/// From the launch of an instance to its node.
const BOOT: Duration = Duration::from_secs(1);
/// The cluster is quiet when no instance was tagged for so long: that is what comes last.
const QUIET_FOR: Duration = Duration::from_secs(60);
const TAGS: &str = "ec2:CreateTags";

pub(crate) fn measure(product: Product, program: &Path, nodes: usize, watched: Duration) -> Value {
    let stage = Stage::new(product);
    let _kubelets = Kubelets::start(&stage.control_plane, &stage.aws, BOOT).unwrap();
    let controller = stage.start(program, &[]);
    stage.make_pool(&controller);
    let seen = stage.watch();
    stage.launch(&seen, nodes);
    let tagged = || stage.calls(false).get(TAGS).copied().unwrap_or(0);
    let mut before = None;
    while before.replace(tagged()) != Some(tagged()) {
        sleep(QUIET_FOR);
    }
    stage.aws.forget_calls();
    let processor_before = controller.processor_seconds();
    sleep(watched);
    let per_hour = 3600.0 / watched.as_secs_f64();
    let calls = stage.calls(true);
    let hourly = calls.iter().map(|(name, count)| (name.clone(), json!(*count as f64 * per_hour)));
    json!({
        "nodes": nodes,
        "minutes": watched.as_secs_f64() / 60.0,
        "calls_per_hour": calls.values().sum::<usize>() as f64 * per_hour,
        "calls": hourly.collect::<serde_json::Map<_, _>>(),
        "processor_seconds_per_hour": (controller.processor_seconds() - processor_before) * per_hour,
        "memory_bytes": controller.peak_memory_bytes(),
    })
}
