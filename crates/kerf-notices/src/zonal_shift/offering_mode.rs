//! Offering mode: the zones whose offerings are unavailable because ARC shifted the cluster away.
//!
//! Pools stay as they are; nodes in the zone stay and are not disrupted.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use thiserror::Error;

use super::instant::UnixSeconds;
use super::keep_out::Zones;
use super::listing::ListedShift;
use super::note::PoolEvent;
use super::plan::{Cluster, reach};
use super::pool::Pool;
use super::pool_plan::reaches;
use super::pool_record::Record;
use super::zone::{ZoneId, ZoneName};

/// How often the cluster's managed resource is read.
pub const READ_EVERY_SECONDS: i64 = 30;

/// The zones ARC has shifted the cluster away from, by its last readable answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OfferingMode {
    shifted: BTreeMap<ZoneId, Shifted>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Shifted {
    first_seen: UnixSeconds,
    /// Absent when it lasts until further notice.
    expiry: Option<UnixSeconds>,
}

/// What a read changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OfferingChange {
    /// Zones whose offerings went.
    pub shifted: BTreeSet<ZoneId>,
    /// Zones whose offerings are back, with the seconds they were gone, for
    /// `karpenter_cloudprovider_zonal_shift_duration`.
    pub cleared: BTreeMap<ZoneId, i64>,
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
        let all = shifts.iter().chain(items("autoshifts").into_iter().flatten());
        let listed = all.filter_map(|item| ListedShift::read(item, None));
        let mut next = BTreeMap::new();
        for shift in listed.filter(|shift| shift.is_applied && shift.is_active_at(now)) {
            let known = self.shifted.get(&shift.zone);
            let first_seen = known.map_or(now, |known| known.first_seen);
            let entry =
                next.entry(shift.zone).or_insert(Shifted { first_seen, ..Shifted::ended() });
            entry.expiry = later(entry.expiry, shift.expiry);
        }
        let before = std::mem::replace(&mut self.shifted, next);
        let is_new = |zone: &&ZoneId| !before.contains_key(zone);
        let is_gone = |(zone, _): &(&ZoneId, &Shifted)| !self.shifted.contains_key(zone);
        let gone = before.iter().filter(is_gone);
        Ok(OfferingChange {
            shifted: self.shifted.keys().filter(is_new).cloned().collect(),
            cleared: gone.map(|(zone, s)| (zone.clone(), now.since(s.first_seen))).collect(),
        })
    }

    /// Whether every offering in the zone is unavailable, nodes there are not to be disrupted, and
    /// calls about instances there are to wait.
    pub fn is_shifted(&self, zone: &ZoneId, now: UnixSeconds) -> bool {
        self.shifted.get(zone).is_some_and(|shifted| shifted.holds_at(now))
    }

    /// Every such zone.
    pub fn shifted_zones(&self, now: UnixSeconds) -> BTreeSet<ZoneId> {
        let holding = self.shifted.iter().filter(|(_, shifted)| shifted.holds_at(now));
        holding.map(|(zone, _)| zone.clone()).collect()
    }
}

impl OfferingChange {
    /// The Events that tell the pools which can reach a zone, by its name and its id.
    pub fn events(&self, cluster: Cluster<'_>) -> Vec<PoolEvent> {
        let readable = cluster.pools.iter().filter_map(|object| Pool::read(object).ok());
        let name = |id: &ZoneId| cluster.zones.name(id);
        let mut events = Vec::new();
        for pool in readable {
            let is_reached = |zone: &&ZoneName| can_reach(&pool, zone, cluster);
            let shifted = self.shifted.iter().filter_map(name).filter(is_reached);
            events.extend(shifted.map(|zone| PoolEvent::active(&pool.key, zone, cluster.zones)));
            let cleared = self.cleared.keys().filter_map(name).filter(is_reached);
            events.extend(cleared.map(|zone| PoolEvent::cleared(&pool.key, zone, cluster.zones)));
        }
        events
    }
}

fn can_reach(pool: &Pool<'_>, zone: &ZoneName, cluster: Cluster<'_>) -> bool {
    let record = Record::read(&pool.annotations, cluster.zones);
    let away = BTreeSet::from([zone.clone()]);
    let zones = Zones { away: &away, reach: reach(cluster, pool), table: cluster.zones };
    reaches(pool, &record, zones)
}

impl Shifted {
    /// Over since ever, until an entry says otherwise.
    fn ended() -> Shifted {
        let epoch = UnixSeconds::new(0).expect("the epoch is the first moment there is");
        Shifted { first_seen: epoch, expiry: Some(epoch) }
    }

    fn holds_at(&self, now: UnixSeconds) -> bool {
        self.expiry.is_none_or(|expiry| expiry > now)
    }
}

/// The later of two expiries, where none is the latest.
fn later(a: Option<UnixSeconds>, b: Option<UnixSeconds>) -> Option<UnixSeconds> {
    Some(a?.max(b?))
}
