//! What the provider said of a node class.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::event::ResolvedNodeClass;
use crate::time::Time;

/// What the provider said of a node class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolvedClass {
    /// The identity of the class.
    pub uid: Arc<str>,
    /// The generation that was looked at.
    pub generation: i64,
    /// The engine's time of the answer.
    pub at: Time,
    /// What was found; nothing once what was made for the class is removed.
    pub found: Option<ResolvedNodeClass>,
}
