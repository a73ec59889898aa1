//! Every dependency's licence against the list in `deny.toml`.
//!
//! `cargo deny check` says the same and more where it is installed; this needs nothing installed.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::command::root;
use crate::metadata::Metadata;

const LIST: &str = "deny.toml";

/// Fails when a package has no licence that is on the list.
pub(crate) fn check(metadata: &Metadata) -> Result<()> {
    let text = fs::read_to_string(root()?.join(LIST)).with_context(|| format!("no {LIST}"))?;
    let allowed = allowed_licences(&text);
    let mut errors = Vec::new();
    for package in &metadata.packages {
        let licence = package.licence.as_deref().unwrap_or("none stated");
        if !permits(licence, &allowed) {
            errors.push(format!("{} {}: {licence}", package.name, package.version));
        }
    }
    if !errors.is_empty() {
        bail!("licences that {LIST} does not allow:\n{}", errors.join("\n"));
    }
    Ok(())
}

/// The quoted words of the `allow = [ … ]` list.
fn allowed_licences(text: &str) -> Vec<&str> {
    let list = text.split_once("allow = [").map_or("", |(_, rest)| rest);
    let list = list.split(']').next().unwrap_or_default();
    list.split('"').skip(1).step_by(2).collect()
}

/// An expression is permitted when every part joined by AND has an allowed choice joined by OR.
/// Parentheses in the expressions in use only ever group choices.
fn permits(expression: &str, allowed: &[&str]) -> bool {
    expression.replace(['(', ')'], "").split(" AND ").all(|part| {
        part.split(" OR ")
            .flat_map(|choice| choice.split('/'))
            .any(|choice| allowed.contains(&choice.trim()))
    })
}
