//! The programs that are measured, built the way they are shipped.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::command::{cargo, output};

/// The program of the solver's hot paths.
pub(super) fn hot_paths() -> Result<PathBuf> {
    built(["bench", "--no-run", "--package", "kerf-scheduler", "--bench", "hot_paths"], "hot_paths")
}

/// The program of what things cost the engine in a large cluster.
pub(super) fn large_cluster() -> Result<PathBuf> {
    let name = "large_cluster";
    built(["bench", "--no-run", "--package", "kerf-engine", "--bench", name], name)
}

/// The program that plays an hour of a cluster of any size.
pub(super) fn growth() -> Result<PathBuf> {
    built(["bench", "--no-run", "--package", "kerf-sim", "--bench", "growth"], "growth")
}

/// The program that plans the consolidation of a large cluster.
pub(super) fn whole_cluster() -> Result<PathBuf> {
    let name = "whole_cluster";
    built(["bench", "--no-run", "--package", "kerf-consolidation", "--bench", name], name)
}

/// The program that writes the page of a scrape.
pub(super) fn scrape() -> Result<PathBuf> {
    built(["bench", "--no-run", "--package", "kerf-kube", "--bench", "scrape"], "scrape")
}

/// The command line.
pub(crate) fn kerf() -> Result<PathBuf> {
    built(["build", "--release", "--package", "kerf", "--bin", "kerf"], "kerf")
}

/// Builds, and asks cargo where it put the program of this name.
pub(crate) fn built(args: [&str; 6], name: &str) -> Result<PathBuf> {
    eprintln!("building {name}");
    let messages = output(cargo(args).args(["--quiet", "--message-format", "json"]))?;
    let found = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut named = found.filter(|message| message["target"]["name"] == name);
    named
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .with_context(|| format!("cargo built no program named {name}"))
}
