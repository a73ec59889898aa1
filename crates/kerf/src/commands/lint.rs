//! `kerf lint`.
use anyhow::Result;
use clap::Args;
use std::process::ExitCode;

/// Arguments of `kerf lint`.
#[derive(Args)]
pub(crate) struct Lint {}

impl Lint {
    pub(crate) fn run(self) -> Result<ExitCode> {
        Ok(ExitCode::SUCCESS)
    }
}
