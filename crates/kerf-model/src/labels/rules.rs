//! Which labels users may constrain.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Normalization, ProviderLabels, domain, well_known};
use crate::vocabulary::{KeySet, Vocabulary};

/// The label rules of one installation: the core's plus those of its clouds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelRules {
    well_known: BTreeSet<String>,
    allowed: BTreeSet<String>,
    restricted_domains: BTreeSet<String>,
    known_values: BTreeMap<String, BTreeSet<String>>,
    normalization: Normalization,
}

/// Why a label may not be used. Retrying does not help; the key must change.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Restricted {
    /// The key lies in a domain that Kerf or the cloud manages.
    #[error(
        "label {key:?} lies in the managed domain {domain:?}; \
         use a well-known label of that domain or a label in a domain of your own"
    )]
    Domain {
        /// The key as given.
        key: String,
        /// The managed domain it equals or lies under.
        domain: String,
    },
    /// The key names one particular node, which is not known before it exists.
    #[error(
        "label {key:?} names a single node, so it cannot be known before the node exists; \
         use labels that several nodes can carry"
    )]
    SingleNode {
        /// The key as given.
        key: String,
    },
}

impl LabelRules {
    /// The rules without any cloud.
    #[must_use]
    pub fn core() -> Self {
        let capacity_types = well_known::CAPACITY_TYPES.map(str::to_owned);
        Self {
            well_known: well_known::WELL_KNOWN.map(str::to_owned).into(),
            allowed: BTreeSet::new(),
            restricted_domains: [well_known::API_DOMAIN.to_owned()].into(),
            known_values: [(well_known::CAPACITY_TYPE.to_owned(), capacity_types.into())].into(),
            normalization: Normalization::core(),
        }
    }

    /// These rules and those of one more cloud.
    #[must_use]
    pub fn with(mut self, provider: &ProviderLabels) -> Self {
        self.well_known.extend(provider.well_known.iter().cloned());
        self.allowed.extend(provider.allowed.iter().cloned());
        self.restricted_domains.extend(provider.restricted_domains.iter().cloned());
        for (key, values) in &provider.known_values {
            self.known_values.entry(key.clone()).or_default().extend(values.iter().cloned());
        }
        self.normalization.add(provider);
        self
    }

    /// Whether instance types are expected to say something about `key`.
    #[must_use]
    pub fn is_well_known(&self, key: &str) -> bool {
        self.well_known.contains(key)
    }

    /// Every well-known key, sorted.
    pub fn well_known(&self) -> impl Iterator<Item = &str> {
        self.well_known.iter().map(String::as_str)
    }

    /// The well-known keys as ids: what a claim may leave undefined.
    pub fn well_known_ids(&self, vocabulary: &mut Vocabulary) -> KeySet {
        self.well_known.iter().map(|key| vocabulary.key(key)).collect()
    }

    /// The only values that make sense for `key`, if they are known.
    #[must_use]
    pub fn known_values(&self, key: &str) -> Option<&BTreeSet<String>> {
        self.known_values.get(key)
    }

    /// The spellings in use.
    #[must_use]
    pub fn normalization(&self) -> &Normalization {
        &self.normalization
    }

    /// Whether users may put `key` in labels, requirements and selectors.
    ///
    /// # Errors
    /// Says which managed domain or rule stands against it.
    pub fn is_restricted(&self, key: &str) -> Result<(), Restricted> {
        if self.well_known.contains(key) || self.allowed.contains(key) {
            return Ok(());
        }
        let own = domain(key);
        if let Some(managed) = self.restricted_domains.iter().find(|managed| under(own, managed)) {
            return Err(Restricted::Domain { key: key.to_owned(), domain: managed.clone() });
        }
        if key == well_known::HOSTNAME {
            return Err(Restricted::SingleNode { key: key.to_owned() });
        }
        Ok(())
    }
}

impl Default for LabelRules {
    fn default() -> Self {
        Self::core()
    }
}

/// Whether `domain` is `parent` or a subdomain of it.
fn under(domain: &str, parent: &str) -> bool {
    domain.strip_suffix(parent).is_some_and(|before| before.is_empty() || before.ends_with('.'))
}
