//! Which actions come first where they wait for each other.

use serde::{Deserialize, Serialize};

/// How urgent an action is, the most urgent first. Executors serve the classes in this order, so
/// that what can wait never delays what cannot.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum ActionClass {
    /// What closes a node that is about to go. A pod that is bound there a moment later has to move
    /// twice. One short write for each node, so that nothing waits long for these.
    Closing,
    /// What has a deadline or costs money while it waits: notices, drains of nodes that will be
    /// gone, terminations.
    Urgent,
    /// Everything else.
    #[default]
    Normal,
    /// What only notes something: timestamps and counters. A later note makes up for it.
    Background,
}

impl ActionClass {
    /// Every class, the most urgent first.
    pub const ALL: [Self; 4] = [Self::Closing, Self::Urgent, Self::Normal, Self::Background];
}
