//! What people should hear of a plan: Events on pools, and remarks for the log.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::pool::PoolKey;
use super::pool_edit::PoolEdit;
use super::pool_plan::SkipReason;
use super::zone::{ZoneId, ZoneName, ZoneTable};

/// Something a plan came upon that is no change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Note {
    /// A pool is not kept out of zones.
    Skipped {
        /// The pool.
        pool: PoolKey,
        /// The zones it should avoid.
        zones: BTreeSet<ZoneName>,
        /// Why it does not.
        reason: SkipReason,
    },
    /// A zone is avoided in which the cluster has neither subnets nor nodes.
    ZoneNotUsed(ZoneId),
    /// A zone is avoided whose name is not known, so nothing can be changed for it.
    ZoneUnnamed(ZoneId),
    /// Somebody damaged the annotations that remember the original; the zones are given back as
    /// for another tool's edit.
    MemoryDamaged(PoolKey),
}

/// A Kubernetes Event about a pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PoolEvent {
    /// The pool.
    pub pool: PoolKey,
    /// Whether somebody should look.
    pub is_warning: bool,
    /// One word for it.
    pub reason: &'static str,
    /// One sentence for it.
    pub message: String,
}

impl Note {
    /// The Event to publish, if it is about a pool.
    pub fn event(&self) -> Option<PoolEvent> {
        let Note::Skipped { pool, zones, reason } = self else { return None };
        let zones = zones.iter().map(ZoneName::as_str).collect::<Vec<_>>().join(", ");
        Some(PoolEvent {
            pool: pool.clone(),
            is_warning: true,
            reason: "ZonalShiftSkipped",
            message: format!(
                "Zonal shift: this {} is not kept out of {zones}: {}",
                pool.kind,
                reason.sentence()
            ),
        })
    }
}

impl PoolEvent {
    /// A zone's offerings went out of reach of the pool.
    pub fn active(pool: &PoolKey, zone: &ZoneName, table: &ZoneTable) -> PoolEvent {
        let message = format!(
            "Zonal shift detected: offerings in zone {} are unavailable for this NodePool",
            with_id(zone, table)
        );
        PoolEvent { pool: pool.clone(), is_warning: true, reason: "ZonalShiftActive", message }
    }

    /// A zone's offerings are within reach again.
    pub fn cleared(pool: &PoolKey, zone: &ZoneName, table: &ZoneTable) -> PoolEvent {
        let message = format!(
            "Zonal shift cleared: offerings in zone {} are restored for this NodePool",
            with_id(zone, table)
        );
        PoolEvent { pool: pool.clone(), is_warning: false, reason: "ZonalShiftCleared", message }
    }

    /// The Events that tell of an edit, one for each zone that was taken or given back.
    pub fn of_edit(edit: &PoolEdit, table: &ZoneTable) -> Vec<PoolEvent> {
        let taken = edit.away.difference(&edit.away_before);
        let given_back = edit.away_before.difference(&edit.away);
        let taken = taken.map(|zone| PoolEvent::active(&edit.pool, zone, table));
        taken.chain(given_back.map(|z| PoolEvent::cleared(&edit.pool, z, table))).collect()
    }
}

fn with_id(zone: &ZoneName, table: &ZoneTable) -> String {
    match table.id(zone) {
        Some(id) => format!("{zone} ({id})"),
        None => zone.to_string(),
    }
}

impl SkipReason {
    fn sentence(self) -> &'static str {
        match self {
            SkipReason::WouldEmpty => "it would have no zone left",
            SkipReason::NowhereElse => "every zone of the cluster is to be avoided",
            SkipReason::ZonesUnknown => {
                "it may use any zone, and which zones have subnets is not known"
            }
            SkipReason::CopyNameTaken => {
                "the pool that would stand in for it has a name that is taken"
            }
            SkipReason::Unreadable => "its requirements cannot be read",
        }
    }
}
