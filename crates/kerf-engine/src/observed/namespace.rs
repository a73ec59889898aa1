//! Namespaces, for rules that choose them by label.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Meta, Name, ObservedKind};

/// A namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Namespace {
    /// What all objects have.
    pub meta: Meta,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
}

impl ObservedKind for Namespace {
    type Key = Name;

    fn key(&self) -> Name {
        self.meta.name.clone()
    }
}
