//! A fuzzer for everything that reads from outside: parsers, and watch objects on their way through
//! observer and engine.
//!
//! ```text
//!  corpus ─ mutate ─► batch of inputs ─► child process: target(input), each caught
//!    ▲                                      │ writes which lines of code ran (LLVM's profile)
//!    └── inputs that reached new code ◄─────┘ a batch that did is cut in halves until one is left
//! ```
//!
//! It needs no nightly compiler and no `unsafe`: `cargo xtask fuzz` builds it with
//! `-C instrument-coverage`, and the counters are read from the file that such a program writes at
//! its end. Built without, it still runs, but nothing guides it.
//!
//! Start reading at `campaign.rs`; what is fed is in `targets/`.

mod batch;
mod campaign;
mod corpus;
mod coverage;
mod mutate;
mod targets;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use campaign::Campaign;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match args[..] {
        ["batch", target] => batch::serve(target).map(|()| true),
        ["list"] => {
            targets::ALL.iter().for_each(|target| println!("{}", target.name));
            Ok(true)
        }
        ["run", ref rest @ ..] => run(rest),
        _ => Err(anyhow::anyhow!(
            "kerf-fuzz list | run [--seconds N] [--seed N] [--corpus DIR] [--keep] [TARGET…]"
        )),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("kerf-fuzz: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Fuzzes targets one after the other. Returns whether nothing was found.
fn run(args: &[&str]) -> Result<bool> {
    let (mut seconds, mut seed, mut corpus) = (60, 1, PathBuf::from("fuzz/corpus"));
    let (mut names, mut keeps) = (Vec::new(), false);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().copied().with_context(|| format!("{arg} needs a value"));
        match *arg {
            "--seconds" => seconds = value()?.parse().context("--seconds is a number")?,
            "--seed" => seed = value()?.parse().context("--seed is a number")?,
            "--corpus" => corpus = PathBuf::from(value()?),
            "--keep" => keeps = true,
            name => names.push(name),
        }
    }
    let chosen: Vec<_> = targets::ALL
        .iter()
        .filter(|target| names.is_empty() || names.contains(&target.name))
        .collect();
    if chosen.is_empty() {
        bail!("there is no such target; `kerf-fuzz list` has them");
    }
    let each = Duration::from_secs(seconds) / u32::try_from(chosen.len()).unwrap_or(1);
    println!(
        "{:<18}{:>12}{:>9}{:>10}{:>10}{:>10}  seed {seed}",
        "TARGET", "EXECUTIONS", "BATCHES", "COVERED", "CORPUS", "FINDINGS"
    );
    let mut findings = 0;
    let mut executions = 0;
    for target in chosen {
        let report = Campaign::new(target, &corpus, seed, keeps)?.run(each)?;
        println!("{report}");
        findings += report.findings;
        executions += report.executions;
    }
    println!("{executions} executions, {findings} findings");
    Ok(findings == 0)
}
