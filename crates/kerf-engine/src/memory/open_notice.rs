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
    /// What it waits for; `None` until it was looked at.
    pub awaits: Option<Awaited>,
}

/// What a notice waits for before it has its outcome: objects by name, with their identity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Awaited {
    /// The deletion of these claims is stored.
    Deletion(Vec<(Name, Arc<str>)>),
    /// These nodes take no new pods.
    Cordon(Vec<(Name, Arc<str>)>),
    /// These nodes are drained.
    Drain(Vec<(Name, Arc<str>)>),
    /// These nodes take pods again.
    Opening(Vec<(Name, Arc<str>)>),
}

impl OpenNotice {
    /// A notice that nobody has looked at.
    pub(crate) fn new(notice: Notice, at: Time) -> Self {
        Self { notice, at, awaits: None }
    }
}
