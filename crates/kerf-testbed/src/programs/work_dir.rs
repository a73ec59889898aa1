//! The temporary folder of one testbed.

use std::collections::hash_map::RandomState;
use std::env;
use std::fs::{self, DirBuilder};
use std::hash::{BuildHasher, Hasher};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{self, Child, Stdio};

use crate::error::{Error, Result};
use crate::programs::progress::say;
use crate::programs::toolchain::Keeper;

/// Set to `1` to find logs and data after a test; the path is printed.
const KEEP_VARIABLE: &str = "KERF_TESTBED_KEEP";

/// It holds tokens and keys, so nobody else may look.
const OWNER_ONLY: u32 = 0o700;

/// A folder that goes away with its owner, however that ends.
#[derive(Debug)]
pub(crate) struct WorkDir {
    path: PathBuf,
    /// Removes the folder if we die without doing so; absent if the folder is to be kept.
    sweeper: Option<Child>,
}

impl WorkDir {
    pub(crate) fn create(purpose: &str, keeper: &Keeper) -> Result<Self> {
        let name = format!("kerf-{purpose}-{}-{}", process::id(), &random_hex()[..8]);
        let path = env::temp_dir().join(name);
        DirBuilder::new().mode(OWNER_ONLY).create(&path).map_err(Error::io("create", &path))?;
        if env::var_os(KEEP_VARIABLE).is_some_and(|value| value == "1") {
            say(&format!("{KEEP_VARIABLE}=1, keeping {}", path.display()));
            return Ok(Self { path, sweeper: None });
        }
        let sweeper = keeper
            .command("sweep")
            .arg(&path)
            .stdin(Stdio::piped())
            .spawn()
            .map_err(Error::io("start", "the sweeper"))?;
        Ok(Self { path, sweeper: Some(sweeper) })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file into the folder and says where.
    pub(crate) fn write(&self, name: &str, content: &str) -> Result<PathBuf> {
        let path = self.path.join(name);
        fs::write(&path, content).map_err(Error::io("write", &path))?;
        Ok(path)
    }
}

impl Drop for WorkDir {
    fn drop(&mut self) {
        let Some(sweeper) = &mut self.sweeper else { return };
        // If this fails the sweeper tries again, and after that the system's own cleaning will.
        let _ = fs::remove_dir_all(&self.path);
        // `wait` closes the pipe first, which is what the sweeper waits for.
        let _ = sweeper.wait();
    }
}

/// 32 hexadecimal digits nobody can guess. The standard library seeds its hash maps from the
/// system's source of randomness; for a token that lives on loopback for seconds this spares a
/// dependency.
pub(crate) fn random_hex() -> String {
    let half = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", half(), half())
}
