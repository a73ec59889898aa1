//! YAML text as kubectl reads it: documents, values with their places, and likely causes when a
//! document cannot be read.
//!
//! The event parser `granit-parser` is used rather than a serde front: a linter needs the place of
//! every key and value, repeated keys, and YAML 1.1 scalars (`yes`, `0777`), which kubectl's
//! reader has and a YAML 1.2 deserializer does not.

pub(crate) mod cause;
mod number;
pub(crate) mod read;
mod scalar;
pub(crate) mod split;
pub(crate) mod tree;

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line, from one.
    pub line: usize,
    /// The column in characters, from one.
    pub column: usize,
}
