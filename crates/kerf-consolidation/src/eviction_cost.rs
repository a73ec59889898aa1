//! What it costs to evict pods, exactly as Karpenter counts it.

use std::iter::Sum;
use std::ops::Add;

use serde::{Deserialize, Serialize};

/// The parts of a whole: the finest that the formula divides by is 2²⁷.
const WHOLE: i64 = 1 << 27;
/// No pod costs more than this, nor less than so much below zero, in wholes.
const MOST: i64 = 10;
/// How many parts one step of priority is: a whole divided by 2²⁵.
const PARTS_PER_PRIORITY: i64 = WHOLE >> 25;

/// What it costs to evict pods; an ordinary pod costs one.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct EvictionCost {
    parts: i64,
}

impl EvictionCost {
    /// Nothing.
    pub const ZERO: Self = Self { parts: 0 };
    /// That of an ordinary pod, and of a node itself.
    pub const ONE: Self = Self { parts: WHOLE };

    /// That of a pod with a deletion cost (annotation) and a priority: one, plus the deletion cost
    /// divided by 2²⁷ and the priority divided by 2²⁵, between −10 and 10.
    #[must_use]
    pub fn of_pod(deletion_cost: i32, priority: i32) -> Self {
        let parts = WHOLE + i64::from(deletion_cost) + i64::from(priority) * PARTS_PER_PRIORITY;
        Self { parts: parts.clamp(-MOST * WHOLE, MOST * WHOLE) }
    }

    /// That of a node: one, and what its pods cost, none of them below zero.
    #[must_use]
    pub fn of_node(pods: impl IntoIterator<Item = Self>) -> Self {
        Self::ONE + pods.into_iter().map(|pod| pod.max(Self::ZERO)).sum()
    }

    /// In parts of 2²⁷.
    #[must_use]
    pub fn parts(self) -> u64 {
        u64::try_from(self.parts).unwrap_or(0)
    }

    /// In thousandths, rounded down.
    #[must_use]
    pub fn millis(self) -> u64 {
        u64::try_from(i128::from(self.parts.max(0)) * 1000 / i128::from(WHOLE)).unwrap_or(u64::MAX)
    }
}

impl Add for EvictionCost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { parts: self.parts.saturating_add(other.parts) }
    }
}

impl Sum for EvictionCost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_costs_one_more_with_its_deletion_cost_and_priority_within_ten() {
        let table = [
            ((0, 0), 1000),
            ((1 << 27, 0), 2000),
            ((0, 1 << 25), 2000),
            ((-(1 << 26), 0), 500),
            ((i32::MAX, i32::MAX), 10_000),
            ((i32::MIN, 0), 0),
        ];
        for ((deletion_cost, priority), millis) in table {
            let cost = EvictionCost::of_pod(deletion_cost, priority);
            assert_eq!(cost.millis(), millis, "deletion cost {deletion_cost}, priority {priority}");
        }
        assert_eq!(EvictionCost::of_pod(i32::MIN, i32::MIN).parts, -10 * WHOLE);
    }

    #[test]
    fn a_node_costs_one_and_pods_below_zero_do_not_make_it_cheaper() {
        let pods = [EvictionCost::of_pod(0, 0), EvictionCost::of_pod(i32::MIN, 0)];
        assert_eq!(EvictionCost::of_node(pods).millis(), 2000);
        assert_eq!(EvictionCost::of_node([]), EvictionCost::ONE);
    }
}
