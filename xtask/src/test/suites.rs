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

    /// The programs of this that are not in the other.
    pub(super) fn without(&self, other: &Self) -> Vec<String> {
        let missing = |(name, count): (&String, &usize)| {
            let there = other.0.get(name).copied().unwrap_or_default();
            (there < *count).then(|| name.clone())
        };
        self.0.iter().filter_map(missing).collect()
    }

    /// One more program of that name.
    pub(super) fn add(&mut self, name: &str) {
        *self.0.entry(name.to_owned()).or_default() += 1;
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
        ["kerf-api", "e2e", "e2e"].into_iter().for_each(|name| wanted.add(name));
        ["kerf-api", "e2e"].into_iter().for_each(|name| started.add(name));
        assert_eq!(wanted.without(&started), ["e2e"]);
        started.add("e2e");
        assert!(wanted.without(&started).is_empty());
    }
}
