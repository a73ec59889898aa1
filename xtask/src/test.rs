//! All tests, with what they need built first, and one closing line.
//!
//! A run over everything must have run everything: each test program of the workspace, no test
//! ignored, and no fewer tests than on record. A suite that is skipped looks like one that passes.

mod count;
mod programs;
mod suites;

use anyhow::{Context, Result, bail};

use crate::command::{self, cargo, output, require, root};
use count::Count;
use programs::Outcome;
use suites::Suites;

/// What to do when Go is missing.
pub(crate) const GO_ADVICE: &str = "The tests run against a real Kubernetes control plane built \
    from its Go modules; install Go 1.26 or newer (https://go.dev/dl/) and try again.";
const PYTHON_ADVICE: &str = "The tests run the AWS stand-in in a Python virtual environment; \
    install Python 3.10 or newer with its venv module and try again.";

/// Holds the fewest tests a run over everything may have.
const MINIMUM_FILE: &str = "xtask/tests-minimum.txt";

/// Builds the testbed, then runs all tests; with arguments, those that `cargo test` takes them for.
pub(crate) fn run(args: &[String]) -> Result<()> {
    require("go", GO_ADVICE)?;
    require("python3", PYTHON_ADVICE)?;
    let build = ["run", "--locked", "--quiet", "--package", "kerf-testbed", "--", "build"];
    command::run(&mut cargo(build))?;
    if args.is_empty() {
        return run_all();
    }
    command::run(cargo(["test", "--locked", "--workspace", "--no-fail-fast"]).args(args))
}

fn run_all() -> Result<()> {
    let programs = programs::build()?;
    let mut started = Suites::default();
    programs.iter().for_each(|program| started.add(&program.name));
    let Outcome { mut count, failed } = programs::run(&programs)?;
    let examples = output(&mut cargo(["test", "--locked", "--workspace", "--doc"]))?;
    print!("{examples}");
    examples.lines().for_each(|line| count.add(line));
    let verdict = judge(&count, &started);
    println!("\n{} passed, {} failed", count.passed, count.failed);
    if !failed.is_empty() {
        bail!("some tests failed: {}", failed.join(", "));
    }
    verdict
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
