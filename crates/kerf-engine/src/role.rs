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
    /// The kinds of objects its planners read, in the order of [`Kind`]: nothing is decided before
    /// they are listed. What else is watched, the [settings](crate::Settings::kinds) say.
    #[must_use]
    pub const fn kinds(self) -> &'static [Kind] {
        match self {
            Role::Controller => &[
                Kind::Namespace,
                Kind::NodeClass,
                Kind::Pool,
                Kind::DaemonSet,
                Kind::Claim,
                Kind::Node,
                Kind::VolumeAttachment,
                Kind::PodDisruptionBudget,
                Kind::Pod,
            ],
            Role::ZonalAutoshift => {
                &[Kind::Node, Kind::PoolManifest, Kind::NodeClassSubnets, Kind::ShiftConfigMap]
            }
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
                Planner::StaticPools,
                Planner::NodeClasses,
                Planner::Overlays,
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
