//! A real Kubernetes control plane on loopback.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::error::Result;
use crate::kubernetes::access::Access;
use crate::kubernetes::flags::{ETCD_SOCKET, KWOK_CONFIG, KWOK_CONFIG_FILE, Setting};
use crate::kubernetes::options::{Options, Part};
use crate::programs::cache::Cache;
use crate::programs::command::run;
use crate::programs::go_module::GoModule;
use crate::programs::port::free_port;
use crate::programs::process::{Process, wait_while_alive};
use crate::programs::toolchain::{Keeper, Kubernetes};
use crate::programs::work_dir::WorkDir;

/// Someone may take the port between looking and listening; that this happens three times in a row
/// means something else is wrong.
const START_ATTEMPTS: u32 = 3;

/// Each takes a second or two on an idle machine. The deadlines are for one that also compiles.
const STORE_READY_AT_MOST: Duration = Duration::from_secs(60);
const STORE_ANSWERS_WITHIN: Duration = Duration::from_secs(2);
const SERVER_READY_AT_MOST: Duration = Duration::from_secs(120);
const CLIENTS_READY_AT_MOST: Duration = Duration::from_secs(60);

/// A running control plane. Dropping it ends every part and removes its files.
#[derive(Debug)]
pub struct ControlPlane {
    // Fields are dropped in this order: the parts end before their folder goes.
    parts: Vec<Process>,
    access: Access,
    kubectl: PathBuf,
    dir: WorkDir,
}

impl ControlPlane {
    /// Starts the parts the options name and waits until they answer.
    ///
    /// The first start on a machine builds them (about 6 minutes on two cores), with progress on
    /// standard error. Any number of control planes can run at once.
    pub fn start(options: Options) -> Result<Self> {
        let (module, cache) = (GoModule::locate()?, Cache::open()?);
        let keeper = Keeper::ready(&module, &cache)?;
        let kubernetes = Kubernetes::ready(&module, &cache, &keeper)?;
        let mut attempt = 1;
        loop {
            match Self::start_once(&options, &keeper, &kubernetes) {
                Err(error) if error.is_port_taken() && attempt < START_ATTEMPTS => attempt += 1,
                outcome => return outcome,
            }
        }
    }

    fn start_once(options: &Options, keeper: &Keeper, kubernetes: &Kubernetes) -> Result<Self> {
        let dir = WorkDir::create("testbed", keeper)?;
        run(keeper.command("credentials").arg(dir.path()), "")?;
        dir.write(KWOK_CONFIG_FILE, KWOK_CONFIG)?;
        let port = free_port()?;
        let access = Access::write(&dir, port, options.users())?;
        let kubectl = kubernetes.program("kubectl");
        let mut this = Self { parts: Vec::new(), access, kubectl, dir };
        for part in options.parts() {
            let setting = Setting { access: &this.access, port, stages: &kubernetes.stages() };
            let mut command = keeper.supervise(kubernetes.program(part.name()));
            command.args(setting.flags(part)).args(options.flags_of(part));
            this.parts.push(Process::start(part.name(), command, this.dir.path())?);
            // The store and the server must answer before anyone can use them; the rest start side
            // by side.
            match part {
                Part::Etcd => this.wait_store()?,
                Part::ApiServer => this.wait_server(port)?,
                Part::ControllerManager | Part::Scheduler | Part::Kwok => {}
            }
        }
        this.wait_clients()?;
        Ok(this)
    }

    /// The administrator's kubeconfig.
    pub fn kubeconfig(&self) -> &Path {
        self.access.admin_kubeconfig()
    }

    /// The kubeconfig of a user named in the options.
    pub fn kubeconfig_of(&self, user: &str) -> Result<&Path> {
        self.access.kubeconfig_of(user)
    }

    /// Writes a kubeconfig for whoever has a token. It goes away with the control plane.
    pub(crate) fn write_kubeconfig(&self, name: &str, token: &str) -> Result<PathBuf> {
        self.dir.write(name, &self.access.kubeconfig_with(token))
    }

    /// Where the API server listens, as in `https://127.0.0.1:20001`.
    pub fn server_url(&self) -> &str {
        self.access.server_url()
    }

    /// The certificate the API server's own is signed with, in PEM.
    pub fn ca_file(&self) -> &Path {
        self.access.ca_file()
    }

    /// The administrator's bearer token.
    pub fn admin_token(&self) -> &str {
        self.access.admin_token()
    }

    /// The log of a part, if that part was started.
    pub fn log(&self, part: Part) -> Option<&Path> {
        self.parts.iter().find(|process| process.part() == part.name()).map(Process::log)
    }

