//! `kerf controller` as a program: its settings, its ports, its Lease.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use kerf_testbed::{ControlPlane, Options, wait_until};

/// Well under a second in practice; the machine may be compiling at the same time.
const SOON: Duration = Duration::from_secs(60);
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
    let cases: [Case<'_>; 8] = [
        (&["--cloud=moon"], &[], ["--cloud", "moon", "kwok"]),
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

/// A running controller; killed if a test fails.
struct Running {
    child: Child,
    probes: u16,
    metrics: u16,
}

impl Running {
    fn start(kubeconfig: &Path) -> Self {
        let (probes, metrics) = (free_port(), free_port());
        let child = kerf()
            .args(["--cloud=kwok", "--leader-election-namespace=default"])
            .args([format!("--health-probe-port={probes}"), format!("--metrics-port={metrics}")])
            .env("KUBECONFIG", kubeconfig)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self { child, probes, metrics }
    }

    /// Asks it to end, and waits.
    fn end(mut self) -> (bool, String) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        let status = self.child.wait().unwrap();
        let mut log = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut log).unwrap();
        (status.success(), log)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

/// What a port answers to a path: everything, the status line first.
fn get(port: u16, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: kerf\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Some(answer)
}

#[test]
fn it_is_ready_once_the_definitions_are_there_and_gives_the_lease_back_when_asked_to_end() {
    let control_plane = ControlPlane::start(Options::api_server()).unwrap();
    let running = Running::start(control_plane.kubeconfig());
    let says = |path: &str, part: &str| {
        get(running.probes, path).is_some_and(|answer| answer.contains(part))
    };
    assert!(wait_until(SOON, || says("/healthz", "200 OK")), "it lives");
    assert!(wait_until(SOON, || says("/readyz", "nodeclaims: ")), "it says what lacks");

    let crds = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/crds");
    control_plane.kubectl(&["apply", "--server-side", "--filename", crds]).unwrap();
    assert!(wait_until(SOON, || says("/readyz", "200 OK")), "{:?}", get(running.probes, "/readyz"));
    let metrics = get(running.metrics, "/metrics").unwrap();
    assert!(metrics.contains("karpenter_cluster_state_synced 1"), "{metrics}");

    let holder = || {
        let path = "--output=jsonpath={.spec.holderIdentity}";
        control_plane.kubectl(&["get", "lease", LEASE, path]).unwrap_or_default()
    };
    assert!(wait_until(SOON, || !holder().is_empty()), "it leads");
    let (success, log) = running.end();
    assert!(success, "{log}");
    assert_eq!(holder(), "", "the lease is given back: {log}");
    for line in log.lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("every line is JSON");
        for key in ["level", "time", "logger", "message", "commit"] {
            assert!(line[key].is_string(), "{key}: {line}");
        }
    }
}
