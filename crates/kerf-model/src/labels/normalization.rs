//! Old and foreign spellings of keys and values.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{ProviderLabels, well_known};

/// Rewrites keys, then values of the rewritten key. One step only: a rewrite is never rewritten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Normalization {
    aliases: BTreeMap<String, String>,
    value_rewrites: BTreeMap<String, BTreeMap<String, String>>,
}

impl Normalization {
    /// The rewrites every cluster has.
    #[must_use]
    pub fn core() -> Self {
        let owned = |(from, to): (&str, &str)| (from.to_owned(), to.to_owned());
        Self {
            aliases: well_known::OLD_SPELLINGS.into_iter().map(owned).collect(),
            value_rewrites: BTreeMap::new(),
        }
    }

    pub(super) fn add(&mut self, provider: &ProviderLabels) {
        self.aliases.extend(provider.aliases.clone());
        for (key, rewrites) in &provider.value_rewrites {
            self.value_rewrites.entry(key.clone()).or_default().extend(rewrites.clone());
        }
    }

    /// The key in use for `key`.
    #[must_use]
    pub fn key<'a>(&'a self, key: &'a str) -> &'a str {
        self.aliases.get(key).map_or(key, String::as_str)
    }

    /// The value in use for `value` of a key that is already normalised.
    #[must_use]
    pub fn value<'a>(&'a self, normalised_key: &str, value: &'a str) -> &'a str {
        self.value_rewrites
            .get(normalised_key)
            .and_then(|rewrites| rewrites.get(value))
            .map_or(value, String::as_str)
    }
}

impl Default for Normalization {
    fn default() -> Self {
        Self::core()
    }
}
