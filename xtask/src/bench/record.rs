//! The instruction counts on record.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context, Result, bail};

/// Counts by name, and the surroundings they belong to.
pub(super) struct Record {
    /// What else decides a count: architecture, compiler, valgrind.
    pub(super) surroundings: Surroundings,
    pub(super) counts: BTreeMap<String, u64>,
}

/// What decides a count besides the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Surroundings {
    /// Counts of different architectures cannot be compared at all.
    pub(super) architecture: String,
    /// Another compiler or another valgrind may shift counts by a few percent.
    pub(super) tools: String,
}

const HEAD: &str = "\
# Instructions that each hot path takes; `cargo xtask bench` fails where one takes far more.
# Written by `cargo xtask bench --record`: record on purpose only, and say in the commit why.
";
const ON: &str = "# On ";
const WITH: &str = " with ";

impl Record {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let surroundings = text.lines().find_map(|line| {
            let (architecture, tools) = line.strip_prefix(ON)?.split_once(WITH)?;
            Some(Surroundings { architecture: architecture.into(), tools: tools.into() })
        });
        let surroundings =
            surroundings.context("there is no line `# On ARCHITECTURE with TOOLS`")?;
        let mut counts = BTreeMap::new();
        for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
            let Some((name, count)) = line.split_once(char::is_whitespace) else {
                bail!("\"{line}\" is not `name count`");
            };
            let count = count.trim().replace('_', "");
            let count = count.parse().with_context(|| format!("\"{line}\" has no whole count"))?;
            if counts.insert(name.to_owned(), count).is_some() {
                bail!("{name} has two counts");
            }
        }
        Ok(Self { surroundings, counts })
    }

    /// The text that [`Self::parse`] reads; the names keep the order they are given in.
    pub(super) fn print(surroundings: &Surroundings, counts: &[(String, u64)]) -> String {
        let Surroundings { architecture, tools } = surroundings;
        let mut text = format!("{HEAD}{ON}{architecture}{WITH}{tools}\n");
        for (name, count) in counts {
            let _ = writeln!(text, "{name:<24}{:>16}", grouped(*count));
        }
        text
    }
}

/// Digits in groups of three: `1_234_567`.
pub(super) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push('_');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_again() {
        let surroundings = Surroundings { architecture: "x86_64".into(), tools: "rustc 1".into() };
        let counts = [("mixed-1000".to_owned(), 1_234_567), ("alone".to_owned(), 7)];
        let text = Record::print(&surroundings, &counts);
        let record = Record::parse(&text).unwrap();
        assert_eq!(record.surroundings, surroundings);
        assert_eq!(record.counts, BTreeMap::from(counts));
    }

    #[test]
    fn a_broken_record_is_refused_with_the_line_that_is_wrong() {
        for (lines, wrong) in [
            ("a 1\n", "# On ARCHITECTURE"),
            ("# On x with y\na\n", "\"a\""),
            ("# On x with y\na many\n", "\"a many\""),
            ("# On x with y\na 1\na 2\n", "two counts"),
        ] {
            let error = Record::parse(lines).err().map(|error| format!("{error:#}"));
            assert!(error.as_ref().is_some_and(|text| text.contains(wrong)), "{error:?}");
        }
    }

    #[test]
    fn digits_stand_in_groups_of_three() {
        let cases = [(0, "0"), (999, "999"), (1000, "1_000"), (1_234_567, "1_234_567")];
        assert!(cases.iter().all(|(count, text)| grouped(*count) == *text));
    }
}
