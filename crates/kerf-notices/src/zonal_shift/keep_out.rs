//! Requirements that keep a pool out of zones.

use std::collections::BTreeSet;

use serde_json::Value;

use super::pool_record::{Added, Placed};
use super::zone::{ZoneName, ZoneTable};
use super::zone_requirement::{ZoneOperator, ZoneRequirement};

/// What keeping a pool out of zones takes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum KeptOut {
    /// Nothing: it does not reach them.
    Unreached,
    /// The pool would have no zone left.
    WouldEmpty,
    /// The pool may use any zone, and which there are is not known.
    ZonesUnknown,
    /// These requirements.
    By(Restriction),
}

/// Requirements that keep a pool out of zones, and what they replace.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Restriction {
    /// The whole list, other requirements included, in their order.
    pub(super) requirements: Vec<Value>,
    /// The zones the pool reached and now does not.
    pub(super) zones: BTreeSet<ZoneName>,
    /// The zone requirements before.
    pub(super) original: Vec<Placed>,
    /// The zone requirements now.
    pub(super) applied: Vec<Placed>,
}

/// The zones to avoid and those there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Zones<'a> {
    pub(super) away: &'a BTreeSet<ZoneName>,
    /// Where the pool's node class or else the cluster has subnets; empty when not known.
    pub(super) reach: &'a BTreeSet<ZoneName>,
    pub(super) table: &'a ZoneTable,
}

/// Works out how `base`, the requirements without any shift, must read to avoid the zones.
/// `None` is a pool without a list.
pub(super) fn keep_out(base: Option<&[Value]>, zones: Zones<'_>) -> KeptOut {
    let entries = base.unwrap_or_default();
    let original: Vec<_> = entries.iter().map(ZoneRequirement::read).collect();
    let speaking: Vec<_> = original.iter().flatten().collect();
    let names_zones =
        |r: &&ZoneRequirement| matches!(r.operator, ZoneOperator::In | ZoneOperator::NotIn);
    let is_open = !speaking.iter().any(names_zones);
    let allows = |zone: &ZoneName| speaking.iter().all(|r| r.allows(zone, zones.table));
    let reached: BTreeSet<_> = zones.away.iter().filter(|zone| allows(zone)).cloned().collect();
    if reached.is_empty() {
        return KeptOut::Unreached;
    }
    if is_open && zones.reach.is_empty() {
        return KeptOut::ZonesUnknown;
    }
    if is_open && zones.reach.is_disjoint(&reached) {
        return KeptOut::Unreached;
    }
    let left = zones_left(&speaking, &reached, zones);
    if left.is_empty() {
        return KeptOut::WouldEmpty;
    }
    let edit = |(requirement, entry): (Option<ZoneRequirement>, &Value)| match requirement {
        Some(r) => r.without(&reached, zones.table).into_entry(left.len()),
        None => entry.clone(),
    };
    let is_zone: Vec<_> = original.iter().map(Option::is_some).collect();
    let mut requirements: Vec<_> = original.into_iter().zip(entries).map(edit).collect();
    let mut applied = placed(&requirements, &is_zone);
    if is_open {
        let added = if base.is_some() { Added::Entry } else { Added::List };
        let entry = ZoneRequirement::exactly(&left);
        applied.push(Placed { index: requirements.len(), requirement: entry.clone(), added });
        requirements.push(entry);
    }
    let original = placed(entries, &is_zone);
    KeptOut::By(Restriction { requirements, zones: reached, original, applied })
}

/// The zones a pool can still use. Requirements may list zones without a subnet (a list of all
/// zones of the region), which help nobody: only those with one count, if that is known and was
/// so before.
fn zones_left(
    speaking: &[&ZoneRequirement],
    avoided: &BTreeSet<ZoneName>,
    zones: Zones<'_>,
) -> BTreeSet<ZoneName> {
    let listed = speaking.iter().find(|r| r.operator == ZoneOperator::In);
    let universe = match listed {
        Some(requirement) => requirement.zones(zones.table),
        None if zones.reach.is_empty() => zones.table.all_names(),
        None => zones.reach.clone(),
    };
    let is_allowed = |zone: &&ZoneName| speaking.iter().all(|r| r.allows(zone, zones.table));
    let before: BTreeSet<_> = universe.iter().filter(is_allowed).cloned().collect();
    let served: BTreeSet<_> = before.intersection(zones.reach).cloned().collect();
    let usable = if served.is_empty() { before } else { served };
    usable.difference(avoided).cloned().collect()
}

fn placed(entries: &[Value], is_zone: &[bool]) -> Vec<Placed> {
    let speaking = entries.iter().enumerate().zip(is_zone).filter(|(_, is_zone)| **is_zone);
    let place = |((index, entry), _): ((usize, &Value), _)| Placed {
        index,
        requirement: entry.clone(),
        added: Added::No,
    };
    speaking.map(place).collect()
}
