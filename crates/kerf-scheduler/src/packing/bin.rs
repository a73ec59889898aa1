//! A new node while it is being filled.

use kerf_model::min_values::review_min_values;
use kerf_model::requirements::Requirements;
use smallvec::SmallVec;

use crate::packing::item::{Item, World};
use crate::reading::demand::DemandId;
use crate::reading::machine::Offer;
use crate::reading::occupancy::Occupancy;
use crate::units::{self, Amounts};

/// A new node and what is meant for it.
#[derive(Clone, Debug)]
pub(crate) struct Bin {
    pub(crate) template: usize,
    /// The machine it was filled for.
    pub(crate) machine: usize,
    pub(crate) requirements: Requirements,
    demands: SmallVec<[DemandId; 4]>,
    /// What the pods ask for together.
    pub(crate) requests: Amounts,
    /// What is left on the machine it was filled for.
    pub(crate) free: Amounts,
    pub(crate) occupancy: Occupancy,
    pub(crate) contents: Vec<Content>,
    /// The reservation it comes out of. Without one, reserved offers are not for it.
    pub(crate) reserved: Option<usize>,
}

/// Pods of an item on a new node.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    pub(crate) item: Item,
    pub(crate) count: i64,
}

/// A machine a new node may be, and what it would cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) machine: usize,
    /// Place of the offer among the machine's.
    pub(crate) offer: usize,
    pub(crate) price_micros: u64,
}

impl Bin {
    /// An empty node of a machine.
    pub(crate) fn empty(machine: usize, world: &World<'_>) -> Self {
        let made_of = &world.machines.all[machine];
        Self {
            template: made_of.template,
            machine,
            requirements: world.machines.templates[made_of.template].requirements.clone(),
            demands: SmallVec::new(),
            requests: Amounts::new(),
            free: made_of.free.clone(),
            occupancy: Occupancy::with_ports(&made_of.daemons.ports),
            contents: Vec::new(),
            reserved: None,
        }
    }

    /// How many pods of an item fit, up to so many, without leaving the machine.
    pub(crate) fn room(&self, item: &Item, world: &World<'_>, started: &[bool], most: i64) -> i64 {
        // Asked first because a node that is nearly full says no to almost everything.
        let class = &world.classes[item.class];
        let mut room = units::times_fitting(&class.requests, &self.free).min(most);
        if room == 0 || !self.is_offered(item, world) {
            return 0;
        }
        if room > 0 {
            let variant = &class.variants[item.variant];
            let allowed = self.occupancy.room(class, variant, world.groups, world.hosts, started);
            room = room.min(allowed);
        }
        if room > 0 && !self.demands.contains(&item.demand) && !self.can_also(item.demand, world) {
            return 0;
        }
        if room > 0 && world.machines.templates[self.template].has_min_values {
            room = self.room_by_min_values(item, world, room);
        }
        room
    }

    /// Whether pods of an item may stand there, as far as the node itself is concerned.
    pub(crate) fn accepts(&self, item: &Item, world: &World<'_>) -> bool {
        self.is_offered(item, world)
            && (self.demands.contains(&item.demand) || self.can_also(item.demand, world))
    }

    /// Whether the machine it was filled for is one for the item.
    fn is_offered(&self, item: &Item, world: &World<'_>) -> bool {
        let machine = u32::try_from(self.machine).expect("a machine's index");
        world.demands.get(item.demand).machines.contains(machine)
    }

    /// Takes a pod of an item off and keeps its room, unless it is the last of its kind there.
    pub(crate) fn keep_room(&mut self, item: &Item) -> bool {
        let content = self.contents.iter_mut().find(|content| content.item.is_same(item));
        match content.filter(|content| content.count > 1) {
            Some(content) => {
                content.count -= 1;
                true
            }
            None => false,
        }
    }

    /// Puts pods of an item there.
    pub(crate) fn add(&mut self, item: &Item, world: &World<'_>, count: i64) {
        match self.contents.iter().position(|content| content.item.is_same(item)) {
            None => self.add_new(item, world, count),
            Some(position) => {
                self.count_in(item, world, count);
                self.contents[position].count += count;
            }
        }
    }

    /// Puts pods of an item there of which none are there yet.
    pub(crate) fn add_new(&mut self, item: &Item, world: &World<'_>, count: i64) {
        self.count_in(item, world, count);
        self.contents.push(Content { item: item.clone(), count });
    }

    fn count_in(&mut self, item: &Item, world: &World<'_>, count: i64) {
        let class = &world.classes[item.class];
        if !self.demands.contains(&item.demand) {
            let wanted = &world.demands.get(item.demand).requirements;
            self.requirements.narrow(wanted, world.vocabulary);
            self.demands.push(item.demand);
        }
        units::add(&mut self.requests, &class.requests, count);
        units::subtract(&mut self.free, &class.requests, count);
        self.occupancy.add(class, &class.variants[item.variant], world.hosts, count);
    }

    /// The demands of its pods.
    pub(crate) fn demands(&self) -> &[DemandId] {
        &self.demands
    }

    /// Whether another node asks for the same.
    fn is_like(&self, other: &Bin) -> bool {
        (self.machine, self.reserved) == (other.machine, other.reserved)
            && self.requests == other.requests
            && self.requirements == other.requirements
            && self.contents.len() == other.contents.len()
            && self.contents.iter().zip(&other.contents).all(|(a, b)| a.item.is_same(&b.item))
    }

