//! Ways to find nodes that should go. Each is one file and one entry in [`METHODS`].

use kerf_model::budget::DisruptionReason;
use kerf_model::labels::annotation::DO_NOT_DISRUPT;

use super::candidates::Candidate;
use super::consolidation::Consolidation;
use super::drift::Drift;
use super::emptiness::Emptiness;
use super::repair::Repair;
#[cfg(test)]
use super::tests::Replace;

use crate::command::Command;
use crate::memory::WantedReboot;
use crate::observed::Claim;
use crate::reason::{Blocked, RepairCause};
use crate::time::{Span, Time};
use crate::world::World;

/// A way to find nodes that should go. What all methods share (who may go at all, budgets,
/// validation, execution, recovery) is not theirs.
pub(super) trait Method: Sync {
    /// Why its nodes go. No two methods share one.
    fn reason(&self) -> DisruptionReason;

    /// How metrics name the method, for commands with so many candidates.
    fn consolidation_type(&self, candidates: usize) -> &'static str;

    /// Whether its commands never have replacements or destinations, so that a candidate says by
    /// its condition alone how to go on.
    fn is_self_contained(&self) -> bool;

    /// The nodes it would have go, best first.
    fn candidates<'a>(&self, world: &'a World, now: Time) -> Vec<Candidate<'a>>;

    /// A claim as it would have it go, if it is one that any method could.
    fn candidate<'a>(&self, world: &'a World, claim: &'a Claim) -> Option<Candidate<'a>> {
        Candidate::of(world, claim)
    }

    /// Whether it would still have this node go.
    fn is_candidate(&self, world: &World, candidate: &Candidate<'_>, now: Time) -> bool;

    /// How candidates become commands.
    fn way(&self) -> Way;

    /// Whether what a proposed command was decided on still holds, beside its candidates.
    fn holds(&self, _: &World, _: &Command, _: Time) -> bool {
        true
    }

    /// Whether something about a node speaks against its going by this method.
    ///
    /// # Errors
    /// What does.
    fn veto(&self, _: &World, candidate: &Candidate<'_>, _: Time) -> Result<(), Blocked> {
        match candidate.node.annotations.get(DO_NOT_DISRUPT).is_some_and(|value| value == "true") {
            true => Err(Blocked::NodeDoNotDisrupt),
            false => Ok(()),
        }
    }

    /// Whether pods that must not be disturbed do not stop it, because they are deleted when the
    /// time for the drain of their node is over.
    fn forces_pods(&self, _: &World, _: &Candidate<'_>, _: Time) -> bool {
        false
    }

    /// The reboot of a node, where that is what is to be done about it.
    fn reboot(&self, _: &World, _: &Candidate<'_>, _: Time) -> Option<WantedReboot> {
        None
    }

    /// What is wrong with a node, where that is why it goes.
    fn cause(&self, _: &World, _: &Candidate<'_>, _: Time) -> Option<RepairCause> {
        None
    }

    /// How long the drain of a node may take, where the method sets a limit.
    fn drain_within(&self, _: &World, _: &Candidate<'_>, _: Time) -> Option<Span> {
        None
    }
}

/// How candidates that may go and are within budgets become commands.
#[derive(Clone, Copy)]
pub(super) enum Way {
    /// By the method's own plan, looked at a second time after a wait.
    Plan(fn(&World, &[Candidate<'_>], Time) -> Vec<Command>),
    /// Each by itself and at once, when it is known where its pods go.
    Move,
    /// By a plan for the whole cluster, which is searched for beside everything else.
    Search,
}

/// The methods, in the order they are asked. None waits for another: a node belongs to the first
/// that takes it, and budgets are shared.
pub(super) const METHODS: &[&dyn Method] = &[
    &Repair,
    &Emptiness,
    &Drift,
    #[cfg(test)]
    &Replace,
    &Consolidation,
];

/// The method whose nodes go for a reason.
pub(super) fn method_for(reason: DisruptionReason) -> Option<&'static dyn Method> {
    METHODS.iter().copied().find(|method| method.reason() == reason)
}
