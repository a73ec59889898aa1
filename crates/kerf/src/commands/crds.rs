//! `kerf crds`: the custom resource definitions this build serves.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;

use super::terminal;

/// First line of every file, so that nobody edits what is written anew.
const HEADER: &str = "# Written by `cargo xtask crds` from the types in crates/kerf-api.\n";

/// Arguments of `kerf crds`.
#[derive(Args)]
pub(crate) struct Crds {
    /// Write one file per definition into this folder, which is made if need be, instead of printing
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,
}

impl Crds {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let Self { directory } = self;
        if let Some(directory) = &directory {
            fs::create_dir_all(directory)
                .with_context(|| format!("could not make --directory {}", directory.display()))?;
        }
        for crd in kerf_api::crds() {
            let yaml = serde_saphyr::to_string(&crd).context("a definition is plain data")?;
            match &directory {
                None => terminal::print(&format!("---\n{yaml}"))?,
                Some(directory) => {
                    let path = directory.join(kerf_api::file_name(&crd));
                    fs::write(&path, format!("{HEADER}{yaml}"))
                        .with_context(|| format!("could not write {}", path.display()))?;
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
