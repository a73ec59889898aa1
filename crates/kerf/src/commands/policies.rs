//! `kerf policies`: the IAM policies of the controller, as files.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use kerf_aws::iam;

/// Arguments of `kerf policies`.
#[derive(Args)]
pub(crate) struct Policies {
    /// Write them below this folder
    #[arg(long, value_name = "DIR")]
    directory: PathBuf,
}

impl Policies {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let Self { directory } = self;
        for file in iam::files() {
            let path = directory.join(&file.path);
            let written = match path.parent() {
                Some(folder) => {
                    fs::create_dir_all(folder).and_then(|()| fs::write(&path, file.text))
                }
                None => fs::write(&path, file.text),
            };
            written.with_context(|| format!("could not write {}", path.display()))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
