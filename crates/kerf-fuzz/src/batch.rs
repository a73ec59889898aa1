//! A batch of inputs in a process of its own: what panics is caught, what kills the process is
//! known by what it said last.

use std::cell::RefCell;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::coverage::Coverage;
use crate::targets;

/// A batch that takes longer hangs. Slow machines included: an input takes milliseconds.
const TIME_MAX: Duration = Duration::from_secs(120);
/// How often a child is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(2);

thread_local! {
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// What came of a batch.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Which code ran; `None` where nobody knows.
    pub(crate) coverage: Option<Coverage>,
    /// Which inputs failed, and how.
    pub(crate) failures: Vec<(usize, String)>,
}

/// The child's side: reads inputs and feeds them to a target.
pub(crate) fn serve(name: &str) -> Result<()> {
    let target = targets::find(name).with_context(|| format!("there is no target {name:?}"))?;
    panic::set_hook(Box::new(|info| PANIC.with(|text| *text.borrow_mut() = info.to_string())));
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let mut length = [0; 4];
    let mut index = 0;
    while input.read_exact(&mut length).is_ok() {
        let mut bytes = vec![0; u32::from_le_bytes(length) as usize];
        input.read_exact(&mut bytes)?;
        writeln!(output, "begun {index}")?;
        output.flush()?;
        if panic::catch_unwind(AssertUnwindSafe(|| (target.feed)(&bytes))).is_err() {
            let text = PANIC.with(|text| text.borrow().replace('\n', " "));
            writeln!(output, "failed {index} {text}")?;
        }
        index += 1;
    }
    writeln!(output, "done")?;
    Ok(())
}

/// The parent's side: runs a batch in a child.
pub(crate) fn run(target: &str, inputs: &[Vec<u8>], folder: &Path) -> Result<Outcome> {
    let profile = folder.join("profile");
    // A profile of before would be taken for the child's.
    let _ = fs::remove_file(&profile);
    let mut child = Command::new(std::env::current_exe()?)
        .args(["batch", target])
        .env("LLVM_PROFILE_FILE", &profile)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("could not start a batch")?;
    let said = feed(&mut child, inputs)?;
    let failures = failures(&said, inputs.len());
    let coverage = read(&profile);
    Ok(Outcome { coverage, failures })
}

/// Hands the inputs over and gives what the child says. One that hangs is ended.
fn feed(child: &mut Child, inputs: &[Vec<u8>]) -> Result<Vec<String>> {
    let mut stdin = child.stdin.take().context("a child has an input")?;
    let stdout = child.stdout.take().context("a child has an output")?;
    let mut frames = Vec::new();
    for input in inputs {
        frames.extend(u32::try_from(input.len())?.to_le_bytes());
        frames.extend(input);
    }
    std::thread::scope(|scope| {
        // A child that dies early leaves its input unread.
        scope.spawn(move || drop(stdin.write_all(&frames)));
        let reading =
            scope.spawn(|| BufReader::new(stdout).lines().map_while(Result::ok).collect());
        let mut waited = Duration::ZERO;
        while child.try_wait()?.is_none() {
            if waited >= TIME_MAX {
                child.kill()?;
            }
            std::thread::sleep(LOOK_EVERY);
            waited += LOOK_EVERY;
        }
        reading.join().map_err(|_| anyhow::anyhow!("reading a child's answer failed"))
    })
}

fn failures(said: &[String], inputs: usize) -> Vec<(usize, String)> {
    let mut failures = Vec::new();
    let mut begun = None;
    for line in said {
        let mut words = line.splitn(3, ' ');
        let (word, index) = (words.next(), words.next().and_then(|text| text.parse().ok()));
        match (word, index) {
            (Some("begun"), index) => begun = index,
            (Some("failed"), Some(index)) => {
                failures.push((index, words.next().unwrap_or_default().to_owned()));
            }
            _ => {}
        }
    }
    if said.last().is_none_or(|line| line != "done") {
        let index = begun.unwrap_or(0usize).min(inputs.saturating_sub(1));
        failures.push((index, "the process died or hung".to_owned()));
    }
    failures
}

fn read(profile: &PathBuf) -> Option<Coverage> {
    Coverage::of_profile(&fs::read(profile).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(lines: &[&str]) -> Vec<(usize, String)> {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        failures(&lines, 9)
    }

    #[test]
    fn panics_and_the_input_that_killed_the_process_are_told() {
        assert_eq!(said(&["begun 0", "begun 1", "done"]), []);
        let failed = ["begun 0", "failed 0 at x.rs:1: no", "begun 1", "done"];
        assert_eq!(said(&failed), [(0, "at x.rs:1: no".to_owned())]);
        assert_eq!(said(&["begun 0", "begun 1"]), [(1, "the process died or hung".to_owned())]);
        assert_eq!(said(&[]).len(), 1);
    }
}
