//! `cargo xtask fuzz`: builds the fuzzer so that it knows which code ran, and runs it.
//!
//! Only the workspace's own crates are instrumented: cargo calls this program in place of the
//! compiler for them, and for no other.

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::command::{cargo, run as run_command};

/// What makes a program write which code ran.
const INSTRUMENT: &str = "-Cinstrument-coverage";
/// Set while cargo calls this program as the compiler.
const AS_COMPILER: &str = "KERF_XTASK_INSTRUMENTS";

pub(crate) fn run(args: &[String]) -> Result<()> {
    let (mut minutes, mut rest) = (1, Vec::new());
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--minutes" => {
                let value = args.next().context("--minutes needs a number")?;
                minutes = value.parse::<u64>().context("--minutes needs a number")?;
            }
            _ => rest.push(arg.as_str()),
        }
    }
    let program = build()?;
    let seconds = (minutes * 60).to_string();
    run_command(Command::new(program).args(["run", "--seconds", &seconds]).args(rest))
}

/// Builds the fuzzer and gives where it is.
fn build() -> Result<std::path::PathBuf> {
    let own = std::env::current_exe().context("where this program is")?;
    // Its own folder: otherwise the next `cargo build` would find a program that is instrumented.
    let target = Path::new("target/fuzz");
    let mut command = cargo(["build", "--locked", "--workspace", "--bin", "kerf-fuzz"]);
    command
        .arg("--target-dir")
        .arg(target)
        .env("RUSTC_WORKSPACE_WRAPPER", own)
        .env(AS_COMPILER, "1")
        // Build scripts of the workspace have nothing to tell.
        .env("LLVM_PROFILE_FILE", "/dev/null");
    run_command(&mut command)?;
    Ok(target.join("debug/kerf-fuzz"))
}

/// Where cargo calls this program in place of the compiler: compiles, instrumented.
pub(crate) fn compile(args: &[String]) -> Option<ExitCode> {
    std::env::var_os(AS_COMPILER)?;
    let (compiler, rest) = args.split_first()?;
    let status = Command::new(compiler).args(rest).arg(INSTRUMENT).status();
    let succeeded = status.is_ok_and(|status| status.success());
    Some(if succeeded { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
