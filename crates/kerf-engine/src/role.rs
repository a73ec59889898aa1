//! What a process is for: one engine, several roles.
//!
//! A role names its planners and the kinds of objects they read. Only those are watched, and
//! nothing is decided before all of them have been listed; a role that needs no CRDs therefore
//! runs in a cluster without them.

use serde::{Deserialize, Serialize};

use crate::event::Kind;
use crate::planners::Planner;

/// What a process is for.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Role {
    /// Provisions, disrupts and terminates nodes: everything Karpenter does.
    #[default]
    Controller,
    /// Keeps NodePools out of zones that AWS shifts traffic away from.
    ZonalAutoshift,
    /// Drains nodes whose instances AWS takes back or stops. Knows no NodePools, NodeClaims or
    /// node classes, and needs none of their CRDs.
    TerminationHandler,
}

impl Role {
    /// The kinds of objects its planners read. A kind that is not listed here is never watched.
    #[must_use]
    pub const fn kinds(self) -> &'static [Kind] {
        match self {
            Role::Controller => &Kind::ALL,
            // Pools and node classes come in whatever versions are served, as JSON: its planner
            // waits for them itself.
            Role::ZonalAutoshift => &[],
            // PodDisruptionBudgets are kept by the API server, which refuses evictions.
            Role::TerminationHandler => &[Kind::Pod, Kind::Node],
        }
    }

    /// Whether it decides which nodes pods could run on. Who does needs to know of volumes too.
    #[must_use]
    pub fn places_pods(self) -> bool {
        self.planners().contains(&Planner::Provisioning)
    }

    /// The planners that are asked. Where several plan the same subject, they are asked in this
    /// order.
    pub(crate) const fn planners(self) -> &'static [Planner] {
        match self {
            Role::Controller => &[
                Planner::Claims,
                Planner::Joining,
                Planner::Termination,
                Planner::Drain,
                Planner::Pools,
                Planner::Provisioning,
                Planner::Disruption,
                Planner::Instances,
                Planner::ZonalShift,
                Planner::Notices,
            ],
            Role::ZonalAutoshift => &[Planner::ZonalShift],
            Role::TerminationHandler => &[Planner::Drain, Planner::Notices],
        }
    }
}
