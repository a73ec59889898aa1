//! The rings of the architecture, checked: who may depend on whom, and what a core crate may touch.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::command::root;
use crate::metadata::{Metadata, Package};

/// The table of allowed dependencies, changed on purpose only.
const TABLE: &str = "xtask/rings.txt";

/// What the source of a core crate may not say, and why. The core is a function of its arguments.
const CORE_BANS: [(&str, &str); 10] = [
    ("std::time::Instant", "time is an argument"),
    ("SystemTime", "time is an argument"),
    ("std::env", "settings are arguments"),
    ("std::fs", "the core reads no files"),
    ("std::net", "the core opens no connections"),
    ("std::process", "the core starts no programs"),
    ("std::thread::sleep", "the core never waits"),
    ("RandomState", "iteration order must not vary"),
    ("println!", "the core returns values and prints nothing"),
    ("async fn", "the core is synchronous"),
];

/// One row of the table.
struct Row {
    ring: String,
    allowed: Vec<String>,
}

/// Checks every crate of the workspace against its row.
pub(crate) fn check(metadata: &Metadata) -> Result<()> {
    let rows = read_table()?;
    let mut errors = Vec::new();
    for package in metadata.ours() {
        match rows.get(&package.name) {
            None => errors.push(format!("{} has no row in {TABLE}", package.name)),
            Some(row) => {
                errors.extend(dependency_errors(package, row));
                errors.extend(ring_errors(package, row, &rows));
                if row.ring == "core" {
                    errors.extend(source_errors(package)?);
                }
            }
        }
    }
    for name in rows.keys().filter(|name| !metadata.ours().any(|package| package.name == **name)) {
        errors.push(format!("{TABLE} has a row for {name}, which is not in the workspace"));
    }
    if !errors.is_empty() {
        bail!("{}\nA new edge is a decision: change {TABLE} on purpose.", errors.join("\n"));
    }
    Ok(())
}

fn read_table() -> Result<BTreeMap<String, Row>> {
    let path = root()?.join(TABLE);
    let text = fs::read_to_string(&path).with_context(|| format!("could not read {TABLE}"))?;
    let mut rows = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let mut words = line.split_whitespace().map(str::to_owned);
        let (Some(name), Some(ring)) = (words.next(), words.next()) else {
            bail!("{TABLE}: \"{line}\" is not `crate ring dependencies…`");
        };
        rows.insert(name, Row { ring, allowed: words.collect() });
    }
    Ok(rows)
}

fn dependency_errors(package: &Package, row: &Row) -> Vec<String> {
    let mut errors = Vec::new();
    for dependency in &package.dependencies {
        if !row.allowed.contains(dependency) {
            errors.push(format!("{} may not depend on {dependency}", package.name));
        }
    }
    for allowed in row.allowed.iter().filter(|allowed| !package.dependencies.contains(allowed)) {
        errors.push(format!("{} no longer depends on {allowed}: drop it", package.name));
    }
    errors
}

/// The arrow points inwards: core knows core, edges know core and edges, outer knows all.
fn ring_errors(package: &Package, row: &Row, rows: &BTreeMap<String, Row>) -> Vec<String> {
    let depth = |ring: &str| ["core", "edge", "outer"].iter().position(|name| *name == ring);
    let Some(own) = depth(&row.ring) else {
        return vec![format!("{TABLE}: {} has the unknown ring {}", package.name, row.ring)];
    };
    let outward = |name: &&String| {
        rows.get(*name).and_then(|row| depth(&row.ring)).is_some_and(|depth| depth > own)
    };
    let wrong = package.dependencies.iter().filter(outward);
    wrong.map(|name| format!("{} points outwards, to {name}", package.name)).collect()
}

fn source_errors(package: &Package) -> Result<Vec<String>> {
    let manifest = Path::new(&package.manifest_path);
    let folder = manifest.parent().context("a manifest lies in a folder")?.join("src");
    let mut errors = Vec::new();
    visit(&folder, &mut |path, text| {
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            for (ban, why) in CORE_BANS.iter().filter(|(ban, _)| code.contains(ban)) {
                let place = format!("{}:{}", path.display(), number + 1);
                errors.push(format!("{place}: {ban} in a core crate: {why}"));
            }
        }
    })?;
    Ok(errors)
}

fn visit(folder: &Path, found: &mut impl FnMut(&Path, &str)) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            visit(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            found(&path, &text);
        }
    }
    Ok(())
}
