//! What cargo knows of the workspace and everything it depends on.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::command::{cargo, output};

/// One package, of ours or of others.
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) licence: Option<String>,
    pub(crate) manifest_path: String,
    /// Names of the packages it needs to be built or run; those of its tests are left out.
    pub(crate) dependencies: Vec<String>,
    /// Whether it belongs to this workspace.
    pub(crate) ours: bool,
}

/// All packages, by name and version.
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
}

impl Metadata {
    /// Asks cargo, for this platform, without touching the network or the lock file.
    pub(crate) fn read() -> Result<Self> {
        let text = output(&mut cargo(["metadata", "--format-version", "1", "--locked"]))?;
        let json: Value = serde_json::from_str(&text).context("cargo metadata is not JSON")?;
        let members: BTreeMap<&str, ()> =
            list(&json["workspace_members"]).filter_map(|id| Some((id.as_str()?, ()))).collect();
        let mut packages: Vec<Package> =
            list(&json["packages"]).map(|package| read_package(package, &members)).collect();
        packages.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
        Ok(Self { packages })
    }

    /// The packages of this workspace.
    pub(crate) fn ours(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| package.ours)
    }
}

fn read_package(package: &Value, members: &BTreeMap<&str, ()>) -> Package {
    let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
    let mut dependencies: Vec<String> = list(&package["dependencies"])
        .filter(|dependency| dependency["kind"].as_str() != Some("dev"))
        .filter_map(|dependency| dependency["name"].as_str().map(str::to_owned))
        .collect();
    dependencies.sort();
    dependencies.dedup();
    Package {
        name: text("name"),
        version: text("version"),
        licence: package["license"].as_str().map(str::to_owned),
        manifest_path: text("manifest_path"),
        dependencies,
        ours: members.contains_key(package["id"].as_str().unwrap_or_default()),
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
