//! Steps of the clock, and what the API server's says. Time comes from outside, and a clock that is
//! set anew makes a day of a moment: what is too old by such a clock may not be.

use serde::{Deserialize, Serialize};

use crate::time::{Span, Time};

/// What was seen of the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockCheck {
    last_at: Option<Time>,
    doubt: Option<Doubt>,
    /// How far it is ahead of the API server's, when that was last asked; nothing if not by much.
    #[serde(default)]
    ahead_by: Span,
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
/// Two clocks that differ by less agree: an answer takes its time, and hosts differ by seconds.
pub const CLOCK_AHEAD_MIN: Span = Span::from_minutes(1);

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
            let step_back = last_at.since(now);
            self.ahead_by = ahead_by(self.ahead_by.less(step_back));
        }
        is_set_back
    }

    /// Takes in what time it is at the API server. That says more than a step does: where the two
    /// agree, the clock is believed; where it is ahead of the server's, the server is, for as long
    /// as it says so. Returns whether that changes what is believed.
    pub(crate) fn compare(&mut self, server: Time, now: Time) -> bool {
        let before = self.believed(now);
        let ahead_by = ahead_by(now.since(server));
        self.doubt = None;
        let is_new = ahead_by.less(self.ahead_by).max(self.ahead_by.less(ahead_by)) > STEP_BACK_MIN;
        if is_new {
            self.ahead_by = ahead_by;
        }
        self.believed(now) != before
    }

    /// The latest time that it can be believed to be.
    pub(crate) fn believed(&self, now: Time) -> Time {
        now - self.doubted_by(now)
    }

    /// What the clock will say when that time can be believed to have come.
    pub(crate) fn believed_at(&self, time: Time, now: Time) -> Time {
        let doubted = match self.doubt {
            Some(doubt) if now < doubt.until => (time + doubt.by).min(doubt.until),
            _ => time,
        };
        doubted.max(time + self.ahead_by)
    }

    fn doubted_by(&self, now: Time) -> Span {
        let doubt = self.doubt.filter(|doubt| now < doubt.until);
        doubt.map_or(Span::default(), |doubt| doubt.by).max(self.ahead_by)
    }
}

/// How far ahead a clock is taken for that seems to be ahead by that much.
fn ahead_by(seems: Span) -> Span {
    if seems > CLOCK_AHEAD_MIN { seems } else { Span::default() }
}