    /// The ids of every process that belongs to this control plane.
    pub fn pids(&self) -> Vec<u32> {
        self.parts.iter().flat_map(Process::pids).collect()
    }

    /// Fails, with the end of its log, if a part has ended by itself.
    pub fn check(&mut self) -> Result<()> {
        self.parts.iter_mut().try_for_each(Process::check)
    }

    /// The kubectl of the same version as the server.
    pub fn kubectl_program(&self) -> &Path {
        &self.kubectl
    }

    /// Runs kubectl as the administrator and gives back what it printed.
    pub fn kubectl(&self, arguments: &[&str]) -> Result<String> {
        run(self.kubectl_command(self.kubeconfig()).args(arguments), "")
    }

    /// Runs kubectl as a user named in the options.
    pub fn kubectl_as(&self, user: &str, arguments: &[&str]) -> Result<String> {
        run(self.kubectl_command(self.kubeconfig_of(user)?).args(arguments), "")
    }

    /// Applies manifests (YAML or JSON, one or many documents) as the administrator.
    pub fn apply(&self, manifests: &str) -> Result<String> {
        let mut command = self.kubectl_command(self.kubeconfig());
        run(command.args(["apply", "--server-side", "--filename=-"]), manifests)
    }

    /// Applies files and folders of the workspace, as in `deploy/crds`, and waits until the server
    /// serves what they define.
    pub fn apply_files(&self, paths: &[&str]) -> Result<()> {
        let module = GoModule::locate()?;
        for path in paths {
            let file = format!("--filename={}", module.workspace().join(path).display());
            self.kubectl(&["apply", "--server-side", &file])?;
        }
        self.wait_definitions()
    }

    /// Waits until every definition is served.
    pub fn wait_definitions(&self) -> Result<()> {
        self.kubectl(&["wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"])?;
        Ok(())
    }

    /// A kubectl that reads and writes nothing in the home folder of whoever runs the test.
    fn kubectl_command(&self, kubeconfig: &Path) -> Command {
        let mut command = Command::new(&self.kubectl);
        command
            .env("KUBECONFIG", kubeconfig)
            .env("KUBERC", "off")
            .env("KUBECACHEDIR", self.dir.path().join("kubectl-cache"));
        command
    }

    fn wait_store(&mut self) -> Result<()> {
        let socket = self.dir.path().join(ETCD_SOCKET);
        self.wait(Part::Etcd, STORE_READY_AT_MOST, |_| store_is_healthy(&socket))
    }

    fn wait_server(&mut self, port: u16) -> Result<()> {
        self.wait(Part::ApiServer, SERVER_READY_AT_MOST, |this| {
            // Knocking is cheap. What counts is an answer that bears our certificate and knows our
            // token: another process on this port has neither.
            TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
                && this.kubectl(&["get", "--raw=/readyz"]).is_ok()
        })
    }

    /// The controller manager works once the namespace every cluster has got its service account.
    /// The scheduler and kwok leave no such trace; whoever waits for a bound pod waits for them.
    fn wait_clients(&mut self) -> Result<()> {
        if self.log(Part::ControllerManager).is_some() {
            self.wait(Part::ControllerManager, CLIENTS_READY_AT_MOST, |this| {
                this.kubectl(&["get", "serviceaccount", "default", "--namespace=default"]).is_ok()
            })?;
        }
        self.check()
    }

    /// Waits for one part while all of them must live.
    fn wait(&mut self, part: Part, at_most: Duration, probe: impl Fn(&Self) -> bool) -> Result<()> {
        let ready = wait_while_alive(self, at_most, Self::check, probe)?;
        let process = self.parts.iter().find(|process| process.part() == part.name());
        match process {
            Some(process) if !ready => Err(process.not_ready(at_most)),
            _ => Ok(()),
        }
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        // All at once: ending takes as long as the slowest, not as long as all together.
        self.parts.iter_mut().for_each(Process::begin_end);
    }
}

/// Whether the store says that it can be used. It listens long before that where the disk is slow,
/// and the API server gives up after twenty seconds.
fn store_is_healthy(socket: &Path) -> bool {
    let ask = || -> io::Result<bool> {
        let mut stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(STORE_ANSWERS_WITHIN))?;
        stream.write_all(b"GET /health HTTP/1.0\r\nHost: etcd\r\n\r\n")?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        Ok(String::from_utf8_lossy(&answer).contains(r#""health":"true""#))
    };
    ask().unwrap_or(false)
}
