//! The time of day. Decisions get it as an argument; this is where the argument comes from.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

/// The time this host is set to. It may jump: measure durations with [`std::time::Instant`].
pub fn now() -> Timestamp {
    Timestamp::now()
}

/// How long a process may sleep while nothing happens, by the host's clock.
const LOOK_EVERY: Duration = Duration::from_secs(60);
/// The same where somebody moves the clock: no timer tells of that.
const LOOK_EVERY_WHEN_MOVED: Duration = Duration::from_millis(100);

/// Tells the time: the host's, or that of a test.
#[derive(Clone)]
pub struct Clock {
    now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    look_every: Duration,
}

impl Clock {
    /// A clock that somebody moves.
    pub fn moved(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self { now: Arc::new(now), look_every: LOOK_EVERY_WHEN_MOVED }
    }

    /// What time it is.
    pub fn now(&self) -> Timestamp {
        (self.now)()
    }

    /// Whether it is the host's, which others can be compared with.
    pub fn is_hosts(&self) -> bool {
        self.look_every == LOOK_EVERY
    }

    /// How long to wait at most before looking at the clock again.
    pub fn look_every(&self) -> Duration {
        self.look_every
    }
}

/// The host's clock.
impl Default for Clock {
    fn default() -> Self {
        Self { now: Arc::new(now), look_every: LOOK_EVERY }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clock").field("look_every", &self.look_every).finish_non_exhaustive()
    }
}
