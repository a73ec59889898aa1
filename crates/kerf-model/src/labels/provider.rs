//! What a cloud adds to the label rules.

use std::collections::{BTreeMap, BTreeSet};

/// A cloud's own labels, aliases and values, collected before [`super::LabelRules`] are made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderLabels {
    pub(super) well_known: BTreeSet<String>,
    pub(super) allowed: BTreeSet<String>,
    pub(super) restricted_domains: BTreeSet<String>,
    pub(super) aliases: BTreeMap<String, String>,
    pub(super) value_rewrites: BTreeMap<String, BTreeMap<String, String>>,
    pub(super) known_values: BTreeMap<String, BTreeSet<String>>,
}

impl ProviderLabels {
    /// Nothing added.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Labels that instance types of this cloud carry.
    #[must_use]
    pub fn well_known<'a>(mut self, keys: impl IntoIterator<Item = &'a str>) -> Self {
        self.well_known.extend(keys.into_iter().map(str::to_owned));
        self
    }

    /// A label in a restricted domain that may be used although no instance type carries it.
    #[must_use]
    pub fn allowed(mut self, key: &str) -> Self {
        self.allowed.insert(key.to_owned());
        self
    }

    /// A domain in which users may use only labels named above.
    #[must_use]
    pub fn restricted_domain(mut self, domain: &str) -> Self {
        self.restricted_domains.insert(domain.to_owned());
        self
    }

    /// A key that means the same as another.
    #[must_use]
    pub fn alias(mut self, from: &str, to: &str) -> Self {
        self.aliases.insert(from.to_owned(), to.to_owned());
        self
    }

    /// A value of the already normalised `key` that means the same as another.
    #[must_use]
    pub fn rewrite_value(mut self, key: &str, from: &str, to: &str) -> Self {
        let rewrites = self.value_rewrites.entry(key.to_owned()).or_default();
        rewrites.insert(from.to_owned(), to.to_owned());
        self
    }

    /// The only values of `key` that make sense.
    #[must_use]
    pub fn known_values<'a>(
        mut self,
        key: &str,
        values: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let known = self.known_values.entry(key.to_owned()).or_default();
        known.extend(values.into_iter().map(str::to_owned));
        self
    }
}
