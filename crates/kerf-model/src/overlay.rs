//! Overlays: corrections to the price and capacity of instance types.

use serde::{Deserialize, Serialize};

use crate::price::PriceAdjustment;
use crate::requirement::RequirementEntry;
use crate::resources::ResourceList;

/// A correction to every instance type and offering its requirements match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeOverlay {
    /// The name, unique in the cluster.
    pub name: String,
    /// Where overlays overlap, the highest weight wins; 0 when none is given.
    pub weight: u32,
    /// What it applies to; empty means everything.
    pub requirements: Vec<RequirementEntry>,
    /// What it does to the price.
    pub price: Option<PriceAdjustment>,
    /// Resources the instance types have besides what the provider says.
    pub capacity: ResourceList,
}
