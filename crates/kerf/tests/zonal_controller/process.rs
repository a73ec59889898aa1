//! Running `kerf` as a program with the rights of the controller.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use kerf_testbed::{ControlPlane, Options, User};

use crate::aws::Account;

/// The user that `deploy/rbac.yaml` speaks of.
pub(crate) const ACCOUNT: &str = "system:serviceaccount:karpenter:karpenter";
/// ARC is read every half a minute; the machine may be compiling at the same time.
pub(crate) const SOON: Duration = Duration::from_secs(180);
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// A control plane with definitions and the controller's rights.
pub(crate) fn cluster(options: Options) -> ControlPlane {
    let user = User::new(ACCOUNT)
        .in_group("system:serviceaccounts")
        .in_group("system:serviceaccounts:karpenter");
    let control_plane = ControlPlane::start(options.user(user)).unwrap();
    for file in ["crds", "rbac.yaml", "rbac-kwok.yaml", "rbac-zonal-autoshift.yaml"] {
        let file = format!("{}/../../deploy/{file}", env!("CARGO_MANIFEST_DIR"));
        control_plane.kubectl(&["apply", "--server-side", "--filename", &file]).unwrap();
    }
    let wait = ["wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"];
    control_plane.kubectl(&wait).unwrap();
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

pub(crate) fn kerf(control_plane: &ControlPlane, account: &Account) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kerf"));
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command.env("KUBECONFIG", control_plane.kubeconfig_of(ACCOUNT).unwrap());
    command.envs(account.environment());
    command
}

/// What `kerf` says: answer and errors.
pub(crate) fn said(command: &mut Command) -> (String, String) {
    let Output { stdout, stderr, .. } = command.output().unwrap();
    (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

/// A running controller; killed if a test fails.
pub(crate) struct Running {
    child: Child,
    metrics: u16,
}

impl Running {
    pub(crate) fn start(mut kerf: Command) -> Self {
        let (probes, metrics) = (free_port(), free_port());
        kerf.args([format!("--health-probe-port={probes}"), format!("--metrics-port={metrics}")]);
        let child = kerf.stdout(Stdio::inherit()).spawn().unwrap();
        Self { child, metrics }
    }

    pub(crate) fn metrics(&self) -> String {
        let Ok(mut stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, self.metrics)) else {
            return String::new();
        };
        let request = "GET /metrics HTTP/1.1\r\nHost: kerf\r\nConnection: close\r\n\r\n";
        let mut answer = String::new();
        let asked = stream.write_all(request.as_bytes());
        match asked.and_then(|()| stream.read_to_string(&mut answer)) {
            Ok(_) => answer,
            Err(_) => String::new(),
        }
    }

    /// Whether the page of metrics has that line.
    pub(crate) fn counts(&self, line: &str) -> bool {
        self.metrics().lines().any(|one| one == line)
    }

    /// Asks it to end, and waits; whether it ended well.
    pub(crate) fn end(mut self) -> bool {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        self.child.wait().unwrap().success()
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
