//! Pods on an empty cluster, until all run: how long, how many nodes, at what price, and what the
//! controller took. `cargo xtask bench e2e` runs it and writes the page.
//!
//! `e2e kerf PROGRAM mixed` starts a real control plane and the given program, prints one JSON
//! object; `e2e karpenter PROGRAM mixed` does the same with the original, and `spread` is another
//! workload. `e2e kerf PROGRAM disrupt scale-down [SHARE]` lets the pods run, changes something and
//! waits until nothing happens any more; SHARE divides the numbers of pods, for a quick try. With
//! `run COMMAND…` nothing is measured: the command runs against the cluster, in which
//! there is no pool yet.
#![allow(clippy::unwrap_used, reason = "a measurement that fails has nothing to say but why")]

mod disruption;
mod process;
mod steady;
mod timeline;
mod workload;

use std::path::Path;
use std::process::{Command, ExitCode};

use k8s_openapi::api::core::v1::Node;
use kerf_testbed::{ControlPlane, Options, Part, User};
use kube::Client;
use kube::api::{Api, ListParams};
use serde_json::{Value, json};

use disruption::Disruption;
use process::{Controller, Product};
use timeline::Timeline;
use workload::Workload;

const ACCOUNT: &str = "system:serviceaccount:karpenter:karpenter";
const PRICE: &str = "eks-node-viewer/instance-price";
const USAGE: &str = "e2e kerf|karpenter PROGRAM mixed|spread|disrupt CASE [SHARE]|run COMMAND…";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let [product, program, what, command @ ..] = arguments.as_slice() else {
        panic!("usage: {USAGE}")
    };
    let (workload, disruption) = (Workload::of(what), disruption(what, command));
    let is_known = workload.is_some() || disruption.is_some() || what == "run";
    assert!(is_known, "no workload is named {what}; usage: {USAGE}");
    let product = match product.as_str() {
        "kerf" => Product::Kerf,
        "karpenter" => Product::Karpenter,
        other => panic!("no product is named {other}; usage: {USAGE}"),
    };
    // Their defaults of 20 and 50 calls a second would be what is measured.
    let fast = ["--kube-api-qps=2000", "--kube-api-burst=2000"];
    let mut options =
        Options::simulated_cluster().user(User::new(ACCOUNT).in_group("system:serviceaccounts"));
    for flag in fast {
        options = options.flag(Part::ControllerManager, flag).flag(Part::Scheduler, flag);
    }
    let control_plane = ControlPlane::start(options).unwrap();
    control_plane
        .apply_files(&["deploy/crds", "deploy/rbac.yaml", "deploy/rbac-kwok.yaml"])
        .unwrap();
    let kubeconfig = match product {
        Product::Kerf => control_plane.kubeconfig_of(ACCOUNT).unwrap(),
        // Its rights come with its chart; here it may do everything.
        Product::Karpenter => control_plane.kubeconfig(),
    };
    let controller = Controller::start(product, Path::new(program), kubeconfig);
    if let ("run", [name, arguments @ ..]) = (what.as_str(), command) {
        let mut command = Command::new(name);
        command.args(arguments).env("KUBECONFIG", control_plane.kubeconfig());
        let status = command.status().unwrap();
        return if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let report = match (workload, disruption) {
        (Some(workload), _) => {
            control_plane.apply(include_str!("pool.yaml")).unwrap();
            runtime.block_on(measure(&control_plane, &controller, workload))
        }
        (None, Some(disruption)) => {
            runtime.block_on(disruption.measure(&control_plane, &controller))
        }
        (None, None) => panic!("no command; usage: {USAGE}"),
    };
    println!("{report}");
    ExitCode::SUCCESS
}

/// The case that was asked for, with fewer pods where a share was named.
fn disruption(what: &str, arguments: &[String]) -> Option<Disruption> {
    let (name, share) = arguments.split_first().filter(|_| what == "disrupt")?;
    let share = share.first().map_or(1, |share| share.parse().expect("a share is a number"));
    Some(Disruption::of(name, share).unwrap_or_else(|| panic!("no case {name}; usage: {USAGE}")))
}

async fn measure(
    control_plane: &ControlPlane,
    controller: &Controller,
    workload: Workload,
) -> Value {
    let client = control_plane.client().await.unwrap();
    let mut timeline = Timeline::watch(&client).await;
    timeline.begin();
    control_plane.apply(&workload.manifest()).unwrap();
    let times = timeline.until_all_run(workload.pod_count()).await;
    let (nodes, dollars_per_hour) = fleet(client).await;
    json!({
        "seconds": times,
        "solve_seconds": controller.solve_seconds(),
        "nodes": nodes,
        "dollars_per_hour": dollars_per_hour,
        "peak_memory_bytes": controller.peak_memory_bytes(),
        "processor_seconds": controller.processor_seconds(),
    })
}

/// How many nodes there are, and what they cost an hour.
async fn fleet(client: Client) -> (usize, f64) {
    let nodes = Api::<Node>::all(client).list(&ListParams::default()).await.unwrap();
    let price =
        |node: &Node| -> f64 { node.metadata.labels.as_ref().unwrap()[PRICE].parse().unwrap() };
    (nodes.items.len(), nodes.items.iter().map(price).sum())
}
