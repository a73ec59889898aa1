//! What a planner answers: what to do now, what to remember, when to ask again.

use crate::action::ActionKind;
use crate::kubernetes_event::KubernetesEvent;
use crate::memory::Update;
use crate::notice::{AnnouncedInstance, FoundNode, Settled};
use crate::reason::Reason;
use crate::sample::Sample;
use crate::time::Time;
use crate::zonal_shift::{Change, ShiftReport};

/// A planner's answer about one subject.
#[derive(Clone, Debug, Default)]
pub(crate) struct Decision {
    /// What to do, with reasons. Actions that are under way or waiting for a retry are dropped by
    /// the engine, so a planner just says what the world as it is needs.
    pub(crate) actions: Vec<(ActionKind, Reason)>,
    /// What to remember.
    pub(crate) updates: Vec<Update>,
    /// What to tell people.
    pub(crate) kubernetes_events: Vec<KubernetesEvent>,
    /// What to count. Only for what happens once: put it beside an update or an action.
    pub(crate) samples: Vec<Sample>,
    /// Notices that have their outcome.
    pub(crate) settled: Vec<Settled>,
    /// Nodes that notices turned out to be about.
    pub(crate) found: Vec<FoundNode>,
    /// What the provider must know of its instances at once.
    pub(crate) announced: Vec<AnnouncedInstance>,
    /// What NodePool mode of zonal shifts remembers.
    pub(crate) shift_changes: Vec<Change>,
    /// What is logged of it.
    pub(crate) shift_reports: Vec<ShiftReport>,
    /// When to ask again even if nothing changes.
    pub(crate) wake_at: Option<Time>,
}

impl Decision {
    /// Adds an action.
    pub(crate) fn act(&mut self, kind: ActionKind, reason: Reason) {
        self.actions.push((kind, reason));
    }

    /// Adds an update.
    pub(crate) fn remember(&mut self, update: Update) {
        self.updates.push(update);
    }

    /// Adds an announcement.
    pub(crate) fn record(&mut self, kubernetes_event: KubernetesEvent) {
        self.kubernetes_events.push(kubernetes_event);
    }

    /// Adds what another planner answers about the same change.
    pub(crate) fn and(&mut self, other: Decision) {
        join(&mut self.actions, other.actions);
        join(&mut self.updates, other.updates);
        join(&mut self.kubernetes_events, other.kubernetes_events);
        join(&mut self.samples, other.samples);
        join(&mut self.settled, other.settled);
        join(&mut self.found, other.found);
        join(&mut self.announced, other.announced);
        join(&mut self.shift_changes, other.shift_changes);
        join(&mut self.shift_reports, other.shift_reports);
        if let Some(at) = other.wake_at {
            self.wake(at);
        }
    }

    /// Asks again at that time, or earlier.
    pub(crate) fn wake(&mut self, at: Time) {
        self.wake_at = Some(self.wake_at.map_or(at, |known| known.min(at)));
    }
}

/// Adds more to all. Most planners answer nothing most of the time, and every event asks them.
fn join<T>(all: &mut Vec<T>, mut more: Vec<T>) {
    if all.is_empty() {
        *all = more;
    } else if !more.is_empty() {
        all.append(&mut more);
    }
}
