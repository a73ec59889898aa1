//! Everything that is asked of a node that is drained, put together.

use std::borrow::Cow;

use crate::memory::{DrainReason, DrainRequest};
use crate::observed::Node;
use crate::planners::{reboot, termination};
use crate::time::Time;
use crate::world::World;

/// A node and what all reasons together ask of it.
pub(in crate::planners) struct NodeDrain<'a> {
    pub(in crate::planners) node: &'a Node,
    requests: Vec<(DrainReason, Cow<'a, DrainRequest>)>,
}

impl<'a> NodeDrain<'a> {
    /// The drain of a node, if a reason for one still waits for pods to leave.
    pub(in crate::planners) fn of(world: &'a World, node: &'a Node) -> Option<Self> {
        let asked = world.memory.drains.get(&node.meta.name);
        let asked = asked.filter(|drain| drain.uid == node.meta.uid);
        let asked = asked.into_iter().flat_map(|drain| &drain.requests);
        let unfinished = asked.filter(|(_, request)| request.drained_at.is_none());
        let stored = termination::drain_request(world, node);
        // One that goes is not rebooted any more.
        let reboots = || Some((DrainReason::Reboot, reboot::drain_request(world, node)?));
        let stored = stored.map(|request| (DrainReason::Termination, request)).or_else(reboots);
        let requests: Vec<_> = (stored.into_iter())
            .map(|(reason, request)| (reason, Cow::Owned(request)))
            .chain(unfinished.map(|(reason, request)| (*reason, Cow::Borrowed(request))))
            .collect();
        (!requests.is_empty()).then_some(Self { node, requests })
    }

    /// A node that is drained for this reason alone, whatever others ask for.
    pub(in crate::planners) fn only(
        node: &'a Node,
        reason: DrainReason,
        request: DrainRequest,
    ) -> Self {
        Self { node, requests: vec![(reason, Cow::Owned(request))] }
    }

    /// What each reason asks for.
    pub(super) fn requests(&self) -> impl Iterator<Item = &DrainRequest> {
        self.requests.iter().map(|(_, request)| &**request)
    }

    /// Whether no reason waits for the node to be closed.
    pub(in crate::planners) fn is_closed(&self) -> bool {
        self.requests().all(|request| self.node.taints.contains(&request.closing.taint()))
    }

    /// When the node will be gone, by the reason that gives it the least time.
    pub(in crate::planners) fn deadline(&self) -> Option<Time> {
        self.requests().filter_map(|request| request.deadline).min()
    }
}
