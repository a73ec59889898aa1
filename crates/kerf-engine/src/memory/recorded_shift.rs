//! Zonal shifts that were recorded on pools as Events.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::observed::{Name, ShiftedZone};

/// A zonal shift and the pools it was recorded on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedShift {
    /// The zone.
    pub zone: ShiftedZone,
    /// The pools.
    pub pools: BTreeSet<Name>,
}

impl RecordedShift {
    /// A shift that was recorded on no pool yet.
    pub(crate) fn new(zone: ShiftedZone) -> Self {
        Self { zone, pools: BTreeSet::new() }
    }
}
