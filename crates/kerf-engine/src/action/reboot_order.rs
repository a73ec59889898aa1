//! What a provider must know to restart an instance.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::observed::Name;

/// A restart of a claim's instance in place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RebootOrder {
    /// The claim.
    pub claim: Name,
    /// Its node.
    pub node: Option<Name>,
    /// Its instance.
    pub provider_id: Option<Arc<str>>,
    /// By which a provider knows that it was asked before: the same for each try of one reboot.
    pub operation: Arc<str>,
}
