//! The files of a journal: a ring of segments in a folder, or one file and the one before it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Segments kept in a folder: half a gibibyte, hours of a busy cluster.
const SEGMENTS_MAX: usize = 8;
/// How segments in a folder are named; the number is padded so that names sort by it.
const SEGMENT_PREFIX: &str = "journal-";
const SEGMENT_SUFFIX: &str = ".jsonl";
/// What is added to the name of a file that is full.
const FORMER_SUFFIX: &str = ".1";

/// Where a journal is written.
#[derive(Debug)]
pub struct JournalFiles {
    place: Place,
    /// Opened at the start, so that whoever asked for a journal hears at once if there can be none.
    first: Option<File>,
}

#[derive(Debug)]
enum Place {
    /// A ring of segments; the number of the next.
    Folder { path: PathBuf, next: u64 },
    /// One file; when it is full it replaces the one before it.
    File(PathBuf),
}

impl JournalFiles {
    /// A folder if there is one or the name ends with a slash, else a file. Nothing is overwritten
    /// that the last run left: a folder's numbers go on, and a file is set aside.
    ///
    /// # Errors
    /// The folder or file cannot be made.
    pub fn open(path: &Path) -> io::Result<Self> {
        let names_folder = path.as_os_str().as_encoded_bytes().ends_with(b"/");
        let place = if names_folder || path.is_dir() {
            fs::create_dir_all(path)?;
            let last = segments(path)?.last().and_then(|last| number(last));
            Place::Folder { path: path.to_owned(), next: last.map_or(1, |last| last + 1) }
        } else {
            Place::File(path.to_owned())
        };
        let mut files = Self { place, first: None };
        files.first = Some(files.next()?);
        Ok(files)
    }

    /// Opens the next file and removes the oldest ones beyond the bound.
    ///
    /// # Errors
    /// A file cannot be made, renamed or removed.
    pub(super) fn next(&mut self) -> io::Result<File> {
        if let Some(first) = self.first.take() {
            return Ok(first);
        }
        match &mut self.place {
            Place::File(path) => {
                if path.exists() {
                    fs::rename(&*path, former(path))?;
                }
                File::create(path)
            }
            Place::Folder { path, next } => {
                let file = File::create_new(
                    path.join(format!("{SEGMENT_PREFIX}{next:08}{SEGMENT_SUFFIX}")),
                )?;
                *next += 1;
                let segments = segments(path)?;
                let surplus = segments.len().saturating_sub(SEGMENTS_MAX);
                segments[..surplus].iter().try_for_each(fs::remove_file)?;
                Ok(file)
            }
        }
    }
}

/// The files of a journal in the order they were written: those of a folder, or a file after the
/// one it replaced.
///
/// # Errors
/// A folder cannot be read, or has no segments.
pub fn read_order(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        let former = Some(former(path)).filter(|former| former.exists());
        return Ok(former.into_iter().chain([path.to_owned()]).collect());
    }
    let segments = segments(path)?;
    if segments.is_empty() {
        let message = format!("the folder has no {SEGMENT_PREFIX}*{SEGMENT_SUFFIX}");
        return Err(io::Error::new(io::ErrorKind::NotFound, message));
    }
    Ok(segments)
}

fn former(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(FORMER_SUFFIX);
    name.into()
}

/// The segments in a folder, oldest first.
fn segments(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<_> = paths.collect::<io::Result<_>>()?;
    paths.retain(|path| number(path).is_some());
    paths.sort_by_key(|path| number(path));
    Ok(paths)
}

fn number(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_str()?;
    name.strip_prefix(SEGMENT_PREFIX)?.strip_suffix(SEGMENT_SUFFIX)?.parse().ok()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::client::journal) struct Folder(pub(in crate::client::journal) PathBuf);

    impl Folder {
        pub(in crate::client::journal) fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("kerf-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).expect("a folder can be made");
            Self(path)
        }

        fn names(&self) -> Vec<String> {
            let order = read_order(&self.0).expect("it has segments");
            let name = |path: &PathBuf| path.file_name().map(|name| name.display().to_string());
            order.iter().filter_map(name).collect()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_folder_keeps_the_newest_segments_and_goes_on_after_a_restart() {
        let folder = Folder::new("journal-ring");
        assert!(read_order(&folder.0).is_err(), "there is nothing to read");
        for _ in 0..2 {
            let mut files = JournalFiles::open(&folder.0).expect("the folder can be read");
            for _ in 0..SEGMENTS_MAX {
                files.next().expect("a segment can be made");
            }
        }
        let names = folder.names();
        assert_eq!(names.len(), SEGMENTS_MAX);
        assert_eq!(names[0], "journal-00000009.jsonl");
        assert_eq!(names[SEGMENTS_MAX - 1], "journal-00000016.jsonl");
    }

    #[test]
    fn a_file_that_is_full_replaces_the_one_before_it() {
        let folder = Folder::new("journal-file");
        let path = folder.0.join("night.jsonl");
        let mut files = JournalFiles::open(&path).expect("it need not exist");
        for text in ["one", "two", "three"] {
            files.next().expect("it can be made");
            fs::write(&path, text).expect("it can be written");
        }
        let read = |path: &PathBuf| fs::read_to_string(path).expect("it can be read");
        let order = read_order(&path).expect("it is there");
        assert_eq!(order.iter().map(read).collect::<Vec<_>>(), ["two", "three"]);
    }
}
