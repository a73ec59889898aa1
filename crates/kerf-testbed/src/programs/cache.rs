//! What is built once and kept outside the checkout.

use std::env;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::programs::progress::Ticker;

/// How often a waiting process looks whether the builder is done.
const LOCK_LOOK_EVERY: Duration = Duration::from_millis(200);

/// The folder that holds one sub-folder per thing built, named by its content.
pub(crate) struct Cache {
    root: PathBuf,
}

impl Cache {
    /// `${XDG_CACHE_HOME:-$HOME/.cache}/kerf/testbed`, made if absent.
    pub(crate) fn open() -> Result<Self> {
        let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = set("XDG_CACHE_HOME")
            .or_else(|| set("HOME").map(|home| home.join(".cache")))
            .ok_or(Error::NoCacheHome)?;
        let root = home.join("kerf/testbed");
        fs::create_dir_all(&root).map_err(Error::io("create", &root))?;
        Ok(Self { root })
    }

    /// The folder `name`, filled by `build` if it is not there yet.
    ///
    /// `build` gets an empty folder to fill, renamed into place only when it succeeds: a folder
    /// under its final name is always whole. One process builds, the others wait; the lock is the
    /// kernel's and ends with its holder.
    pub(crate) fn entry(
        &self,
        name: &str,
        build: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<PathBuf> {
        let finished = self.root.join(name);
        if finished.is_dir() {
            return Ok(finished);
        }
        let _lock = self.lock(name)?;
        if finished.is_dir() {
            return Ok(finished);
        }
        let partial = self.root.join(format!("{name}.partial"));
        if partial.exists() {
            fs::remove_dir_all(&partial).map_err(Error::io("remove", &partial))?;
        }
        fs::create_dir(&partial).map_err(Error::io("create", &partial))?;
        build(&partial)?;
        fs::rename(&partial, &finished).map_err(Error::io("rename", &partial))?;
        Ok(finished)
    }

    fn lock(&self, name: &str) -> Result<File> {
        let path = self.root.join(format!("{name}.lock"));
        let file = File::create(&path).map_err(Error::io("create", &path))?;
        let mut ticker = Ticker::new(format!("waiting for another process that builds {name}"));
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) => ticker.tick(),
                Err(TryLockError::Error(source)) => return Err(Error::io("lock", &path)(source)),
            }
            thread::sleep(LOCK_LOOK_EVERY);
        }
    }
}
