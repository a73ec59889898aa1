//! How the handler acts.

use std::path::PathBuf;
use std::time::Duration;

use kerf_model::taint::TaintEffect;

use crate::kind::EventKind;

/// How the handler acts on events, wherever they come from.
#[derive(Clone, Debug)]
pub struct EventSettings {
    /// What is done about events, by kind.
    pub actions: Actions,
    /// The effect of the taint that nodes get; none if they get none.
    pub taint_effect: Option<TaintEffect>,
    /// Whether nodes that a provisioner owns are left to it: it is told by deleting their claims.
    pub delegates: bool,
    /// Whether nothing is written, completed or deleted.
    pub dry_run: bool,
    /// Which log lines people expect.
    pub log_version: LogVersion,
    /// Whether actions are also counted by node and event.
    pub node_metrics: bool,
}

/// How the handler reads a queue.
#[derive(Clone, Debug)]
pub struct QueueSettings {
    /// The queue.
    pub queue_url: String,
    /// How long received messages are hidden from other readers; extended while a drain lasts.
    pub hidden_for: Duration,
    /// The tag that instances must have; none if any instance will do.
    pub managed_tag: Option<String>,
    /// The cluster's name, where it is known: instances that carry it belong here.
    pub cluster_name: Option<String>,
    /// Whether an event whose node is not there is finished like one whose node is drained.
    pub finishes_without_node: bool,
    /// How long to wait after a drain before a lifecycle hook is completed.
    pub hook_delay: Duration,
    /// How lifecycle hooks are kept waiting, if they are.
    pub heartbeats: Option<Heartbeats>,
    /// What becomes of messages that nobody can read.
    pub poison: Poison,
}

/// How the handler asks for the metadata of the instance it runs on.
#[derive(Clone, Debug)]
pub struct MetadataSettings {
    /// The node it runs on.
    pub node_name: String,
    /// Where the metadata service is.
    pub url: String,
    /// How often each question is asked before it counts as unanswered.
    pub tries: u32,
    /// What is asked for.
    pub monitors: Vec<Monitor>,
    /// How long before an event its drain begins.
    pub drain_before: Duration,
    /// The file with the time since the last boot.
    pub uptime_file: PathBuf,
}

/// What the metadata service is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Monitor {
    /// Spot interruptions.
    Spot,
    /// Rebalance recommendations.
    Rebalance,
    /// Maintenance.
    Scheduled,
    /// What an Auto Scaling group is about to do.
    AutoScaling,
}

impl Monitor {
    /// Its name in the log.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spot => "SPOT_ITN_MONITOR",
            Self::Rebalance => "REBALANCE_RECOMMENDATION_MONITOR",
            Self::Scheduled => "SCHEDULED_EVENT_MONITOR",
            Self::AutoScaling => "ASG_LIFECYCLE_MONITOR",
        }
    }
}

/// What is done about an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The node is closed and emptied.
    Drain,
    /// The node is closed.
    Cordon,
    /// Nothing; the message is deleted.
    Ignore,
}

/// What is done about events, by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Actions([Action; EventKind::ALL.len()]);

/// How lifecycle hooks are kept waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heartbeats {
    /// How often.
    pub every: Duration,
    /// For how long at most.
    pub until: Duration,
}

/// What becomes of messages that nobody can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Poison {
    /// They are deleted.
    Delete,
    /// They stay until the queue drops them or hands them to its dead letters.
    Keep,
}

/// Which log lines people expect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogVersion {
    /// Those of older guides.
    One,
    /// Those that name monitor and kind apart.
    Two,
}

impl Actions {
    /// The same for every kind.
    #[must_use]
    pub const fn all(action: Action) -> Self {
        Self([action; EventKind::ALL.len()])
    }

    /// What is done about events of a kind.
    #[must_use]
    pub fn of(&self, kind: EventKind) -> Action {
        let place = EventKind::ALL.iter().position(|one| *one == kind);
        place.map_or(Action::Drain, |place| self.0[place])
    }

    /// The same, but for one kind.
    #[must_use]
    pub fn with(mut self, kind: EventKind, action: Action) -> Self {
        if let Some(place) = EventKind::ALL.iter().position(|one| *one == kind) {
            self.0[place] = action;
        }
        self
    }

    /// Reads `spot=drain,rebalance=cordon,state=ignore`; kinds that are not named are drained.
    ///
    /// # Errors
    /// What is not understood, and what is.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut actions = Self::all(Action::Drain);
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (kind, action) = part.split_once('=').unwrap_or((part, ""));
            let place = EventKind::ALL.iter().position(|one| one.word() == kind.trim());
            let action = match action.trim() {
                "drain" => Some(Action::Drain),
                "cordon" => Some(Action::Cordon),
                "ignore" => Some(Action::Ignore),
                _ => None,
            };
            let (Some(place), Some(action)) = (place, action) else {
                return Err(format!(
                    "{part:?} is not understood: allowed are spot, rebalance, state, health, asg \
                     and launch, each with =drain, =cordon or =ignore"
                ));
            };
            actions.0[place] = action;
        }
        Ok(actions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_named_by_kind_and_the_rest_is_drained() {
        let actions = Actions::parse("rebalance=cordon, state=ignore").expect("it is readable");
        let of = EventKind::ALL.map(|kind| actions.of(kind));
        use Action::{Cordon, Drain, Ignore};
        assert_eq!(of, [Drain, Drain, Cordon, Ignore, Drain, Drain]);
        assert_eq!(Actions::parse(""), Ok(Actions::all(Drain)));
        for wrong in ["spot", "spot=off", "spots=drain"] {
            assert!(Actions::parse(wrong).is_err_and(|why| why.contains("allowed are")), "{wrong}");
        }
    }
}
