//! Ways to find nodes that should go. Each is one file and one entry in [`METHODS`].

use kerf_model::budget::DisruptionReason;

use super::candidates::Candidate;
use super::emptiness::Emptiness;
#[cfg(test)]
use super::tests::Replace;

use crate::command::Command;
use crate::time::Time;
use crate::world::World;

/// A way to find nodes that should go. What all methods share (who may go at all, budgets,
/// validation, execution, recovery) is not theirs.
pub(super) trait Method: Sync {
    /// Why its nodes go. No two methods share one.
    fn reason(&self) -> DisruptionReason;

    /// How metrics name the method.
    fn consolidation_type(&self) -> &'static str;

    /// Whether its commands never have replacements or destinations, so that a candidate says by
    /// its condition alone how to go on.
    fn is_self_contained(&self) -> bool;

    /// The nodes it would have go, best first.
    fn candidates<'a>(&self, world: &'a World) -> Vec<Candidate<'a>>;

    /// Whether it would still have this node go.
    fn is_candidate(&self, world: &World, candidate: &Candidate<'_>) -> bool;

    /// What to do about candidates that may go and are within budgets.
    fn commands(&self, world: &World, candidates: &[Candidate<'_>], now: Time) -> Vec<Command>;
}

/// The methods, in the order they are asked; the first that proposes anything has the turn.
pub(super) const METHODS: &[&dyn Method] = &[
    &Emptiness,
    #[cfg(test)]
    &Replace,
];

/// The method whose nodes go for a reason.
pub(super) fn method_for(reason: DisruptionReason) -> Option<&'static dyn Method> {
    METHODS.iter().copied().find(|method| method.reason() == reason)
}
