//! The programs under measurement: Kerf, and Karpenter with its kwok provider.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use kerf_testbed::{Program, wait_until};
use serde_json::Value;

/// A fresh start on an empty cluster takes well under a second.
const READY_AT_MOST: Duration = Duration::from_secs(60);
/// Where the log shall stay, for those who want to know more; `LOG_LEVEL` says how much.
const LOG_VARIABLE: &str = "KERF_BENCH_LOG";

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Product {
    Kerf,
    Karpenter,
}

/// A running controller; ended when dropped.
pub(crate) struct Controller(Program);

impl Controller {
    /// Starts the program with its defaults and waits until it is ready.
    pub(crate) fn start(product: Product, program: &Path, kubeconfig: &Path) -> Self {
        let mut command = Command::new(program);
        command.env("KUBECONFIG", kubeconfig);
        let (metrics, probes) = match product {
            Product::Kerf => {
                command.args(["controller", "--cloud=kwok"]);
                command.arg("--leader-election-namespace=karpenter");
                ("--metrics-port", "--health-probe-port")
            }
            // It has no flags but these variables outside a cluster.
            Product::Karpenter => {
                command.env("SYSTEM_NAMESPACE", "karpenter").env("KARPENTER_SERVICE", "karpenter");
                command.env("DISABLE_LEADER_ELECTION", "true");
                ("METRICS_PORT", "HEALTH_PROBE_PORT")
            }
        };
        let program = Program::start(command, &[metrics, probes]).unwrap();
        let answers = || program.get(probes, "/readyz").is_some_and(|it| it.contains("200 OK"));
        assert!(
            wait_until(READY_AT_MOST, answers),
            "{product:?} was not ready in time; its log: {}",
            program.written()
        );
        Self(program)
    }

    /// The most memory it held at once.
    pub(crate) fn peak_memory_bytes(&self) -> u64 {
        self.0.peak_memory_bytes().unwrap()
    }

    /// How long processors worked for it.
    pub(crate) fn processor_seconds(&self) -> f64 {
        self.0.processor_seconds().unwrap()
    }

    /// How long Kerf solved, by its own log.
    pub(crate) fn solve_seconds(&self) -> f64 {
        let written = self.0.written();
        let lines = written.lines().map(|line| serde_json::from_str(line).unwrap_or_default());
        let solves = lines.filter(|line: &Value| {
            line["message"].as_str().is_some_and(|it| it.starts_with("found places"))
        });
        solves.map(|line| line["milliseconds"].as_f64().unwrap_or_default() / 1_000.0).sum()
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        if let Some(log) = std::env::var_os(LOG_VARIABLE) {
            std::fs::write(log, self.0.written()).unwrap();
        }
    }
}
