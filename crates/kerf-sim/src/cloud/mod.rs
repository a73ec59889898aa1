//! The cloud: instances of a catalogue, with prices, stock, and delays.

mod catalogue;
mod launch;
mod node_class;

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_engine::event::Instance;
use kerf_engine::observed::Name;
use kerf_engine::time::{Span, Time};
use kerf_model::instance_type::InstanceType;
use kerf_model::price::Price;
use rustc_hash::FxHashMap;

use crate::scenario::{CloudPlan, ScenarioError};

pub(crate) use node_class::{provider, resolve};

/// The cloud.
#[derive(Clone, Debug)]
pub struct Cloud {
    /// What it sells, with what is known to be sold out.
    pub instance_types: Arc<[InstanceType]>,
    /// Every instance that is not gone, by the name nodes carry.
    pub instances: BTreeMap<Arc<str>, CloudInstance>,
    by_name: FxHashMap<String, usize>,
    stock: BTreeMap<OfferingIndex, u32>,
    sold_out_until: BTreeMap<OfferingIndex, Time>,
    launched: FxHashMap<Arc<str>, (Arc<str>, Arc<Instance>)>,
    launches: u64,
    ended_cost_micros: u128,
    /// What offerings cost before their prices changed, and until when; oldest first.
    former_prices: Vec<(Time, OfferingIndex, Price)>,
    /// Instances that went lately: lists may still have them.
    gone_lately: Vec<(Time, CloudInstance)>,
}

/// An offering of an instance type, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct OfferingIndex {
    pub(crate) instance_type: usize,
    pub(crate) offering: usize,
}

/// An instance.
#[derive(Clone, Debug)]
pub struct CloudInstance {
    /// What the engine is told.
    pub instance: Arc<Instance>,
    /// The claim it was launched for.
    pub claim: Name,
    /// The identity of that claim.
    pub claim_uid: Arc<str>,
    /// The pool it was launched for.
    pub pool: Name,
    /// The kind of instance.
    pub instance_type: String,
    /// What it costs.
    pub price: Price,
    /// When it was launched.
    pub launched_at: Time,
    /// Since when it is on its way out, if it is.
    pub ending_since: Option<Time>,
    /// Whether it died: it is still listed for a while, but nothing runs on it.
    pub is_dead: bool,
    /// Whether its kubelet died: the instance runs and is paid for, but nothing starts or ends on
    /// it, and its node is silent.
    pub has_dead_kubelet: bool,
    /// Whether the cloud has announced that it takes it.
    pub is_announced: bool,
    pub(crate) offering: OfferingIndex,
}

/// How long an offering counts as sold out after a launch failed for want of it.
pub(crate) const SOLD_OUT_FOR: Span = Span::from_minutes(3);
/// How long a list may still have an instance that is gone, at most.
const LISTED_AFTER_END: Span = Span::from_minutes(5);
/// Milliseconds in an hour.
const MILLIS_PER_HOUR: u128 = 3_600_000;

impl Cloud {
    pub(crate) fn new(plan: &CloudPlan) -> Result<Self, ScenarioError> {
        let instance_types = catalogue::read(plan)?;
        let stock = catalogue::stock(plan, &instance_types);
        let named = instance_types.iter().enumerate();
        Ok(Self {
            by_name: named.map(|(index, it)| (it.name.clone(), index)).collect(),
            instance_types,
            instances: BTreeMap::new(),
            stock,
            sold_out_until: BTreeMap::new(),
            launched: FxHashMap::default(),
            launches: 0,
            ended_cost_micros: 0,
            former_prices: Vec::new(),
            gone_lately: Vec::new(),
        })
    }

    /// What all instances cost up to now, in micro-dollars.
    #[must_use]
    pub fn cost_micros(&self, now: Time) -> u128 {
        let running = self.instances.values().map(|instance| instance.cost_micros(now));
        self.ended_cost_micros + running.sum::<u128>()
    }

    /// What the instances cost together now.
    #[must_use]
    pub fn price(&self) -> Price {
        let prices = self.instances.values().map(|instance| instance.price.micros_per_hour());
        Price::from_micros_per_hour(prices.sum())
    }

    /// How many instances were ever launched.
    #[must_use]
    pub fn launches(&self) -> u64 {
        self.launches
    }

    /// The instance meant by an engine: by its own name, or by that of its claim.
    pub(crate) fn meant(&self, claim: &Name, provider_id: Option<&Arc<str>>) -> Option<Arc<str>> {
        match provider_id {
            Some(id) => self.instances.contains_key(id).then(|| id.clone()),
            None => {
                let mut instances = self.instances.values();
                let found = instances.find(|instance| instance.claim == *claim)?;
                Some(found.instance.provider_id.clone())
            }
        }
    }

