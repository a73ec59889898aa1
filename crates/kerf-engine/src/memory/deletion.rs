//! Deletions of claims that were ordered, until a watch tells what became of them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::time::Time;

/// The deletion of a claim. Watches may be silent about it for minutes; until one tells, the claim
/// looks as if it stayed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deletion {
    /// The claim's identity: another one under the same name is not meant.
    pub uid: Arc<str>,
    /// What is known of it.
    pub state: DeletionState,
}

/// What is known of a deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeletionState {
    /// The API server may have taken it. It has not, if claims were heard of after this and it does
    /// not show.
    Unknown {
        /// When the last answer came, or when none is to be hoped for any more.
        until: Time,
    },
    /// The API server took it: the claim goes.
    Taken,
}

impl Deletion {
    /// Whether the claim goes for good.
    #[must_use]
    pub fn is_taken(&self) -> bool {
        self.state == DeletionState::Taken
    }

    /// One that was ordered: an answer may come until then.
    pub(super) fn ordered(uid: Arc<str>, until: Time) -> Self {
        Self { uid, state: DeletionState::Unknown { until } }
    }

    /// Takes in what else was learned. What was taken stays taken.
    pub(super) fn learn(&mut self, state: DeletionState) {
        if self.state != DeletionState::Taken {
            self.state = state;
        }
    }

    /// The clock was set back: nothing is waited for that is far ahead now.
    pub(super) fn set_back(&mut self, now: Time) {
        if let DeletionState::Unknown { until } = &mut self.state {
            *until = (*until).min(now);
        }
    }
}
