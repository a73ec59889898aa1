//! The programs a testbed consists of, built on first use.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::{Error, Result};
use crate::programs::cache::Cache;
use crate::programs::fingerprint::Fingerprint;
use crate::programs::go_module::GoModule;
use crate::programs::progress::{run_step, say};

const GO_ADVICE: &str = "install Go 1.26 or newer (https://go.dev/dl)";
const PYTHON_ADVICE: &str =
    "install Python 3.10 or newer with its venv module (on Debian: python3 and python3-venv)";

/// The AWS stand-in, pinned: a newer one may know more or fewer calls.
const MOTO_VERSION: &str = "5.2.5";

/// The binary that becomes each of [`PROGRAMS`] by the name it is called under.
const KUBERNETES_BINARY: &str = "kerf-testbed-k8s";
const PROGRAMS: [&str; 7] = [
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubectl",
    "kwok",
    "kwok-stages",
];
const STAGES_FILE: &str = "kwok-stages.yaml";

/// The small program that ends each part when its owner is gone.
#[derive(Clone, Debug)]
pub(crate) struct Keeper {
    program: PathBuf,
}

/// Kubernetes' programs and kwok.
pub(crate) struct Kubernetes {
    dir: PathBuf,
}

/// A program of a Go module that requires it and has nothing else.
struct GoProgram {
    name: &'static str,
    cached_as: &'static str,
    package: &'static str,
    binary: &'static str,
    /// What the linker writes into it.
    link: &'static str,
}

const KARPENTER: GoProgram = GoProgram {
    name: "Karpenter",
    cached_as: "karpenter",
    package: "sigs.k8s.io/karpenter/kwok",
    binary: "karpenter-kwok",
    link: "-ldflags=-s -w",
};
/// Where Helm has no cluster to ask, it renders for the version that is linked in.
const HELM: GoProgram = GoProgram {
    name: "Helm",
    cached_as: "helm",
    package: "helm.sh/helm/v3/cmd/helm",
    binary: "helm",
    link: "-ldflags=-s -w -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1 \
           -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=36",
};

/// A Python with what the AWS stand-in is made of.
pub(crate) struct AwsPython {
    dir: PathBuf,
    program: PathBuf,
}

impl Keeper {
    /// Takes the keeper from the cache, building it first if need be (seconds).
    pub(crate) fn ready(module: &GoModule, cache: &Cache) -> Result<Self> {
        let flags = vec!["-trimpath".to_owned(), "-ldflags=-s -w".to_owned()];
        let name = format!("keeper-{}", module.fingerprint("keeper", &flags)?);
        let dir = cache.entry(&name, |partial| {
            require("go", &["version"], GO_ADVICE)?;
            let mut go = Command::new("go");
            go.args(go_build(module, &flags, &partial.join("keeper"), "./keeper"));
            go_environment(&mut go);
            let log = partial.join("build.log");
            run_step("building the keeper", go, &log, Error::starting("go", GO_ADVICE))
        })?;
        Ok(Self { program: dir.join("keeper") })
    }

    /// A command of the keeper's own. It leads a process group of its own, so that a Ctrl-C in the
    /// terminal reaches only the owner and the keeper lives to clean up.
    pub(crate) fn command(&self, mode: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(mode).process_group(0);
        command
    }

    /// A command that runs `program` until the command's standard input closes.
    pub(crate) fn supervise(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = self.command("supervise");
        command.arg(program);
        command
    }
}

impl Kubernetes {
    /// Takes the control plane from the cache, building it first if need be (minutes).
    pub(crate) fn ready(module: &GoModule, cache: &Cache, keeper: &Keeper) -> Result<Self> {
        let version = module.version("k8s.io/kubernetes");
        let flags = vec![
            "-trimpath".to_owned(),
            format!(
                "-ldflags=-s -w -X k8s.io/component-base/version.gitVersion={version} \
                 -X k8s.io/component-base/version.gitTreeState=clean"
            ),
        ];
        let kwok = module.version("sigs.k8s.io/kwok");
        let sum = module.fingerprint("k8s", &flags)?;
        let name = format!("kubernetes-{version}-kwok-{kwok}-{sum}");
        let dir = cache.entry(&name, |partial| {
            require("go", &["version"], GO_ADVICE)?;
            say("building the test control plane once, about 6 minutes on two cores");
            let mut go = keeper.supervise("go");
            go.args(go_build(module, &flags, &partial.join(KUBERNETES_BINARY), "./k8s"));
            go_environment(&mut go);
            let log = partial.join("build.log");
            let start_error = Error::starting("keeper", "clear the testbed's cache folder");
            run_step("building the test control plane", go, &log, start_error)?;
            for program in PROGRAMS {
                let link = partial.join(program);
                symlink(KUBERNETES_BINARY, &link).map_err(Error::io("link", &link))?;
            }
            write_stages(partial)
        })?;
        Ok(Self { dir })
    }

    /// Where one of [`PROGRAMS`] is.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// The Stage documents that tell kwok how nodes and pods behave.
    pub(crate) fn stages(&self) -> PathBuf {
        self.dir.join(STAGES_FILE)
    }
}

