//! Spot nodes on AWS, and their end: how long until a pod runs on each, and, when all of them are
//! announced to go at once, until each is closed to pods. `cargo xtask bench aws` runs it and writes
//! the page.
//!
//! `aws_nodes kerf|karpenter PROGRAM NODES` starts a real control plane, the AWS stand-in with
//! kubelets, and the given program; prints one JSON object.
#![allow(clippy::unwrap_used, reason = "a measurement that fails has nothing to say but why")]

mod notices;
mod objects;
mod process;
mod seen;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use kerf_testbed::{AwsStandIn, ControlPlane, Kubelets, Options, Part, User, wait_until};
use serde_json::{Value, json};

use process::{Controller, Product};
use seen::Seen;

const ACCOUNT: &str = "system:serviceaccount:karpenter:karpenter";
const CLUSTER: &str = "tidepool";
const USAGE: &str = "aws_nodes kerf|karpenter PROGRAM NODES";
/// From the launch of an instance to its node.
const BOOT: Duration = Duration::from_secs(1);
/// Nothing takes so long unless something is broken.
const AT_MOST: Duration = Duration::from_secs(600);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let [product, program, nodes] = arguments.as_slice() else { panic!("usage: {USAGE}") };
    let product = Product::of(product).unwrap_or_else(|| panic!("usage: {USAGE}"));
    let nodes: usize = nodes.parse().unwrap_or_else(|_| panic!("usage: {USAGE}"));
    let control_plane = control_plane();
    let aws = AwsStandIn::start().unwrap();
    let made = aws.quick_start(CLUSTER);
    let _kubelets = Kubelets::start(&control_plane, &aws, BOOT).unwrap();
    let kubeconfig = match product {
        Product::Kerf => control_plane.kubeconfig_of(ACCOUNT).unwrap(),
        // Its rights come with its chart; here it may do everything.
        Product::Karpenter => control_plane.kubeconfig(),
    };
    let controller = Controller::start(product, Path::new(program), kubeconfig, &aws, &made);
    control_plane.apply(&objects::class_and_pool(CLUSTER)).unwrap();
    let is_ready = || {
        let condition = "jsonpath={.items[*].status.conditions[?(@.type=='Ready')].status}";
        let pools = control_plane.kubectl(&["get", "nodepools", "--output", condition]);
        pools.is_ok_and(|said| said.trim() == "True")
    };
    assert!(wait_until(AT_MOST, is_ready), "the pool is not ready: {}", controller.log());
    aws.forget_calls();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let seen = runtime.block_on(async {
        let client = control_plane.client().await.unwrap();
        Seen::watch(&client).await
    });
    let mut report = launched(&control_plane, &seen, nodes, &runtime);
    let calls = counted(&aws);
    report["calls"] = json!(calls);
    report["calls_per_node"] = json!(calls.values().sum::<usize>() as f64 / nodes as f64);
    report["announced"] = announced(&aws, &made, &seen, nodes, &runtime);
    report["peak_memory_bytes"] = json!(controller.peak_memory_bytes());
    report["processor_seconds"] = json!(controller.processor_seconds());
    println!("{report}");
}

fn control_plane() -> ControlPlane {
    // Their defaults of 20 and 50 calls a second would be what is measured.
    let fast = ["--kube-api-qps=2000", "--kube-api-burst=2000"];
    let user = User::new(ACCOUNT).in_group("system:serviceaccounts");
    let mut options = Options::simulated_cluster().user(user);
    for flag in fast {
        options = options.flag(Part::ControllerManager, flag).flag(Part::Scheduler, flag);
    }
    let control_plane = ControlPlane::start(options).unwrap();
    let files = ["deploy/crds", "deploy/rbac.yaml", "deploy/rbac-aws.yaml"];
    control_plane.apply_files(&files).unwrap();
    control_plane
}

/// How long until a pod runs on each of so many nodes.
fn launched(
    control_plane: &ControlPlane,
    seen: &Seen,
    nodes: usize,
    runtime: &tokio::runtime::Runtime,
) -> Value {
    let begun = Instant::now();
    control_plane.apply(&objects::deployment(nodes)).unwrap();
    let joined = seen.until(runtime, AT_MOST, |it| it.nodes.len() >= nodes);
    let joined = joined.duration_since(begun).as_secs_f64();
    let running = seen.until(runtime, AT_MOST, |it| it.running.len() >= nodes);
    let running = running.duration_since(begun).as_secs_f64();
    json!({ "nodes": nodes, "seconds": { "last node joined": joined, "all pods running": running } })
}

/// How long until each node is closed, from the moment the last notice was sent.
fn announced(
    aws: &AwsStandIn,
    made: &kerf_testbed::QuickStart,
    seen: &Seen,
    nodes: usize,
    runtime: &tokio::runtime::Runtime,
) -> Value {
    let instances = seen.instances();
    assert_eq!(instances.len(), nodes, "one instance for each node");
    let url = notices::queue_url(aws, &made.queue);
    let begun = Instant::now();
    notices::send(aws, made, &url, &instances);
    let sent = Instant::now();
    let closed = seen.until(runtime, AT_MOST, |it| it.closed.len() >= nodes);
    assert!(wait_until(AT_MOST, || notices::depth(aws, &url) == 0), "the queue is never empty");
    let emptied = Instant::now();
    let after = |moment: Instant| moment.saturating_duration_since(sent).as_secs_f64();
    json!({
        "sending": sent.duration_since(begun).as_secs_f64(),
        "last node closed": after(closed),
        "queue empty": after(emptied),
    })
}

/// The calls of the controller that EC2 and the others saw, by permission.
fn counted(aws: &AwsStandIn) -> BTreeMap<String, usize> {
    let mut counted = BTreeMap::new();
    for call in aws.calls().iter().filter(|call| call.service != "sqs") {
        *counted.entry(call.permission()).or_insert(0) += 1;
    }
    counted
}
