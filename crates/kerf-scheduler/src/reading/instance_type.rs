//! Instance types: what each pool can be made of, ready to be compared.

use std::cmp::Reverse;
use std::sync::Arc;

use kerf_model::instance_type::InstanceType;
use kerf_model::labels::{Normalization, node_class_key, well_known};
use kerf_model::requirements::Requirements;
use kerf_model::taint::{TaintSet, TaintVocabulary};
use kerf_model::vocabulary::{KeyId, KeySet, ValueId, Vocabulary};

use crate::problem::{PlacementProblem, PoolWithTypes};
use crate::reading::daemon::{Daemon, DaemonLoad};
use crate::reading::known_entries::{KnownEntries, KnownLists};
use crate::units::{self, Amounts, Units};

/// A pool, ready to be compared.
#[derive(Debug)]
pub(crate) struct Template {
    /// Which pool of the problem.
    pub(crate) pool: usize,
    /// Higher is tried first.
    pub(crate) weight: u32,
    /// Requirements and labels of its nodes.
    pub(crate) requirements: Requirements,
    pub(crate) taints: TaintSet,
    pub(crate) has_min_values: bool,
    /// What its nodes may have together, by resource index; `nodes` apart.
    pub(crate) limits: Vec<(usize, i64)>,
    pub(crate) nodes_max: Option<i64>,
    /// Where its instance types start and end.
    pub(crate) instance_types: std::ops::Range<usize>,
    /// Its instance types, by the price of their cheapest offering.
    pub(crate) by_price: Vec<usize>,
    /// The most that any of them leaves to pods, resource by resource.
    pub(crate) most: Amounts,
}

/// An instance type as one pool gets it.
#[derive(Debug)]
pub(crate) struct PoolInstanceType {
    pub(crate) template: usize,
    pub(crate) type_index: usize,
    pub(crate) requirements: Requirements,
    /// What is left for pods after the daemons.
    pub(crate) free: Amounts,
    /// What the daemons take.
    pub(crate) daemons: DaemonLoad,
    pub(crate) capacity: Amounts,
    /// Cheapest first; at least one.
    pub(crate) offerings: Vec<PoolOffering>,
}

/// A way to buy an instance type that can be had.
#[derive(Debug)]
pub(crate) struct PoolOffering {
    pub(crate) index: usize,
    pub(crate) requirements: Arc<Requirements>,
    pub(crate) price_micros: u64,
    /// A reservation it comes out of: an index into the reservations of the problem.
    pub(crate) reservation: Option<usize>,
}

/// Everything instance types are made of.
#[derive(Debug, Default)]
pub(crate) struct InstanceTypes {
    pub(crate) templates: Vec<Template>,
    pub(crate) all: Vec<PoolInstanceType>,
    /// How much is left of each reservation, by id.
    pub(crate) reservations: Vec<(String, u32)>,
    /// The weights of the pools, the highest first: each is filled before the next.
    pub(crate) weights: Vec<u32>,
}

/// What reading instance types needs.
pub(crate) struct InstanceTypeReader<'a> {
    pub(crate) vocabulary: &'a mut Vocabulary,
    pub(crate) normalization: &'a Normalization,
    pub(crate) units: &'a mut Units,
    pub(crate) taints: &'a mut TaintVocabulary,
    pub(crate) well_known: &'a KeySet,
}

/// What all instance types of a pool have in common.
struct Origin<'a> {
    template: usize,
    requirements: &'a Requirements,
    /// The same for a node that has come up.
    once_up: Requirements,
    /// Daemons that its taints let run.
    daemons: Vec<&'a Daemon<'a>>,
}

/// What instance types listed last, so that the same is not read again.
#[derive(Default)]
struct Known<'p> {
    labels: KnownEntries<'p>,
    offerings: KnownLists<'p>,
}