/// Karpenter's controller with its kwok provider, in the version that `bench/peer` names: built on
/// first use (a minute or two) and then taken from the cache.
pub fn karpenter_program() -> Result<PathBuf> {
    let (module, cache) = (GoModule::locate()?, Cache::open()?);
    let keeper = Keeper::ready(&module, &cache)?;
    KARPENTER.ready(&module.workspace().join("bench/peer"), &cache, &keeper)
}

/// Helm, in the version that `testbed/helm` names.
pub(crate) fn helm_program(module: &GoModule, cache: &Cache, keeper: &Keeper) -> Result<PathBuf> {
    HELM.ready(&module.dir().join("helm"), cache, keeper)
}

impl GoProgram {
    /// Takes the program from the cache, building it first from the module in a folder if need be.
    fn ready(&self, module: &Path, cache: &Cache, keeper: &Keeper) -> Result<PathBuf> {
        let mut sum = Fingerprint::new();
        for name in ["go.mod", "go.sum"] {
            let path = module.join(name);
            sum = sum.add(&fs::read(&path).map_err(Error::io("read", &path))?);
        }
        let sum = sum.add(self.link.as_bytes());
        let dir = cache.entry(&format!("{}-{}", self.cached_as, sum.hex()), |partial| {
            require("go", &["version"], GO_ADVICE)?;
            say(&format!("building {} once, a minute or two on two cores", self.name));
            let mut go = keeper.supervise("go");
            go.arg("build").arg("-C").arg(module).arg("-o").arg(partial.join(self.binary));
            go.args(["-trimpath", self.link, self.package]);
            go_environment(&mut go);
            let log = partial.join("build.log");
            let start_error = Error::starting("keeper", "clear the testbed's cache folder");
            run_step(&format!("building {}", self.name), go, &log, start_error)
        })?;
        Ok(dir.join(self.binary))
    }
}

impl AwsPython {
    /// Takes the virtual environment from the cache, making it first if need be (a minute).
    pub(crate) fn ready(cache: &Cache, keeper: &Keeper) -> Result<Self> {
        let version = require("python3", &["--version"], PYTHON_ADVICE)?;
        // A virtual environment points at the Python it was made with and breaks with another.
        let python: String = version.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
        let dir = cache.entry(&format!("moto-{MOTO_VERSION}-python-{python}"), |partial| {
            say("installing the AWS stand-in once, about a minute");
            let venv = partial.join("venv");
            let step = |what, command, log: &str| {
                let start_error = Error::starting("keeper", "clear the testbed's cache folder");
                run_step(what, command, &partial.join(log), start_error)
            };
            let mut make = keeper.supervise("python3");
            make.args(["-m", "venv"]).arg(&venv);
            step("making a Python environment", make, "venv.log")?;
            let mut pip = keeper.supervise(venv.join("bin/python"));
            pip.args(["-m", "pip", "install", "--quiet"]);
            pip.arg(format!("moto[server]=={MOTO_VERSION}"));
            step("installing the AWS stand-in", pip, "pip.log")
        })?;
        Ok(Self { program: dir.join("venv/bin/python"), dir })
    }

    /// Where answers that depend on nothing but what is installed are kept.
    pub(crate) fn answers(&self) -> PathBuf {
        self.dir.join("answers")
    }

    /// The interpreter that can `import moto`. Installed scripts are of no use: they name the
    /// folder they were made in, which was renamed since.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }
}

fn go_build(module: &GoModule, flags: &[String], output: &Path, package: &str) -> Vec<String> {
    let mut arguments = vec!["build".to_owned(), "-C".to_owned()];
    arguments.push(module.dir().display().to_string());
    arguments.extend_from_slice(flags);
    arguments.extend(["-o".to_owned(), output.display().to_string(), package.to_owned()]);
    arguments
}

/// No C compiler is needed, and no workspace file above the checkout may interfere.
fn go_environment(command: &mut Command) {
    command.env("CGO_ENABLED", "0").env("GOWORK", "off");
}

/// Writes the stages next to the binary that carries them.
fn write_stages(dir: &Path) -> Result<()> {
    let path = dir.join(STAGES_FILE);
    let file = File::create(&path).map_err(Error::io("create", &path))?;
    let program = dir.join("kwok-stages");
    let status = Command::new(&program)
        .stdin(Stdio::null())
        .stdout(file)
        .status()
        .map_err(Error::io("run", &program))?;
    let message = fs::read_to_string(&path).unwrap_or_default();
    match status.success() {
        true => Ok(()),
        false => Err(Error::Command { command: "kwok-stages".to_owned(), status, message }),
    }
}

/// Asks a program for its version, to say what to install before a longer step fails without it.
fn require(program: &'static str, ask: &[&str], advice: &'static str) -> Result<String> {
    let output = Command::new(program)
        .args(ask)
        .stdin(Stdio::null())
        .output()
        .map_err(Error::starting(program, advice))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
