//! A short stand-in for a value too large to be written down.

use std::io::{self, Write};

use serde::Serialize;

/// FNV-1a with 64 bits over the value's JSON text. The text itself is never held: the problem of a
/// large cluster is tens of megabytes.
pub(crate) fn digest(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut hash = Fnv(FNV_OFFSET);
    serde_json::to_writer(&mut hash, value)?;
    Ok(format!("{:016x}", hash.0))
}

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

struct Fnv(u64);

impl Write for Fnv {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(FNV_PRIME);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
