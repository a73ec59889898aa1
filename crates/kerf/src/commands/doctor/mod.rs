//! `kerf doctor`: what is wrong with an installation, and the command that mends it.
//!
//! Facts are gathered first ([`gather`]), then judged by functions of nothing else ([`checks`]), so
//! that every defect can be tested alone. Nothing is changed, in the cluster or the account.

mod checks;
mod facts;
mod finding;
mod gather;
mod report;

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};

pub(crate) use checks::{
    ROLE_ARN, definitions_in_the_way, no_leader, other_autoscalers, placement, unsupported_version,
};
pub(crate) use facts::{Facts, name, runs_kerf};
pub(crate) use finding::Severity;
pub(crate) use gather::look;
use report::Report;

use super::exit::Exit;
use super::terminal;

/// Arguments of `kerf doctor`.
#[derive(Args)]
pub(crate) struct Doctor {
    /// The namespace of the controller, where none is found by itself
    #[arg(short, long, default_value = "karpenter")]
    namespace: String,
    /// The EKS cluster's name; that of the controller's settings if not given
    #[arg(long, value_name = "NAME")]
    cluster_name: Option<String>,
    /// Look at the cluster alone, and at nothing in the account
    #[arg(long)]
    skip_aws: bool,
    /// Warnings are failures too
    #[arg(long)]
    strict: bool,
    /// How to print
    #[arg(short, long, value_enum, default_value = "text")]
    output: Format,
}

/// How to print.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// For scripts
    Json,
}

impl Doctor {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.context("could not start the runtime")?;
        let report = Report::of(&runtime.block_on(gather::gather(&self)));
        match self.output {
            Format::Text => terminal::print(&report.text())?,
            Format::Json => terminal::print(&format!("{:#}\n", report.json()))?,
        }
        Ok(Exit::success_if(match report.severity() {
            Some(Severity::Failure) => false,
            Some(Severity::Warning) => !self.strict,
            None => true,
        })
        .into())
    }
}
