//! What became of each message.

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

use super::CallFailure;
use crate::message::{Drop, EventId, Instances, Kind, Unreadable};

/// What became of one message. Exactly one for every record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoutingVerdict {
    /// Every queue that should have it has it.
    Routed,
    /// Nobody needs it.
    Dropped(Drop),
    /// Nobody can read it; it would only circle.
    Poison(Unreadable),
    /// It belongs to no cluster with a queue.
    Unrouted(Unrouted),
    /// It must be delivered again.
    Failed(Failure),
}

/// Why a message belongs to no queue. None of these is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unrouted {
    /// No tag of the instance names a cluster, or EC2 does not know the instance.
    NoTag,
    /// The cluster has no queue: it does without the router.
    NoQueue,
    /// The cluster's queues do not want this kind.
    NoRoute,
    /// An event for every cluster, and none is known.
    NoClusters,
    /// The event is of another account and the router has no role there.
    OtherAccount,
    /// The event is about another region than the router's, whose own router has it.
    OtherRegion,
    /// A queue is named after the cluster, but not tagged as the cluster's.
    NotTagged,
}

impl Unrouted {
    /// The reason as logs and metrics write it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::NoTag => "no-tag",
            Self::NoQueue => "no-queue",
            Self::NoRoute => "no-route",
            Self::NoClusters => "no-clusters",
            Self::OtherAccount => "other-account",
            Self::OtherRegion => "other-region",
            Self::NotTagged => "queue-not-tagged",
        }
    }
}

/// Why a message must be delivered again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The owner of an instance could not be found out.
    #[error("could not look up an instance: {0}")]
    Lookup(CallFailure),
    /// The queue of a cluster could not be found out.
    #[error("could not look up the queue of a cluster: {0}")]
    QueueLookup(CallFailure),
    /// A queue did not take the message.
    #[error("could not send to {queue}: {why}")]
    Send {
        /// The URL.
        queue: Arc<str>,
        /// What the queue said.
        why: String,
    },
    /// The message cannot be read and the settings want it in the dead-letter queue.
    #[error("cannot be read: {0}")]
    Poison(Unreadable),
    /// The time for the batch was over.
    #[error("there was no time left")]
    OutOfTime,
}

impl RoutingVerdict {
    /// The word that metrics use as `outcome`.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Routed => "routed",
            Self::Dropped(_) | Self::Poison(_) => "dropped",
            Self::Unrouted(_) => "unrouted",
            Self::Failed(_) => "failed",
        }
    }

    /// Why, as metrics write it; empty for a message that was routed.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Routed => "",
            Self::Dropped(why) => why.word(),
            Self::Poison(why) => why.word(),
            Self::Unrouted(why) => why.word(),
            Self::Failed(why) => match why {
                Failure::Lookup(_) => "lookup",
                Failure::QueueLookup(_) => "queue-lookup",
                Failure::Send { .. } => "send",
                Failure::Poison(_) => "poison",
                Failure::OutOfTime => "out-of-time",
            },
        }
    }

    /// Whether the message must stay in the queue it came from.
    pub const fn is_failure(&self) -> bool {
        matches!(self, Self::Failed(_))
    }
}

impl fmt::Display for RoutingVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Routed => f.write_str("routed"),
            Self::Dropped(why) => write!(f, "dropped: {}", why.word()),
            Self::Poison(why) => write!(f, "dropped: {why}"),
            Self::Unrouted(why) => write!(f, "unrouted: {}", why.word()),
            Self::Failed(why) => write!(f, "failed: {why}"),
        }
    }
}

/// A message, where it went and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The id the queue knows the message by.
    pub message_id: String,
    /// The event's own id.
    pub event_id: Option<EventId>,
    /// What it announced, if it could be read.
    pub kind: Option<Kind>,
    /// The instances it named.
    pub instances: Instances,
    /// The clusters these belong to.
    pub clusters: SmallVec<[Arc<str>; 1]>,
    /// The queues that have it now.
    pub queues: SmallVec<[Arc<str>; 1]>,
    /// How many of those had it already from an earlier delivery.
    pub suppressed: usize,
    /// Whether tags named several clusters for one instance.
    pub ambiguous: bool,
    /// What became of it.
    pub verdict: RoutingVerdict,
}

/// What became of a batch, and what it cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// One for each record, in their order.
    pub outcomes: Vec<Outcome>,
    /// Calls to EC2.
    pub lookup_calls: u64,
    /// Calls to find queues and clusters.
    pub queue_calls: u64,
    /// Calls to send.
    pub send_calls: u64,
    /// Entries that a queue did not take, retried ones included.
    pub send_failures: u64,
    /// Instances whose owner was remembered.
    pub cache_hits: u64,
    /// Instances whose owner had to be asked for.
    pub cache_misses: u64,
    /// Missing permissions, each once: the action, the resource and what does not work without.
    pub denied: Vec<String>,
    /// Why credentials were not accepted, if some were not: what failed may work with others, and
    /// until then nothing does.
    pub credentials: Option<String>,
}

impl Report {
    /// The ids of the messages that must be delivered again.
    pub fn failures(&self) -> impl Iterator<Item = &str> {
        let failed = self.outcomes.iter().filter(|outcome| outcome.verdict.is_failure());
        failed.map(|outcome| outcome.message_id.as_str())
    }
}
