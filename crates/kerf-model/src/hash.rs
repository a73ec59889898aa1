//! Hashes that are the same on every host and in every version, unlike the standard library's.
//!
//! They keep values apart; they do not withstand anyone who wants two to collide.

const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// A 64-bit FNV-1a hash in the making.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fnv1a(u64);

impl Default for Fnv1a {
    fn default() -> Self {
        Self::seeded(OFFSET_BASIS)
    }
}

impl Fnv1a {
    /// A hash that starts elsewhere than at the usual offset basis.
    #[must_use]
    pub const fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    /// Adds bytes. Where they end does not show: `"ab", "c"` is `"a", "bc"`.
    pub fn write(&mut self, bytes: &[u8]) {
        self.0 =
            bytes.iter().fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME));
    }

    /// Adds bytes after their length, so that `"ab", "c"` differs from `"a", "bc"`.
    pub fn write_field(&mut self, field: &[u8]) {
        self.write(&(field.len() as u64).to_le_bytes());
        self.write(field);
    }

    /// The hash of what was added so far.
    #[must_use]
    pub const fn finish(self) -> u64 {
        self.0
    }
}

/// The 64-bit FNV-1a hash of some bytes: xor, then multiply.
#[must_use]
pub fn fnv1a(bytes: &[u8]) -> u64 {
    let mut hash = Fnv1a::default();
    hash.write(bytes);
    hash.finish()
}

/// The older 64-bit FNV-1 hash: multiply, then xor. Karpenter's NodePool hash is made of it.
#[must_use]
pub fn fnv1(bytes: &[u8]) -> u64 {
    bytes.iter().fold(OFFSET_BASIS, |hash, byte| hash.wrapping_mul(PRIME) ^ u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_published_test_vectors() {
        assert_eq!([fnv1a(b""), fnv1(b"")], [0xcbf2_9ce4_8422_2325; 2]);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(fnv1(b"a"), 0xaf63_bd4c_8601_b7be);
        assert_eq!(fnv1(b"foobar"), 0x340d_8765_a4dd_a9c2);
    }

    #[test]
    fn fields_do_not_run_into_each_other() {
        let hash = |fields: [&str; 2]| {
            let mut hash = Fnv1a::default();
            fields.iter().for_each(|field| hash.write_field(field.as_bytes()));
            hash.finish()
        };
        assert_ne!(hash(["ab", "c"]), hash(["a", "bc"]));
    }
}
