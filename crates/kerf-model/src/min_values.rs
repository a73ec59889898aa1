//! Whether enough different values stay possible (`minValues`).

use crate::requirement::Requirement;
use crate::requirements::Requirements;
use crate::vocabulary::{KeyId, ValueSet};

/// What a list of instance types offers against the `minValues` of a set of requirements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MinValuesReview {
    /// How many instance types, from the front of the list, it takes to satisfy everything; all of
    /// them if it cannot be satisfied; zero if nothing was asked.
    pub needed_types: usize,
    /// The keys that fall short, sorted by key id. Empty means satisfied.
    pub shortfalls: Vec<Shortfall>,
}

/// A key for which too few values are possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortfall {
    /// The key.
    pub key: KeyId,
    /// How many values were asked for.
    pub wanted: u32,
    /// How many there are.
    pub achieved: u32,
}

struct KeyCount {
    key: KeyId,
    wanted: u32,
    values: ValueSet,
}

impl MinValuesReview {
    /// Whether every `minValues` is met.
    #[must_use]
    pub fn is_satisfied(&self) -> bool {
        self.shortfalls.is_empty()
    }
}

/// Walks over the requirements of instance types, in order, until the union of their own values
/// reaches every `minValues` of `asked`. Only values an instance type lists count: a key it leaves
/// open adds none.
#[must_use]
pub fn review_min_values<'a>(
    asked: &Requirements,
    instance_types: impl IntoIterator<Item = &'a Requirements>,
) -> MinValuesReview {
    let mut open = key_counts(asked);
    let mut needed_types = 0;
    let mut types = instance_types.into_iter();
    while !open.is_empty() {
        let Some(instance_type) = types.next() else { break };
        needed_types += 1;
        open.retain_mut(|count| {
            if let Some(own) = instance_type.find(count.key).filter(|own| !own.is_complement()) {
                count.values.or_with(own.values());
            }
            count.achieved() < count.wanted
        });
    }
    let shortfalls = open.iter().map(KeyCount::shortfall).collect();
    MinValuesReview { needed_types, shortfalls }
}

fn key_counts(asked: &Requirements) -> Vec<KeyCount> {
    let count = |each: &Requirement| {
        let wanted = each.min_values().filter(|wanted| *wanted > 0)?;
        Some(KeyCount { key: each.key(), wanted, values: ValueSet::new() })
    };
    asked.iter().filter_map(count).collect()
}

impl KeyCount {
    fn achieved(&self) -> u32 {
        u32::try_from(self.values.count()).unwrap_or(u32::MAX)
    }

    fn shortfall(&self) -> Shortfall {
        Shortfall { key: self.key, wanted: self.wanted, achieved: self.achieved() }
    }
}
