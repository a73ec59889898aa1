//! A short name for the content of some files.

use kerf_model::hash::Fnv1a;

/// Keeps two contents apart in a cache that one person fills; nobody gains by forging it.
pub(crate) struct Fingerprint(Fnv1a);

impl Fingerprint {
    pub(crate) fn new() -> Self {
        Self(Fnv1a::default())
    }

    /// Adds one field.
    pub(crate) fn add(mut self, field: &[u8]) -> Self {
        self.0.write_field(field);
        self
    }

    pub(crate) fn hex(&self) -> String {
        format!("{:016x}", self.0.finish())
    }
}
