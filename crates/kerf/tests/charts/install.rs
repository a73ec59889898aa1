//! `kerf install` on a real API server and the AWS stand-in: shown, made, and made once.

use std::process::{Command, Output};

use kerf_testbed::{AwsStandIn, ControlPlane, Options};
use serde_json::json;

const BEFORE: &str = "
apiVersion: v1
kind: Node
metadata:
  name: system-a
  annotations: {kwok.x-k8s.io/node: fake}
  labels: {kubernetes.io/os: linux, kubernetes.io/hostname: system-a, topology.kubernetes.io/zone: us-east-1a}
status: {allocatable: {cpu: '1', memory: 4Gi, pods: '20'}, capacity: {cpu: '1', memory: 4Gi, pods: '20'}}
---
apiVersion: v1
kind: Node
metadata:
  name: system-b
  annotations: {kwok.x-k8s.io/node: fake}
  labels: {kubernetes.io/os: linux, kubernetes.io/hostname: system-b, topology.kubernetes.io/zone: us-east-1b}
status: {allocatable: {cpu: '1', memory: 4Gi, pods: '20'}, capacity: {cpu: '1', memory: 4Gi, pods: '20'}}
";

#[test]
fn install_refuses_shows_makes_and_then_finds_nothing_to_do() {
    let cluster = ControlPlane::start(Options::simulated_cluster()).unwrap();
    let aws = AwsStandIn::start().unwrap();
    let install = |arguments: &[&str]| {
        let mut kerf = Command::new(env!("CARGO_BIN_EXE_kerf"));
        kerf.args(["install", "--cluster=tidepool", "--timeout-seconds=240"]).args(arguments);
        let pool = "--requirement=karpenter.sh/capacity-type=spot,on-demand";
        kerf.arg(pool).env("KUBECONFIG", cluster.kubeconfig()).envs(aws.environment());
        said(kerf.output().unwrap())
    };
    let (code, text) = install(&["--dry-run"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("EKS has no cluster tidepool"), "{text}");

    aws.control(
        "POST clusters",
        &json!({"name": "tidepool", "endpoint": "https://elsewhere.example"}),
    );
    aws.set(&json!({"pod_identity_agent": true}));
    let (code, text) = install(&["--dry-run"]);
    assert_eq!(code, 1, "{text}");
    for refusal in [
        "your kubeconfig leads to",
        "no node to run on",
        "aws eks update-kubeconfig --name tidepool",
    ] {
        assert!(text.contains(refusal), "{refusal}: {text}");
    }

    cluster.apply(BEFORE).unwrap();
    aws.control("POST clusters", &json!({"name": "tidepool", "endpoint": cluster.server_url()}));
    aws.deny(&["cloudformation:DescribeStacks"]);
    let (code, text) = install(&["--dry-run"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("not allowed to call cloudformation:DescribeStacks"), "{text}");
    aws.deny(&[]);

    let (code, shown) = install(&["--dry-run"]);
    assert_eq!(code, 2, "{shown}");
    assert_eq!(install(&["--dry-run"]).1, shown, "it says the same each time");
    for step in [
        "create  stack Karpenter-tidepool",
        "create  access entry of arn:aws:iam::123456789012:role/KarpenterNodeRole-tidepool",
        "create  Pod Identity association of karpenter with arn:aws:iam::123456789012:role/tidepool-karpenter",
        "create  Deployment karpenter/karpenter",
        "create  NodePool default",
    ] {
        assert!(shown.contains(step), "{step}: {shown}");
    }
    let (code, text) = install(&[]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("say --yes"), "{text}");

    let (code, text) = install(&["--yes"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("installed; next:"), "{text}");

    // The second time nothing is asked, called or written.
    let (code, text) = install(&[]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("everything is there: nothing to do"), "{text}");

    // What somebody changed is named, and put right.
    let scale = ["scale", "deployment", "karpenter", "--replicas=1", "--namespace=karpenter"];
    cluster.kubectl(&scale).unwrap();
    let (code, text) = install(&["--dry-run"]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("update  Deployment karpenter/karpenter: spec.replicas\n"), "{text}");
    assert_eq!(install(&["--yes"]).0, 0);
}

/// How a program ended, and all it said.
fn said(output: Output) -> (i32, String) {
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8_lossy(&text).into_owned())
}
