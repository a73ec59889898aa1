//! Steps of the clock. Time comes from outside, and a clock that is set anew makes a day of a
//! moment: what is too old by such a clock may not be.

use serde::{Deserialize, Serialize};

use crate::time::{Span, Time};

/// What was seen of the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockCheck {
    last_at: Option<Time>,
    doubt: Option<Doubt>,
}

/// A step ahead that may be taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Doubt {
    by: Span,
    until: Time,
}

/// An engine is called at least every few seconds. More time than this between two calls did not
/// pass: the clock was set, or the process stood still.
const STEP_MIN: Span = Span::from_minutes(5);
/// A clock that was set wrong is most often set right within minutes; so long nothing ends by it.
const DOUBTED_FOR: Span = Span::from_minutes(10);
/// Clocks are corrected by less than this all the time.
const STEP_BACK_MIN: Span = Span::from_seconds(10);

impl ClockCheck {
    /// Takes in what time it is said to be. Says whether the clock was set back.
    pub(crate) fn note(&mut self, now: Time) -> bool {
        let last_at = self.last_at.replace(now).unwrap_or(now);
        let step = now.since(last_at);
        if step > STEP_MIN {
            let by = Span::from_millis(step.millis() + self.doubted_by(last_at).millis());
            self.doubt = Some(Doubt { by, until: now + DOUBTED_FOR });
        }
        let is_set_back = last_at.since(now) > STEP_BACK_MIN;
        if is_set_back {
            self.doubt = None;
        }
        is_set_back
    }

    /// The latest time that it can be believed to be.
    pub(crate) fn believed(&self, now: Time) -> Time {
        now - self.doubted_by(now)
    }

    /// What the clock will say when that time can be believed to have come.
    pub(crate) fn believed_at(&self, time: Time, now: Time) -> Time {
        match self.doubt {
            Some(doubt) if now < doubt.until => (time + doubt.by).min(doubt.until),
            _ => time,
        }
    }

    fn doubted_by(&self, now: Time) -> Span {
        let doubt = self.doubt.filter(|doubt| now < doubt.until);
        doubt.map_or(Span::default(), |doubt| doubt.by)
    }
}
