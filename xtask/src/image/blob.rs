//! Files of an image, named by their content.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::command::output;

/// The folder of an image's files.
pub(super) struct Blobs {
    folder: PathBuf,
}

impl Blobs {
    pub(super) fn create(layout: &Path) -> Result<Self> {
        let folder = layout.join("blobs/sha256");
        fs::create_dir_all(&folder)?;
        Ok(Self { folder })
    }

    /// Moves a file there; what others refer to it by.
    pub(super) fn take(&self, path: &Path, media_type: &str) -> Result<Value> {
        let digest = digest(path)?;
        let size = fs::metadata(path)?.len();
        let name = digest.trim_start_matches("sha256:");
        fs::rename(path, self.folder.join(name))?;
        Ok(json!({"mediaType": media_type, "digest": digest, "size": size}))
    }

    /// Writes a text there.
    pub(super) fn text(&self, text: &str, media_type: &str) -> Result<Value> {
        let path = self.folder.join("partial");
        fs::write(&path, text)?;
        self.take(&path, media_type)
    }
}

/// `sha256:` and the digest of a file.
pub(super) fn digest(path: &Path) -> Result<String> {
    let said = output(Command::new("sha256sum").arg(path))?;
    let digest = said.split_whitespace().next().context("sha256sum says a digest")?;
    Ok(format!("sha256:{}", digest.trim_start_matches('\\')))
}
