//! The label keys and values one world speaks of, as dense numbers.
//!
//! ```text
//!  "topology.kubernetes.io/zone" ─► KeyId 1 ─┬─ "eu-west-1a" ─► ValueId 0
//!                                            └─ "eu-west-1b" ─► ValueId 1
//!  "…/instance-cpu"              ─► KeyId 9 ─┬─ "4"  ─► ValueId 0, integer 4
//!                                            └─ "16" ─► ValueId 1, integer 16
//! ```
//!
//! A `ValueId` means something only together with its key. A vocabulary only grows; it lives as
//! long as the world it was built for, so its size is bounded by the labels in that world.

use std::sync::Arc;

use crate::dense_id;
use crate::intern::{IdSet, Interner};
use crate::labels::well_known;

dense_id! {
    /// A label key.
    pub struct KeyId
}

dense_id! {
    /// A label value, dense within its key.
    pub struct ValueId
}

/// A set of label keys.
pub type KeySet = IdSet<KeyId>;

/// A set of values of one key.
pub type ValueSet = IdSet<ValueId>;

/// Keys that every vocabulary knows from the start, so code may name them without a lookup.
impl KeyId {
    /// `karpenter.sh/nodepool`
    pub const NODE_POOL: Self = Self(0);
    /// `topology.kubernetes.io/zone`
    pub const ZONE: Self = Self(1);
    /// `topology.kubernetes.io/region`
    pub const REGION: Self = Self(2);
    /// `node.kubernetes.io/instance-type`
    pub const INSTANCE_TYPE: Self = Self(3);
    /// `kubernetes.io/arch`
    pub const ARCH: Self = Self(4);
    /// `kubernetes.io/os`
    pub const OS: Self = Self(5);
    /// `karpenter.sh/capacity-type`
    pub const CAPACITY_TYPE: Self = Self(6);
    /// `node.kubernetes.io/windows-build`
    pub const WINDOWS_BUILD: Self = Self(7);
    /// `kubernetes.io/hostname`
    pub const HOSTNAME: Self = Self(8);
}

/// In the order of the constants above.
const FIRST_KEYS: [&str; 9] = [
    well_known::NODE_POOL,
    well_known::ZONE,
    well_known::REGION,
    well_known::INSTANCE_TYPE,
    well_known::ARCH,
    well_known::OS,
    well_known::CAPACITY_TYPE,
    well_known::WINDOWS_BUILD,
    well_known::HOSTNAME,
];

/// Label keys and, per key, label values.
#[derive(Clone, Debug)]
pub struct Vocabulary {
    keys: Interner<KeyId, Arc<str>>,
    /// Shared between copies until one of them learns a new value.
    values: Vec<Arc<KeyValues>>,
}

#[derive(Clone, Debug, Default)]
struct KeyValues {
    texts: Interner<ValueId, Arc<str>>,
    /// Beside each text what [`parse_integer`] makes of it, so that bounds never parse.
    integers: Vec<Option<i64>>,
}

impl Vocabulary {
    /// A vocabulary of the keys every cluster has, without values.
    #[must_use]
    pub fn new() -> Self {
        let mut vocabulary = Self { keys: Interner::new(), values: Vec::new() };
        for key in FIRST_KEYS {
            vocabulary.key(key);
        }
        vocabulary
    }

    /// The id of a key, new or known.
    pub fn key(&mut self, text: &str) -> KeyId {
        let id = self.keys.intern(text, || text.into());
        if self.values.len() < self.keys.len() {
            self.values.push(Arc::default());
        }
        id
    }

    /// The id of a value of `key`, new or known.
    pub fn value(&mut self, key: KeyId, text: &str) -> ValueId {
        let values = &mut self.values[key.0 as usize];
        if let Some(known) = values.texts.find(text) {
            return known;
        }
        let values = Arc::make_mut(values);
        values.integers.push(parse_integer(text));
        values.texts.intern(text, || text.into())
    }

    /// The id of a key, if known.
    #[must_use]
    pub fn find_key(&self, text: &str) -> Option<KeyId> {
        self.keys.find(text)
    }

    /// The id of a value of `key`, if known.
    #[must_use]
    pub fn find_value(&self, key: KeyId, text: &str) -> Option<ValueId> {
        self.values[key.0 as usize].texts.find(text)
    }

    /// The text of a key.
    #[must_use]
    pub fn key_text(&self, key: KeyId) -> &str {
        self.keys.get(key)
    }

    /// The text of a value.
    #[must_use]
    pub fn value_text(&self, key: KeyId, value: ValueId) -> &str {
        self.values[key.0 as usize].texts.get(value)
    }

    /// The integer a value spells, if it does.
    #[must_use]
    pub fn integer(&self, key: KeyId, value: ValueId) -> Option<i64> {
        self.values[key.0 as usize].integers[value.0 as usize]
    }

    /// How many keys are known.
    #[must_use]
    pub fn key_count(&self) -> usize {
        self.keys.len()
    }

    /// How many values of `key` are known.
    #[must_use]
    pub fn value_count(&self, key: KeyId) -> usize {
        self.values[key.0 as usize].texts.len()
    }

    /// Every key, in the order of interning.
    pub fn keys(&self) -> impl Iterator<Item = (KeyId, &str)> {
        self.keys.iter().map(|(id, text)| (id, &**text))
    }

    /// The texts of a set of values, sorted the way people and the API expect.
    #[must_use]
    pub fn sorted_texts(&self, key: KeyId, values: &ValueSet) -> Vec<&str> {
        let mut texts: Vec<_> = values.iter().map(|value| self.value_text(key, value)).collect();
        texts.sort_unstable();
        texts
    }
}

impl Default for Vocabulary {
    fn default() -> Self {
        Self::new()
    }
}

/// The integer that a label value spells, as Kubernetes reads it for `Gt` and `Lt`: an optional
/// sign and decimal digits, nothing else, within 64 bits. Leading zeros and `+` are accepted;
/// blanks, underscores and fractions are not.
#[must_use]
pub fn parse_integer(text: &str) -> Option<i64> {
    text.parse().ok()
}
