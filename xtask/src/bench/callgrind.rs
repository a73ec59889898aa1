//! How many instructions a hot path takes, counted by callgrind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::command::{output, require, run};

const ADVICE: &str = "Instructions are counted by callgrind, a part of valgrind: install the \
    package `valgrind` of your system (apt, dnf, pacman, apk) and try again. `cargo bench -p \
    kerf-scheduler` times the same hot paths without it.";
/// The function of the program whose instructions count, with those of all it calls.
const COUNTED: &str = "*counted_work*";

/// Valgrind, found.
pub(super) struct Callgrind {
    folder: PathBuf,
    /// Its version as it prints it.
    pub(super) version: String,
}

impl Callgrind {
    /// Fails with advice where valgrind is missing.
    pub(super) fn find() -> Result<Self> {
        require("valgrind", ADVICE)?;
        let version = output(Command::new("valgrind").arg("--version"))?.trim().to_owned();
        let folder = std::env::temp_dir().join("kerf-bench");
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        Ok(Self { folder, version })
    }

    /// Has the program work once on a hot path and gives its instructions.
    pub(super) fn count(&self, program: &Path, name: &str) -> Result<u64> {
        let profile = self.profile(name);
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--tool=callgrind", "--quiet"]);
        valgrind.arg(format!("--toggle-collect={COUNTED}"));
        valgrind.arg(format!("--callgrind-out-file={}", profile.display()));
        run(valgrind.arg(program).args(["once", name]).stdin(Stdio::null()))?;
        let text = fs::read_to_string(&profile).with_context(|| profile.display().to_string())?;
        total(&text).with_context(|| format!("{}", profile.display()))
    }

    /// Where the profile of a hot path lies; `callgrind_annotate` shows it function by function.
    pub(super) fn profile(&self, name: &str) -> PathBuf {
        self.folder.join(format!("callgrind.{name}"))
    }
}

/// Reads `totals: 1234`, which closes a profile.
fn total(profile: &str) -> Result<u64> {
    let line = profile.lines().rev().find_map(|line| line.strip_prefix("totals:"));
    let total: u64 = line.context("no `totals:` line")?.trim().parse().context("no whole total")?;
    if total == 0 {
        bail!("nothing was counted: is there no function {COUNTED} any more?");
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::total;

    #[test]
    fn the_total_closes_a_profile() {
        assert_eq!(total("version: 1\nfn=(1) main\n16 3\ntotals: 42\n").unwrap(), 42);
    }

    #[test]
    fn a_profile_that_counted_nothing_is_no_success() {
        for profile in ["", "summary: 3\n", "totals: 0\n", "totals: many\n"] {
            assert!(total(profile).is_err(), "{profile:?}");
        }
    }
}
