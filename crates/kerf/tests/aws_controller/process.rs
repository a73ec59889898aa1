//! Running `kerf` as a program with the rights of the controller.

use std::process::{Command, Output};
use std::time::{Duration, Instant};

use kerf_testbed::{ControlPlane, Options, Program, User};

use crate::aws::Account;
use crate::journal::Journal;

/// The user that `deploy/rbac.yaml` speaks of.
pub(crate) const ACCOUNT: &str = "system:serviceaccount:karpenter:karpenter";
/// ARC is read every half a minute; the machine may be compiling at the same time.
pub(crate) const SOON: Duration = Duration::from_secs(180);
const LOOK_EVERY: Duration = Duration::from_millis(250);
const PROBES: &str = "--health-probe-port";
const METRICS: &str = "--metrics-port";

/// A control plane with definitions and the controller's rights.
pub(crate) fn cluster(options: Options) -> ControlPlane {
    let user = User::new(ACCOUNT)
        .in_group("system:serviceaccounts")
        .in_group("system:serviceaccounts:karpenter");
    let control_plane = ControlPlane::start(options.user(user)).unwrap();
    let files = [
        "deploy/crds",
        "deploy/rbac.yaml",
        "deploy/rbac-kwok.yaml",
        "deploy/rbac-zonal-autoshift.yaml",
    ];
    control_plane.apply_files(&files).unwrap();
    control_plane
}

/// Waits for something; fails with what a person would look at.
pub(crate) fn wait(control_plane: &ControlPlane, what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + SOON;
    while !condition() {
        if Instant::now() > deadline {
            let kinds = "pods,nodes,nodeclaims,nodepools,events";
            let seen = control_plane.kubectl(&["get", kinds, "-A", "--output=wide"]);
            panic!("not within {SOON:?}: {what}\n{}", seen.unwrap_or_default());
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// `kerf` with an account and no cluster.
pub(crate) fn kerf_alone(account: &Account) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kerf"));
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command.envs(account.environment());
    command
}

pub(crate) fn kerf(control_plane: &ControlPlane, account: &Account) -> Command {
    let mut command = kerf_alone(account);
    command.env("KUBECONFIG", control_plane.kubeconfig_of(ACCOUNT).unwrap());
    command
}

/// What `kerf` says: answer and errors.
pub(crate) fn said(command: &mut Command) -> (String, String) {
    let Output { stdout, stderr, .. } = command.output().unwrap();
    (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

/// A running controller; killed if a test fails. Its journal is replayed at its end.
pub(crate) struct Running {
    program: Program,
    /// After the program: it is whole once that has ended.
    _journal: Journal,
}

impl Running {
    pub(crate) fn start(kerf: Command) -> Self {
        Self::with_ports(kerf, &[PROBES, METRICS])
    }

    /// The daemon of zonal shifts, whose one port has both.
    pub(crate) fn start_daemon(kerf: Command) -> Self {
        Self::with_ports(kerf, &[METRICS])
    }

    fn with_ports(mut kerf: Command, ports: &[&'static str]) -> Self {
        let journal = Journal::of(&mut kerf);
        let program = Program::start(kerf, ports).unwrap();
        Self { program, _journal: journal }
    }

    /// What the daemon answers to a liveness probe.
    pub(crate) fn healthz(&self) -> String {
        self.program.get(METRICS, "/healthz").unwrap_or_default()
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.program.get(PROBES, "/readyz").is_some_and(|answer| answer.contains("200 OK"))
    }

    pub(crate) fn metrics(&self) -> String {
        self.program.get(METRICS, "/metrics").unwrap_or_default()
    }

    /// Whether the page of metrics has that line.
    pub(crate) fn counts(&self, line: &str) -> bool {
        self.metrics().lines().any(|one| one == line)
    }

    /// How often the log says that.
    pub(crate) fn says(&self, words: &str) -> usize {
        self.program.written().matches(words).count()
    }

    /// Asks it to end, and waits; whether it ended well.
    pub(crate) fn end(self) -> bool {
        self.program.end().unwrap().0
    }
}
