//! What is linted: files, folders and standard input.

use std::fs;
use std::io::Read;
use std::path::Path;

use crate::report::Unreadable;

/// Largest file read. A cluster's whole set of manifests is a few megabytes.
pub const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Deepest folder looked into.
const FOLDER_DEPTH_MAX: usize = 64;

/// One file's bytes, or why there are none.
#[derive(Debug, Clone)]
pub struct Input {
    /// The file as the user named it; `-` is standard input.
    pub name: String,
    /// Its bytes.
    pub bytes: Result<Vec<u8>, String>,
}

impl Input {
    /// Text under a name.
    pub fn new(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), bytes: Ok(bytes.into()) }
    }

    fn failed(name: impl Into<String>, reason: impl ToString) -> Self {
        Self { name: name.into(), bytes: Err(reason.to_string()) }
    }

    /// The text, if it is text.
    pub(crate) fn text(&self) -> Result<&str, Unreadable> {
        let unreadable = |reason: String| Unreadable { file: self.name.clone(), reason };
        let bytes = self.bytes.as_ref().map_err(|reason| unreadable(reason.clone()))?;
        std::str::from_utf8(bytes).map_err(|error| {
            let line = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
            unreadable(format!("not UTF-8 text (line {})", line + 1))
        })
    }
}

/// Reads what `-f` names: files, folders with their folders (`*.yaml`, `*.yml`, `*.json`, in
/// order of name), and `-` for `stdin`.
pub fn gather(names: &[String], mut stdin: impl Read) -> Vec<Input> {
    let mut inputs = Vec::new();
    for name in names {
        if name == "-" {
            inputs.push(read_bounded("-", &mut stdin));
            continue;
        }
        if ["http://", "https://"].iter().any(|scheme| name.starts_with(scheme)) {
            let why = format!("pages are not fetched: curl -fsSL {name} | kerf ... -f -");
            inputs.push(Input::failed(name, why));
            continue;
        }
        let path = Path::new(name);
        match fs::metadata(path) {
            Err(error) => inputs.push(Input::failed(name, error)),
            Ok(metadata) if metadata.is_dir() => {
                let before = inputs.len();
                folder(path, 0, &mut inputs);
                if inputs.len() == before {
                    inputs.push(Input::failed(name, "no .yaml, .yml or .json file in it"));
                }
            }
            Ok(_) => inputs.push(file(path)),
        }
    }
    inputs
}

fn folder(path: &Path, depth: usize, inputs: &mut Vec<Input>) {
    let name = path.display().to_string();
    if depth > FOLDER_DEPTH_MAX {
        return inputs.push(Input::failed(name, "folders are nested too deeply"));
    }
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) => return inputs.push(Input::failed(name, error)),
    };
    let mut paths: Vec<_> = entries.filter_map(|entry| entry.ok().map(|e| e.path())).collect();
    paths.sort();
    for path in paths {
        // A link to a folder is not followed, so a circle of links ends.
        let is_folder = path.is_dir() && !path.is_symlink();
        if is_folder {
            folder(&path, depth + 1, inputs);
        } else if is_manifest(&path) && path.is_file() {
            inputs.push(file(&path));
        }
    }
}

fn is_manifest(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| matches!(extension, "yaml" | "yml" | "json"))
}

fn file(path: &Path) -> Input {
    let name = path.display().to_string();
    match fs::File::open(path) {
        Ok(file) => read_bounded(&name, file),
        Err(error) => Input::failed(name, error),
    }
}

fn read_bounded(name: &str, source: impl Read) -> Input {
    let mut bytes = Vec::new();
    match source.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes) {
        Err(error) => Input::failed(name, error),
        Ok(count) if count as u64 > FILE_BYTES_MAX => {
            Input::failed(name, format!("larger than {} MiB", FILE_BYTES_MAX / (1024 * 1024)))
        }
        Ok(_) => Input::new(name, bytes),
    }
}
