//! Trying something on many seeds.

const SEEDS_DEFAULT: u64 = 300;
/// Failures shown in full; the rest is counted.
const SHOWN_MAX: usize = 5;

/// Tries every seed; `violation` says what is wrong with one.
pub(crate) fn for_every_seed(violation: impl Fn(u64) -> Option<String>) {
    let (first, count) =
        (number("KERF_CHECK_SEED", 0), number("KERF_CHECK_PROBLEMS", SEEDS_DEFAULT));
    let mut violations = Vec::new();
    for seed in first..first + count {
        if let Some(violation) = violation(seed) {
            violations.push(format!("seed {seed}: {violation}"));
        }
    }
    let shown = violations[..violations.len().min(SHOWN_MAX)].join("\n");
    assert!(violations.is_empty(), "{} of {count} seeds:\n{shown}", violations.len());
}

fn number(name: &str, default: u64) -> u64 {
    let set = std::env::var(name).ok();
    set.map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number")))
}
