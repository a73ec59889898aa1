//! Running the handler as a program, with the variables its chart would set.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use kerf_testbed::{ImdsStandIn, Program, wait_until};

use crate::account::{self, Queue};
use crate::cluster::{USER, cluster};
use crate::journal::Journal;

/// The machine may be compiling at the same time.
const SOON: Duration = Duration::from_secs(120);
const PROBES: &str = "PROBES_SERVER_PORT";
const METRICS: &str = "PROMETHEUS_SERVER_PORT";

/// A running handler; killed if a test fails. Its journal is replayed at its end.
pub(crate) struct Handler {
    program: Program,
    /// After the program: it is whole once that has ended.
    journal: Journal,
}

impl Handler {
    /// Starts a handler of a queue, with these variables beside.
    pub(crate) fn start(queue: &Queue, env: &[(&str, &str)]) -> Self {
        let kubeconfig = cluster().kubeconfig_of(USER).unwrap();
        Self::start_at(kubeconfig, queue, env)
    }

    /// The same, with another way to the API server.
    pub(crate) fn start_at(kubeconfig: &Path, queue: &Queue, env: &[(&str, &str)]) -> Self {
        let mut command = command(kubeconfig);
        command.envs(account::environment());
        command.env("NODE_NAME", "the-handler-runs-elsewhere").env("QUEUE_URL", &queue.url);
        command.env("ENABLE_SQS_TERMINATION_DRAINING", "true");
        Self::run(command, env)
    }

    /// Starts a handler that runs on a node and asks the metadata service of its instance.
    pub(crate) fn on_node(node: &str, imds: &ImdsStandIn, env: &[(&str, &str)]) -> Self {
        let mut command = command(cluster().kubeconfig_of(USER).unwrap());
        command.env("NODE_NAME", node).env("INSTANCE_METADATA_URL", imds.url());
        Self::run(command, env)
    }

    fn run(mut command: Command, env: &[(&str, &str)]) -> Self {
        // Set by a chart that has nothing to say: as if it were not.
        command.env("WEBHOOK_URL", "").env("CORDON_ONLY", "");
        command.envs([("ENABLE_PROBES_SERVER", "true"), ("ENABLE_PROMETHEUS_SERVER", "true")]);
        command.envs(env.iter().copied());
        let journal = Journal::of(&mut command);
        let program = Program::start(command, &[PROBES, METRICS]).unwrap();
        Self { program, journal }
    }

    /// Waits for something; fails with what it is, and the log is shown.
    pub(crate) fn wait(&self, what: &str, condition: impl Fn() -> bool) {
        assert!(wait_until(SOON, &condition), "not within {SOON:?}: {what}");
    }

    /// Waits until the log has a line with these words so many times.
    pub(crate) fn wait_said(&self, words: &str, times: usize) {
        self.wait(&format!("{times} times: {words}"), || self.said(words) >= times);
    }

    /// How often the log says that.
    pub(crate) fn said(&self, words: &str) -> usize {
        self.log().matches(words).count()
    }

    pub(crate) fn log(&self) -> String {
        self.program.written()
    }

    pub(crate) fn healthz(&self) -> String {
        self.program.get(PROBES, "/healthz").unwrap_or_default()
    }

    pub(crate) fn metrics(&self) -> String {
        self.program.get(METRICS, "/metrics").unwrap_or_default()
    }

    /// Ends it in the middle of whatever it does.
    pub(crate) fn kill(self) {
        let Self { program, journal } = self;
        drop(program);
        drop(journal);
    }

    /// Asks it to end, and waits; whether it ended well.
    pub(crate) fn end(self) -> bool {
        let Self { program, journal } = self;
        let is_well = program.end().unwrap().0;
        drop(journal);
        is_well
    }
}

fn command(kubeconfig: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kerf"));
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command.arg("nth").env("KUBECONFIG", kubeconfig);
    command
}
