//! What time alone does: shifts expire, and what is over is forgotten.

use super::event::Origin;
use super::instant::UnixSeconds;
use super::listing::TOMBSTONE_SECONDS;
use super::state::{EndedBy, Shift, ShiftState};
use super::zone::ZoneId;

const HOUR_SECONDS: i64 = 3600;
/// A shift older than this is worth a warning when ARC cannot be asked whether it still holds.
const LONG_SECONDS: i64 = 6 * HOUR_SECONDS;
/// How often that warning is repeated.
const WARNING_EVERY_SECONDS: i64 = HOUR_SECONDS;

/// How long a shift may last without word from ARC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ageing {
    /// Whether ARC can be asked. If so it says what is over, and age ends nothing.
    pub can_ask_arc: bool,
    /// `--zonal-shift-max-age`, in place of the ages below.
    pub max_age_seconds: Option<i64>,
}

impl Ageing {
    /// The age at which such a shift is taken to be over: twice the length of a practice run, the
    /// longest a manual shift can be set to, the longest an experiment can run.
    pub fn age_seconds_max(&self, origin: Origin) -> Option<i64> {
        if origin == Origin::Cli || self.can_ask_arc {
            return None;
        }
        self.max_age_seconds.or(match origin {
            Origin::Practice => Some(HOUR_SECONDS),
            Origin::Fis => Some(12 * HOUR_SECONDS),
            Origin::Manual => Some(72 * HOUR_SECONDS),
            Origin::Autoshift | Origin::Cli => None,
        })
    }
}

impl ShiftState {
    /// Ends what has expired and forgets what was over long ago.
    pub fn aged(&self, ageing: &Ageing, now: UnixSeconds) -> ShiftState {
        let mut state = self.clone();
        for origins in state.zones.values_mut() {
            for (&origin, shift) in origins.iter_mut() {
                shift.age(ageing.age_seconds_max(origin), now);
            }
            origins.retain(|_, shift| !shift.is_forgotten(now));
        }
        state.zones.retain(|_, origins| !origins.is_empty());
        state
    }

    /// When time alone next changes something.
    pub fn next_change(&self, ageing: &Ageing) -> Option<UnixSeconds> {
        let changes = self.shifts().filter_map(|(_, origin, shift)| match &shift.ended {
            Some(ended) => Some(ended.noted_at.plus(TOMBSTONE_SECONDS)),
            None => shift.ends_at(ageing.age_seconds_max(origin)),
        });
        changes.min()
    }

    /// Shifts so old that somebody should look, if ARC cannot be asked: once when they become so
    /// and then hourly. `previously` is when this was asked last.
    pub fn suspiciously_old(
        &self,
        ageing: &Ageing,
        previously: UnixSeconds,
        now: UnixSeconds,
    ) -> Vec<(&ZoneId, Origin, &Shift)> {
        if ageing.can_ask_arc {
            return Vec::new();
        }
        let warnings_until = |shift: &Shift, moment: UnixSeconds| {
            let too_long = moment.since(shift.since) - LONG_SECONDS;
            if too_long < 0 { 0 } else { too_long / WARNING_EVERY_SECONDS + 1 }
        };
        let is_due = |shift: &Shift| warnings_until(shift, now) > warnings_until(shift, previously);
        self.active().filter(|(.., shift)| is_due(shift)).collect()
    }
}

impl Shift {
    fn age(&mut self, age_seconds_max: Option<i64>, now: UnixSeconds) {
        if !self.is_active() {
            return;
        }
        if self.expiry.is_some_and(|expiry| expiry <= now) {
            self.end(EndedBy::Expiry, now);
        } else if self.ends_at(age_seconds_max).is_some_and(|end| end <= now) {
            self.end(EndedBy::Age, now);
        }
    }

    /// Age counts from the newest event: an update extends a shift.
    fn ends_at(&self, age_seconds_max: Option<i64>) -> Option<UnixSeconds> {
        let by_age = age_seconds_max.map(|age| self.last_event_time.plus(age));
        self.expiry.into_iter().chain(by_age).min()
    }

    fn is_forgotten(&self, now: UnixSeconds) -> bool {
        self.ended.as_ref().is_some_and(|ended| now.since(ended.noted_at) >= TOMBSTONE_SECONDS)
    }
}
