//! What an event announces.

use std::fmt;

use super::Drop;
use crate::zonal_shift::{SOURCE, UnixSeconds};

/// How far ahead of ours the sender's clock may be.
const AHEAD_SECONDS_MAX: i64 = 300;
/// A spot instance is gone two minutes after its notice; after ten nothing is left to save.
const INTERRUPTION_SECONDS_MAX: i64 = 600;
/// Advice, and states that an instance may have left again.
const STATE_SECONDS_MAX: i64 = 3_600;
/// The longest that a lifecycle hook can be made to wait, from Auto Scaling: 48 hours.
const LIFECYCLE_SECONDS_MAX: i64 = 172_800;

/// What an event announces, among the kinds that a cluster may want.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A spot instance will be taken in two minutes.
    SpotInterruption,
    /// A spot instance is at elevated risk.
    Rebalance,
    /// An instance is on its way down.
    StateChange(State),
    /// An instance in an interruptible capacity reservation will be taken.
    CapacityReservationInterruption,
    /// Maintenance of instances is scheduled.
    Health,
    /// An Auto Scaling group is about to terminate an instance.
    AsgTerminate,
    /// An Auto Scaling group has launched an instance.
    AsgLaunch,
    /// Traffic is being moved away from a zone, or back.
    ZonalShift,
}

/// The states of an instance that are forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// Being stopped.
    Stopping,
    /// Stopped.
    Stopped,
    /// Being terminated.
    ShuttingDown,
    /// Gone.
    Terminated,
}

impl State {
    /// The state of this name, in whatever case, if it is one that leads downwards.
    pub fn from_text(text: &str) -> Option<Self> {
        let states = [
            ("stopping", Self::Stopping),
            ("stopped", Self::Stopped),
            ("shutting-down", Self::ShuttingDown),
            ("terminated", Self::Terminated),
        ];
        let named = |(name, _): &(&str, Self)| text.eq_ignore_ascii_case(name);
        states.into_iter().find(named).map(|(_, state)| state)
    }
}

impl Kind {
    /// The word for this kind in the `kinds` of a route, in logs and in metrics.
    pub const fn word(self) -> &'static str {
        match self {
            Self::SpotInterruption => "spot",
            Self::Rebalance => "rebalance",
            Self::StateChange(_) => "state-change",
            Self::CapacityReservationInterruption => "capacity-reservation",
            Self::Health => "health",
            Self::AsgTerminate | Self::AsgLaunch => "asg",
            Self::ZonalShift => "zonal-shift",
        }
    }

    /// Every word that [`Kind::word`] can give.
    pub const WORDS: [&'static str; 7] = [
        "spot",
        "rebalance",
        "state-change",
        "capacity-reservation",
        "health",
        "asg",
        "zonal-shift",
    ];

    /// The age in seconds from which nobody can use it. Maintenance is announced weeks ahead, and
    /// who reads zonal shifts knows which are over: for these there is none.
    pub const fn age_seconds_max(self) -> Option<i64> {
        match self {
            Self::SpotInterruption | Self::CapacityReservationInterruption => {
                Some(INTERRUPTION_SECONDS_MAX)
            }
            Self::Rebalance | Self::StateChange(_) => Some(STATE_SECONDS_MAX),
            Self::AsgTerminate | Self::AsgLaunch => Some(LIFECYCLE_SECONDS_MAX),
            Self::Health | Self::ZonalShift => None,
        }
    }

    /// Whether what happened at one time is worth anything at another.
    ///
    /// # Errors
    /// It is too old for its kind, or has not happened yet.
    pub fn timeliness(self, happened_at: UnixSeconds, now: UnixSeconds) -> Result<(), Drop> {
        let age_seconds = now.since(happened_at);
        if age_seconds < -AHEAD_SECONDS_MAX {
            return Err(Drop::NotYet);
        }
        let is_old = self.age_seconds_max().is_some_and(|most| age_seconds > most);
        if is_old { Err(Drop::TooOld) } else { Ok(()) }
    }

    /// Who announces it: the `source` of the EventBridge event, also for a direct notification.
    pub const fn source(self) -> &'static str {
        match self {
            Self::Health => "aws.health",
            Self::AsgTerminate | Self::AsgLaunch => "aws.autoscaling",
            Self::ZonalShift => SOURCE,
            Self::SpotInterruption
            | Self::Rebalance
            | Self::StateChange(_)
            | Self::CapacityReservationInterruption => "aws.ec2",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
