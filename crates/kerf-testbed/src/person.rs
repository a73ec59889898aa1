//! A testbed for a person to play with.

use std::convert::Infallible;
use std::fs;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::aws::arc::ArcStandIn;
use crate::aws::kubelets::Kubelets;
use crate::aws::quick_start::QuickStart;
use crate::aws::stand_in::AwsStandIn;
use crate::error::{Error, Result};
use crate::kubernetes::control_plane::ControlPlane;
use crate::kubernetes::options::Options;
use crate::programs::cache::Cache;
use crate::programs::go_module::GoModule;
use crate::programs::progress::say;
use crate::programs::toolchain::{AwsPython, Keeper, Kubernetes, helm_program};

const USAGE: &str = "\
Starts a Kubernetes control plane with simulated nodes on this machine, until Ctrl-C.

Usage: testbed [--crds] [--aws]
       testbed build

  build   only build what a testbed needs, so that later starts take seconds
  --crds  apply the custom resource definitions in deploy/crds
  --aws   also start stand-ins for AWS, zonal shifts of ARC included: an account with a cluster,
          tagged subnets and security groups, a role for nodes and an interruption queue, whose
          instances join as nodes
  --help  this text
";

/// How soon a person learns that a part has ended.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What a person's cluster on AWS is called.
const CLUSTER: &str = "demo";

/// How long a person's instances boot: short, and long enough to be seen.
const BOOT: Duration = Duration::from_secs(3);

/// The wrong-usage exit code of most programs.
const EXIT_USAGE: u8 = 2;

/// What the person asked for.
enum Task {
    Help,
    Build,
    Stay { aws: bool, crds: bool },
}

/// Starts a whole testbed, says how to use it, and stays until Ctrl-C.
///
/// `arguments` are those after the program's name. Ctrl-C needs no handling: it ends this process,
/// and the keepers end the rest.
pub fn run_for_a_person(arguments: impl IntoIterator<Item = String>) -> ExitCode {
    let arguments: Vec<String> = arguments.into_iter().collect();
    let outcome = match task(&arguments) {
        Ok(Task::Help) => {
            print!("{USAGE}");
            Ok(())
        }
        Ok(Task::Build) => build(),
        Ok(Task::Stay { aws, crds }) => stay(aws, crds).map(|never| match never {}),
        Err(unknown) => {
            eprint!("unknown argument {unknown:?}\n\n{USAGE}");
            return ExitCode::from(EXIT_USAGE);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("kerf-testbed: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Reads the arguments; fails with the first one that makes no sense.
fn task(arguments: &[String]) -> std::result::Result<Task, &str> {
    let (mut aws, mut crds) = (false, false);
    for argument in arguments {
        match argument.as_str() {
            "--help" | "-h" => return Ok(Task::Help),
            "build" if arguments.len() == 1 => return Ok(Task::Build),
            "--aws" => aws = true,
            "--crds" => crds = true,
            other => return Err(other),
        }
    }
    Ok(Task::Stay { aws, crds })
}

fn build() -> Result<()> {
    let (module, cache) = (GoModule::locate()?, Cache::open()?);
    let keeper = Keeper::ready(&module, &cache)?;
    Kubernetes::ready(&module, &cache, &keeper)?;
    helm_program(&module, &cache, &keeper)?;
    AwsPython::ready(&cache, &keeper)?;
    Ok(())
}

/// An AWS account for a person.
struct Cloud {
    aws: AwsStandIn,
    arc: ArcStandIn,
    account: QuickStart,
    _kubelets: Kubelets,
}

impl Cloud {
    /// Starts the stand-ins and makes what the quick start needs for a cluster whose control plane
    /// this is. What becomes of instances is announced to the cluster's queue.
    fn start(control_plane: &ControlPlane) -> Result<Self> {
        let (aws, arc) = (AwsStandIn::start()?, ArcStandIn::start()?);
        let ca = control_plane.ca_file();
        let ca = fs::read_to_string(ca).map_err(Error::io("read", ca))?;
        let endpoint = control_plane.server_url();
        let asked = json!({"cluster": CLUSTER, "endpoint": endpoint, "ca_pem": ca});
        let account = aws.quick_start_with(&asked);
        aws.set(&json!({"event_queue": account.queue}));
        let kubelets = Kubelets::start(control_plane, &aws, BOOT)?;
        Ok(Self { aws, arc, account, _kubelets: kubelets })
    }

    /// Says what to export. The names after the region are those that Karpenter reads.
    fn say(&self) {
        for (name, value) in self.aws.environment() {
            println!("export {name}={value}");
        }
        let (name, value) = self.arc.environment();
        println!("export {name}={value}");
        let QuickStart { cluster, endpoint, queue, role, .. } = &self.account;
        println!("export CLUSTER_NAME={cluster}");
        println!("export CLUSTER_ENDPOINT={endpoint}");
        println!("export INTERRUPTION_QUEUE={queue}");
        println!("# role for nodes: {role}");
        println!("# subnets and security groups: tagged karpenter.sh/discovery={cluster}");
    }
}

/// Returns only when something fails.
fn stay(aws: bool, crds: bool) -> Result<Infallible> {
    let started = Instant::now();
    let mut control_plane = ControlPlane::start(Options::simulated_cluster())?;
    let mut aws = if aws { Some(Cloud::start(&control_plane)?) } else { None };
    if crds {
        apply_crds(&control_plane)?;
    }
    say(&format!("ready after {} ms", started.elapsed().as_millis()));
    println!("export KUBECONFIG={}", control_plane.kubeconfig().display());
    if let Some(cloud) = &aws {
        cloud.say();
    }
    // The kubectl that was built along: whoever tries this may have none.
    println!("alias kubectl={}", control_plane.kubectl_program().display());
    println!("# Ctrl-C ends everything");
    loop {
        control_plane.check()?;
        aws.iter_mut().try_for_each(|cloud| cloud.aws.check())?;
        thread::sleep(LOOK_EVERY);
    }
}

fn apply_crds(control_plane: &ControlPlane) -> Result<()> {
    let folder = GoModule::locate()?.workspace().join("deploy/crds");
    let is_empty = fs::read_dir(&folder).map_or(true, |mut entries| entries.next().is_none());
    if is_empty {
        say(&format!("no custom resource definitions in {}", folder.display()));
        return Ok(());
    }
    let file = format!("--filename={}", folder.display());
    say(control_plane.kubectl(&["apply", "--server-side", &file])?.trim());
    Ok(())
}
