//! Durations of late, for quantiles.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The durations seen lately, and the totals of all.
#[derive(Clone, Debug, Default)]
pub(super) struct Summary {
    recent: VecDeque<(Instant, Duration)>,
    sum: Duration,
    count: u64,
}

/// The quantiles of Karpenter's summaries.
const QUANTILES: [f64; 5] = [0.0, 0.5, 0.9, 0.99, 1.0];
/// How long a value counts; from Prometheus' clients.
const KEPT_FOR: Duration = Duration::from_secs(600);
/// How many count at most: a few kilobytes a metric.
const KEPT_MAX: usize = 1_000;

impl Summary {
    pub(super) fn add(&mut self, now: Instant, took: Duration) {
        if self.recent.len() >= KEPT_MAX {
            self.recent.pop_front();
        }
        self.recent.push_back((now, took));
        self.sum = self.sum.saturating_add(took);
        self.count += 1;
    }

    /// Each quantile of what still counts; none where nothing does.
    pub(super) fn quantiles(&self, now: Instant) -> Vec<(f64, Duration)> {
        let counts = |at: Instant| now.saturating_duration_since(at) <= KEPT_FOR;
        let recent = self.recent.iter().filter(|(at, _)| counts(*at));
        let mut durations: Vec<Duration> = recent.map(|(_, took)| *took).collect();
        durations.sort_unstable();
        let Some(last) = durations.len().checked_sub(1) else { return Vec::new() };
        let at = |quantile: f64| durations[((last as f64) * quantile).round() as usize];
        QUANTILES.into_iter().map(|quantile| (quantile, at(quantile))).collect()
    }

    /// The sum of all, and how many there were.
    pub(super) fn totals(&self) -> (Duration, u64) {
        (self.sum, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_last_ten_minutes() {
        let start = Instant::now();
        let mut summary = Summary::default();
        summary.add(start, Duration::from_secs(1_000));
        let later = start + Duration::from_secs(700);
        for seconds in 1..=101 {
            summary.add(later, Duration::from_secs(seconds));
        }
        let seconds: Vec<u64> =
            summary.quantiles(later).into_iter().map(|(_, took)| took.as_secs()).collect();
        assert_eq!(seconds, [1, 51, 91, 100, 101]);
        assert_eq!(summary.quantiles(later + Duration::from_secs(601)), []);
    }
}
