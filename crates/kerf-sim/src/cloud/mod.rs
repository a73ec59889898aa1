//! The cloud: machines of a catalogue, with prices, stock, and delays.

mod catalogue;
mod launch;

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_engine::event::Machine;
use kerf_engine::observed::Name;
use kerf_engine::time::{Span, Time};
use kerf_model::instance_type::InstanceType;
use kerf_model::price::Price;
use rustc_hash::FxHashMap;

use crate::scenario::{CloudPlan, ScenarioError};

/// The cloud.
#[derive(Clone, Debug)]
pub struct Cloud {
    /// What it sells, with what is known to be sold out.
    pub offers: Arc<[InstanceType]>,
    /// Every machine that is not gone, by the name nodes carry.
    pub machines: BTreeMap<Arc<str>, CloudMachine>,
    by_name: FxHashMap<String, usize>,
    stock: BTreeMap<OfferingIndex, u32>,
    sold_out_until: BTreeMap<OfferingIndex, Time>,
    launched: FxHashMap<Arc<str>, (Arc<str>, Arc<Machine>)>,
    launches: u64,
    ended_cost_micros: u128,
}

/// An offering of an instance type, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct OfferingIndex {
    pub(crate) instance_type: usize,
    pub(crate) offering: usize,
}

/// A machine.
#[derive(Clone, Debug)]
pub struct CloudMachine {
    /// What the engine is told.
    pub machine: Arc<Machine>,
    /// The claim it was launched for.
    pub claim: Name,
    /// The identity of that claim.
    pub claim_uid: Arc<str>,
    /// The pool it was launched for.
    pub pool: Name,
    /// The kind of machine.
    pub instance_type: String,
    /// What it costs.
    pub price: Price,
    /// When it was launched.
    pub launched_at: Time,
    /// Whether it died: it is still listed for a while, but nothing runs on it.
    pub is_dead: bool,
    /// Whether the cloud has announced that it takes it.
    pub is_announced: bool,
    pub(crate) offering: OfferingIndex,
}

/// How long an offering counts as sold out after a launch failed for want of it.
pub(crate) const SOLD_OUT_FOR: Span = Span::from_minutes(3);
/// Milliseconds in an hour.
const MILLIS_PER_HOUR: u128 = 3_600_000;

impl Cloud {
    pub(crate) fn new(plan: &CloudPlan) -> Result<Self, ScenarioError> {
        let offers = catalogue::read(plan)?;
        let stock = catalogue::stock(plan, &offers);
        let named = offers.iter().enumerate();
        Ok(Self {
            by_name: named.map(|(index, it)| (it.name.clone(), index)).collect(),
            offers,
            machines: BTreeMap::new(),
            stock,
            sold_out_until: BTreeMap::new(),
            launched: FxHashMap::default(),
            launches: 0,
            ended_cost_micros: 0,
        })
    }

    /// What all machines cost up to now, in micro-dollars.
    #[must_use]
    pub fn cost_micros(&self, now: Time) -> u128 {
        let running = self.machines.values().map(|machine| machine.cost_micros(now));
        self.ended_cost_micros + running.sum::<u128>()
    }

    /// What the machines cost together now.
    #[must_use]
    pub fn price(&self) -> Price {
        let prices = self.machines.values().map(|machine| machine.price.micros_per_hour());
        Price::from_micros_per_hour(prices.sum())
    }

    /// How many machines were ever launched.
    #[must_use]
    pub fn launches(&self) -> u64 {
        self.launches
    }

    /// The machine meant by an engine: by its own name, or by that of its claim.
    pub(crate) fn meant(&self, claim: &Name, provider_id: Option<&Arc<str>>) -> Option<Arc<str>> {
        match provider_id {
            Some(id) => self.machines.contains_key(id).then(|| id.clone()),
            None => {
                let mut machines = self.machines.values();
                let found = machines.find(|machine| machine.claim == *claim)?;
                Some(found.machine.provider_id.clone())
            }
        }
    }

    /// Notes that a machine is on its way out. Returns whether that is news; `None` if there is no
    /// such machine.
    pub(crate) fn end(&mut self, provider_id: &str) -> Option<bool> {
        let machine = self.machines.get_mut(provider_id)?;
        let is_news = !machine.machine.is_ending;
        Arc::make_mut(&mut machine.machine).is_ending = true;
        if let Some((_, known)) = self.launched.get_mut(&machine.claim_uid) {
            Arc::make_mut(known).is_ending = true;
        }
        Some(is_news)
    }

    /// Notes that a machine is gone.
    pub(crate) fn remove(&mut self, provider_id: &str, now: Time) {
        if let Some(machine) = self.machines.remove(provider_id) {
            self.ended_cost_micros += machine.cost_micros(now);
            if let Some(left) = self.stock.get_mut(&machine.offering) {
                *left += 1;
            }
        }
    }

    /// The machines as listed to the engine.
    pub(crate) fn list(&self) -> Vec<Arc<Machine>> {
        let alive = self.machines.values().filter(|machine| !machine.is_dead);
        alive.map(|machine| machine.machine.clone()).collect()
    }

    /// What it sells, with only that available which there really is.
    pub(crate) fn in_stock(&self) -> Arc<[InstanceType]> {
        let mut offers = self.offers.to_vec();
        for (index, left) in &self.stock {
            let offering = &mut offers[index.instance_type].offerings[index.offering];
            offering.available &= *left > 0;
        }
        offers.into()
    }

    /// Lets an offering that some machine uses run out.
    pub(crate) fn sell_out(&mut self, pick: usize) {
        let count = self.machines.len();
        if count > 0
            && let Some(machine) = self.machines.values().nth(pick % count)
        {
            self.stock.insert(machine.offering, 0);
        }
    }

    /// Forgets what was sold out long ago. Returns whether that changed the offers.
    pub(crate) fn refresh(&mut self, now: Time) -> bool {
        let back: Vec<OfferingIndex> = self
            .sold_out_until
            .iter()
            .filter(|(_, until)| **until <= now)
            .map(|(index, _)| *index)
            .collect();
        if back.is_empty() {
            return false;
        }
        for index in &back {
            self.sold_out_until.remove(index);
        }
        self.mark(&back, true);
        true
    }

    /// The next time something that is sold out may be back.
    pub(crate) fn next_refresh(&self) -> Option<Time> {
        self.sold_out_until.values().min().copied()
    }

    fn mark(&mut self, which: &[OfferingIndex], available: bool) {
        let mut offers = self.offers.to_vec();
        for index in which {
            offers[index.instance_type].offerings[index.offering].available = available;
        }
        self.offers = offers.into();
    }
}

impl CloudMachine {
    fn cost_micros(&self, now: Time) -> u128 {
        let lifetime = u128::from(now.since(self.launched_at).millis());
        u128::from(self.price.micros_per_hour()) * lifetime / MILLIS_PER_HOUR
    }
}
