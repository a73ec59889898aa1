//! The labels of one object, as ids.

use crate::vocabulary::{KeyId, ValueId, Vocabulary};

/// Labels sorted by key id. Unlike requirements, labels of pods are never normalised.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LabelSet {
    labels: Vec<(KeyId, ValueId)>,
}

impl LabelSet {
    /// Interns labels; of a key given twice the last value stays.
    pub fn intern<'a>(
        labels: impl IntoIterator<Item = (&'a str, &'a str)>,
        vocabulary: &mut Vocabulary,
    ) -> Self {
        let mut set = Self::default();
        for (key, value) in labels {
            let key = vocabulary.key(key);
            let value = vocabulary.value(key, value);
            match set.position(key) {
                Ok(position) => set.labels[position].1 = value,
                Err(position) => set.labels.insert(position, (key, value)),
            }
        }
        set
    }

    /// The value of `key`.
    #[must_use]
    pub fn get(&self, key: KeyId) -> Option<ValueId> {
        self.position(key).ok().map(|position| self.labels[position].1)
    }

    /// Every label, sorted by key id.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (KeyId, ValueId)> + '_ {
        self.labels.iter().copied()
    }

    fn position(&self, key: KeyId) -> Result<usize, usize> {
        self.labels.binary_search_by_key(&key, |(key, _)| *key)
    }
}
