//! What one pool must change so that it avoids the zones to be avoided, and those only.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::keep_out::{KeptOut, Restriction, Zones, keep_out};
use super::merge::without_shift;
use super::pool::{APPLIED_ZONES, AWAY_ZONES, ORIGINAL_ZONES, Pool};
use super::pool_edit::{PoolAction, PoolEdit};
use super::pool_record::{Record, write_applied, write_original, write_zones};

/// What one pool must change.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PoolPlan {
    /// Nothing.
    AsItShouldBe,
    /// This.
    Edit(PoolEdit),
    /// It cannot be kept out of the zones and stays as it is.
    Skip(SkipReason),
}

/// Why a pool is not kept out of a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum SkipReason {
    /// It would have no zone left.
    WouldEmpty,
    /// Every zone of the cluster is to be avoided: there is nowhere better.
    NowhereElse,
    /// The pool may use any zone and the cluster's subnets are not known.
    ZonesUnknown,
    /// The name of the stand-in is taken by a pool somebody else made.
    CopyNameTaken,
    /// The object is not what the API promises.
    Unreadable,
}

/// Plans one pool. `record` is what its annotations say.
pub(super) fn plan_pool(pool: &Pool<'_>, record: &Record, zones: Zones<'_>) -> PoolPlan {
    let current = pool.requirements.map(Vec::as_slice);
    let base = without_shift(current, record, zones.table);
    match keep_out(base.as_deref(), zones) {
        KeptOut::WouldEmpty => PoolPlan::Skip(SkipReason::WouldEmpty),
        KeptOut::ZonesUnknown => PoolPlan::Skip(SkipReason::ZonesUnknown),
        KeptOut::Unreached if *record == Record::None => PoolPlan::AsItShouldBe,
        KeptOut::Unreached => PoolPlan::Edit(restore(pool, record, base)),
        KeptOut::By(restriction) => {
            let is_written = current == Some(&restriction.requirements[..])
                && record.away() == restriction.zones;
            if is_written {
                PoolPlan::AsItShouldBe
            } else {
                PoolPlan::Edit(restrict(pool, record, restriction))
            }
        }
    }
}

fn restore(pool: &Pool<'_>, record: &Record, requirements: Option<Vec<Value>>) -> PoolEdit {
    let present = [AWAY_ZONES, ORIGINAL_ZONES, APPLIED_ZONES].into_iter();
    let present = present.filter(|name| pool.annotations.contains_key(name));
    PoolEdit {
        pool: pool.key.clone(),
        resource_version: pool.resource_version(),
        action: PoolAction::Restore,
        away_before: record.away(),
        away: BTreeSet::new(),
        requirements,
        annotations: present.map(|name| (name.to_owned(), None)).collect(),
    }
}

fn restrict(pool: &Pool<'_>, record: &Record, restriction: Restriction) -> PoolEdit {
    let Restriction { requirements, zones, original, applied } = restriction;
    PoolEdit {
        pool: pool.key.clone(),
        resource_version: pool.resource_version(),
        action: PoolAction::Restrict,
        away_before: record.away(),
        annotations: BTreeMap::from([
            (AWAY_ZONES.to_owned(), Some(write_zones(&zones))),
            (ORIGINAL_ZONES.to_owned(), Some(write_original(&original))),
            (APPLIED_ZONES.to_owned(), Some(write_applied(&applied))),
        ]),
        away: zones,
        requirements: Some(requirements),
    }
}

impl SkipReason {
    /// The word for it in `kerf_zonal_shift_skipped_total{reason}`.
    pub fn label(self) -> &'static str {
        match self {
            SkipReason::WouldEmpty => "would-empty",
            SkipReason::NowhereElse => "nowhere-else",
            SkipReason::ZonesUnknown => "zones-unknown",
            SkipReason::CopyNameTaken => "copy-name-taken",
            SkipReason::Unreadable => "unreadable",
        }
    }
}
