//! Messages that are handled together.
//!
//! A queue hands out ten messages at a time, while a handler may be able to do much more at once:
//! a lookup takes two hundred instances. So a burst is gathered before it is handled.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use super::delivery::{Deliveries, Delivery};

/// How many messages are handled together, and how long they wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchLimits {
    /// The most messages in a batch.
    pub messages_max: usize,
    /// A burst is over when nothing has come for this long, unless a receiver expects more.
    pub quiet: Duration,
    /// No message waits longer than this for others.
    pub wait_max: Duration,
}

impl Deliveries {
    /// The next message and those that follow in the same burst. `None` once there can be no more.
    pub async fn next_batch(&mut self, limits: BatchLimits) -> Option<Vec<Delivery>> {
        let backlog = self.backlog.clone();
        gather(&mut self.messages, limits, || backlog.is_any()).await
    }
}

async fn gather<T>(
    receiver: &mut mpsc::Receiver<T>,
    limits: BatchLimits,
    expects_more: impl Fn() -> bool,
) -> Option<Vec<T>> {
    let mut gathered = vec![receiver.recv().await?];
    let started = Instant::now();
    while let Some(patience) = limits.patience(gathered.len(), started.elapsed()) {
        match timeout_at(Instant::now() + patience, receiver.recv()).await {
            Ok(Some(message)) => gathered.push(message),
            Err(_) if expects_more() => {}
            Ok(None) | Err(_) => break,
        }
    }
    Some(gathered)
}

impl BatchLimits {
    /// How much longer to wait for one more message, so long after the first. `None`: not at all.
    fn patience(self, gathered: usize, since_first: Duration) -> Option<Duration> {
        let left = self.wait_max.checked_sub(since_first).filter(|left| !left.is_zero())?;
        (gathered < self.messages_max).then(|| left.min(self.quiet))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::delivery::Backlog;

    /// Those of the event router.
    const LIMITS: BatchLimits =
        BatchLimits { messages_max: TOGETHER_MAX, quiet: QUIET, wait_max: WAIT_MAX };
    const TOGETHER_MAX: usize = 1_000;
    const QUIET: Duration = Duration::from_millis(50);
    const WAIT_MAX: Duration = Duration::from_secs(1);

    fn patience(gathered: usize, since_first: Duration) -> Option<Duration> {
        LIMITS.patience(gathered, since_first)
    }

    /// The sizes of what is gathered of `count` messages that come ten at a time, so often.
    fn sizes(count: usize, every: Duration) -> Vec<usize> {
        let moment = |number: usize| every * u32::try_from(number / 10).expect("few messages");
        let (mut sizes, mut first, mut next) = (Vec::new(), 0, 1);
        while first < count {
            let now = moment(next - 1);
            let patience = patience(next - first, now - moment(first));
            if next < count && patience.is_some_and(|patience| moment(next) <= now + patience) {
                next += 1;
                continue;
            }
            sizes.push(next - first);
            (first, next) = (next, next + 1);
        }
        sizes
    }

    /// The lookups that batches of so many unknown instances cost.
    fn lookups(sizes: &[usize]) -> usize {
        sizes.iter().map(|size| size.div_ceil(200)).sum()
    }

    #[test]
    fn a_burst_of_a_thousand_costs_at_most_six_lookups() {
        // Four receivers of which each brings ten messages every 10 to 36 ms.
        for every_micros in [0, 2_500, 4_000, 5_000, 7_000, 9_000] {
            let sizes = sizes(1_000, Duration::from_micros(every_micros));
            assert_eq!(sizes.iter().sum::<usize>(), 1_000);
            assert!(lookups(&sizes) <= 6, "{every_micros} µs: {sizes:?}");
        }
    }

    #[test]
    fn a_lone_message_waits_for_company_a_twentieth_of_a_second() {
        assert_eq!(patience(1, Duration::ZERO), Some(QUIET));
        assert_eq!(sizes(20, Duration::from_millis(51)), [10, 10]);
        assert_eq!(sizes(20, Duration::from_millis(49)), [20]);
    }

    #[test]
    fn a_stream_that_never_pauses_is_routed_every_second_at_the_latest() {
        let sizes = sizes(3_000, Duration::from_millis(40));
        assert!(sizes.iter().all(|size| *size <= 260), "{sizes:?}");
        assert_eq!(patience(2, WAIT_MAX), None);
        assert_eq!(
            patience(2, WAIT_MAX - Duration::from_millis(7)),
            Some(Duration::from_millis(7))
        );
    }

    #[test]
    fn more_than_five_lookups_hold_are_not_gathered() {
        assert_eq!(patience(TOGETHER_MAX, Duration::ZERO), None);
        assert_eq!(sizes(2_500, Duration::ZERO), [1_000, 1_000, 500]);
    }

    #[tokio::test]
    async fn what_was_sent_before_the_end_is_still_gathered() {
        let (sender, mut receiver) = mpsc::channel(10);
        for number in 0..3 {
            sender.send(number).await.expect("the receiver lives");
        }
        drop(sender);
        assert_eq!(gather(&mut receiver, LIMITS, || false).await, Some(vec![0, 1, 2]));
        assert_eq!(gather(&mut receiver, LIMITS, || false).await, None);
    }

    #[test]
    fn more_is_expected_while_any_receiver_was_handed_all_that_a_call_carries() {
        let backlog = Backlog::default();
        let mut seen = Vec::new();
        for (before, now) in [(false, true), (false, true), (true, true), (true, false)] {
            backlog.change(before, now);
            seen.push(backlog.is_any());
        }
        backlog.change(false, false);
        backlog.change(true, false);
        seen.push(backlog.is_any());
        assert_eq!(seen, [true, true, true, true, false]);
    }
}
