//! Nodes of static pools: each is replaced by one from the same template, and nobody is asked where
//! its pods would go.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kerf_model::instance_type::Offering;
use kerf_model::labels::well_known::{CAPACITY_TYPE, RESERVED};
use kerf_model::pool::Sizing;
use kerf_model::requirement::Operator;
use kerf_model::requirements::Requirements;
use kerf_model::vocabulary::Vocabulary;

use super::candidates::Candidate;
use super::method::Method;
use super::{messages, metrics, what_if};
use crate::action::NewClaim;
use crate::command::Command;
use crate::decision::Decision;
use crate::observed::{Claim, Name, Pool};
use crate::planners::provisioning;
use crate::planners::static_pools::{Tally, is_ready, replicas};
use crate::reason::Blocked;
use crate::time::Time;
use crate::world::World;

/// Names are made of the time and a number, which no other decision about the pool uses.
const FIRST_ORDINAL: usize = 3 << 32;

/// Whether a node that should go can be replaced: in a dynamic pool by what its pods need, in a
/// static one from the template, where such pools are looked after.
pub(super) fn can_replace(world: &World, candidate: &Candidate<'_>) -> bool {
    !is_static(candidate) || replicas(world, candidate.pool).is_some()
}

/// Whether a node's pool has a fixed number of nodes.
pub(super) fn is_static(candidate: &Candidate<'_>) -> bool {
    matches!(candidate.pool.spec.sizing, Sizing::Static { .. })
}

/// Whether a claim belongs to a static pool that is looked after.
pub(super) fn is_of_static_pool(world: &World, claim: &Claim) -> bool {
    let pool = claim.pool().and_then(|pool| world.pools.get(pool));
    pool.is_some_and(|pool| replicas(world, pool).is_some())
}

/// Replaces candidates, each by a claim of its own, as far as their pools have room for both. Where
/// they do not, a node may be allowed to go first.
pub(super) fn propose<'a>(
    world: &'a World,
    method: &dyn Method,
    candidates: Vec<Candidate<'a>>,
    now: Time,
    decision: &mut Decision,
) {
    let mut by_pool: BTreeMap<&Name, Vec<Candidate<'a>>> = BTreeMap::new();
    for candidate in candidates {
        by_pool.entry(&candidate.pool.meta.name).or_default().push(candidate);
    }
    for candidates in by_pool.into_values() {
        let pool = candidates[0].pool;
        let tally = Tally::of(world, pool);
        let wanted = replicas(world, pool).unwrap_or(0);
        // Where there are too many, some go for that reason, and these may be among them.
        if tally.active() + tally.disrupted > wanted || !tally.surplus.is_empty() {
            continue;
        }
        let (slots, names) = (tally.headroom(pool), BTreeSet::new());
        let is_complete = tally.is_complete(wanted);
        let mut renewal = Renewal { world, method, pool, slots, is_complete, names, now };
        renewal.run(candidates, decision);
    }
}

/// Replacing nodes of one pool.
struct Renewal<'a, 'm> {
    world: &'a World,
    method: &'m dyn Method,
    pool: &'a Pool,
    /// How many more nodes there may be.
    slots: u64,
    /// Whether all nodes are up that there shall be. Budgets do not count one that is still to
    /// come, so without this nodes would go one after the other until none is left.
    is_complete: bool,
    names: BTreeSet<Name>,
    now: Time,
}

