//! A new node while it is being filled.

use kerf_model::requirements::Requirements;
use smallvec::SmallVec;

use crate::packing::item::{Item, PackingContext};
use crate::reading::demand::DemandId;
use crate::reading::instance_type::PoolOffering;
use crate::reading::occupancy::Occupancy;
use crate::units::{self, Amounts};

/// A new node and what is meant for it.
#[derive(Clone, Debug)]
pub(crate) struct Bin {
    pub(crate) template: usize,
    /// The instance type it was filled for.
    pub(crate) instance_type: usize,
    pub(crate) requirements: Requirements,
    demands: SmallVec<[DemandId; 4]>,
    /// What the pods ask for together.
    pub(crate) requests: Amounts,
    /// What is left on the instance type it was filled for.
    pub(crate) free: Amounts,
    pub(crate) occupancy: Occupancy,
    pub(crate) contents: Vec<Content>,
    /// The reservation it comes out of. Without one, reserved offerings are not for it.
    pub(crate) reserved: Option<usize>,
}

/// Pods of an item on a new node.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    pub(crate) item: Item,
    pub(crate) count: i64,
}

/// An instance type a new node may be, and what it would cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) instance_type: usize,
    /// Place of the offering among the instance type's.
    pub(crate) offering: usize,
    pub(crate) price_micros: u64,
}

impl Bin {
    /// An empty node of an instance type.
    pub(crate) fn empty(instance_type: usize, context: &PackingContext<'_>) -> Self {
        let made_of = &context.instance_types.all[instance_type];
        Self {
            template: made_of.template,
            instance_type,
            requirements: context.instance_types.templates[made_of.template].requirements.clone(),
            demands: SmallVec::new(),
            requests: Amounts::new(),
            free: made_of.free.clone(),
            occupancy: Occupancy::with_ports(&made_of.daemons.ports),
            contents: Vec::new(),
            reserved: None,
        }
    }

    /// How many pods of an item fit, up to so many, without leaving the instance type.
    pub(crate) fn headroom(
        &self,
        item: &Item,
        context: &PackingContext<'_>,
        started: &[bool],
        most: i64,
    ) -> i64 {
        // Asked first because a node that is nearly full says no to almost everything.
        let class = &context.classes[item.class];
        let mut headroom = units::times_fitting(&class.requests, &self.free).min(most);
        if headroom == 0 || !self.is_offered(item, context) {
            return 0;
        }
        if headroom > 0 {
            let variant = &class.variants[item.variant];
            let allowed =
                self.occupancy.headroom(class, variant, context.groups, context.hosts, started);
            headroom = headroom.min(allowed);
        }
        if headroom > 0
            && !self.demands.contains(&item.demand)
            && !self.can_also(item.demand, context)
        {
            return 0;
        }
        if headroom > 0 && context.instance_types.templates[self.template].has_min_values {
            headroom = self.headroom_by_min_values(item, context, headroom);
        }
        headroom
    }

    /// Whether pods of an item may stand there, as far as the node itself is concerned.
    pub(crate) fn accepts(&self, item: &Item, context: &PackingContext<'_>) -> bool {
        self.is_offered(item, context)
            && (self.demands.contains(&item.demand) || self.can_also(item.demand, context))
    }

    /// Whether the instance type it was filled for is one for the item.
    pub(crate) fn is_offered(&self, item: &Item, context: &PackingContext<'_>) -> bool {
        let instance_type =
            u32::try_from(self.instance_type).expect("the index of an instance type");
        context.demands.get(item.demand).instance_types.contains(instance_type)
    }

