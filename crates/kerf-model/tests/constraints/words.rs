//! Requirements from short words, so that tables read like the specification.

use kerf_model::labels::Normalization;
use kerf_model::requirement::{Requirement, RequirementEntry};
use kerf_model::requirements::Requirements;
use kerf_model::vocabulary::Vocabulary;

/// Reads `key Operator v1 v2 minValues=n`.
pub(crate) fn entry(text: &str) -> RequirementEntry {
    let mut words = text.split_whitespace();
    let key = words.next().expect("a key");
    let operator = words.next().expect("an operator").parse().expect("a known operator");
    let mut entry = RequirementEntry::new(key, operator, []);
    for word in words {
        match word.strip_prefix("minValues=") {
            Some(count) => entry.min_values = Some(count.parse().expect("a count")),
            None => entry.values.push(word.to_owned()),
        }
    }
    entry
}

/// Reads one requirement.
pub(crate) fn requirement(text: &str, vocabulary: &mut Vocabulary) -> Requirement {
    entry(text).intern(&Normalization::core(), vocabulary).expect("bounds are integers")
}

/// Reads requirements separated by commas.
pub(crate) fn requirements(text: &str, vocabulary: &mut Vocabulary) -> Requirements {
    let entries: Vec<_> = text.split(',').filter(|part| !part.is_empty()).map(entry).collect();
    Requirements::from_entries(&entries, &Normalization::core(), vocabulary)
        .expect("bounds are integers")
}

/// How many cases a property that feeds arbitrary text runs.
pub(crate) fn fuzz_cases() -> u32 {
    let asked = std::env::var("KERF_FUZZ_CASES").ok();
    asked.map_or(20_000, |count| count.parse().expect("KERF_FUZZ_CASES is a count"))
}
