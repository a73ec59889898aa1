//! `kerf zonal-shift` and `kerf zonal-autoshift` as programs, without an AWS account.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::{Command, Output};

use kerf_testbed::{ControlPlane, Options};
use serde_json::{Value, json};

fn kerf(arguments: &[&str], kubeconfig: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kerf"));
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command.env("KUBECONFIG", kubeconfig).args(arguments).output().unwrap()
}

fn words(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn probes_of_the_reference_deployment_find_a_healthy_program() {
    for flag in ["-health", "--health"] {
        let output = kerf(&["zonal-autoshift", flag], Path::new("/nowhere"));
        assert!(output.status.success(), "{flag}: {:?}", words(&output));
    }
}

#[test]
fn what_is_missing_is_said_with_the_next_command() {
    let nowhere = Path::new("/nowhere/kubeconfig");
    let output = kerf(&["zonal-shift", "status"], nowhere);
    let (_, message) = words(&output);
    assert!(!output.status.success());
    assert!(message.contains("aws eks update-kubeconfig --name CLUSTER"), "{message}");

    let output = kerf(&["zonal-autoshift"], nowhere);
    let (_, message) = words(&output);
    assert!(!output.status.success());
    assert!(message.contains("CLUSTER_NAME"), "{message}");
}

#[test]
fn a_zone_is_avoided_and_given_back_by_hand_with_a_note_that_nobody_acts() {
    let control_plane = ControlPlane::start(Options::api_server()).unwrap();
    let run = |arguments: &[&str]| kerf(arguments, control_plane.kubeconfig());

    let (_, message) = words(&run(&["zonal-shift", "start", "us-west-2a"]));
    assert!(message.contains("no zone is known"), "{message}");

    let labels = json!({"topology.kubernetes.io/zone": "us-west-2a", "topology.k8s.aws/zone-id": "usw2-az1"});
    let metadata = json!({"name": "one", "labels": labels});
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": metadata});
    control_plane.apply(&node.to_string()).unwrap();

    let (_, message) = words(&run(&["zonal-shift", "start", "us-west-2q"]));
    assert!(message.contains("known are us-west-2a (usw2-az1)"), "{message}");

    let (answer, note) = words(&run(&["zonal-shift", "start", "us-west-2a"]));
    assert_eq!(answer, "us-west-2a (usw2-az1) is avoided until you end it\n");
    assert!(note.contains("get lease karpenter-sqs-subscriber-leader"), "{note}");

    let (status, _) = words(&run(&["zonal-shift", "status", "-o", "json"]));
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status["awayZones"], json!(["usw2-az1"]));
    assert_eq!(status["shifts"][0]["origin"], "cli");
    let (table, _) = words(&run(&["zonal-autoshift", "status"]));
    assert!(table.starts_with("ZONE"), "{table}");
    let (yaml, _) = words(&run(&["zonal-shift", "status", "-o", "yaml"]));
    assert!(yaml.contains("awayZones:"), "{yaml}");

    let (answer, _) = words(&run(&["zonal-autoshift", "end", "usw2-az1"]));
    assert_eq!(answer, "us-west-2a (usw2-az1) is no longer avoided; this ended: cli\n");
    let (answer, _) = words(&run(&["zonal-shift", "end", "usw2-az1", "-o", "json"]));
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["answer"], "us-west-2a (usw2-az1) was not avoided");
}
