//! Test programs: built all at once, run in lanes.
//!
//! `cargo test` runs one program after another. Those that take long wait for a cluster most of the
//! time, so that another may run meanwhile.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::Mutex;

use anyhow::{Context, Result};
use serde_json::Value;

use super::count::Count;
use crate::command::{cargo, output, without_own_variables};

/// Programs that run at once. A third would make clusters so slow that tests give up waiting.
const LANES: usize = 2;
/// Tests of one program that run at once: more than there are processors, for the same reason.
const TESTS_AT_ONCE: &str = "8";
const TEST_THREADS: &str = "RUST_TEST_THREADS";

/// A program made of tests.
pub(super) struct Program {
    /// The name of its target.
    pub(super) name: String,
    executable: PathBuf,
    /// The folder of its package, where it runs.
    package: PathBuf,
}

/// What became of all programs.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) count: Count,
    /// Programs that did not end well.
    pub(super) failed: Vec<String>,
}

/// Builds every test program of the workspace. The largest come first: they hold the clients of
/// Kubernetes and AWS and take longest, and what takes longest should not start last.
pub(super) fn build() -> Result<Vec<Program>> {
    let format = "--message-format=json-render-diagnostics";
    let text = output(&mut cargo(["test", "--locked", "--workspace", "--no-run", format]))?;
    let mut programs = Vec::new();
    for line in text.lines() {
        let message: Value = serde_json::from_str(line).context("cargo's messages are JSON")?;
        programs.extend(program(&message));
    }
    programs.sort_by_key(|program| {
        let size = fs::metadata(&program.executable).map_or(0, |metadata| metadata.len());
        std::cmp::Reverse(size)
    });
    Ok(programs)
}

/// The test program that one of cargo's messages speaks of.
fn program(message: &Value) -> Option<Program> {
    let is_test = message["reason"] == "compiler-artifact" && message["profile"]["test"] == true;
    let manifest = PathBuf::from(message["manifest_path"].as_str()?);
    Some(Program {
        name: message["target"]["name"].as_str()?.to_owned(),
        executable: message["executable"].as_str().filter(|_| is_test)?.into(),
        package: manifest.parent()?.into(),
    })
}

/// Runs them all, whatever becomes of some, and prints what each wrote when it has ended.
pub(super) fn run(programs: &[Program]) -> Result<Outcome> {
    let waiting = Mutex::new(programs.iter());
    let outcome = Mutex::new(Outcome::default());
    std::thread::scope(|scope| {
        let lane = || -> Result<()> {
            while let Some(program) = next(&waiting) {
                eprintln!("     Running {}", program.name);
                let output = program.run()?;
                outcome
                    .lock()
                    .map_err(|_| anyhow::anyhow!("a lane panicked"))?
                    .add(program, &output);
            }
            Ok(())
        };
        let lanes: Vec<_> = (0..LANES).map(|_| scope.spawn(lane)).collect();
        lanes.into_iter().try_for_each(|lane| {
            lane.join().unwrap_or_else(|_| Err(anyhow::anyhow!("a lane panicked")))
        })
    })?;
    outcome.into_inner().context("a lane panicked")
}

fn next<'a>(waiting: &Mutex<impl Iterator<Item = &'a Program>>) -> Option<&'a Program> {
    waiting.lock().ok()?.next()
}

impl Program {
    fn run(&self) -> Result<Output> {
        let mut command = Command::new(&self.executable);
        without_own_variables(&mut command);
        command.current_dir(&self.package).env("CARGO_MANIFEST_DIR", &self.package);
        if std::env::var_os(TEST_THREADS).is_none() {
            command.env(TEST_THREADS, TESTS_AT_ONCE);
        }
        command.output().with_context(|| format!("could not start {}", self.executable.display()))
    }
}

impl Outcome {
    /// Counts what a program did, and passes on what it wrote.
    fn add(&mut self, program: &Program, output: &Output) {
        let text = String::from_utf8_lossy(&output.stdout);
        text.lines().for_each(|line| self.count.add(line));
        println!("\n     Ran {} ({})", program.name, program.executable.display());
        print!("{text}{}", String::from_utf8_lossy(&output.stderr));
        if !output.status.success() {
            println!("{} failed ({})", program.name, output.status);
            self.failed.push(program.name.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Outcome, Program, program, run};

    fn message(reason: &str, test: bool) -> serde_json::Value {
        json!({
            "reason": reason, "manifest_path": "/w/crates/a/Cargo.toml", "profile": {"test": test},
            "target": {"name": "e2e"}, "executable": "/b/deps/e2e-0123",
        })
    }

    #[test]
    fn only_executables_with_tests_are_test_programs() {
        let found = program(&message("compiler-artifact", true)).unwrap();
        assert_eq!((&*found.name, found.package.to_str()), ("e2e", Some("/w/crates/a")));
        assert!(program(&message("compiler-artifact", false)).is_none());
        assert!(program(&message("build-finished", true)).is_none());
        assert!(program(&json!({"reason": "build-finished", "success": true})).is_none());
    }

    /// A program of the machine in place of one made of tests.
    fn of_machine(name: &str) -> Program {
        let executable = format!("/bin/{name}").into();
        Program { name: name.to_owned(), executable, package: "/".into() }
    }

    #[test]
    fn one_program_that_fails_keeps_no_other_from_running() {
        let programs: Vec<_> = ["false", "true", "true", "false"].map(of_machine).into();
        let Outcome { failed, .. } = run(&programs).unwrap();
        assert_eq!(failed, ["false", "false"]);
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error() {
        assert!(run(&[of_machine("no-such-program")]).is_err());
    }
}
