//! `kerf controller` as a program: its settings, its ports, its Lease.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod journal;

use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use journal::Journal;
use kerf_testbed::{ControlPlane, Options, Program, wait_until};

/// Well under a second in practice; the machine may be compiling at the same time.
const SOON: Duration = Duration::from_secs(60);
const PROBES: &str = "--health-probe-port";
const METRICS: &str = "--metrics-port";
const LEASE: &str = "karpenter-leader-election";

fn kerf() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kerf"));
    command.arg("controller").env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command
}

fn refused(arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let Output { status, stderr, .. } =
        kerf().args(arguments).envs(variables.iter().copied()).output().unwrap();
    assert!(!status.success(), "{arguments:?} {variables:?} must not start");
    String::from_utf8(stderr).unwrap()
}

#[test]
fn a_setting_that_makes_no_sense_stops_the_start_with_name_value_and_what_is_allowed() {
    type Case<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)], [&'a str; 3]);
    let cases: [Case<'_>; 11] = [
        (&["--cloud=moon"], &[], ["--cloud", "moon", "kwok"]),
        (&[], &[], ["--cloud aws", "CLUSTER_NAME", "--cluster-name"]),
        (&["--ami-refresh-interval=30s"], &[], ["--ami-refresh-interval", "30s", "a minute"]),
        (&[], &[("CLUSTER_ENDPOINT", "api")], ["--cluster-endpoint", "api", "https://API-SERVER"]),
        (&["--cloud=kwok", "--metrics-port=http"], &[], ["--metrics-port", "http", "invalid"]),
        (&["--cloud=kwok"], &[("METRICS_PORT", "99999")], ["--metrics-port", "99999", "65535"]),
        (&["--cloud=kwok", "--log-level=loud"], &[], ["--log-level", "loud", "debug, info, error"]),
        (
            &["--cloud=kwok", "--preference-policy=Sometimes"],
            &[],
            ["--preference-policy", "Sometimes", "Respect, Ignore"],
        ),
        (
            &["--cloud=kwok"],
            &[("BATCH_IDLE_DURATION", "soon")],
            ["--batch-idle-duration", "soon", "10s or 1m30s"],
        ),
        (
            &["--cloud=kwok", "--feature-gates=NodeRepair=maybe"],
            &[],
            ["--feature-gates", "NodeRepair=maybe", "true and false"],
        ),
        (
            &["--cloud=kwok"],
            &[("SCHEDULER_CONFIG", "podTopologySpread: {defaultConstraints: [{maxSkew: 0}]}")],
            ["--scheduler-config", "maxSkew: 0", "topologyKey"],
        ),
    ];
    for (arguments, variables, parts) in cases {
        let message = refused(arguments, variables);
        for part in parts {
            assert!(
                message.contains(part),
                "{arguments:?} {variables:?}: no {part:?} in {message}"
            );
        }
    }
}

#[test]
fn a_flag_wins_over_its_variable_and_unknown_gates_are_passed_over() {
    // Without an API server it gets as far as looking for one.
    let output = kerf()
        .args(["--cloud=kwok", "--log-level=error", "--feature-gates=FromTheFuture=true"])
        .env("LOG_LEVEL", "loud")
        .env("KUBECONFIG", "/nowhere/kubeconfig")
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("no way to reach an API server was found"), "{message}");
}

/// A running controller. Its journal is replayed when it is dropped.
fn start(kubeconfig: &Path) -> (Journal, Program) {
    let mut command = kerf();
    command.args(["--cloud=kwok", "--leader-election-namespace=default"]);
    command.env("KUBECONFIG", kubeconfig);
    let journal = Journal::of(&mut command);
    (journal, Program::start(command, &[PROBES, METRICS]).unwrap())
}

#[test]
fn it_is_ready_once_the_definitions_are_there_and_gives_the_lease_back_when_asked_to_end() {
    let control_plane = ControlPlane::start(Options::api_server()).unwrap();
    let (_journal, running) = start(control_plane.kubeconfig());
    let says = |path: &str, part: &str| {
        running.get(PROBES, path).is_some_and(|answer| answer.contains(part))
    };
    assert!(wait_until(SOON, || says("/healthz", "200 OK")), "it lives");
    assert!(wait_until(SOON, || says("/readyz", "nodeclaims: ")), "it says what lacks");

    control_plane.apply_files(&["deploy/crds"]).unwrap();
    assert!(wait_until(SOON, || says("/readyz", "200 OK")), "{:?}", running.get(PROBES, "/readyz"));
    let metrics = running.get(METRICS, "/metrics").unwrap();
    assert!(metrics.contains("karpenter_cluster_state_synced 1"), "{metrics}");

    let holder = || {
        let path = "--output=jsonpath={.spec.holderIdentity}";
        control_plane.kubectl(&["get", "lease", LEASE, path]).unwrap_or_default()
    };
    assert!(wait_until(SOON, || !holder().is_empty()), "it leads");
    let (success, log) = running.end().unwrap();
    assert!(success, "{log}");
    assert_eq!(holder(), "", "the lease is given back: {log}");
    for line in log.lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("every line is JSON");
        for key in ["level", "time", "logger", "message", "commit"] {
            assert!(line[key].is_string(), "{key}: {line}");
        }
    }
}
