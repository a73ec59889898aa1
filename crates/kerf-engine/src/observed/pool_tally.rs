//! What the claims of each pool come to, as they are stored: what they have, and how many of their
//! nodes are up. Kept up with every change of a claim or its node, so that nobody has to walk over
//! thousands of claims to learn what a pool uses or may lose.

use std::borrow::Cow;
use std::collections::BTreeMap;

use kerf_model::resources::ResourceList;

use super::{Claim, Name, Node, Totals};
use crate::condition::claim::{INITIALIZED, INSTANCE_TERMINATING, REBOOTING};

/// The claims of a pool, summed up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PoolTally {
    /// How many claims stay.
    pub(crate) staying: i64,
    /// What these have.
    pub(crate) capacity: Totals,
    /// Nodes that count for budgets: up or rebooting, and their instance not ending.
    pub(crate) nodes: i64,
    /// Those of them that are away: on their way out, rebooting, or not ready.
    pub(crate) away: i64,
    /// Those of them that are away only because they are not ready.
    pub(crate) unready: i64,
}

/// The tallies of all pools that some claim names.
pub(crate) type PoolTallies = BTreeMap<Name, PoolTally>;

/// What one claim adds to the tally of its pool.
pub(crate) struct Share<'a> {
    /// What it has, if it stays.
    capacity: Option<Cow<'a, ResourceList>>,
    node: NodeStanding,
}

/// How a claim's node counts for budgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodeStanding {
    /// Not at all.
    Uncounted,
    /// As one that is there.
    Ready,
    /// As one that is away until it is ready again.
    Unready,
    /// As one that is away.
    Away,
}

impl<'a> Share<'a> {
    /// What a claim with this node adds as it is stored.
    pub(crate) fn of(claim: &'a Claim, node: Option<&'a Node>) -> Self {
        let is_ending = claim.status.conditions.is_true(INSTANCE_TERMINATING);
        let stays = !is_ending && !claim.meta.is_deleting();
        let capacity = || match node {
            Some(node) => node.capacity_beside(claim),
            None => Cow::Borrowed(&claim.status.capacity),
        };
        Self { capacity: stays.then(capacity), node: standing(claim, node) }
    }

    /// Adds what a claim comes to, or takes it off again (`times` is −1).
    pub(super) fn count(&self, tally: &mut PoolTally, times: i64) {
        if let Some(capacity) = &self.capacity {
            tally.staying += times;
            tally.capacity.add(capacity, times);
        }
        let (nodes, away, unready) = match self.node {
            NodeStanding::Uncounted => (0, 0, 0),
            NodeStanding::Ready => (1, 0, 0),
            NodeStanding::Away => (1, 1, 0),
            NodeStanding::Unready => (1, 1, 1),
        };
        tally.nodes += times * nodes;
        tally.away += times * away;
        tally.unready += times * unready;
    }

    /// Counts the node of a claim that is in a tally as away, though it stays and nothing stored
    /// says so.
    pub(crate) fn be_away(&self, tally: &mut PoolTally) {
        match self.node {
            NodeStanding::Ready => tally.away += 1,
            NodeStanding::Unready => tally.unready -= 1,
            NodeStanding::Away | NodeStanding::Uncounted => {}
        }
    }

    /// Counts a claim that is in a tally as on its way out, though nothing stored says so.
    pub(crate) fn go(&self, tally: &mut PoolTally) {
        if let Some(capacity) = &self.capacity {
            tally.staying -= 1;
            tally.capacity.add(capacity, -1);
        }
        self.be_away(tally);
    }
}

fn standing(claim: &Claim, node: Option<&Node>) -> NodeStanding {
    let conditions = &claim.status.conditions;
    let is_rebooting = conditions.is_true(REBOOTING);
    let is_up = conditions.is_true(INITIALIZED) || is_rebooting;
    match node {
        Some(node) if is_up && !conditions.is_true(INSTANCE_TERMINATING) => {
            if node.meta.is_deleting() || is_rebooting || claim.meta.is_deleting() {
                NodeStanding::Away
            } else if node.is_ready {
                NodeStanding::Ready
            } else {
                NodeStanding::Unready
            }
        }
        _ => NodeStanding::Uncounted,
    }
}
