//! Removing nodes whose pods fit on those that stay.

use kerf_scheduler::Refusal;

use crate::kept::Kept;
use crate::plan::Move;
use crate::search::Search;

impl Search<'_> {
    /// Removes a node if its pods fit on the nodes that stay, and that is worth it.
    pub(crate) fn try_removal(&mut self, node: usize) {
        if self.kept[node].is_none() {
            return;
        }
        match self.removal(&[node]) {
            Ok(removal) => self.accept(removal),
            // What a replacement would have cost is the nearer cause.
            Err(kept) if self.kept[node] == Some(Kept::NotReached) => self.kept[node] = Some(kept),
            Err(_) => {}
        }
    }

    /// The removal of nodes without a launch; it counts from now on.
    pub(crate) fn removal(&mut self, nodes: &[usize]) -> Result<Move, Kept> {
        for node in nodes.iter().copied().filter(|node| !self.judge.is_empty(*node)) {
            self.judge.check_policy(node)?;
        }
        let removal = self.judge.removal(nodes)?;
        let destinations = self.residual.remove(nodes).map_err(refused)?;
        Ok(Move { destinations, ..removal })
    }
}

/// Why nodes stay that the residual cluster would not let go.
pub(crate) fn refused(refusal: Refusal) -> Kept {
    match refusal {
        Refusal::NoRoom { pod } => Kept::NoRoom { pod },
        Refusal::NotInEveryOrder { pod } => Kept::NotInEveryOrder { pod },
        Refusal::Receives { .. } => Kept::Receives,
    }
}
