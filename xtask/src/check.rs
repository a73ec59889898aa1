//! Everything that can be said of the tree without running its tests.

use anyhow::Result;

use crate::command::cargo;
use crate::metadata::Metadata;
use crate::{generated, licences, rings};

pub(crate) fn run_step(name: &str, step: impl FnOnce() -> Result<()>) -> Result<()> {
    eprintln!("check: {name}");
    step()
}

/// Runs every check in the order of how fast it answers.
pub(crate) fn run(_: &[String]) -> Result<()> {
    let metadata = Metadata::read()?;
    run_step("format", || run_cargo(["fmt", "--all", "--check"]))?;
    run_step("crate dependencies", || rings::check(&metadata))?;
    run_step("licences", || licences::check(&metadata))?;
    run_step("lints", || {
        run_cargo([
            "clippy",
            "--locked",
            "--workspace",
            "--all-targets",
            "--",
            "--deny",
            "warnings",
        ])
    })?;
    run_step("generated files", generated::check)?;
    eprintln!("check: all clean");
    Ok(())
}

fn run_cargo<const N: usize>(args: [&str; N]) -> Result<()> {
    crate::command::run(&mut cargo(args))
}
