//! How the state changes by messages.
//!
//! Messages come late, twice, and in any order. Per zone and origin the newest event decides, and
//! of two at the same second the end; so every order of delivery leads to the same zones avoided.

use serde::{Deserialize, Serialize};

use super::event::{EventKind, ShiftEvent, Transition};
use super::instant::UnixSeconds;
use super::scope::{Admission, Scope};
use super::state::{EndedBy, Shift, ShiftState};
use super::zone::{ZoneId, ZoneRef, ZoneTable};
use crate::message::{Unusable, read_zonal_shift};

/// How far AWS's clock may be ahead of ours. A time further ahead would shadow all later events.
const CLOCK_SKEW_SECONDS_MAX: i64 = 15 * 60;

/// What a message comes to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Received {
    /// The state from now on.
    pub state: ShiftState,
    /// What was made of the message.
    pub verdict: Verdict,
    /// What to do with the message once the state is stored.
    pub disposal: Disposal,
    /// The event, when the message held one.
    pub event: Option<ShiftEvent>,
    /// The resources a start names when none of them is ours: worth a warning, as the zone is
    /// avoided for their sake.
    pub foreign_resources: Vec<String>,
}

/// What was made of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// The zone is avoided on this origin's behalf from now on.
    Started,
    /// The shift goes on. ARC should be asked, as its expiry may have changed.
    Refreshed,
    /// A start that says what is known already.
    Confirmed,
    /// The shift is over.
    Ended,
    /// Seen before, or older than what is known.
    Stale,
    /// Not about this cluster.
    NotForUs(Admission),
    /// Dated in the future, beyond what clocks differ.
    FutureDated,
    /// A zone the table does not know.
    UnknownZone(ZoneRef),
    /// No announcement at all. Why not is for the log and no part of a stored verdict.
    Unusable(#[serde(skip, default = "not_kept")] Unusable),
}

fn not_kept() -> Unusable {
    Unusable::NotAnEvent("why was not kept")
}

/// What to do with the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Disposal {
    /// Delete it, once the state is stored.
    Delete,
    /// Refresh the zone table and ask once more; if the zone stays unknown leave the message, so
    /// that it comes again and ends in the dead-letter queue.
    LeaveForRedelivery,
}

impl ShiftState {
    /// Takes in the body of a message.
    pub fn receive(
        &self,
        body: &[u8],
        scope: &Scope,
        zones: &ZoneTable,
        now: UnixSeconds,
    ) -> Received {
        let unchanged = |verdict, disposal, event| Received {
            state: self.clone(),
            verdict,
            disposal,
            event,
            foreign_resources: Vec::new(),
        };
        let event = match read_zonal_shift(body) {
            Ok(event) => event,
            Err(why) => return unchanged(Verdict::Unusable(why), Disposal::Delete, None),
        };
        let admission = scope.admits(&event);
        if matches!(admission, Admission::OtherRegion | Admission::OtherResources) {
            return unchanged(Verdict::NotForUs(admission), Disposal::Delete, Some(event));
        }
        if event.time.since(now) > CLOCK_SKEW_SECONDS_MAX {
            return unchanged(Verdict::FutureDated, Disposal::Delete, Some(event));
        }
        let Some(zone) = zones.resolve(&event.away_from) else {
            let verdict = Verdict::UnknownZone(event.away_from.clone());
            return unchanged(verdict, Disposal::LeaveForRedelivery, Some(event));
        };
        let (state, verdict) = self.apply(&event, zone, now);
        let is_worth_a_warning =
            admission == Admission::CountsThoughAboutOthers && verdict == Verdict::Started;
        let foreign_resources =
            if is_worth_a_warning { event.resources.clone() } else { Vec::new() };
        let event = Some(event);
        Received { state, verdict, disposal: Disposal::Delete, event, foreign_resources }
    }

    /// Takes in an event about a zone whose id is known.
    pub fn apply(
        &self,
        event: &ShiftEvent,
        zone: &ZoneId,
        now: UnixSeconds,
    ) -> (ShiftState, Verdict) {
        let origin = event.kind.origin();
        let (shift, verdict) = next(self.get(zone, origin), event, now);
        let mut state = self.clone();
        state.put(zone, origin, shift);
        (state, verdict)
    }
}

/// What is known of the shift once the event is taken in.
fn next(known: Option<&Shift>, event: &ShiftEvent, now: UnixSeconds) -> (Shift, Verdict) {
    let Some(known) = known else { return first(event, now) };
    let mut shift = known.clone();
    if event.time < known.last_event_time {
        return (shift, Verdict::Stale);
    }
    let is_tie = event.time == known.last_event_time;
    // Of two ids at the same second the greater stays, whichever came first.
    if !is_tie || event.id > known.event_id {
        shift.event_id.clone_from(&event.id);
    }
    shift.last_event_time = event.time;
    let verdict = match (event.kind.transition(), known.is_active()) {
        (Transition::End, true) => {
            shift.end(EndedBy::Event, now);
            Verdict::Ended
        }
        (Transition::End, false) => Verdict::Stale,
        // Of an end and a start at the same second the end holds.
        (_, false) if is_tie => Verdict::Stale,
        (_, false) => {
            shift = Shift::begun(event.time, &event.id);
            Verdict::Started
        }
        (Transition::Keep, true) => {
            shift.expiry = None;
            Verdict::Refreshed
        }
        (Transition::Start, true) if event.id == known.event_id => Verdict::Stale,
        (Transition::Start, true) => Verdict::Confirmed,
    };
    (shift, verdict)
}

/// The first that is heard of a shift. An update proves a start that was lost; an end is
/// remembered so that its start, should it still come, does nothing.
fn first(event: &ShiftEvent, now: UnixSeconds) -> (Shift, Verdict) {
    let mut shift = Shift::begun(event.time, &event.id);
    match event.kind.transition() {
        Transition::Start | Transition::Keep => (shift, Verdict::Started),
        Transition::End => {
            shift.end(EndedBy::Event, now);
            (shift, Verdict::Ended)
        }
    }
}

impl Verdict {
    /// The word for it in `kerf_zonal_shift_events_total{result}`.
    pub fn label(&self) -> &'static str {
        match self {
            Verdict::Started => "started",
            Verdict::Refreshed => "refreshed",
            Verdict::Confirmed => "confirmed",
            Verdict::Ended => "ended",
            Verdict::Stale => "stale",
            Verdict::NotForUs(Admission::OtherRegion) => "other-region",
            Verdict::NotForUs(_) => "other-resources",
            Verdict::FutureDated => "future-dated",
            Verdict::UnknownZone(_) => "unknown-zone",
            Verdict::Unusable(why) => why.label(),
        }
    }
}

impl Received {
    /// The `detail_type` label for `kerf_zonal_shift_events_total`: one of the twelve, or nothing
    /// that a stranger could choose.
    pub fn detail_type(&self) -> &'static str {
        self.event.as_ref().map_or("other", |event| EventKind::detail_type(event.kind))
    }
}
