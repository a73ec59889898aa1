//! A guard: no hot path may take far more instructions than are on record.
//!
//! Instructions are counted and not time because they hardly vary: the same program on the same
//! machine takes the same number, however busy the machine is. They do depend on the compiler
//! (pinned in `rust-toolchain.toml`), on valgrind, and a little on the processor, whose features
//! choose how the C library copies memory; hence a tolerance.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::command::{output, root};

use super::callgrind::Callgrind;
use super::executable;
use super::record::{Record, Surroundings, grouped};

const FILE: &str = "bench/instructions.txt";
/// How many percent more than on record is too many. Repeated counts differ by less than one in a
/// million; with the newer vector instructions switched off in the C library they move by 1.4 % at
/// most; what a person would call a regression is more than ten.
const TOLERANCE_PERCENT: u64 = 10;
/// Takes what is counted now for the record.
const RECORD: &str = "--record";

/// Counts the hot paths named, or all of them, and compares or records.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let (options, wanted): (Vec<_>, Vec<_>) = args.iter().partition(|arg| arg.starts_with("--"));
    if let Some(unknown) = options.iter().find(|option| **option != RECORD) {
        bail!("there is no option {unknown}; `cargo xtask bench [NAME…] [{RECORD}]`");
    }
    let callgrind = Callgrind::find()?;
    let mut hot_paths: Vec<(PathBuf, String)> = Vec::new();
    let programs = [
        executable::hot_paths()?,
        executable::large_cluster()?,
        executable::growth()?,
        executable::whole_cluster()?,
    ];
    for program in programs {
        let names = output(std::process::Command::new(&program).arg("names"))?;
        hot_paths.extend(names.lines().map(|name| (program.clone(), name.to_owned())));
    }
    let names: Vec<&str> = hot_paths.iter().map(|(_, name)| name.as_str()).collect();
    if let Some(unknown) = wanted.iter().find(|name| !names.contains(&name.as_str())) {
        bail!("there is no hot path {unknown}; there are {}", names.join(", "));
    }
    let is_chosen = |name: &String| wanted.is_empty() || wanted.contains(&name);
    let chosen = hot_paths.iter().filter(|(_, name)| is_chosen(name));
    let file = root()?.join(FILE);
    let record = fs::read_to_string(&file).ok().map(|text| Record::parse(&text));
    let record = record.transpose().context(FILE)?;
    let mut rows = Vec::new();
    println!("{:<24}{:>16}{:>16}{:>8}", "hot path", "instructions", "on record", "ratio");
    for (program, name) in chosen {
        let counted = callgrind.count(program, name)?;
        let recorded = record.as_ref().and_then(|record| record.counts.get(name)).copied();
        let row = Row { name: name.clone(), counted, recorded };
        println!("{}", row.line());
        rows.push(row);
    }
    let here = surroundings(&callgrind)?;
    if !options.is_empty() {
        return write(&file, &names, record.as_ref(), &rows, &here);
    }
    let record =
        record.with_context(|| format!("{FILE} is missing; `cargo xtask bench {RECORD}`"))?;
    judge(&rows, &record.surroundings, &here, |name| callgrind.profile(name))
}

/// One hot path: what it takes and what it took.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) counted: u64,
    pub(super) recorded: Option<u64>,
}

impl Row {
    pub(super) fn line(&self) -> String {
        let recorded = self.recorded.map_or_else(|| "none".to_owned(), grouped);
        let ratio = self.recorded.map(|recorded| hundredths(self.counted, recorded));
        let ratio = ratio.map_or_else(String::new, |it| format!("{}.{:02}", it / 100, it % 100));
        format!("{:<24}{:>16}{recorded:>16}{ratio:>8}", self.name, grouped(self.counted))
    }

    /// None where nothing is on record to compare with.
    fn is_too_many(&self) -> Option<bool> {
        let most = |recorded: u64| recorded.saturating_mul(100 + TOLERANCE_PERCENT) / 100;
        self.recorded.map(|recorded| self.counted > most(recorded))
    }
}

/// The ratio in hundredths, to the nearest.
fn hundredths(counted: u64, recorded: u64) -> u64 {
    let recorded = recorded.max(1);
    (counted.saturating_mul(100).saturating_add(recorded / 2)) / recorded
}

/// Fails where a hot path takes too many instructions, or nobody knows how many it may take.
pub(super) fn judge(
    rows: &[Row],
    there: &Surroundings,
    here: &Surroundings,
    profile: impl Fn(&str) -> PathBuf,
) -> Result<()> {
    if there.architecture != here.architecture {
        let (there, here) = (&there.architecture, &here.architecture);
        println!("\nThe record is of {there} and this is {here}: nothing to compare with.");
        return Ok(());
    }
    if there != here {
        println!("\nThe record was made with {} and this is {}.", there.tools, here.tools);
    }
    let mut errors = Vec::new();
    for row in rows {
        let Row { name, .. } = row;
        match row.is_too_many() {
            None => errors.push(format!("{name} has no count in {FILE}")),
            Some(true) => errors.push(format!(
                "{name} takes more than {TOLERANCE_PERCENT} % more instructions than on record; \
                 `callgrind_annotate --inclusive=yes {}` shows where",
                profile(name).display()
            )),
            Some(false) => {}
        }
    }
    if !errors.is_empty() {
        let way_out = format!("If that is on purpose: `cargo xtask bench {RECORD}`.");
        bail!("{}\n{way_out}", errors.join("\n"));
    }
    Ok(())
}

/// Writes the counts of these rows over those on record; the others stay.
fn write(
    file: &std::path::Path,
    names: &[&str],
    record: Option<&Record>,
    rows: &[Row],
    here: &Surroundings,
) -> Result<()> {
    let count = |name: &&str| {
        let now = rows.iter().find(|row| row.name == *name).map(|row| row.counted);
        let before = || record.and_then(|record| record.counts.get(*name).copied());
        Some(((*name).to_owned(), now.or_else(before)?))
    };
    let counts: Vec<_> = names.iter().filter_map(count).collect();
    fs::write(file, Record::print(here, &counts)).with_context(|| FILE.to_owned())?;
    println!("\nWrote {FILE}.");
    Ok(())
}

pub(super) fn surroundings(callgrind: &Callgrind) -> Result<Surroundings> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let rustc = output(std::process::Command::new(rustc).arg("--version"))?;
    let version: Vec<&str> = rustc.split_whitespace().take(2).collect();
    Ok(Surroundings {
        architecture: std::env::consts::ARCH.to_owned(),
        tools: format!("{}, {}", version.join(" "), callgrind.version),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(counted: u64, recorded: Option<u64>, architecture: &str) -> Result<()> {
        let on = |architecture: &str| Surroundings {
            architecture: architecture.to_owned(),
            tools: "rustc 1".to_owned(),
        };
        let row = Row { name: "solve".to_owned(), counted, recorded };
        judge(&[row], &on("x86_64"), &on(architecture), |name| PathBuf::from(name))
    }

    #[test]
    fn a_tenth_more_passes_and_anything_above_fails() {
        assert!(judged(50, Some(100), "x86_64").is_ok());
        assert!(judged(110, Some(100), "x86_64").is_ok());
        assert!(judged(111, Some(100), "x86_64").is_err());
    }

    #[test]
    fn a_hot_path_without_a_recorded_count_fails() {
        let error = judged(1, None, "x86_64").unwrap_err().to_string();
        assert!(error.contains("no count in bench/instructions.txt"), "{error}");
    }

    #[test]
    fn counts_of_another_architecture_are_not_compared() {
        assert!(judged(500, Some(100), "aarch64").is_ok());
    }
}
