//! What pools were told of zonal shifts.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::observed::{Name, ShiftedZone};

/// A zonal shift and the pools that were told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedShift {
    /// The zone.
    pub zone: ShiftedZone,
    /// The pools.
    pub pools: BTreeSet<Name>,
}

impl RecordedShift {
    /// A shift nobody was told of yet.
    pub(crate) fn new(zone: ShiftedZone) -> Self {
        Self { zone, pools: BTreeSet::new() }
    }
}
