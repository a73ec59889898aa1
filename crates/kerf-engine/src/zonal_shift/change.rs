//! What NodePool mode remembers.

use kerf_notices::zonal_shift::{Note, PoolEdit, Received, UnixSeconds};

use super::step::StepKey;
use super::{ArcReading, ShiftNetwork};
use crate::notice::NoticeId;
use crate::observed::ShiftConfigMap;

/// A change to what NodePool mode remembers; planners ask for it, the engine carries it out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    /// The ConfigMap is this now.
    Stored(Box<ShiftConfigMap>),
    /// The ConfigMap is gone.
    StoredGone,
    /// EC2 and EKS answered.
    Network(ShiftNetwork, UnixSeconds),
    /// ARC answered.
    Arc(ArcReading, UnixSeconds),
    /// These messages were understood, and their effect is about to be stored.
    Understood(Vec<(NoticeId, Received)>),
    /// Their effect could not be stored; they are to be read again.
    NotStored(Vec<NoticeId>),
    /// They are done with.
    Settled(Vec<NoticeId>),
    /// ARC's last answer had its effect.
    ListingApplied,
    /// ARC is to be asked at once: only it knows the new expiry of a shift.
    AskArc,
    /// Shifts were checked for their age.
    LookedForOld(UnixSeconds),
    /// These notes were given; they are not repeated while they hold.
    Noted(Vec<Note>),
    /// A pool was changed.
    Edited(Box<PoolEdit>, UnixSeconds),
    /// A change was made, or failed.
    Tried { step: StepKey, has_failed: bool },
    /// A node changed in a way that matters here; nothing is remembered of it.
    NodeChanged,
}
