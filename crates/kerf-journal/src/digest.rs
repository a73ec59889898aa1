//! A short stand-in for a value too large to be written down.

use std::io::{self, Write};

use kerf_model::hash::Fnv1a;
use serde::Serialize;

/// FNV-1a with 64 bits over the value's JSON text. The text itself is never held: the problem of a
/// large cluster is tens of megabytes.
pub(crate) fn digest(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut hash = Hashing(Fnv1a::default());
    serde_json::to_writer(&mut hash, value)?;
    Ok(format!("{:016x}", hash.0.finish()))
}

/// Hashes what is written to it.
struct Hashing(Fnv1a);

impl Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
