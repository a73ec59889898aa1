//! Notices that have no outcome yet.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::notice::Notice;
use crate::observed::Name;
use crate::time::Time;

/// A notice without an outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenNotice {
    /// The notice.
    pub notice: Notice,
    /// When it came.
    pub at: Time,
    /// The claims whose deletion it waits for, with their identity; `None` until it was looked at.
    pub awaits: Option<Vec<(Name, Arc<str>)>>,
}

impl OpenNotice {
    /// A notice that nobody has looked at.
    pub(crate) fn new(notice: Notice, at: Time) -> Self {
        Self { notice, at, awaits: None }
    }
}
