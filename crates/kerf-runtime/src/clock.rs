//! The time of day. Decisions get it as an argument; this is where the argument comes from.

use jiff::Timestamp;

/// The time this host is set to. It may jump: measure durations with [`std::time::Instant`].
pub fn now() -> Timestamp {
    Timestamp::now()
}
