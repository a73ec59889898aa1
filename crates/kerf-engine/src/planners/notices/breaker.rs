//! A bound on what notices may take away: whoever can write to the queue could otherwise end a whole
//! cluster within seconds.
//!
//! What is held back is not lost. Its notice comes again, and where the instance really goes, the
//! list of the cloud's instances says so soon after.

use std::collections::BTreeSet;

use crate::decision::Decision;
use crate::memory::Update;
use crate::observed::Name;
use crate::time::Time;
use crate::world::World;

/// So many may go within a minute however small the cluster is, so that a handful of spot instances
/// taken back together is no alarm.
const AT_LEAST: usize = 5;

/// What may still go.
pub(super) struct Breaker {
    left: usize,
    taken: BTreeSet<Name>,
    held: bool,
}

impl Breaker {
    /// What may go of so many nodes.
    pub(super) fn of(world: &World, nodes: usize, now: Time) -> Self {
        let percent = usize::from(world.settings.interruption_percent_per_minute);
        let most = match percent {
            100.. => usize::MAX,
            percent => (nodes * percent).div_ceil(100).max(AT_LEAST),
        };
        let left = most.saturating_sub(world.memory.notice_breaker.taken_lately(now));
        Self { left, taken: BTreeSet::new(), held: false }
    }

    /// Whether this one may go. If so, it counts, once.
    pub(super) fn admits(&mut self, name: &Name) -> bool {
        if self.taken.contains(name) {
            return true;
        }
        if self.left == 0 {
            self.held = true;
            return false;
        }
        self.left -= 1;
        self.taken.insert(name.clone());
        true
    }

    /// Has it remembered what went and that something was held back.
    pub(super) fn conclude(self, now: Time, decision: &mut Decision) {
        if !self.taken.is_empty() {
            decision.remember(Update::TakenByNotices { at: now, count: self.taken.len() });
        }
        if self.held {
            decision.remember(Update::NoticesHeld(now));
        }
    }
}
