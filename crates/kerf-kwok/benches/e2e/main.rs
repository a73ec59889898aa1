//! A thousand pods on an empty cluster, until all run: how long, how many nodes, at what price, and
//! how much memory the controller took. `cargo xtask bench e2e` runs it and writes the page.
//!
//! `e2e kerf PROGRAM` starts a real control plane and the given program, prints one JSON object;
//! `e2e karpenter PROGRAM` does the same with the original. With a command behind that, nothing is
//! measured: the command runs against the cluster, in which there is no pool yet.
#![allow(clippy::unwrap_used, reason = "a measurement that fails has nothing to say but why")]

mod process;
mod timeline;

use std::path::Path;
use std::process::{Command, ExitCode};

use k8s_openapi::api::core::v1::Node;
use kerf_testbed::{ControlPlane, Options, Part, User};
use kube::api::{Api, ListParams};
use serde_json::{Value, json};

use process::{Controller, Product};
use timeline::Timeline;

const ACCOUNT: &str = "system:serviceaccount:karpenter:karpenter";
const PRICE: &str = "eks-node-viewer/instance-price";
/// Half the pods are small, half ask for much memory.
const HALVES: [(&str, &str, &str); 2] = [("small", "900m", "3100Mi"), ("large", "3500m", "28Gi")];
const PODS_EACH: usize = 500;

const USAGE: &str = "e2e kerf|karpenter PROGRAM [COMMAND…]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let [product, program, command @ ..] = arguments.as_slice() else { panic!("usage: {USAGE}") };
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
    if let [name, arguments @ ..] = command {
        let mut command = Command::new(name);
        command.args(arguments).env("KUBECONFIG", control_plane.kubeconfig());
        let status = command.status().unwrap();
        return if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    control_plane.apply(include_str!("pool.yaml")).unwrap();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let report = runtime.block_on(measure(&control_plane, &controller));
    println!("{report}");
    ExitCode::SUCCESS
}

async fn measure(control_plane: &ControlPlane, controller: &Controller) -> Value {
    let client = control_plane.client().await.unwrap();
    let mut timeline = Timeline::watch(&client).await;
    let workloads: Vec<Value> = HALVES.iter().map(|half| workload(*half)).collect();
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": workloads });
    timeline.begin();
    control_plane.apply(&list.to_string()).unwrap();
    let times = timeline.until_all_run(HALVES.len() * PODS_EACH).await;
    let nodes = Api::<Node>::all(client).list(&ListParams::default()).await.unwrap();
    let price =
        |node: &Node| -> f64 { node.metadata.labels.as_ref().unwrap()[PRICE].parse().unwrap() };
    json!({
        "seconds": times,
        "solve_seconds": controller.solve_seconds(),
        "nodes": nodes.items.len(),
        "dollars_per_hour": nodes.items.iter().map(price).sum::<f64>(),
        "peak_memory_bytes": controller.peak_memory_bytes(),
    })
}

fn workload((name, cpu, memory): (&str, &str, &str)) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": { "name": name, "namespace": "default" },
        "spec": {
            "replicas": PODS_EACH,
            "selector": { "matchLabels": { "app": name } },
            "template": {
                "metadata": { "labels": { "app": name } },
                "spec": { "containers": [{
                    "name": "pause", "image": "registry.k8s.io/pause:3.10",
                    "resources": { "requests": { "cpu": cpu, "memory": memory } },
                }]},
            },
        },
    })
}
