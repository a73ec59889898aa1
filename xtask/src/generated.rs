//! Files in the tree that a program writes: written anew on request, compared in the check.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::command::{cargo, root, run};

const CRDS: &str = "deploy/crds";

/// Writes the definitions into the tree.
pub(crate) fn write() -> Result<()> {
    write_crds(&root()?.join(CRDS))
}

/// Writes them elsewhere and compares with the tree.
pub(crate) fn check() -> Result<()> {
    let fresh = std::env::temp_dir().join(format!("kerf-generated-{}", std::process::id()));
    let result = write_crds(&fresh).and_then(|()| compare(&fresh));
    // A folder left behind in the temporary folder harms nobody; the comparison's answer matters.
    let _ = fs::remove_dir_all(&fresh);
    result
}

fn write_crds(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    let mut command =
        cargo(["run", "--locked", "--quiet", "-p", "kerf", "--", "crds", "--directory"]);
    run(command.arg(folder))
}

fn compare(fresh: &Path) -> Result<()> {
    let stored = read_folder(&root()?.join(CRDS))?;
    let fresh = read_folder(fresh)?;
    let names = stored.keys().chain(fresh.keys());
    let mut stale: Vec<_> = names.filter(|name| stored.get(*name) != fresh.get(*name)).collect();
    stale.sort();
    stale.dedup();
    if !stale.is_empty() {
        let names: Vec<_> = stale.iter().map(|name| name.display().to_string()).collect();
        bail!("{CRDS} is out of date ({}); run `cargo xtask crds`", names.join(", "));
    }
    Ok(())
}

fn read_folder(folder: &Path) -> Result<BTreeMap<PathBuf, String>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        files.insert(path.file_name().map(PathBuf::from).unwrap_or_default(), text);
    }
    Ok(files)
}
