//! `kerf controller` as a process that can be killed, stopped and ended.

use std::path::Path;
use std::process::Command;

use kerf_testbed::Program;

const PROBES: &str = "--health-probe-port";
const METRICS: &str = "--metrics-port";

/// A running controller. Dropped, it is killed with -9.
pub(crate) struct Controller(Program);

impl Controller {
    /// Starts one that reaches the API server as the file says.
    pub(crate) fn start(kubeconfig: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kerf"));
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        command.args(["controller", "--cloud=kwok", "--leader-election-namespace=karpenter"]);
        command.args(["--batch-idle-duration=200ms", "--log-level=debug"]);
        command.env("KUBECONFIG", kubeconfig);
        Self(Program::start(command, &[PROBES, METRICS]).unwrap())
    }

    /// Whether it has said so.
    pub(crate) fn says(&self, words: &str) -> bool {
        self.0.written().contains(words)
    }

    pub(crate) fn leads(&self) -> bool {
        self.says("successfully acquired lease")
    }

    pub(crate) fn answers(&self, path: &str, words: &str) -> bool {
        self.0.get(PROBES, path).is_some_and(|answer| answer.contains(words))
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.0.has_ended()
    }

    /// Sends it a signal, as in `STOP`.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.0.id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap();
        assert!(sent.success(), "kill -{name}");
    }

    /// Asks it to end, and waits: whether it ended well, and everything it wrote.
    pub(crate) fn end(self) -> (bool, String) {
        self.0.end().unwrap()
    }

    /// Kills it with -9.
    pub(crate) fn kill(self) {
        drop(self);
    }
}
