//! Inputs worth starting from: one file each.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use kerf_model::rng::mix;

/// Larger inputs are not kept: what they reach, smaller ones do.
pub(crate) const INPUT_BYTES_MAX: usize = 8_192;
/// Inputs that are kept for a target.
const INPUTS_MAX: usize = 2_000;

/// The inputs of one target.
#[derive(Debug)]
pub(crate) struct Corpus {
    folder: PathBuf,
    pub(crate) inputs: Vec<Vec<u8>>,
    /// Words that occur in the inputs, for mutations.
    pub(crate) words: Vec<Vec<u8>>,
}

impl Corpus {
    /// Reads the inputs of a target, in the order of their names.
    pub(crate) fn of(folder: &Path, target: &str) -> Result<Self> {
        let folder = folder.join(target);
        let mut files: Vec<PathBuf> = match fs::read_dir(&folder) {
            Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())).collect(),
            Err(_) => Vec::new(),
        };
        files.sort();
        let read = |file: &PathBuf| fs::read(file).with_context(|| file.display().to_string());
        let mut inputs = files.iter().map(read).collect::<Result<Vec<_>>>()?;
        if inputs.is_empty() {
            inputs.push(Vec::new());
        }
        let mut corpus = Self { folder, inputs: Vec::new(), words: Vec::new() };
        inputs.into_iter().for_each(|input| corpus.take(input));
        Ok(corpus)
    }

    /// Keeps an input for the rest of the run.
    pub(crate) fn take(&mut self, input: Vec<u8>) {
        for word in input.split(|byte| !(byte.is_ascii_alphanumeric() || b"-_./".contains(byte))) {
            if (3..=40).contains(&word.len()) && self.words.len() < INPUTS_MAX {
                self.words.push(word.to_vec());
            }
        }
        self.words.sort();
        self.words.dedup();
        if self.inputs.len() < INPUTS_MAX && input.len() <= INPUT_BYTES_MAX {
            self.inputs.push(input);
        }
    }

    /// Stores an input, named by its content.
    pub(crate) fn store(&self, input: &[u8], prefix: &str) -> Result<PathBuf> {
        fs::create_dir_all(&self.folder)?;
        let number = input.iter().fold(0, |hash, byte| mix(hash ^ u64::from(*byte)));
        let file = self.folder.join(format!("{prefix}{number:016x}"));
        fs::write(&file, input).with_context(|| file.display().to_string())?;
        Ok(file)
    }
}
