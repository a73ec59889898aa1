//! Label names and what may be done with them.
//!
//! ```text
//!  well_known, annotation, aws, kwok     names (facts of the public API)
//!            │
//!  ProviderLabels ─► LabelRules ─► is this key restricted? which keys are well known?
//!                        └─ Normalization ─► old spelling of a key or value → the one in use
//!  qualified_name                        is this text a key, a value at all?
//! ```

pub mod annotation;
pub mod aws;
mod check;
pub mod kwok;
mod normalization;
mod provider;
pub mod qualified_name;
mod rules;
pub mod well_known;

pub use check::{LabelProblem, check_labels};
pub use normalization::Normalization;
pub use provider::ProviderLabels;
pub use qualified_name::{NameProblem, check_label_value, check_qualified_name};
pub use rules::{LabelRules, Restricted};

/// The part of a key before its first `/`; empty for keys without one.
#[must_use]
pub fn domain(key: &str) -> &str {
    key.split_once('/').map_or("", |(domain, _)| domain)
}

/// The part of a key after its first `/`, or the whole key.
#[must_use]
pub fn suffix(key: &str) -> &str {
    key.split_once('/').map_or(key, |(_, suffix)| suffix)
}

/// The label that names a node's class: `<group>/<lower case kind>`.
#[must_use]
pub fn node_class_key(group: &str, kind: &str) -> String {
    format!("{group}/{}", kind.to_lowercase())
}
