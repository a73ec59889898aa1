//! The `kerf` command: arguments and wiring, no decisions.

mod commands;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;

/// Decides which machines a Kubernetes cluster on AWS should have.
#[derive(Parser)]
#[command(name = "kerf", version, max_term_width = 100, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show the nodes that manifests need and what they cost, without a cluster
    Plan(commands::plan::Plan),
    /// Judge manifests as the API server would, without one
    Lint(commands::lint::Lint),
    /// Turn Provisioners and AWSNodeTemplates into NodePools and EC2NodeClasses
    Convert(commands::convert::Convert),
    /// Print the custom resource definitions: kerf crds | kubectl apply --server-side -f -
    Crds(commands::crds::Crds),
    /// Print a completion script for a shell: source <(kerf completion bash)
    Completion {
        /// The shell to complete for.
        shell: Shell,
    },
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Plan(plan) => plan.run(),
        Command::Lint(lint) => lint.run(),
        Command::Convert(convert) => convert.run(),
        Command::Crds(crds) => crds.run(),
        Command::Completion { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "kerf", &mut std::io::stdout());
            Ok(ExitCode::SUCCESS)
        }
    };
    result.unwrap_or_else(|error| {
        eprintln!("kerf: {error:#}");
        ExitCode::FAILURE
    })
}
