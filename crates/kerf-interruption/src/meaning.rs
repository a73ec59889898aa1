//! What a message means to the controller.

use std::sync::Arc;

use kerf_engine::notice::NoticeKind;
use kerf_notices::message::{Drop, Event, Kind, Reading, State, Unreadable, read, time_of};
use kerf_notices::zonal_shift::UnixSeconds;

/// A message, understood.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Understood {
    pub(crate) meaning: Meaning,
    /// When its event happened, if it says so.
    pub(crate) happened_at: Option<UnixSeconds>,
}

/// What a message means.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// Something is announced about instances, by their ids.
    Notice(NoticeKind, Vec<Arc<str>>),
    /// Traffic is moved away from a zone, or back.
    ZonalShift,
    /// Nothing that concerns a node.
    Nothing,
    /// It was true so long ago, or will be, that nothing follows from it.
    Untimely(Drop),
    /// It cannot be parsed.
    Unreadable(Unreadable),
}

impl Meaning {
    /// As metrics name it.
    pub(crate) fn label(&self) -> &'static str {
        match self {
            Meaning::Notice(kind, _) => kind.label(),
            Meaning::ZonalShift => "zonal_shift",
            Meaning::Nothing | Meaning::Untimely(_) => "no_op",
            Meaning::Unreadable(_) => "unreadable",
        }
    }
}

/// Reads the body of a message that is received at that time.
pub(crate) fn understand(body: &str, now: UnixSeconds) -> Understood {
    let (meaning, text) = match read(body) {
        Reading::Event(event) => {
            let text = event.unwrapped.clone();
            let meaning = match event.timeliness(now) {
                Ok(()) => of_event(&event),
                Err(why) => Meaning::Untimely(why),
            };
            (meaning, text)
        }
        Reading::Drop(
            Drop::OtherKind
            | Drop::OtherState
            | Drop::OtherService
            | Drop::OtherCategory
            | Drop::PublicHealth
            | Drop::NoInstances
            | Drop::TestNotification
            | Drop::NotForwarded
            | Drop::TooOld
            | Drop::NotYet,
        ) => (Meaning::Nothing, None),
        Reading::Unreadable(_) if body.is_empty() => (Meaning::Nothing, None),
        Reading::Unreadable(why) => (Meaning::Unreadable(why), None),
    };
    let happened_at = time_of(text.as_deref().unwrap_or(body));
    Understood { meaning, happened_at }
}

fn of_event(event: &Event<'_>) -> Meaning {
    let kind = match event.kind {
        Kind::SpotInterruption => NoticeKind::SpotInterrupted,
        Kind::Rebalance => NoticeKind::RebalanceRecommendation,
        Kind::StateChange(State::Stopping | State::Stopped) => NoticeKind::InstanceStopped,
        Kind::StateChange(State::ShuttingDown | State::Terminated) => {
            NoticeKind::InstanceTerminated
        }
        Kind::CapacityReservationInterruption => NoticeKind::CapacityReservationInterrupted,
        Kind::Health => NoticeKind::ScheduledChange,
        Kind::ZonalShift => return Meaning::ZonalShift,
        // Nodes of Auto Scaling groups are not Kerf's.
        Kind::AsgTerminate | Kind::AsgLaunch => return Meaning::Nothing,
    };
    Meaning::Notice(kind, event.instances.iter().map(|id| id.to_string().into()).collect())
}