    /// Notes that an instance is on its way out. Returns whether that is news; `None` if there is no
    /// such instance.
    pub(crate) fn end(&mut self, provider_id: &str, now: Time) -> Option<bool> {
        let instance = self.instances.get_mut(provider_id)?;
        let is_news = !instance.instance.is_ending;
        instance.ending_since.get_or_insert(now);
        Arc::make_mut(&mut instance.instance).is_ending = true;
        if let Some((_, known)) = self.launched.get_mut(&instance.claim_uid) {
            Arc::make_mut(known).is_ending = true;
        }
        Some(is_news)
    }

    /// Notes that an instance is gone.
    pub(crate) fn remove(&mut self, provider_id: &str, now: Time) {
        if let Some(instance) = self.instances.remove(provider_id) {
            self.ended_cost_micros += instance.cost_micros(now);
            if let Some(left) = self.stock.get_mut(&instance.offering) {
                *left += 1;
            }
            self.gone_lately.retain(|(at, _)| now.since(*at) <= LISTED_AFTER_END);
            self.gone_lately.push((now, instance));
        }
    }

    /// The instances as listed to the engine: those there were at that time, in the state they were
    /// in then. Clouds tell of the past.
    pub(crate) fn list(&self, at: Time) -> Vec<Arc<Instance>> {
        let alive = self.instances.values().filter(|instance| !instance.is_dead);
        let gone = self.gone_lately.iter().filter(|(gone_at, _)| *gone_at > at);
        let all = alive.chain(gone.map(|(_, instance)| instance));
        let there = all.filter(|instance| instance.launched_at <= at);
        let state = |instance: &CloudInstance| {
            let mut listed = instance.instance.clone();
            if instance.ending_since.is_some_and(|since| since > at) {
                Arc::make_mut(&mut listed).is_ending = false;
            }
            listed
        };
        there.map(state).collect()
    }

    /// How many instances live that were launched for a claim.
    pub(crate) fn count_of(&self, claim_uid: &str) -> usize {
        let alive = self.instances.values().filter(|it| !it.is_dead && it.ending_since.is_none());
        alive.filter(|instance| *instance.claim_uid == *claim_uid).count()
    }

    /// Changes what instances of a type cost from now on, to so many percent.
    pub(crate) fn reprice(&mut self, pick: usize, percent: u64, now: Time) {
        let mut instance_types = self.instance_types.to_vec();
        let instance_type = pick % instance_types.len();
        let offerings = Arc::make_mut(&mut instance_types[instance_type].offerings);
        for (number, offering) in offerings.iter_mut().enumerate() {
            let index = OfferingIndex { instance_type, offering: number };
            self.former_prices.push((now, index, offering.price));
            let micros = offering.price.micros_per_hour().saturating_mul(percent) / 100;
            offering.price = Price::from_micros_per_hour(micros.max(1));
        }
        self.instance_types = instance_types.into();
    }

    /// The least and the most that an offering cost between two times, in micro-dollars an hour.
    pub(crate) fn price_bounds(&self, index: OfferingIndex, from: Time, to: Time) -> (u64, u64) {
        let former = self.former_prices.iter().filter(|(_, of, _)| *of == index);
        let former = former.map(|(until, _, price)| (Some(*until), *price));
        let now = self.instance_types[index.instance_type].offerings[index.offering].price;
        let (mut least, mut most) = (u64::MAX, 0);
        for (until, price) in former.chain([(None, now)]) {
            if until.is_some_and(|until| until < from) {
                continue;
            }
            least = least.min(price.micros_per_hour());
            most = most.max(price.micros_per_hour());
            // It held until after the end: those that followed came too late.
            if until.is_some_and(|until| until > to) {
                break;
            }
        }
        (least, most)
    }

    /// What it sells, with only that available which there really is.
    pub(crate) fn in_stock(&self) -> Arc<[InstanceType]> {
        let mut instance_types = self.instance_types.to_vec();
        for (index, left) in &self.stock {
            let offerings = &mut instance_types[index.instance_type].offerings;
            Arc::make_mut(offerings)[index.offering].available &= *left > 0;
        }
        instance_types.into()
    }

    /// Lets an offering that some instance uses run out.
    pub(crate) fn sell_out(&mut self, pick: usize) {
        let count = self.instances.len();
        if count > 0
            && let Some(instance) = self.instances.values().nth(pick % count)
        {
            self.stock.insert(instance.offering, 0);
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
        let mut instance_types = self.instance_types.to_vec();
        for index in which {
            let offerings = &mut instance_types[index.instance_type].offerings;
            Arc::make_mut(offerings)[index.offering].available = available;
        }
        self.instance_types = instance_types.into();
    }
}

impl CloudInstance {
    fn cost_micros(&self, now: Time) -> u128 {
        let lifetime = u128::from(now.since(self.launched_at).millis());
        u128::from(self.price.micros_per_hour()) * lifetime / MILLIS_PER_HOUR
    }
}
