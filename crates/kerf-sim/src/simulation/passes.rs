//! When the cluster's scheduler looks at the pods that have no node.

use kerf_engine::time::Span;

use super::Simulation;
use crate::sim_event::SimEvent;

/// From a pod's creation to the scheduler's look at it.
const PASS_DELAY: Span = Span::from_millis(50);
/// How often pods that fit nowhere are tried again at most: kube-scheduler's first back-off.
const RETRY_EVERY: Span = Span::from_seconds(1);

impl Simulation {
    pub(super) fn arrange_pass(&mut self) {
        let now = self.store.now;
        let wanted = if self.binder.has_work() {
            now + PASS_DELAY
        } else if self.is_capacity_freed && self.binder.waiting_count() > 0 {
            self.retry_at.max(now + PASS_DELAY)
        } else {
            return;
        };
        if self.pass_at.is_none_or(|known| wanted < known) {
            self.pass_at = Some(wanted);
            self.queue.at(wanted, SimEvent::Pass);
        }
    }

    pub(super) fn pass(&mut self) {
        let now = self.store.now;
        if self.pass_at.is_none_or(|at| now < at) {
            return;
        }
        self.pass_at = None;
        if self.is_capacity_freed && now >= self.retry_at {
            self.is_capacity_freed = false;
            self.retry_at = now + RETRY_EVERY;
            self.binder.retry();
        }
        self.binder.pass(&mut self.store, now);
    }
}
