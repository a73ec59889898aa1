//! The `kerf` command: arguments and wiring, no decisions.

mod commands;

use std::io;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;
use commands::exit::{self, Exit, UsageError};
use commands::terminal;

/// Decides which nodes a Kubernetes cluster on AWS should have.
#[derive(Parser)]
#[command(name = "kerf", version, max_term_width = 100, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show a cluster that grows and shrinks, without a cluster or a cloud
    Demo(commands::demo::Demo),
    /// Show the nodes that manifests need and what they cost, without a cluster
    Plan(commands::plan::Plan),
    /// Play a scenario: a whole cluster and cloud in one process, with faults
    Simulate(commands::simulate::Simulate),
    /// Watch a cluster, give pending pods nodes, and take nodes away that nobody needs
    Controller(Box<commands::controller::Controller>),
    /// Run the engine over a journal and say whether it decides the same again
    Replay(commands::replay::Replay),
    /// Bring each interruption event to the cluster it belongs to, and to no other
    Router(commands::router::Router),
    /// Keep nodes out of zones that AWS shifts away from, and give everything back afterwards
    ZonalAutoshift(Box<commands::zonal_autoshift::ZonalAutoshift>),
    /// Show which zones are avoided now; avoid one, or end that
    ZonalShift(commands::zonal_shift::ZonalShift),
    /// Install Kerf: show what lacks in account and cluster, ask, and make it
    Install(Box<commands::install::Install>),
    /// Uninstall Kerf: drain its nodes, and take away what it made in cluster and account
    Uninstall(commands::uninstall::Uninstall),
    /// Say what would change if Kerf took over from the Karpenter that runs, node by node
    Adopt(commands::adopt::Adopt),
    /// Say what is wrong with an installation, and the command that mends it
    Doctor(commands::doctor::Doctor),
    /// Drain nodes before AWS takes or stops their instances, whoever made them
    #[command(visible_alias = "nth")]
    TerminationHandler(Box<commands::termination_handler::TerminationHandler>),
    /// Judge manifests as the API server would, without one
    Lint(commands::lint::Lint),
    /// Turn Provisioners and AWSNodeTemplates into NodePools and EC2NodeClasses
    Convert(commands::convert::Convert),
    /// Print the custom resource definitions: kerf crds | kubectl apply --server-side -f -
    Crds(commands::crds::Crds),
    /// Write the IAM policies of the controller: JSON, CloudFormation, Terraform
    Policies(commands::policies::Policies),
    /// Solve a problem of bench/peer and measure it
    #[command(hide = true)]
    BenchSolve(commands::bench_solve::BenchSolve),
    /// Print a completion script for a shell: source <(kerf completion bash)
    Completion {
        /// The shell to complete for.
        shell: Shell,
    },
    /// Print a man page, or write those of all commands: kerf man plan | man -l -
    Man(commands::man::ManPages),
    /// Print the version, the commit it is built from, and what it is compatible with
    Version(commands::version::Version),
}

/// The commands, with what all of them share.
fn definition() -> clap::Command {
    exit::with_table(Cli::command())
}

fn parsed() -> Cli {
    let definition = definition();
    let arguments = commands::controller::one_dash::mended(std::env::args_os(), &definition);
    let parsed = definition.try_get_matches_from(arguments);
    parsed.and_then(|matches| Cli::from_arg_matches(&matches)).unwrap_or_else(|error| error.exit())
}

fn main() -> ExitCode {
    let result = match parsed().command {
        Command::Demo(demo) => demo.run(),
        Command::Plan(plan) => plan.run(),
        Command::Simulate(simulate) => simulate.run(),
        Command::Controller(controller) => controller.run(),
        Command::Replay(replay) => replay.run(),
        Command::Router(router) => router.run(),
        Command::ZonalAutoshift(daemon) => daemon.run(),
        Command::ZonalShift(shift) => shift.run(),
        Command::Install(install) => install.run(),
        Command::Uninstall(uninstall) => uninstall.run(),
        Command::Adopt(adopt) => adopt.run(),
        Command::Doctor(doctor) => doctor.run(),
        Command::TerminationHandler(handler) => handler.run(),
        Command::Lint(lint) => lint.run(),
        Command::Convert(convert) => convert.run(),
        Command::Crds(crds) => crds.run(),
        Command::Policies(policies) => policies.run(),
        Command::BenchSolve(bench) => bench.run(),
        Command::Completion { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut definition(), "kerf", &mut script);
            terminal::print(&String::from_utf8_lossy(&script)).map(|()| ExitCode::SUCCESS)
        }
        Command::Man(pages) => pages.run(definition()),
        Command::Version(version) => version.run(),
    };
    result.unwrap_or_else(|error| match error {
        // Whoever read has read enough.
        error if is_broken_pipe(&error) => ExitCode::SUCCESS,
        error => {
            eprintln!("kerf: {}", message(&error));
            if error.is::<UsageError>() { Exit::Usage.into() } else { Exit::Failure.into() }
        }
    })
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    causes.any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// The error with its causes; a cause that is said already is not said again.
fn message(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |said, cause| {
        if said.is_empty() {
            cause
        } else if said.contains(&cause) {
            said
        } else {
            format!("{said}: {cause}")
        }
    })
}