    /// The node before, if that asks for the same: nodes that were filled alike stand side by side,
    /// and what was found out about one holds for the next.
    pub(crate) fn like_the_last(bins: &[Bin], index: usize) -> Option<usize> {
        index.checked_sub(1).filter(|last| bins[*last].is_like(&bins[index]))
    }

    /// The price of the cheapest machine it may be.
    pub(crate) fn price_micros(&self, world: &World<'_>) -> u64 {
        self.cheapest_choice(world).map_or(0, |choice| choice.price_micros)
    }

    /// The cheapest machine it may be.
    pub(crate) fn cheapest_machine(&self, world: &World<'_>) -> usize {
        self.cheapest_choice(world).map_or(self.machine, |choice| choice.machine)
    }

    fn cheapest_choice(&self, world: &World<'_>) -> Option<Choice> {
        let mut cheapest: Option<Choice> = None;
        for index in &world.machines.templates[self.template].by_price {
            let least = world.machines.all[*index].offers[0].price_micros;
            if cheapest.is_some_and(|cheapest| cheapest.price_micros <= least) {
                break;
            }
            let choices = cheapest.into_iter().chain(self.choice(*index, world));
            cheapest = choices.min_by_key(|choice| choice.price_micros);
        }
        cheapest
    }

    /// The node as one machine, if that can hold what is meant for it. Where the pool has limits,
    /// nothing larger than the machine it was filled for, so that what is counted against the
    /// limits is what will be launched.
    fn choice(&self, index: usize, world: &World<'_>) -> Option<Choice> {
        let machine = &world.machines.all[index];
        let made_for = &world.machines.all[self.machine].capacity;
        let within_limits = || {
            let limits = &world.machines.templates[self.template].limits;
            limits.iter().all(|(resource, _)| {
                let at = |amounts: &Amounts| amounts.get(*resource).copied().unwrap_or(0);
                at(&machine.capacity) <= at(made_for)
            })
        };
        if !units::fits(&self.requests, &machine.free)
            || !within_limits()
            || !machine.requirements.intersects(&self.requirements, world.vocabulary)
            || self.occupancy_clashes(index, world)
        {
            return None;
        }
        let offer = machine.offers.iter().position(|offer| {
            self.may_use(offer)
                && self.requirements.intersects(&offer.requirements, world.vocabulary)
        })?;
        let price_micros = machine.offers[offer].price_micros;
        Some(Choice { machine: index, offer, price_micros })
    }

    /// Whether an offer is for this node: one bought out of a reservation is bound to it, since
    /// falling back would cost more.
    fn may_use(&self, offer: &Offer) -> bool {
        offer.reservation == self.reserved
    }

    /// Whether one more demand can be met by the same machine.
    fn can_also(&self, demand: DemandId, world: &World<'_>) -> bool {
        let wanted = &world.demands.get(demand).requirements;
        if wanted.is_empty() {
            return true;
        }
        if !self.requirements.compatible(wanted, world.well_known, world.vocabulary) {
            return false;
        }
        let mut both = self.requirements.clone();
        both.narrow(wanted, world.vocabulary);
        let machine = &world.machines.all[self.machine];
        machine.requirements.intersects(&both, world.vocabulary)
            && machine.offers.iter().any(|offer| {
                self.may_use(offer) && both.intersects(&offer.requirements, world.vocabulary)
            })
    }

    /// The most pods of an item after which enough different values are still possible.
    fn room_by_min_values(&self, item: &Item, world: &World<'_>, room: i64) -> i64 {
        if world.best_effort_min_values {
            return room;
        }
        let holds = |count: i64| {
            let mut tried = self.clone();
            tried.add(item, world, count);
            tried.meets_min_values(&tried.choices(world), world)
        };
        // More pods only ever leave fewer machines, so the answer can be searched for.
        let (mut good, mut bad) = (0, room + 1);
        while bad - good > 1 {
            let middle = good + (bad - good) / 2;
            if holds(middle) { good = middle } else { bad = middle }
        }
        good
    }

    /// Whether these machines offer the different values the pool asks for.
    pub(crate) fn meets_min_values(&self, choices: &[Choice], world: &World<'_>) -> bool {
        let types = choices.iter().map(|choice| &world.machines.all[choice.machine].requirements);
        review_min_values(&self.requirements, types).is_satisfied()
    }

    /// Every machine that can hold what is meant for the node, cheapest first, one per instance
    /// type.
    pub(crate) fn choices(&self, world: &World<'_>) -> Vec<Choice> {
        let machines = world.machines.templates[self.template].machines.clone();
        let mut choices: Vec<Choice> =
            machines.filter_map(|index| self.choice(index, world)).collect();
        choices.sort_by_key(|choice| {
            (choice.price_micros, world.machines.all[choice.machine].instance_type, choice.machine)
        });
        let mut seen = kerf_model::bitset::BitSet::new();
        choices.retain(|choice| {
            let instance_type = world.machines.all[choice.machine].instance_type;
            seen.insert(u32::try_from(instance_type).expect("fewer than 2³² types"))
        });
        choices.truncate(world.options_max);
        choices
    }

    /// Whether daemons on another machine would take a port that a pod here needs.
    fn occupancy_clashes(&self, machine: usize, world: &World<'_>) -> bool {
        if machine == self.machine {
            return false;
        }
        let taken = &world.machines.all[machine].daemons.ports;
        let wanted = self
            .contents
            .iter()
            .flat_map(|content| world.classes[content.item.class].shape.host_ports.iter());
        let mut wanted = wanted.filter(|wanted| taken.iter().any(|taken| taken.clashes(wanted)));
        !taken.is_empty() && wanted.next().is_some()
    }
}
