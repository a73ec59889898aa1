//! What a planner answers: what to do now, what to remember, when to ask again.

use crate::action::Deed;
use crate::announcement::Announcement;
use crate::measure::Measure;
use crate::memory::Memo;
use crate::notice::Settled;
use crate::time::Time;

/// A planner's answer about one subject.
#[derive(Clone, Debug, Default)]
pub(crate) struct Decision {
    /// What to do, with reasons. Deeds that are under way or waiting for a retry are dropped by
    /// the engine, so a planner just says what the world as it is needs.
    pub(crate) deeds: Vec<(Deed, String)>,
    /// What to remember.
    pub(crate) memos: Vec<Memo>,
    /// What to tell people.
    pub(crate) announcements: Vec<Announcement>,
    /// What to count. Only for what happens once: put it beside a memo or a deed.
    pub(crate) measures: Vec<Measure>,
    /// Notices that have their outcome.
    pub(crate) settled: Vec<Settled>,
    /// When to ask again even if nothing changes.
    pub(crate) wake_at: Option<Time>,
}

impl Decision {
    /// Adds a deed.
    pub(crate) fn act(&mut self, deed: Deed, reason: impl Into<String>) {
        self.deeds.push((deed, reason.into()));
    }

    /// Adds a memo.
    pub(crate) fn remember(&mut self, memo: Memo) {
        self.memos.push(memo);
    }

    /// Adds an announcement.
    pub(crate) fn announce(&mut self, announcement: Announcement) {
        self.announcements.push(announcement);
    }

    /// Adds what another planner answers about the same news.
    pub(crate) fn and(&mut self, other: Decision) {
        self.deeds.extend(other.deeds);
        self.memos.extend(other.memos);
        self.announcements.extend(other.announcements);
        self.measures.extend(other.measures);
        self.settled.extend(other.settled);
        if let Some(at) = other.wake_at {
            self.wake(at);
        }
    }

    /// Asks again at that time, or earlier.
    pub(crate) fn wake(&mut self, at: Time) {
        self.wake_at = Some(self.wake_at.map_or(at, |known| known.min(at)));
    }
}
