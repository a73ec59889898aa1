//! A testbed for a person to play with.

use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use crate::aws::AwsStandIn;
use crate::control_plane::ControlPlane;
use crate::error::Result;
use crate::go_module::GoModule;
use crate::options::Options;
use crate::progress::say;

const USAGE: &str = "\
Starts a Kubernetes control plane with simulated nodes on this machine, until Ctrl-C.

Usage: testbed [--crds] [--aws]

  --crds  apply the custom resource definitions in deploy/crds
  --aws   also start an AWS stand-in
  --help  this text
";

/// How soon a person learns that a part has ended.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The wrong-usage exit code of most programs.
const EXIT_USAGE: u8 = 2;

/// What the person asked for.
struct Wishes {
    aws: bool,
    crds: bool,
}

/// Starts a whole testbed, says how to use it, and stays until Ctrl-C.
///
/// `arguments` are those after the program's name. Ctrl-C needs no handling: it ends this process,
/// and the keepers end the rest.
pub fn run_for_a_person(arguments: impl IntoIterator<Item = String>) -> ExitCode {
    let mut wishes = Wishes { aws: false, crds: false };
    for argument in arguments {
        match argument.as_str() {
            "--aws" => wishes.aws = true,
            "--crds" => wishes.crds = true,
            "--help" | "-h" => {
                print!("{USAGE}");
                return ExitCode::SUCCESS;
            }
            other => {
                eprint!("unknown argument {other:?}\n\n{USAGE}");
                return ExitCode::from(EXIT_USAGE);
            }
        }
    }
    match stay(&wishes) {
        Ok(never) => match never {},
        Err(error) => {
            eprintln!("kerf-testbed: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns only when something fails.
fn stay(wishes: &Wishes) -> Result<std::convert::Infallible> {
    let started = Instant::now();
    let mut control_plane = ControlPlane::start(Options::simulated_cluster())?;
    let mut aws = if wishes.aws { Some(AwsStandIn::start()?) } else { None };
    if wishes.crds {
        apply_crds(&control_plane)?;
    }
    say(&format!("ready after {} ms", started.elapsed().as_millis()));
    println!("export KUBECONFIG={}", control_plane.kubeconfig().display());
    for (name, value) in aws.iter().flat_map(AwsStandIn::environment) {
        println!("export {name}={value}");
    }
    println!("# kubectl --kubeconfig {} get nodes", control_plane.kubeconfig().display());
    println!("# Ctrl-C ends everything");
    loop {
        control_plane.check()?;
        aws.iter_mut().try_for_each(AwsStandIn::check)?;
        thread::sleep(LOOK_EVERY);
    }
}

fn apply_crds(control_plane: &ControlPlane) -> Result<()> {
    let folder = GoModule::locate()?.workspace().join("deploy/crds");
    if !folder.is_dir() {
        say(&format!("no custom resource definitions: {} does not exist", folder.display()));
        return Ok(());
    }
    let file = format!("--filename={}", folder.display());
    say(control_plane.kubectl(&["apply", "--server-side", &file])?.trim());
    Ok(())
}
