//! What an event is about, in the words of logs, webhooks and taints.

use kerf_engine::notice::NoticeKind;

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    /// A spot instance is about to be taken back, or one in an interruptible reservation.
    SpotItn,
    /// Maintenance is scheduled.
    ScheduledEvent,
    /// A spot instance is at elevated risk.
    RebalanceRecommendation,
    /// An instance is on its way down, or down.
    StateChange,
    /// An Auto Scaling group ends an instance.
    AsgLifecycle,
    /// An Auto Scaling group has launched an instance.
    AsgLaunchLifecycle,
}

impl EventKind {
    /// Every kind there is.
    pub const ALL: [Self; 6] = [
        Self::SpotItn,
        Self::ScheduledEvent,
        Self::RebalanceRecommendation,
        Self::StateChange,
        Self::AsgLifecycle,
        Self::AsgLaunchLifecycle,
    ];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SpotItn => "SPOT_ITN",
            Self::ScheduledEvent => "SCHEDULED_EVENT",
            Self::RebalanceRecommendation => "REBALANCE_RECOMMENDATION",
            Self::StateChange => "STATE_CHANGE",
            Self::AsgLifecycle => "ASG_LIFECYCLE",
            Self::AsgLaunchLifecycle => "ASG_LAUNCH_LIFECYCLE",
        }
    }

    /// What the ids of its events begin with.
    #[must_use]
    pub const fn id_prefix(self) -> &'static str {
        match self {
            Self::SpotItn => "spot-itn-event-",
            Self::ScheduledEvent => "aws-health-scheduled-change-event-",
            Self::RebalanceRecommendation => "rebalance-recommendation-event-",
            Self::StateChange => "ec2-state-change-event-",
            Self::AsgLifecycle => "asg-lifecycle-term-",
            Self::AsgLaunchLifecycle => "asg-lifecycle-launch-",
        }
    }

    /// The key of the taint that nodes get, where they get one.
    #[must_use]
    pub const fn taint_key(self) -> Option<&'static str> {
        match self {
            Self::SpotItn => Some("aws-node-termination-handler/spot-itn"),
            Self::ScheduledEvent => Some("aws-node-termination-handler/scheduled-maintenance"),
            Self::RebalanceRecommendation => {
                Some("aws-node-termination-handler/rebalance-recommendation")
            }
            Self::AsgLifecycle => Some("aws-node-termination-handler/asg-lifecycle-termination"),
            Self::StateChange | Self::AsgLaunchLifecycle => None,
        }
    }

    /// What it is to the engine. State changes are told apart by what the state is.
    #[must_use]
    pub const fn notice(self) -> NoticeKind {
        match self {
            Self::SpotItn => NoticeKind::SpotInterrupted,
            Self::ScheduledEvent => NoticeKind::ScheduledChange,
            Self::RebalanceRecommendation => NoticeKind::RebalanceRecommendation,
            Self::StateChange => NoticeKind::InstanceTerminated,
            Self::AsgLifecycle => NoticeKind::LifecycleTermination,
            Self::AsgLaunchLifecycle => NoticeKind::LifecycleLaunch,
        }
    }

    /// The word for it in `--queue-actions`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::SpotItn => "spot",
            Self::ScheduledEvent => "health",
            Self::RebalanceRecommendation => "rebalance",
            Self::StateChange => "state",
            Self::AsgLifecycle => "asg",
            Self::AsgLaunchLifecycle => "launch",
        }
    }
}