    /// Takes a pod of an item off and keeps its headroom, unless it is the last of its kind there.
    pub(crate) fn keep_headroom(&mut self, item: &Item) -> bool {
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
    pub(crate) fn add(&mut self, item: &Item, context: &PackingContext<'_>, count: i64) {
        match self.contents.iter().position(|content| content.item.is_same(item)) {
            None => self.add_new(item, context, count),
            Some(position) => {
                self.count_in(item, context, count);
                self.contents[position].count += count;
            }
        }
    }

    /// Puts pods of an item there of which none are there yet.
    pub(crate) fn add_new(&mut self, item: &Item, context: &PackingContext<'_>, count: i64) {
        self.count_in(item, context, count);
        self.contents.push(Content { item: item.clone(), count });
    }

    fn count_in(&mut self, item: &Item, context: &PackingContext<'_>, count: i64) {
        let class = &context.classes[item.class];
        if !self.demands.contains(&item.demand) {
            let wanted = &context.demands.get(item.demand).requirements;
            self.requirements.narrow(wanted, context.vocabulary);
            self.demands.push(item.demand);
        }
        units::add(&mut self.requests, &class.requests, count);
        units::subtract(&mut self.free, &class.requests, count);
        self.occupancy.add(class, &class.variants[item.variant], context.hosts, count);
    }

    /// The same node with other contents.
    pub(crate) fn with_contents(
        &self,
        contents: Vec<Content>,
        context: &PackingContext<'_>,
    ) -> Self {
        let mut bin = Self { reserved: self.reserved, ..Self::empty(self.instance_type, context) };
        for Content { item, count } in &contents {
            bin.count_in(item, context, *count);
        }
        bin.contents = contents;
        bin
    }

    /// The same node as another instance type of its pool, if that can hold what is meant for it.
    pub(crate) fn become_type(
        &self,
        instance_type: usize,
        context: &PackingContext<'_>,
        started: &[bool],
    ) -> Option<Self> {
        let mut other = Self { reserved: self.reserved, ..Self::empty(instance_type, context) };
        for Content { item, count } in &self.contents {
            if other.headroom(item, context, started, *count) < *count {
                return None;
            }
            other.add_new(item, context, *count);
        }
        Some(other)
    }

    /// The demands of its pods.
    pub(crate) fn demands(&self) -> &[DemandId] {
        &self.demands
    }

    /// Whether another node asks for the same.
    fn is_like(&self, other: &Bin) -> bool {
        (self.instance_type, self.reserved) == (other.instance_type, other.reserved)
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

    /// The price of the cheapest instance type it may be.
    pub(crate) fn price_micros(&self, context: &PackingContext<'_>) -> u64 {
        self.cheapest_choice(context).map_or(0, |choice| choice.price_micros)
    }

    /// The cheapest instance type it may be.
    pub(crate) fn cheapest_type(&self, context: &PackingContext<'_>) -> usize {
        self.cheapest_choice(context).map_or(self.instance_type, |choice| choice.instance_type)
    }

    fn cheapest_choice(&self, context: &PackingContext<'_>) -> Option<Choice> {
        let mut cheapest: Option<Choice> = None;
        for index in &context.instance_types.templates[self.template].by_price {
            let least = context.instance_types.all[*index].offerings[0].price_micros;
            if cheapest.is_some_and(|cheapest| cheapest.price_micros <= least) {
                break;
            }
            let is_held = self.is_held_by(*index, context);
            let choice = is_held.then(|| self.choice(*index, &self.requirements, context));
            let choices = cheapest.into_iter().chain(choice.flatten());
            cheapest = choices.min_by_key(|choice| choice.price_micros);
        }
        cheapest
    }

    /// Whether what is meant for the node can run as an instance type.
    fn is_held_by(&self, index: usize, context: &PackingContext<'_>) -> bool {
        units::fits(&self.requests, &context.instance_types.all[index].free)
            && !self.occupancy_clashes(index, context)
    }

    /// A node with these requirements as one instance type. Where the pool has limits, nothing
    /// larger than the instance type it was filled for, so that what is counted against the limits
    /// is what will be launched.
    fn choice(
        &self,
        index: usize,
        requirements: &Requirements,
        context: &PackingContext<'_>,
    ) -> Option<Choice> {
        let instance_type = &context.instance_types.all[index];
        let made_for = &context.instance_types.all[self.instance_type].capacity;
        let within_limits = || {
            let limits = &context.instance_types.templates[self.template].limits;
            limits.iter().all(|(resource, _)| {
                let at = |amounts: &Amounts| amounts.get(*resource).copied().unwrap_or(0);
                at(&instance_type.capacity) <= at(made_for)
            })
        };
        if !within_limits()
            || !instance_type.requirements.intersects(requirements, context.vocabulary)
        {
            return None;
        }
        let offering = instance_type.offerings.iter().position(|offering| {
            self.may_use(offering)
                && requirements.intersects(&offering.requirements, context.vocabulary)
        })?;
        let price_micros = instance_type.offerings[offering].price_micros;
        Some(Choice { instance_type: index, offering, price_micros })
    }

    /// Whether an offering is for this node: one bought out of a reservation is bound to it, since
    /// falling back would cost more.
    fn may_use(&self, offering: &PoolOffering) -> bool {
        offering.reservation == self.reserved
    }

    /// Whether no instance type could meet a demand beside those it has.
    pub(crate) fn contradicts(&self, demand: DemandId, context: &PackingContext<'_>) -> bool {
        let wanted = &context.demands.get(demand).requirements;
        !self.requirements.compatible(wanted, context.well_known, context.vocabulary)
    }

    /// Whether one more demand can be met by the same instance type.
    fn can_also(&self, demand: DemandId, context: &PackingContext<'_>) -> bool {
        let wanted = &context.demands.get(demand).requirements;
        if wanted.is_empty() {
            return true;
        }
        if !self.requirements.compatible(wanted, context.well_known, context.vocabulary) {
            return false;
        }
        let mut both = self.requirements.clone();
        both.narrow(wanted, context.vocabulary);
        let instance_type = &context.instance_types.all[self.instance_type];
        instance_type.requirements.intersects(&both, context.vocabulary)
            && instance_type.offerings.iter().any(|offering| {
                self.may_use(offering)
                    && both.intersects(&offering.requirements, context.vocabulary)
            })
    }

    /// Every instance type that can hold what is meant for the node and that a launch may name,
    /// cheapest first.
    pub(crate) fn choices(&self, context: &PackingContext<'_>) -> Vec<Choice> {
        let holding = self.priced_choices(&self.requirements, context).into_iter();
        let holding = holding.filter(|choice| self.is_held_by(choice.instance_type, context));
        context.options(holding).collect()
    }

    /// Every instance type that a node with these requirements may be while its pods fit, cheapest
    /// first.
    pub(crate) fn priced_choices(
        &self,
        requirements: &Requirements,
        context: &PackingContext<'_>,
    ) -> Vec<Choice> {
        let all = &context.instance_types.all;
        let instance_types = context.instance_types.templates[self.template].instance_types.clone();
        let choices = instance_types.filter_map(|index| self.choice(index, requirements, context));
        let mut choices: Vec<Choice> = choices.collect();
        choices.sort_by_key(|choice| {
            let index = choice.instance_type;
            (choice.price_micros, all[index].type_index, index)
        });
        choices
    }

    /// Whether daemons on another instance type would take a port that a pod here needs.
    fn occupancy_clashes(&self, instance_type: usize, context: &PackingContext<'_>) -> bool {
        let mut items = self.contents.iter().map(|content| &content.item);
        items.any(|item| self.clashes_with(item, instance_type, context))
    }

    /// Whether daemons on another instance type would take a port that pods of an item need.
    fn clashes_with(
        &self,
        item: &Item,
        instance_type: usize,
        context: &PackingContext<'_>,
    ) -> bool {
        if instance_type == self.instance_type {
            return false;
        }
        let taken = &context.instance_types.all[instance_type].daemons.ports;
        let mut wanted = context.classes[item.class].shape.host_ports.iter();
        !taken.is_empty() && wanted.any(|wanted| taken.iter().any(|taken| taken.clashes(wanted)))
    }

    /// The same for the pods here with those of an item.
    pub(crate) fn would_clash(
        &self,
        item: &Item,
        instance_type: usize,
        context: &PackingContext<'_>,
    ) -> bool {
        self.clashes_with(item, instance_type, context)
            || self.occupancy_clashes(instance_type, context)
    }

    /// Whether a pod here needs a port of the node.
    pub(crate) fn has_host_ports(&self, context: &PackingContext<'_>) -> bool {
        let classes = self.contents.iter().map(|content| &context.classes[content.item.class]);
        classes.into_iter().any(|class| !class.shape.host_ports.is_empty())
    }
}