impl InstanceTypeReader<'_> {
    /// Reads every dynamic pool of the problem.
    pub(crate) fn read(
        &mut self,
        problem: &PlacementProblem,
        daemons: &[Daemon<'_>],
    ) -> InstanceTypes {
        let mut instance_types = InstanceTypes::default();
        let mut known = Known::default();
        for (index, pool) in problem.pools.iter().enumerate() {
            if pool.pool.sizing == kerf_model::pool::Sizing::Dynamic {
                self.read_pool(index, problem, daemons, &mut known, &mut instance_types);
            }
        }
        let weights = instance_types.templates.iter().map(|template| template.weight);
        instance_types.weights = weights.collect();
        instance_types.weights.sort_unstable_by_key(|weight| Reverse(*weight));
        instance_types.weights.dedup();
        instance_types
    }

    fn read_pool<'p>(
        &mut self,
        index: usize,
        problem: &'p PlacementProblem,
        daemons: &[Daemon<'_>],
        known: &mut Known<'p>,
        instance_types: &mut InstanceTypes,
    ) {
        let pool = &problem.pools[index];
        let template = &pool.pool.template;
        let mut labels: Vec<(&str, &str)> =
            template.labels.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let class = &template.spec.node_class;
        let class_key = node_class_key(&class.group, &class.kind);
        labels.push((well_known::NODE_POOL, &pool.pool.name));
        labels.push((&class_key, &class.name));
        let mut requirements =
            Requirements::from_labels(labels, self.normalization, self.vocabulary);
        let entries = &template.spec.requirements;
        let Ok(own) = Requirements::from_entries(entries, self.normalization, self.vocabulary)
        else {
            return;
        };
        requirements.narrow(&own, self.vocabulary);
        let start = instance_types.all.len();
        // Daemons may select nodes that have come up; a new node will have, in the end.
        let up = [(well_known::REGISTERED, "true"), (well_known::INITIALIZED, "true")];
        let mut once_up = Requirements::from_labels(up, self.normalization, self.vocabulary);
        once_up.narrow(&requirements, self.vocabulary);
        let daemons = daemons.iter().filter(|daemon| daemon.tolerates(&template.spec.taints));
        let origin = Origin {
            template: instance_types.templates.len(),
            requirements: &requirements,
            once_up,
            daemons: daemons.collect(),
        };
        for (type_index, instance_type) in pool.instance_types.iter().enumerate() {
            self.read_type(&origin, type_index, instance_type, known, instance_types);
        }
        let (limits, nodes_max) = self.limits(pool);
        let mut by_price: Vec<usize> = (start..instance_types.all.len()).collect();
        by_price
            .sort_by_key(|index| (instance_types.all[*index].offerings[0].price_micros, *index));
        let mut most = Amounts::new();
        for instance_type in &instance_types.all[start..] {
            units::raise_to(&mut most, &instance_type.free);
        }
        instance_types.templates.push(Template {
            most,
            pool: index,
            weight: pool.pool.weight,
            has_min_values: requirements.has_min_values(),
            requirements,
            taints: self.taints.intern(&template.spec.taints),
            limits,
            nodes_max,
            instance_types: start..instance_types.all.len(),
            by_price,
        });
    }

    /// One instance type for each way its offerings differ in what they leave to pods.
    fn read_type<'p>(
        &mut self,
        origin: &Origin<'_>,
        type_index: usize,
        instance_type: &'p InstanceType,
        known: &mut Known<'p>,
        instance_types: &mut InstanceTypes,
    ) {
        let entries = &instance_type.requirements;
        let read = known.labels.read(entries, self.normalization, self.vocabulary);
        let Ok(requirements) = read else { return };
        if !origin.requirements.intersects(&requirements, self.vocabulary) {
            return;
        }
        let offered = self.read_offerings(origin, instance_type, known, instance_types);
        if offered.is_empty() {
            return;
        }
        let daemons = self.daemons_on(origin, &requirements);
        let capacity = self.units.offered(&instance_type.capacity);
        for (mut free, mut offerings) in offered {
            offerings.sort_by_key(|offering| (offering.price_micros, offering.index));
            units::subtract(&mut free, &daemons.requests, 1);
            instance_types.all.push(PoolInstanceType {
                template: origin.template,
                type_index,
                requirements: requirements.clone(),
                free,
                daemons: daemons.clone(),
                capacity: capacity.clone(),
                offerings,
            });
        }
    }

    /// The offerings of a type that the pool can use, by what they leave to pods and daemons.
    fn read_offerings<'p>(
        &mut self,
        origin: &Origin<'_>,
        instance_type: &'p InstanceType,
        known: &mut Known<'p>,
        instance_types: &mut InstanceTypes,
    ) -> Vec<(Amounts, Vec<PoolOffering>)> {
        let usual = self.units.offered(&instance_type.allocatable());
        let mut offered: Vec<(Amounts, Vec<PoolOffering>)> = Vec::new();
        for (index, offering) in instance_type.offerings.iter().enumerate() {
            if !offering.available {
                continue;
            }
            let entries = &offering.requirements;
            let read = known.offerings.read(entries, self.normalization, self.vocabulary);
            let Ok(requirements) = read else { continue };
            if !origin.requirements.intersects(&requirements, self.vocabulary) {
                continue;
            }
            let reservation = match &offering.reservation {
                None => None,
                Some(reservation) if reservation.remaining == 0 => continue,
                Some(reservation) => {
                    Some(instance_types.reservation(&reservation.id, reservation.remaining))
                }
            };
            let price_micros = offering.price.micros_per_hour();
            let usable = PoolOffering { index, requirements, price_micros, reservation };
            let own = (!offering.is_plain())
                .then(|| self.units.offered(&instance_type.allocatable_of(offering)));
            let allocatable = own.as_ref().unwrap_or(&usual);
            match offered.iter_mut().find(|(known, _)| known == allocatable) {
                Some((_, offerings)) => offerings.push(usable),
                None => offered.push((allocatable.clone(), vec![usable])),
            }
        }
        offered
    }

    /// What the daemons take on an instance type with these labels.
    fn daemons_on(&self, origin: &Origin<'_>, instance_type: &Requirements) -> DaemonLoad {
        let mut load = DaemonLoad::default();
        for daemon in &origin.daemons {
            if daemon.any_alternative(|wanted| {
                origin.once_up.compatible(wanted, self.well_known, self.vocabulary)
                    && instance_type.intersects(wanted, self.vocabulary)
            }) {
                load.add(daemon);
            }
        }
        load
    }

    /// The limits of a pool.
    fn limits(&mut self, pool: &PoolWithTypes) -> (Vec<(usize, i64)>, Option<i64>) {
        let amounts = self.units.offered(&pool.pool.limits);
        let mut limits = Vec::new();
        let mut nodes_max = None;
        for (name, _) in pool.pool.limits.iter() {
            let index = self.units.id(name).expect("just read").index();
            let limit = amounts.get(index).copied().unwrap_or(0);
            if name == "nodes" {
                nodes_max = Some(limit);
            } else {
                limits.push((index, limit));
            }
        }
        (limits, nodes_max)
    }
}

