//! The journal on disk: which files it fills, and the thread that fills them.

mod files;
mod writer;

pub use files::{JournalFiles, read_order};
pub use writer::JournalWriter;
