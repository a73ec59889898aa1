//! The programs under measurement: Kerf, and Karpenter with its kwok provider.

use std::cell::RefCell;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use kerf_testbed::wait_until;
use serde_json::Value;

/// A fresh start on an empty cluster takes well under a second.
const READY_AT_MOST: Duration = Duration::from_secs(60);

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Product {
    Kerf,
    Karpenter,
}

/// A running controller; ended when dropped.
pub(crate) struct Controller {
    child: RefCell<Child>,
    log: PathBuf,
}

/// Where the log shall stay, for those who want to know more; `LOG_LEVEL` says how much.
const LOG_VARIABLE: &str = "KERF_BENCH_LOG";

impl Controller {
    /// Starts the program with its defaults and waits until it is ready.
    pub(crate) fn start(product: Product, program: &Path, kubeconfig: &Path) -> Self {
        let (metrics, probes) = (free_port(), free_port());
        let passing =
            || std::env::temp_dir().join(format!("kerf-bench-{}.log", std::process::id()));
        let log = std::env::var_os(LOG_VARIABLE).map_or_else(passing, PathBuf::from);
        let mut command = Command::new(program);
        match product {
            Product::Kerf => command
                .args(["controller", "--cloud=kwok", "--leader-election-namespace=karpenter"])
                .arg(format!("--metrics-port={metrics}"))
                .arg(format!("--health-probe-port={probes}")),
            // It has no flags but these variables outside a cluster.
            Product::Karpenter => command
                .env("SYSTEM_NAMESPACE", "karpenter")
                .env("KARPENTER_SERVICE", "karpenter")
                .env("DISABLE_LEADER_ELECTION", "true")
                .env("METRICS_PORT", metrics.to_string())
                .env("HEALTH_PROBE_PORT", probes.to_string()),
        };
        let output = File::create(&log).unwrap();
        command.stderr(output.try_clone().unwrap()).stdout(output);
        let child = command.env("KUBECONFIG", kubeconfig).spawn().unwrap();
        let this = Self { child: RefCell::new(child), log };
        assert!(
            wait_until(READY_AT_MOST, || is_ready(probes)),
            "{product:?} was not ready in time; its log: {}",
            std::fs::read_to_string(&this.log).unwrap_or_default()
        );
        this
    }

    /// The most memory it held at once.
    pub(crate) fn peak_memory_bytes(&self) -> u64 {
        let path = format!("/proc/{}/status", self.child.borrow().id());
        let status = std::fs::read_to_string(path).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        let kib: u64 = line.trim().trim_end_matches(" kB").parse().unwrap();
        kib * 1024
    }

    /// How long Kerf thought about places, by its own log.
    pub(crate) fn solve_seconds(&self) -> f64 {
        let mut total = 0.0;
        for line in BufReader::new(File::open(&self.log).unwrap()).lines() {
            let line: Value = serde_json::from_str(&line.unwrap()).unwrap_or_default();
            if line["message"].as_str().is_some_and(|it| it.starts_with("found places")) {
                total += line["milliseconds"].as_f64().unwrap_or_default() / 1_000.0;
            }
        }
        total
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        let mut child = self.child.borrow_mut();
        let _ = child.kill();
        let _ = child.wait();
        if std::env::var_os(LOG_VARIABLE).is_none() {
            let _ = std::fs::remove_file(&self.log);
        }
    }
}

fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

fn is_ready(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) else { return false };
    let request = "GET /readyz HTTP/1.1\r\nHost: kerf\r\nConnection: close\r\n\r\n";
    let mut answer = String::new();
    stream.write_all(request.as_bytes()).is_ok()
        && stream.read_to_string(&mut answer).is_ok()
        && answer.starts_with("HTTP/1.1 200")
}
