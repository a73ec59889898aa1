//! The programs under measurement: Kerf, and Karpenter with its AWS provider.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use kerf_testbed::{Program, wait_until};

use crate::stage::Stage;

const READY_AT_MOST: Duration = Duration::from_secs(120);
/// Where the log shall stay, for those who want to know more.
const LOG_VARIABLE: &str = "KERF_BENCH_LOG";

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Product {
    Kerf,
    Karpenter,
}

impl Product {
    pub(crate) fn of(name: &str) -> Option<Self> {
        match name {
            "kerf" => Some(Self::Kerf),
            "karpenter" => Some(Self::Karpenter),
            _ => None,
        }
    }
}

/// A running controller; ended when dropped.
pub(crate) struct Controller(Program);

impl Controller {
    /// Starts the program with its defaults and these variables, and waits until it is ready.
    pub(crate) fn start(
        program: &Path,
        kubeconfig: &Path,
        stage: &Stage,
        variables: &[(&str, &str)],
    ) -> Self {
        let (product, made) = (stage.product, &stage.made);
        let mut command = Command::new(program);
        command.env("KUBECONFIG", kubeconfig).envs(stage.aws.environment());
        // Both read these; neither needs a flag.
        command.env("CLUSTER_NAME", &made.cluster).env("INTERRUPTION_QUEUE", &made.queue);
        command.env("SYSTEM_NAMESPACE", "karpenter").env("KARPENTER_SERVICE", "karpenter");
        // Two hundred spot nodes at once are what an attack looks like, too.
        command.env("INTERRUPTION_PERCENT_PER_MINUTE", "100");
        command.env("DISABLE_LEADER_ELECTION", "true");
        command.envs(variables.iter().copied());
        if product == Product::Kerf {
            command.arg("controller");
        }
        let program = Program::start(command, &["METRICS_PORT", "HEALTH_PROBE_PORT"]).unwrap();
        let this = Self(program);
        let readiness = || this.0.get("HEALTH_PROBE_PORT", "/readyz").unwrap_or_default();
        assert!(
            wait_until(READY_AT_MOST, || readiness().contains("200 OK")),
            "{product:?} was not ready in time; its log: {}",
            this.log()
        );
        this
    }

    /// What it wrote.
    pub(crate) fn log(&self) -> String {
        self.0.written()
    }

    /// The most memory it held at once.
    pub(crate) fn peak_memory_bytes(&self) -> u64 {
        self.0.peak_memory_bytes().unwrap()
    }

    /// How long processors worked for it.
    pub(crate) fn processor_seconds(&self) -> f64 {
        self.0.processor_seconds().unwrap()
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        if let Some(log) = std::env::var_os(LOG_VARIABLE) {
            std::fs::write(log, self.0.written()).unwrap();
        }
    }
}
