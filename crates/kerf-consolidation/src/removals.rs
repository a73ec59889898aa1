//! Removing nodes whose pods fit on those that stay.

use kerf_model::pool::ConsolidationPolicy;
use kerf_model::price::Price;
use kerf_scheduler::Refusal;

use crate::kept::{Ineligible, Kept};
use crate::plan::Move;
use crate::search::Search;

impl Search<'_> {
    /// Removes a node if its pods fit on the nodes that stay, and that is worth it.
    pub(crate) fn try_removal(&mut self, node: usize) {
        match self.removal(node) {
            Ok(removal) => self.accept(removal),
            Err(kept) => self.kept[node] = Some(kept),
        }
    }

    fn removal(&mut self, node: usize) -> Result<Move, Kept> {
        if self.residual.receives(node) {
            return Err(Kept::Receives);
        }
        let payback_seconds = match self.is_empty(node) {
            true => 0,
            false => {
                self.check_policy(node)?;
                self.payback(&[node], self.prices[node], Price::ZERO)?
            }
        };
        let destinations = self.residual.remove(&[node]).map_err(|refusal| match refusal {
            Refusal::NoRoom { pod } => Kept::NoRoom { pod },
            Refusal::NotInEveryOrder { pod } => Kept::NotInEveryOrder { pod },
            Refusal::Receives { .. } => Kept::Receives,
        })?;
        Ok(Move {
            removed: vec![node],
            launches: Vec::new(),
            destinations,
            saving: self.prices[node],
            saving_at_least: self.prices[node],
            eviction_cost: self.snapshot.nodes[node].reschedule_cost,
            payback_seconds,
            was_undone: self.snapshot.nodes[node].was_undone,
        })
    }

    /// Whether nobody on a node needs another place.
    fn is_empty(&self, node: usize) -> bool {
        let mut pods = self.snapshot.problem.nodes[node].pods.iter();
        pods.all(|bound| bound.is_daemon || bound.is_leaving)
    }

    fn check_policy(&self, node: usize) -> Result<(), Kept> {
        match self.totals.policy(node) {
            None => Err(Kept::Ineligible(Ineligible::Unknown)),
            Some(ConsolidationPolicy::WhenEmpty) => Err(Kept::OnlyWhenEmpty),
            Some(_) => Ok(()),
        }
    }
}
