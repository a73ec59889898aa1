//! Files in the tree that a program writes: written anew on request, compared in the check.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::bench::executable::built;
use crate::command::{root, run};

const CRDS: &str = "deploy/crds";
/// Folders in which every file is written.
const FOLDERS: [&str; 5] =
    [CRDS, "deploy/policies", CHART_CRDS, CRD_CHART_DEFINITIONS, CHART_RIGHTS];
/// Copies in charts: Helm reads nothing outside the folder of a chart.
const CHART_CRDS: &str = "deploy/charts/karpenter/crds";
const CRD_CHART_DEFINITIONS: &str = "deploy/charts/karpenter-crd/definitions";
const CHART_RIGHTS: &str = "deploy/charts/karpenter/rbac";
/// The definitions that every installation has. Legacy ones and those of kwok are applied by hand.
const INSTALLED_CRDS: [&str; 5] = [
    "autoscaling.x-k8s.io_capacitybuffers.yaml",
    "karpenter.k8s.aws_ec2nodeclasses.yaml",
    "karpenter.sh_nodeclaims.yaml",
    "karpenter.sh_nodeoverlays.yaml",
    "karpenter.sh_nodepools.yaml",
];
const RIGHTS: [&str; 5] = [
    "rbac-aws.yaml",
    "rbac-kwok.yaml",
    "rbac-scheduler-config.yaml",
    "rbac-zonal-autoshift.yaml",
    "rbac.yaml",
];
/// A page that holds a table that is written.
const PAGE: &str = "docs/aws.md";
/// The table, as `kerf policies` writes it, and where it belongs.
const TABLE: &str = "permissions.md";
const TABLE_BEGINS: &str = "<!-- permissions: written by `cargo xtask policies` -->\n";
const TABLE_ENDS: &str = "<!-- permissions: end -->\n";

/// Writes the definitions into the tree.
pub(crate) fn write_crds() -> Result<()> {
    crds_below(&root()?)
}

/// Writes policies, and the page that lists them, into the tree.
pub(crate) fn write_policies() -> Result<()> {
    policies_below(&root()?)
}

/// Copies definitions and rights into the charts.
pub(crate) fn write_charts() -> Result<()> {
    charts_below(&root()?)
}

/// Writes everything elsewhere and compares with the tree.
pub(crate) fn check() -> Result<()> {
    let fresh = std::env::temp_dir().join(format!("kerf-generated-{}", std::process::id()));
    let written = crds_below(&fresh).and_then(|()| policies_below(&fresh));
    let written = written.and_then(|()| charts_below(&fresh));
    let result = written.and_then(|()| compare(&fresh));
    // A folder left behind in the temporary folder harms nobody; the comparison's answer matters.
    let _ = fs::remove_dir_all(&fresh);
    result
}

fn crds_below(tree: &Path) -> Result<()> {
    let folder = tree.join(CRDS);
    fs::create_dir_all(&folder)?;
    kerf("crds", &folder)
}

fn charts_below(tree: &Path) -> Result<()> {
    for (from, to, names) in [
        (CRDS, CHART_CRDS, &INSTALLED_CRDS),
        (CRDS, CRD_CHART_DEFINITIONS, &INSTALLED_CRDS),
        ("deploy", CHART_RIGHTS, &RIGHTS),
    ] {
        let folder = tree.join(to);
        fs::create_dir_all(&folder)?;
        for name in names {
            let original = root()?.join(from).join(name);
            fs::copy(&original, folder.join(name))
                .with_context(|| original.display().to_string())?;
        }
    }
    Ok(())
}

fn policies_below(tree: &Path) -> Result<()> {
    kerf("policies", tree)?;
    let table_file = tree.join(TABLE);
    let table = fs::read_to_string(&table_file)?;
    fs::remove_file(&table_file)?;
    let page = fs::read_to_string(root()?.join(PAGE))?;
    let to = tree.join(PAGE);
    fs::create_dir_all(to.parent().context("a page is in a folder")?)?;
    Ok(fs::write(to, with_table(&page, &table)?)?)
}

/// The page with this table in the place of the one it has.
fn with_table(page: &str, table: &str) -> Result<String> {
    let parts = page.split_once(TABLE_BEGINS).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(TABLE_ENDS)?;
        Some((before, after))
    });
    let (before, after) = parts.with_context(|| format!("{PAGE} has no place for {TABLE}"))?;
    Ok(format!("{before}{TABLE_BEGINS}\n{table}\n{TABLE_ENDS}{after}"))
}

/// Has `kerf` write something below a folder. It is built as the tests build it, with one of them:
/// alone it would get other features of its dependencies, and all of them would be compiled twice.
fn kerf(what: &str, folder: &Path) -> Result<()> {
    let kerf =
        built(["test", "--locked", "--workspace", "--no-run", "--test", "aws_docs"], "kerf")?;
    run(Command::new(kerf).args([what, "--directory"]).arg(folder))
}

fn compare(fresh: &Path) -> Result<()> {
    let tree = root()?;
    let fresh = read_tree(fresh, Path::new(""))?;
    let mut stored = BTreeMap::new();
    for path in fresh.keys() {
        if let Ok(text) = fs::read_to_string(tree.join(path)) {
            stored.insert(path.clone(), text);
        }
    }
    // What is in these folders and was not written is out of date, too.
    for folder in FOLDERS {
        stored.extend(read_tree(&tree, Path::new(folder))?);
    }
    let names = stored.keys().chain(fresh.keys());
    let mut stale: Vec<_> = names.filter(|name| stored.get(*name) != fresh.get(*name)).collect();
    stale.sort();
    stale.dedup();
    if !stale.is_empty() {
        let names: Vec<_> = stale.iter().map(|name| name.display().to_string()).collect();
        let names = names.join(", ");
        bail!(
            "out of date: {names}; run `cargo xtask crds`, `cargo xtask policies` and `cargo xtask charts`"
        );
    }
    Ok(())
}

/// Every file below a folder of a tree, by its path in the tree.
fn read_tree(tree: &Path, folder: &Path) -> Result<BTreeMap<PathBuf, String>> {
    let mut files = BTreeMap::new();
    let path = tree.join(folder);
    for entry in fs::read_dir(&path).with_context(|| path.display().to_string())? {
        let entry = entry?;
        let below = folder.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            files.extend(read_tree(tree, &below)?);
        } else {
            let text = fs::read_to_string(entry.path());
            files.insert(below, text.with_context(|| entry.path().display().to_string())?);
        }
    }
    Ok(files)
}
