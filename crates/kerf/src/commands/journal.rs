//! The flag of the journal, the same for every role with an engine.

use std::convert::Infallible;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use kerf_kube::JournalFiles;

/// Where the journal is written.
#[derive(Args)]
pub(crate) struct JournalFlag {
    /// Write what the engine learns and decides to a file, or to segments in a folder, for kerf
    /// replay; both are bounded
    #[arg(long, env = "KERF_JOURNAL", value_name = "FILE|DIR", value_parser = path)]
    journal: Option<PathBuf>,
}

impl JournalFlag {
    /// The files, if there is to be a journal.
    pub(crate) fn open(&self) -> Result<Option<JournalFiles>> {
        let open = |path: &PathBuf| {
            JournalFiles::open(path).with_context(|| format!("--journal {}", path.display()))
        };
        let path = self.journal.as_ref().filter(|path| !path.as_os_str().is_empty());
        path.map(open).transpose()
    }
}

/// A path; an empty one means none, as an unset variable in a manifest gives it.
pub(crate) fn path(text: &str) -> Result<PathBuf, Infallible> {
    Ok(PathBuf::from(text))
}