impl InstanceTypes {
    /// The weight of the pool of an instance type.
    pub(crate) fn weight(&self, instance_type: usize) -> u32 {
        self.templates[self.all[instance_type].template].weight
    }

    fn reservation(&mut self, id: &str, remaining: u32) -> usize {
        match self.reservations.iter().position(|(known, _)| known == id) {
            Some(known) => {
                let left = &mut self.reservations[known].1;
                *left = (*left).min(remaining);
                known
            }
            None => {
                self.reservations.push((id.to_owned(), remaining));
                self.reservations.len() - 1
            }
        }
    }

    /// The instance types on which some node satisfying these requirements could run, each with its
    /// cheapest price.
    pub(crate) fn accepting(
        &self,
        wanted: &Requirements,
        tolerated: &TaintSet,
        well_known: &KeySet,
        vocabulary: &Vocabulary,
    ) -> Vec<(u32, u64)> {
        let mut accepting = Vec::new();
        for template in &self.templates {
            if !template.taints.is_subset(tolerated)
                || !template.requirements.compatible(wanted, well_known, vocabulary)
            {
                continue;
            }
            let mut both = template.requirements.clone();
            both.narrow(wanted, vocabulary);
            for index in template.instance_types.clone() {
                let instance_type = &self.all[index];
                if instance_type.requirements.intersects(&both, vocabulary)
                    && let Some(offering) = instance_type.cheapest_offering(&both, vocabulary)
                {
                    let index = u32::try_from(index).expect("fewer than 2³² instance types");
                    accepting.push((index, offering.price_micros));
                }
            }
        }
        accepting
    }
}

impl PoolInstanceType {
    /// The cheapest offering a node with these requirements could be bought by.
    pub(crate) fn cheapest_offering(
        &self,
        node: &Requirements,
        vocabulary: &Vocabulary,
    ) -> Option<&PoolOffering> {
        self.offerings.iter().find(|offering| node.intersects(&offering.requirements, vocabulary))
    }

    /// The cheapest offering for such a node that is not out of a used-up reservation.
    pub(crate) fn cheapest_left(
        &self,
        node: &Requirements,
        reservations: &[u32],
        vocabulary: &Vocabulary,
    ) -> Option<&PoolOffering> {
        self.offerings.iter().find(|offering| {
            offering.reservation.is_none_or(|id| reservations[id] > 0)
                && node.intersects(&offering.requirements, vocabulary)
        })
    }

    /// The domains an instance type can be in.
    pub(crate) fn domains(&self, key: KeyId, vocabulary: &Vocabulary) -> Vec<ValueId> {
        let mut domains: Vec<ValueId> = Vec::new();
        for requirements in self
            .offerings
            .iter()
            .map(|offering| &*offering.requirements)
            .chain([&self.requirements])
        {
            if let Some(own) = requirements.find(key).filter(|own| !own.is_complement()) {
                domains.extend(own.values().iter().filter(|value| own.has(*value, vocabulary)));
            }
        }
        domains.sort_unstable();
        domains.dedup();
        domains
    }
}
