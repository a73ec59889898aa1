//! What notices took away lately.

use serde::{Deserialize, Serialize};

use crate::time::{Span, Time};

/// What notices took away lately, and whether more was held back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticeBreaker {
    /// When how many went; nothing older than the window.
    taken: Vec<(Time, usize)>,
    held_at: Option<Time>,
}

impl NoticeBreaker {
    /// The time within which a share of the cluster may go.
    pub const WINDOW: Span = Span::from_seconds(60);

    /// How many went within the window.
    #[must_use]
    pub fn taken_lately(&self, now: Time) -> usize {
        self.taken.iter().filter(|(at, _)| now < *at + Self::WINDOW).map(|(_, count)| count).sum()
    }

    /// Whether something was held back within the window.
    #[must_use]
    pub fn is_open(&self, now: Time) -> bool {
        self.held_at.is_some_and(|at| now < at + Self::WINDOW)
    }

    pub(super) fn take(&mut self, at: Time, count: usize) {
        self.taken.retain(|(earlier, _)| at < *earlier + Self::WINDOW);
        self.taken.push((at, count));
    }

    pub(super) fn hold(&mut self, at: Time) {
        self.held_at = Some(at);
    }

    pub(super) fn times_mut(&mut self) -> impl Iterator<Item = &mut Time> {
        self.taken.iter_mut().map(|(at, _)| at).chain(self.held_at.iter_mut())
    }
}
