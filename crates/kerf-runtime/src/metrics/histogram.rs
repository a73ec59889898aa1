//! Durations, counted by how long they were.

use std::time::Duration;

/// How many durations were at most so long, for each bound.
#[derive(Clone, Debug)]
pub(super) struct Histogram {
    /// In seconds, ascending.
    bounds: &'static [f64],
    counts: Vec<u64>,
    sum: Duration,
    count: u64,
}

impl Histogram {
    pub(super) fn new(bounds: &'static [f64]) -> Self {
        Self { bounds, counts: vec![0; bounds.len()], sum: Duration::ZERO, count: 0 }
    }

    pub(super) fn add(&mut self, took: Duration) {
        for (bound, count) in self.bounds.iter().zip(&mut self.counts) {
            *count += u64::from(took.as_secs_f64() <= *bound);
        }
        self.sum = self.sum.saturating_add(took);
        self.count += 1;
    }

    /// Each bound with how many were at most as long, and infinity with all.
    pub(super) fn buckets(&self) -> impl Iterator<Item = (f64, u64)> {
        let bounded = self.bounds.iter().copied().zip(self.counts.iter().copied());
        bounded.chain([(f64::INFINITY, self.count)])
    }

    /// The sum of all, and how many there were.
    pub(super) fn totals(&self) -> (Duration, u64) {
        (self.sum, self.count)
    }
}
