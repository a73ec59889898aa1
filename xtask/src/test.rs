//! All tests, with what they need built first, and one closing line.
//!
//! A run over everything must have run everything: each test program of the workspace, no test
//! ignored, and no fewer tests than on record. A suite that is skipped looks like one that passes.

mod count;
mod suites;

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use anyhow::{Context, Result, bail};

use crate::command::{self, cargo, require, root};
use count::Count;
use suites::Suites;

/// What to do when Go is missing.
pub(crate) const GO_ADVICE: &str = "The tests run against a real Kubernetes control plane built \
    from its Go modules; install Go 1.26 or newer (https://go.dev/dl/) and try again.";
const PYTHON_ADVICE: &str = "The tests run the AWS stand-in in a Python virtual environment; \
    install Python 3.10 or newer with its venv module and try again.";

/// The tests that take long wait for a cluster, so more run at once than there are processors.
const TESTS_AT_ONCE: &str = "8";
/// Holds the fewest tests a run over everything may have.
const MINIMUM_FILE: &str = "xtask/tests-minimum.txt";

/// Builds the testbed, then runs `cargo test` over the workspace with the given arguments.
pub(crate) fn run(args: &[String]) -> Result<()> {
    require("go", GO_ADVICE)?;
    require("python3", PYTHON_ADVICE)?;
    let build = ["run", "--locked", "--quiet", "--package", "kerf-testbed", "--", "build"];
    command::run(&mut cargo(build))?;
    let mut command = cargo(["test", "--locked", "--workspace", "--no-fail-fast"]);
    if std::env::var_os("RUST_TEST_THREADS").is_none() {
        command.env("RUST_TEST_THREADS", TESTS_AT_ONCE);
    }
    command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().context("cargo test")?;
    let stdout = child.stdout.take().context("the output of cargo test was piped")?;
    let stderr = child.stderr.take().context("the output of cargo test was piped")?;
    let (total, started) = std::thread::scope(|scope| {
        let started = scope.spawn(|| read_suites(stderr));
        let total = read_results(stdout);
        (total, started.join().unwrap_or_default())
    });
    let (status, total) = (child.wait()?, total?);
    let verdict = match args {
        [] => judge(&total, &started),
        _ => Ok(()),
    };
    println!("\n{} passed, {} failed", total.passed, total.failed);
    if !status.success() {
        bail!("some tests failed");
    }
    verdict
}

/// Counts the results while passing the output on.
fn read_results(output: impl Read) -> Result<Count> {
    let mut total = Count::default();
    for line in BufReader::new(output).lines() {
        let line = line?;
        total.add(&line);
        println!("{line}");
    }
    Ok(total)
}

/// Collects the test programs that were started while passing the output on.
fn read_suites(output: impl Read) -> Suites {
    let mut started = Suites::default();
    for line in BufReader::new(output).lines().map_while(Result::ok) {
        started.add_started(&line);
        eprintln!("{line}");
    }
    started
}

/// Whether a run over everything ran everything.
fn judge(total: &Count, started: &Suites) -> Result<()> {
    let skipped = Suites::of_workspace()?.without(started);
    if !skipped.is_empty() {
        bail!("these test programs were not run: {}", skipped.join(", "));
    }
    if total.ignored > 0 {
        bail!("{} tests are ignored; run them or delete them", total.ignored);
    }
    let file = root()?.join(MINIMUM_FILE);
    let text = std::fs::read_to_string(&file).context(MINIMUM_FILE)?;
    let minimum: u64 = text.trim().parse().with_context(|| format!("{MINIMUM_FILE}: {text}"))?;
    if total.passed + total.failed < minimum {
        let ran = total.passed + total.failed;
        bail!(
            "{ran} tests ran, fewer than the {minimum} of {MINIMUM_FILE}; tests that are gone for \
               a reason are taken off there"
        );
    }
    Ok(())
}
