//! What the API server itself said when it was asked whether something is really gone.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::time::Time;

/// An answer of the API server about the pods on a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confirmation {
    /// The identity of the node.
    pub uid: Arc<str>,
    /// When it was asked: what came since is not in the answer.
    pub at: Time,
    /// Whether every pod it named is known to be there.
    pub knows_all: bool,
}

/// An answer of the API server about the node of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeLook {
    /// When it was asked.
    pub at: Time,
    /// Whether there is no such node, or only one on another instance.
    pub is_gone: bool,
}