impl<'a> Renewal<'a, '_> {
    fn run(&mut self, mut candidates: Vec<Candidate<'a>>, decision: &mut Decision) {
        let pool = || self.pool.meta.name.clone();
        if !is_ready(self.pool) {
            let cause = Blocked::PoolNotReady { pool: pool() };
            let events = candidates.iter().flat_map(|each| messages::blocked(each, &cause));
            return decision.kubernetes_events.extend(events);
        }
        let goes_first = self.world.settings.terminate_first.allows(self.method.reason());
        let full = if goes_first { full_reservations(self.world, self.pool) } else { None };
        if let Some(offered) = &full {
            candidates.sort_by_key(|each| !holds_one_of(self.world, each, offered));
        }
        for candidate in &candidates {
            match &full {
                Some(offered)
                    if self.is_complete && holds_one_of(self.world, candidate, offered) =>
                {
                    self.terminate_first(candidate, "no-reserved-capacity", decision);
                }
                Some(offered) if holds_one_of(self.world, candidate, offered) => {}
                Some(_) => {
                    let cause = Blocked::ReservationsFull { pool: pool() };
                    decision.kubernetes_events.extend(messages::blocked(candidate, &cause));
                }
                None if self.slots > 0 => self.replace(candidate, decision),
                None if goes_first && !self.is_complete => {}
                None if goes_first => self.terminate_first(candidate, "static-at-limit", decision),
                None => {
                    let cause = Blocked::StaticPoolAtLimit { pool: pool() };
                    decision.kubernetes_events.extend(messages::blocked(candidate, &cause));
                }
            }
        }
    }

    fn replace(&mut self, candidate: &Candidate<'a>, decision: &mut Decision) {
        self.slots -= 1;
        let ordinal = FIRST_ORDINAL + self.names.len();
        let name = provisioning::free_name(self.world, self.pool, self.now, ordinal, &self.names);
        let claim = provisioning::from_template(self.pool, &name, &self.world.settings);
        self.names.insert(name);
        self.execute(candidate, vec![claim], decision);
    }

    fn terminate_first(
        &mut self,
        candidate: &Candidate<'a>,
        cause: &'static str,
        decision: &mut Decision,
    ) {
        decision.samples.push(metrics::terminated_first(self.method, candidate, cause));
        self.execute(candidate, Vec::new(), decision);
    }

    fn execute(
        &self,
        candidate: &Candidate<'a>,
        replacements: Vec<NewClaim>,
        decision: &mut Decision,
    ) {
        let (reason, references) = (self.method.reason(), vec![candidate.reference()]);
        let command = Command::proposed(reason, references, replacements, Vec::new(), self.now);
        what_if::execute(self.method, command, candidate, decision);
    }
}

/// The ids of the reservations that a pool launches from, if it launches from nothing else and none
/// of them has anything left.
fn full_reservations(world: &World, pool: &Pool) -> Option<BTreeSet<Arc<str>>> {
    let types = world.instance_types.get(&pool.meta.name)?;
    let spelling = world.settings.scheduler.label_rules.normalization();
    let mut words = Vocabulary::new();
    let entries = &pool.spec.template.spec.requirements;
    // What has no meaning is told by the pool's validation.
    let wanted = Requirements::from_entries(entries, spelling, &mut words).ok()?;
    let mut offered = BTreeSet::new();
    for instance_type in types.iter() {
        let own = Requirements::from_entries(&*instance_type.requirements, spelling, &mut words);
        let fits = own.is_ok_and(|own| own.intersects(&wanted, &words));
        for offering in instance_type.offerings.iter().filter(|_| fits) {
            let sold = Requirements::from_entries(&*offering.requirements, spelling, &mut words);
            if !sold.is_ok_and(|sold| sold.intersects(&wanted, &words)) {
                continue;
            }
            if !is_reserved(offering) || offering.is_launchable() {
                return None;
            }
            if let Some(reservation) = offering.reservation.as_ref().filter(|_| offering.available)
            {
                offered.insert(Arc::from(reservation.id.as_str()));
            }
        }
    }
    Some(offered)
}

fn is_reserved(offering: &Offering) -> bool {
    offering.requirements.iter().any(|entry| {
        entry.key == CAPACITY_TYPE && entry.operator == Operator::In && entry.values == [RESERVED]
    })
}

/// Whether a node runs in one of these reservations, so that its end makes room for another.
fn holds_one_of(world: &World, candidate: &Candidate<'_>, ids: &BTreeSet<Arc<str>>) -> bool {
    let Some(labels) = &world.settings.provider.reservation_labels else { return false };
    let label = |key: &str| candidate.node.labels.get(key).map(String::as_str);
    label(CAPACITY_TYPE) == Some(RESERVED) && label(&labels.id).is_some_and(|id| ids.contains(id))
}
