//! NodePool mode of zonal shifts, as values: how it is set, what is known beside the objects of the
//! world, and what the log says of it.
//!
//! While a zone is avoided, pools are edited so that they make no nodes there. Who wants which zone
//! avoided is kept in one ConfigMap; that state is stored before a message about it is deleted, and
//! pools follow from the state, never from a message.

mod account;
mod change;
mod node_pool_mode;
mod report;
mod step;

use kerf_notices::zonal_shift::{AutoModeRevert, CONFIG_MAP, Matching};
use serde::{Deserialize, Serialize};

pub use account::{ArcReading, ShiftNetwork};
pub(crate) use account::{Arcs, Network};
pub(crate) use change::Change;
pub use node_pool_mode::{NodePoolMode, StoredShifts};
pub use report::ShiftReport;
pub use step::{CopyStep, ShiftStateWrite, StoreCause};
pub(crate) use step::{StepKey, node_patch};

use crate::observed::{Kind, NamespacedName};

/// The kinds of objects that NodePool mode reads and no other planner does.
pub const KINDS: [Kind; 3] = [Kind::PoolManifest, Kind::NodeClassSubnets, Kind::ShiftConfigMap];

/// The domain of the annotations that zonal shifts leave on pools and nodes.
pub const ANNOTATION_DOMAIN: &str = "zonal-autoshift.eks.amazonaws.com";

/// How zonal shifts are carried out on NodePools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShiftSettings {
    /// The EKS cluster's name.
    pub cluster_name: String,
    /// The region whose shifts count.
    pub region: String,
    /// Where the state is stored.
    pub namespace: String,
    /// How strictly an announcement must name the cluster.
    pub matching: Matching,
    /// The age at which shifts end where ARC cannot be asked, in place of the age of their kind.
    pub max_age_seconds: Option<i64>,
    /// Whether nodes in the zone are protected instead of replaced.
    pub do_not_disrupt: bool,
    /// Whether nodes of EKS Auto Mode's own pools in the zone are emptied by a taint.
    pub taint_away_nodes: bool,
    /// What becomes of stand-ins for EKS Auto Mode's own pools afterwards.
    pub auto_mode_revert: AutoModeRevert,
}

impl ShiftSettings {
    /// The ConfigMap that holds the state.
    #[must_use]
    pub fn config_map(&self) -> NamespacedName {
        NamespacedName { namespace: self.namespace.as_str().into(), name: CONFIG_MAP.into() }
    }
}
