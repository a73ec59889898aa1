//! All tests, with what they need built first, and one closing line.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use anyhow::{Context, Result, bail};

use crate::command::{self, cargo, require};

/// What to do when Go is missing.
pub(crate) const GO_ADVICE: &str = "The tests run against a real Kubernetes control plane built \
    from its Go modules; install Go 1.26 or newer (https://go.dev/dl/) and try again.";
const PYTHON_ADVICE: &str = "The tests run the AWS stand-in in a Python virtual environment; \
    install Python 3.10 or newer with its venv module and try again.";

/// The tests that take long wait for a cluster, so more run at once than there are processors.
const TESTS_AT_ONCE: &str = "8";

/// Builds the testbed, then runs `cargo test` over the workspace with the given arguments.
pub(crate) fn run(args: &[String]) -> Result<()> {
    require("go", GO_ADVICE)?;
    require("python3", PYTHON_ADVICE)?;
    command::run(&mut cargo(["run", "--quiet", "--package", "kerf-testbed", "--", "build"]))?;
    let mut command = cargo(["test", "--workspace", "--no-fail-fast"]);
    if std::env::var_os("RUST_TEST_THREADS").is_none() {
        command.env("RUST_TEST_THREADS", TESTS_AT_ONCE);
    }
    let mut child = command.args(args).stdout(Stdio::piped()).spawn().context("cargo test")?;
    let stdout = child.stdout.take().context("the output of cargo test was piped")?;
    let mut total = Count::default();
    for line in BufReader::new(stdout).lines() {
        let line = line?;
        total.add(&line);
        println!("{line}");
    }
    let status = child.wait()?;
    println!("\n{} passed, {} failed", total.passed, total.failed);
    if !status.success() {
        bail!("some tests failed");
    }
    Ok(())
}

#[derive(Default)]
struct Count {
    passed: u64,
    failed: u64,
}

impl Count {
    /// Reads `test result: ok. 12 passed; 0 failed; …`, the line each test program closes with.
    fn add(&mut self, line: &str) {
        let Some((_, counts)) =
            line.strip_prefix("test result: ").and_then(|rest| rest.split_once(". "))
        else {
            return;
        };
        for part in counts.split("; ") {
            let Some((number, word)) = part.split_once(' ') else { continue };
            let number: u64 = number.parse().unwrap_or(0);
            match word {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                _ => {}
            }
        }
    }
}
