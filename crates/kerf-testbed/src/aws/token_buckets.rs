//! How many calls EC2 takes: a bucket of tokens for each kind of call, filled again second by second.

use std::time::Duration;

/// One kind of calls that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallKind {
    /// Calls that change nothing.
    Reads,
    /// Calls that change something and have no bucket of their own.
    Writes,
    /// RunInstances and CreateFleet.
    Launches,
    /// TerminateInstances.
    Terminations,
    /// CreateTags.
    Tags,
}

impl CallKind {
    const ALL: [Self; 5] =
        [Self::Reads, Self::Writes, Self::Launches, Self::Terminations, Self::Tags];

    /// The kind of an action of EC2.
    pub(crate) fn of(action: &str) -> Self {
        match action {
            "RunInstances" | "CreateFleet" => Self::Launches,
            "TerminateInstances" => Self::Terminations,
            "CreateTags" => Self::Tags,
            _ if action.starts_with("Describe") || action.starts_with("Get") => Self::Reads,
            _ => Self::Writes,
        }
    }

    /// How many a second, and how many at once: what EC2 gives an account by default, in round
    /// numbers.
    fn limits(self) -> (u64, u64) {
        match self {
            Self::Reads => (20, 100),
            Self::Writes => (5, 50),
            Self::Launches => (2, 5),
            Self::Terminations => (5, 100),
            Self::Tags => (10, 100),
        }
    }
}

/// The buckets of an account. Time is an argument: how long ago the buckets were made.
#[derive(Clone, Debug)]
pub(crate) struct TokenBuckets {
    /// Thousandths of tokens, and when that was so.
    levels: [(u64, Duration); CallKind::ALL.len()],
}

impl TokenBuckets {
    /// Full buckets.
    pub(crate) fn full() -> Self {
        let full = |kind: CallKind| (kind.limits().1 * 1000, Duration::ZERO);
        Self { levels: CallKind::ALL.map(full) }
    }

    /// Takes a token for a call; says whether there was one. A refused call costs nothing.
    pub(crate) fn take(&mut self, kind: CallKind, now: Duration) -> bool {
        let (per_second, burst) = kind.limits();
        let (level, since) = &mut self.levels[kind as usize];
        let millis = u64::try_from(now.saturating_sub(*since).as_millis()).unwrap_or(u64::MAX);
        *level = level.saturating_add(millis.saturating_mul(per_second)).min(burst * 1000);
        *since = now;
        let is_there = *level >= 1000;
        if is_there {
            *level -= 1000;
        }
        is_there
    }
}

#[cfg(test)]
mod tests {
    use super::{CallKind, Duration, TokenBuckets};

    #[test]
    fn every_kind_has_its_burst_and_then_its_rate() {
        let cases = [
            ("DescribeInstances", 100, 20),
            ("CreateLaunchTemplate", 50, 5),
            ("CreateFleet", 5, 2),
            ("RunInstances", 5, 2),
            ("TerminateInstances", 100, 5),
            ("CreateTags", 100, 10),
        ];
        for (action, burst, per_second) in cases {
            let mut buckets = TokenBuckets::full();
            let kind = CallKind::of(action);
            let mut granted =
                |at: u64| (0..1000).filter(|_| buckets.take(kind, Duration::from_secs(at))).count();
            assert_eq!(granted(0), burst, "{action}");
            assert_eq!(granted(1), per_second, "{action}");
            assert_eq!(granted(2), per_second, "{action}");
            assert_eq!(granted(1000), burst, "{action}: never more than the burst");
        }
    }

    #[test]
    fn an_empty_bucket_leaves_the_others_alone() {
        let mut buckets = TokenBuckets::full();
        while buckets.take(CallKind::Launches, Duration::ZERO) {}
        assert!(buckets.take(CallKind::Reads, Duration::ZERO));
        assert!(!buckets.take(CallKind::Launches, Duration::from_millis(499)));
        assert!(buckets.take(CallKind::Launches, Duration::from_millis(500)));
    }
}
