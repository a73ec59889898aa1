//! Offering mode: the zones whose offerings are unavailable because ARC shifted the cluster away.
//!
//! Pools stay as they are; nodes in the zone stay and are not disrupted.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use thiserror::Error;

use super::event::Origin;
use super::instant::UnixSeconds;
use super::listing::ListedShift;
use super::zone::ZoneId;

/// How often the cluster's managed resource is read.
pub const READ_EVERY_SECONDS: i64 = 30;

/// The zones ARC has shifted the cluster away from, by its last readable answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OfferingMode {
    shifted: BTreeMap<ZoneId, AppliedShift>,
}

/// What keeps the cluster out of a zone. Of several shifts the one that takes precedence gives its
/// name; the zone is avoided from the first to the last of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedShift {
    /// Who wants the zone avoided.
    pub origin: Origin,
    /// When it began.
    pub since: UnixSeconds,
    /// When it ends by itself; absent when it lasts until further notice.
    pub expiry: Option<UnixSeconds>,
}

/// What a read changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OfferingChange {
    /// Zones whose offerings went.
    pub shifted: BTreeSet<ZoneId>,
    /// Zones whose offerings are back.
    pub cleared: BTreeSet<ZoneId>,
}

/// ARC's answer is not a managed resource; the last answer holds. Asking again may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("ARC's answer to GetManagedResource has no list of zonal shifts")]
pub struct NotAManagedResource;

impl OfferingMode {
    /// Takes in the answer to `GetManagedResource`. The whole set is replaced, so that of two
    /// shifts the one that ended does not linger.
    pub fn read(
        &mut self,
        reply: &Value,
        now: UnixSeconds,
    ) -> Result<OfferingChange, NotAManagedResource> {
        let items = |field: &str| reply.get(field).and_then(Value::as_array);
        let shifts = items("zonalShifts").ok_or(NotAManagedResource)?;
        let autoshifts = items("autoshifts").into_iter().flatten();
        let listed = shifts.iter().filter_map(|item| ListedShift::read(item, None));
        let autoshift = |item| ListedShift::read(item, Some(Origin::Autoshift));
        let listed = listed.chain(autoshifts.filter_map(autoshift));
        let mut next = BTreeMap::<_, AppliedShift>::new();
        for listed in listed.filter(|shift| shift.is_applied && shift.is_active_at(now)) {
            let ListedShift { zone, origin, start: since, expiry, .. } = listed;
            let shift = AppliedShift { origin, since, expiry };
            match next.entry(zone) {
                Entry::Vacant(entry) => drop(entry.insert(shift)),
                Entry::Occupied(mut entry) => entry.get_mut().join(&shift),
            }
        }
        let before = std::mem::replace(&mut self.shifted, next);
        let only_in = |one: &BTreeMap<ZoneId, _>, other: &BTreeMap<ZoneId, _>| {
            one.keys().filter(|zone| !other.contains_key(*zone)).cloned().collect()
        };
        Ok(OfferingChange {
            shifted: only_in(&self.shifted, &before),
            cleared: only_in(&before, &self.shifted),
        })
    }

    /// Whether every offering in the zone is unavailable, nodes there are not to be disrupted, and
    /// calls about instances there are to wait.
    pub fn is_shifted(&self, zone: &ZoneId, now: UnixSeconds) -> bool {
        self.shifted.get(zone).is_some_and(|shifted| shifted.holds_at(now))
    }

    /// Every such zone and what keeps the cluster out of it.
    pub fn shifted(&self, now: UnixSeconds) -> impl Iterator<Item = (&ZoneId, &AppliedShift)> {
        self.shifted.iter().filter(move |(_, shifted)| shifted.holds_at(now))
    }
}

impl AppliedShift {
    fn holds_at(&self, now: UnixSeconds) -> bool {
        self.expiry.is_none_or(|expiry| expiry > now)
    }

    fn join(&mut self, other: &Self) {
        if precedence(other.origin) < precedence(self.origin) {
            self.origin = other.origin;
        }
        self.since = self.since.min(other.since);
        self.expiry = later(self.expiry, other.expiry);
    }
}

/// Manual shifts before autoshifts before practice runs, as ARC applies them.
fn precedence(origin: Origin) -> u8 {
    match origin {
        Origin::Manual | Origin::Cli => 0,
        Origin::Autoshift => 1,
        Origin::Fis => 2,
        Origin::Practice => 3,
    }
}

/// The later of two expiries, where none is the latest.
fn later(a: Option<UnixSeconds>, b: Option<UnixSeconds>) -> Option<UnixSeconds> {
    Some(a?.max(b?))
}
