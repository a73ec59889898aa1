//! How fast the API server is called: so many calls at once after a pause, then so many a second.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use kerf_engine::action::ActionClass;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until};

use super::turns::Turns;

/// A bound on the rate of calls, shared by all who call.
#[derive(Clone, Debug)]
pub struct Pace {
    between: Duration,
    ahead: Duration,
    /// When the next call would be due if calls came evenly. Asked for by one at a time, in the
    /// order of `turns`.
    due: Arc<Mutex<Option<Instant>>>,
    turns: Turns,
}

impl Pace {
    /// At most `per_second` calls a second in the long run, and `burst` at once after a pause.
    #[must_use]
    pub fn new(per_second: NonZeroU32, burst: NonZeroU32) -> Self {
        let between = Duration::from_secs(1) / per_second.get();
        Self {
            between,
            ahead: between * burst.get(),
            due: Arc::default(),
            turns: Turns::new(1, [0; ActionClass::ALL.len()]),
        }
    }

    /// Waits for one's turn.
    pub async fn turn(&self) {
        self.turn_of(ActionClass::Normal).await;
    }

    /// Waits for one's turn, behind whatever is more urgent.
    pub async fn turn_of(&self, class: ActionClass) {
        let _turn = self.turns.turn(class).await;
        let now = Instant::now();
        let start = {
            let mut due = self.due.lock().await;
            let earliest = now.checked_sub(self.ahead).unwrap_or(now);
            let next = due.map_or(earliest, |due| due.max(earliest)) + self.between;
            *due = Some(next);
            next
        };
        if start > now {
            sleep_until(start).await;
        }
    }
}
