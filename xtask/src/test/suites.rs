//! The test programs of the workspace, and those that a run started.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::command::{cargo, output};

/// Test programs by name. Packages may share a name, so it is counted how often each is there.
#[derive(Debug, Default)]
pub(super) struct Suites(BTreeMap<String, usize>);

impl Suites {
    /// Every program that `cargo test` has to run: each target with tests, none of them behind a
    /// feature (there are no features to switch on).
    pub(super) fn of_workspace() -> Result<Self> {
        let metadata = ["metadata", "--format-version", "1", "--locked", "--no-deps"];
        let text = output(&mut cargo(metadata))?;
        let json: Value = serde_json::from_str(&text).context("cargo metadata is not JSON")?;
        let mut suites = Self::default();
        for package in list(&json["packages"]) {
            for target in list(&package["targets"]).filter(|target| has_tests(target)) {
                suites.add(target["name"].as_str().unwrap_or_default());
            }
        }
        Ok(suites)
    }

    /// Reads `Running tests/plan.rs (…/deps/plan-0123456789abcdef)`, which cargo says of each.
    pub(super) fn add_started(&mut self, line: &str) {
        let Some(rest) = line.trim_start().strip_prefix("Running ") else { return };
        let Some((_, path)) = rest.trim_end_matches(')').rsplit_once('(') else { return };
        let file = path.rsplit('/').next().unwrap_or(path);
        if let Some((name, _hash)) = file.rsplit_once('-') {
            self.add(name);
        }
    }

    /// The programs of this that are not in the other.
    pub(super) fn without(&self, other: &Self) -> Vec<String> {
        let missing = |(name, count): (&String, &usize)| {
            let there = other.0.get(name).copied().unwrap_or_default();
            (there < *count).then(|| name.clone())
        };
        self.0.iter().filter_map(missing).collect()
    }

    fn add(&mut self, name: &str) {
        // File names have no dashes before their hash.
        *self.0.entry(name.replace('-', "_")).or_default() += 1;
    }
}

fn has_tests(target: &Value) -> bool {
    let is_build_script = list(&target["kind"]).any(|kind| kind == "custom-build");
    target["test"] == true && !is_build_script
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::Suites;

    #[test]
    fn a_program_that_was_not_started_is_named() {
        let (mut wanted, mut started) = (Suites::default(), Suites::default());
        for name in ["kerf-api", "e2e", "e2e"] {
            wanted.add(name);
        }
        started.add_started("     Running unittests src/lib.rs (/b/debug/deps/kerf_api-0123)");
        started.add_started("     Running tests/e2e/main.rs (/b/debug/deps/e2e-4567)");
        started.add_started("   Doc-tests kerf_api");
        assert_eq!(wanted.without(&started), ["e2e"]);
        started.add_started("     Running tests/e2e/main.rs (/b/debug/deps/e2e-89ab)");
        assert!(wanted.without(&started).is_empty());
    }
}
