//! The Go module in `testbed/`: where it is and which versions it names.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::programs::fingerprint::Fingerprint;

/// A checkout of Kerf, seen from its `testbed/` folder.
pub(crate) struct GoModule {
    workspace: PathBuf,
    go_mod: String,
}

impl GoModule {
    /// Finds the checkout at run time: Cargo names the package under test, a person stands
    /// somewhere inside. A path compiled in would break as soon as the build folder is shared or
    /// moved.
    pub(crate) fn locate() -> Result<Self> {
        let start = match env::var_os("CARGO_MANIFEST_DIR") {
            Some(dir) => PathBuf::from(dir),
            None => env::current_dir().map_err(Error::io("find", "the current folder"))?,
        };
        let workspace = start
            .ancestors()
            .find(|dir| dir.join("testbed/go.mod").is_file())
            .map(Path::to_path_buf)
            .ok_or(Error::NoSource { start })?;
        let path = workspace.join("testbed/go.mod");
        let go_mod = fs::read_to_string(&path).map_err(Error::io("read", &path))?;
        Ok(Self { workspace, go_mod })
    }

    /// The root of the checkout.
    pub(crate) fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// The folder with `go.mod`.
    pub(crate) fn dir(&self) -> PathBuf {
        self.workspace.join("testbed")
    }

    /// The program that is the AWS stand-in.
    pub(crate) fn aws_program(&self) -> PathBuf {
        self.dir().join("aws/serve.py")
    }

    /// The catalogue's tables, which the AWS stand-in takes its prices from.
    pub(crate) fn catalogue_data(&self) -> PathBuf {
        self.workspace.join("crates/kerf-catalog/data")
    }

    /// The version `go.mod` requires of a module, as in `v1.36.3`.
    pub(crate) fn version(&self, module: &str) -> &str {
        required_version(&self.go_mod, module).unwrap_or("unknown")
    }

    /// A name for everything that decides what one package of the module compiles to.
    pub(crate) fn fingerprint(&self, package: &str, flags: &[String]) -> Result<String> {
        let mut sum = Fingerprint::new();
        for flag in flags {
            sum = sum.add(flag.as_bytes());
        }
        let mut files = vec![self.dir().join("go.mod"), self.dir().join("go.sum")];
        files.extend(go_files(&self.dir().join(package))?);
        for file in files {
            let content = fs::read(&file).map_err(Error::io("read", &file))?;
            sum = sum.add(file.file_name().unwrap_or_default().as_encoded_bytes()).add(&content);
        }
        Ok(sum.hex())
    }
}

pub(crate) fn required_version<'a>(go_mod: &'a str, module: &str) -> Option<&'a str> {
    go_mod.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next()? == module).then(|| words.next()).flatten()
    })
}

/// The Go sources of a package, in an order that does not depend on the file system.
fn go_files(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(Error::io("list", dir))? {
        let path = entry.map_err(Error::io("list", dir))?.path();
        if path.extension().is_some_and(|extension| extension == "go") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
