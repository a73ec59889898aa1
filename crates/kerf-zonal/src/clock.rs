//! What time it is, as an argument: tests have a clock of their own.

use std::sync::Arc;

use kerf_notices::zonal_shift::UnixSeconds;

/// Tells the time.
pub type Clock = Arc<dyn Fn() -> UnixSeconds + Send + Sync>;

/// The time of this machine.
pub fn system_clock() -> Clock {
    Arc::new(|| {
        let seconds = jiff::Timestamp::now().as_second();
        UnixSeconds::new(seconds).expect("machines are set to a time between 1970 and 9999")
    })
}
