//! How far a solve may go: so much work, and only while somebody waits for it.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use serde::{Deserialize, Serialize};

/// An amount of work, counted in bins filled to see what they would hold, so that where a solve
/// ends does not depend on the speed of the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Effort(pub u32);

impl Effort {
    /// As much as it takes.
    pub const UNLIMITED: Self = Self(u32::MAX);
}

/// Tells a solve on another thread that its time is over, or that nobody waits for it any more.
#[derive(Clone, Debug, Default)]
pub struct CancelFlag(Arc<AtomicU8>);

const STOPPED: u8 = 1;
const CANCELLED: u8 = 2;

impl CancelFlag {
    /// Ends the solve at its next step with what was found so far; the rest is
    /// [deferred](crate::Solution::deferred).
    pub fn stop(&self) {
        self.0.fetch_max(STOPPED, Ordering::Relaxed);
    }

    /// Ends the solve at its next step; it then has no answer.
    pub fn cancel(&self) {
        self.0.store(CANCELLED, Ordering::Relaxed);
    }

    /// Whether [`cancel`](Self::cancel) was called.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed) == CANCELLED
    }

    /// Whether the solve shall end, with or without an answer.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }
}

/// What one solve has spent of its effort.
#[derive(Debug)]
pub(crate) struct Limits {
    effort: Effort,
    cancel: CancelFlag,
    spent: Cell<u32>,
}

impl Limits {
    pub(crate) fn new(effort: Effort, cancel: CancelFlag) -> Self {
        Self { effort, cancel, spent: Cell::new(0) }
    }

    /// Notes one more filled bin.
    pub(crate) fn spend_one(&self) {
        self.spent.set(self.spent.get().saturating_add(1));
    }

    /// Whether the solve must end with what it has.
    pub(crate) fn are_reached(&self) -> bool {
        let is_spent = self.effort != Effort::UNLIMITED && self.spent.get() >= self.effort.0;
        is_spent || self.cancel.is_set()
    }

    /// Whether somebody else ends the solve. Effort is spent at certain steps only, so that it ends
    /// where it always does; this may be asked anywhere.
    pub(crate) fn is_stopped(&self) -> bool {
        self.cancel.is_set()
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }
}
