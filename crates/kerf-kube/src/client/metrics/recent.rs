//! What happened lately, for quantiles.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use kerf_engine::time::Span;

/// The lengths of time seen lately.
#[derive(Clone, Debug, Default)]
pub(super) struct Recent {
    spans: VecDeque<(Instant, Span)>,
}

/// The quantiles the public summaries have.
pub(super) const QUANTILES: [f64; 5] = [0.0, 0.5, 0.9, 0.99, 1.0];
/// How long a value counts; from Prometheus' clients.
const KEPT_FOR: Duration = Duration::from_secs(600);
/// How many count at most: a few kilobytes a metric.
const KEPT_MAX: usize = 1_000;

impl Recent {
    /// Adds one.
    pub(super) fn add(&mut self, now: Instant, span: Span) {
        if self.spans.len() >= KEPT_MAX {
            self.spans.pop_front();
        }
        self.spans.push_back((now, span));
    }

    /// Each quantile of what still counts; none where nothing does.
    pub(super) fn quantiles(&self, now: Instant) -> Vec<(f64, Span)> {
        let counts = |at: Instant| now.saturating_duration_since(at) <= KEPT_FOR;
        let mut spans: Vec<Span> =
            self.spans.iter().filter(|(at, _)| counts(*at)).map(|(_, span)| *span).collect();
        spans.sort();
        let Some(last) = spans.len().checked_sub(1) else { return Vec::new() };
        let at = |quantile: f64| spans[((last as f64) * quantile).round() as usize];
        QUANTILES.into_iter().map(|quantile| (quantile, at(quantile))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_last_ten_minutes() {
        let start = Instant::now();
        let mut recent = Recent::default();
        recent.add(start, Span::from_seconds(1_000));
        let later = start + Duration::from_secs(700);
        for seconds in 1..=101 {
            recent.add(later, Span::from_seconds(seconds));
        }
        let seconds: Vec<u64> =
            recent.quantiles(later).into_iter().map(|(_, span)| span.seconds()).collect();
        assert_eq!(seconds, [1, 51, 91, 100, 101]);
        assert_eq!(recent.quantiles(later + Duration::from_secs(601)), []);
    }
}
