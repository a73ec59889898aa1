//! A short name for the content of some files.

/// FNV-1a, 64 bits: stable across compilers, unlike the standard library's hasher. It only keeps
/// two contents apart in a cache that one person fills; nobody gains by forging it.
pub(crate) struct Fingerprint(u64);

const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

impl Fingerprint {
    pub(crate) fn new() -> Self {
        Self(OFFSET_BASIS)
    }

    /// Adds one field. Its length goes in too, so that ("ab", "c") differs from ("a", "bc").
    pub(crate) fn add(mut self, field: &[u8]) -> Self {
        let length = (field.len() as u64).to_le_bytes();
        for byte in length.iter().chain(field) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(PRIME);
        }
        self
    }

    pub(crate) fn hex(&self) -> String {
        format!("{:016x}", self.0)
    }
}
