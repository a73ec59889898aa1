//! Zones avoided and given back by hand, with the command line.

use thiserror::Error;

use super::event::Origin;
use super::instant::UnixSeconds;
use super::state::{EndedBy, Shift, ShiftState};
use super::zone::{ZoneId, ZoneRef, ZoneTable};

/// What somebody asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManualShift {
    /// Avoid the zone.
    Start,
    /// End every shift of the zone.
    End,
}

/// A command carried out on the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManualShiftOutcome {
    /// The state to store.
    pub state: ShiftState,
    /// The zone meant.
    pub zone: ZoneId,
    /// One sentence about what changed.
    pub answer: String,
}

/// The zone is not one of the account's. Another spelling may help.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{zone:?} is neither id nor name of a zone here; known are {known}")]
pub struct UnknownZone {
    zone: String,
    known: String,
}

impl ShiftState {
    /// Carries out a command about a zone given by id or name.
    pub fn apply_manual(
        &self,
        shift: ManualShift,
        zone: &str,
        zones: &ZoneTable,
        now: UnixSeconds,
    ) -> Result<ManualShiftOutcome, UnknownZone> {
        let id = ZoneRef::parse(zone).and_then(|zone| zones.resolve(&zone));
        let Some(id) = id.cloned() else {
            let pairs = zones.pairs().map(|(id, name)| format!("{name} ({id})"));
            let known = pairs.collect::<Vec<_>>().join(", ");
            return Err(UnknownZone { zone: zone.to_owned(), known });
        };
        let state = match shift {
            ManualShift::Start => self.start_manually(&id, now),
            ManualShift::End => self.end_manually(&id, now),
        };
        let shown = zones.name(&id).map_or(id.to_string(), |name| format!("{name} ({id})"));
        let answer = match (shift, state == *self) {
            (ManualShift::Start, false) => format!("{shown} is avoided until you end it"),
            (ManualShift::Start, true) => format!("{shown} was avoided by hand already"),
            (ManualShift::End, true) => format!("{shown} was not avoided"),
            (ManualShift::End, false) => {
                let ended = self.active().filter(|(zone, ..)| **zone == id);
                let origins: Vec<_> = ended.map(|(_, origin, _)| origin.as_str()).collect();
                format!("{shown} is no longer avoided; this ended: {}", origins.join(", "))
            }
        };
        Ok(ManualShiftOutcome { state, zone: id, answer })
    }

    /// Avoids the zone on behalf of the command line.
    pub fn start_manually(&self, zone: &ZoneId, now: UnixSeconds) -> ShiftState {
        let mut state = self.clone();
        if !self.get(zone, Origin::Cli).is_some_and(Shift::is_active) {
            state.put(zone, Origin::Cli, Shift::begun(now, ""));
        }
        state
    }

    /// Ends every shift of the zone by word of the command line. Only an event newer than `now`
    /// starts one again; what ARC lists from before does not.
    pub fn end_manually(&self, zone: &ZoneId, now: UnixSeconds) -> ShiftState {
        let mut state = self.clone();
        let shifts = state.zones.get_mut(zone).into_iter().flat_map(|origins| origins.values_mut());
        for shift in shifts.filter(|shift| shift.is_active()) {
            shift.last_event_time = shift.last_event_time.max(now);
            shift.end(EndedBy::Cli, now);
        }
        state
    }
}
