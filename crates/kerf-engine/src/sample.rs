//! What is counted as it happens. Gauges are not here: they are read off the world.

use crate::time::Span;

/// One thing that happened, for the metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sample {
    /// A counter goes up.
    Count {
        /// The metric's name.
        metric: &'static str,
        /// Its labels.
        labels: Vec<(&'static str, String)>,
        /// By how much.
        by: u64,
    },
    /// A length of time was seen.
    Took {
        /// The metric's name.
        metric: &'static str,
        /// Its labels.
        labels: Vec<(&'static str, String)>,
        /// How long.
        span: Span,
    },
    /// Something was given a score.
    Scored {
        /// The metric's name.
        metric: &'static str,
        /// Its labels.
        labels: Vec<(&'static str, String)>,
        /// The score, in thousandths.
        millis: u64,
    },
}

impl Sample {
    /// One more.
    #[must_use]
    pub fn one(metric: &'static str, labels: Vec<(&'static str, String)>) -> Self {
        Self::Count { metric, labels, by: 1 }
    }
}
