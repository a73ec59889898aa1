//! What pods ask of a node, and which instance types and nodes could answer; worked out once for
//! all pods that ask the same.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use kerf_model::bitset::BitSet;
use kerf_model::requirements::Requirements;
use kerf_model::taint::TaintSet;
use kerf_model::vocabulary::{KeyId, KeySet, ValueId, Vocabulary};
use rustc_hash::FxHashMap;

use crate::reading::cluster::Cluster;
use crate::reading::instance_type::InstanceTypes;
use crate::reading::node_kind::Asked;

/// The place of a demand in [`Demands`].
pub(crate) type DemandId = usize;

/// A demand and its answers.
#[derive(Debug)]
pub(crate) struct Demand {
    pub(crate) requirements: Requirements,
    /// Instance types that accept it.
    pub(crate) instance_types: BitSet,
    /// The same with their cheapest prices.
    pub(crate) priced: Vec<(u32, u64)>,
    /// Nodes that accept it.
    pub(crate) nodes: BitSet,
    /// By key: where its pods could stand.
    domains: RwLock<FxHashMap<KeyId, Arc<[Domain]>>>,
}

/// A domain that pods of a demand could stand in, with the instance types in it, largest first, and
/// the nodes in it.
#[derive(Debug)]
pub(crate) struct Domain {
    pub(crate) value: ValueId,
    pub(crate) instance_types: Vec<u32>,
    pub(crate) nodes: BitSet,
    pub(crate) cheapest_micros: u64,
}

/// What a demand asks for.
type Wanted = (Requirements, TaintSet);

/// Demands worked out for any what-if about a cluster. Their answers follow from the cluster alone,
/// so it makes no difference which what-if comes first.
#[derive(Debug, Default)]
pub(crate) struct KnownDemands {
    known: RwLock<FxHashMap<Wanted, Arc<Demand>>>,
}

/// The demands of one what-if, numbered.
#[derive(Debug, Default)]
pub(crate) struct Demands {
    demands: Vec<Arc<Demand>>,
    numbers: FxHashMap<Wanted, DemandId>,
}

/// What demands are matched against.
pub(crate) struct Supply<'a> {
    pub(crate) instance_types: &'a InstanceTypes,
    pub(crate) cluster: &'a Cluster,
    pub(crate) well_known: &'a KeySet,
    pub(crate) vocabulary: &'a Vocabulary,
    pub(crate) known: &'a KnownDemands,
}

impl Demands {
    pub(crate) fn get(&self, id: DemandId) -> &Demand {
        &self.demands[id]
    }

    /// The demand for a node with these requirements and taints, if it was asked before.
    pub(crate) fn known(
        &self,
        requirements: &Requirements,
        tolerated: &TaintSet,
    ) -> Option<&Demand> {
        let id = self.numbers.get(&(requirements.clone(), tolerated.clone()))?;
        Some(&self.demands[*id])
    }

    /// The demand for a node with these requirements and at most these taints.
    pub(crate) fn find(
        &mut self,
        requirements: &Requirements,
        tolerated: &TaintSet,
        supply: &Supply<'_>,
    ) -> DemandId {
        let wanted = (requirements.clone(), tolerated.clone());
        if let Some(known) = self.numbers.get(&wanted) {
            return *known;
        }
        let id = self.demands.len();
        self.demands.push(supply.demand(&wanted));
        self.numbers.insert(wanted, id);
        id
    }

    /// The domains of a key that pods of a demand could stand in, in order of value.
    pub(crate) fn domains(&self, id: DemandId, key: KeyId, supply: &Supply<'_>) -> Arc<[Domain]> {
        let demand = &self.demands[id];
        if let Some(known) = read(&demand.domains).get(&key) {
            return known.clone();
        }
        let domains: Arc<[Domain]> = domains_of(demand, key, supply).into();
        write(&demand.domains).insert(key, domains.clone());
        domains
    }
}

impl Supply<'_> {
    fn demand(&self, wanted: &Wanted) -> Arc<Demand> {
        if let Some(known) = read(&self.known.known).get(wanted) {
            return known.clone();
        }
        let demand = Arc::new(self.answer(wanted));
        write(&self.known.known).insert(wanted.clone(), demand.clone());
        demand
    }

    /// Looks at every instance type and every kind of nodes.
    fn answer(&self, (requirements, tolerated): &Wanted) -> Demand {
        let priced = self.instance_types.accepting(
            requirements,
            tolerated,
            self.well_known,
            self.vocabulary,
        );
        let instance_types = priced.iter().map(|(index, _)| *index).collect();
        let asked = Asked::of(requirements);
        let mut nodes = BitSet::new();
        for members in &self.cluster.kinds {
            if members.kind.taints.is_subset(tolerated)
                && asked.is_met_by_kind(&members.kind, self.vocabulary)
            {
                nodes.or_with(&members.nodes);
            }
        }
        if asked.names_hosts() {
            let host = |node: u32| self.cluster.read(node as usize).host;
            nodes.retain(|node| asked.is_met_by_host(host(node), self.vocabulary));
        }
        let requirements = requirements.clone();
        Demand { requirements, instance_types, priced, nodes, domains: RwLock::default() }
    }
}

/// A thread that panicked while it held the lock left the map whole: each entry is inserted at
/// once.
fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

fn domains_of(demand: &Demand, key: KeyId, supply: &Supply<'_>) -> Vec<Domain> {
    let mut domains: Vec<Domain> = Vec::new();
    for index in demand.instance_types.iter() {
        let instance_type = &supply.instance_types.all[index as usize];
        let template = &supply.instance_types.templates[instance_type.template];
        let mut both = template.requirements.clone();
        both.narrow(&demand.requirements, supply.vocabulary);
        let offered = instance_type.domains(key, supply.vocabulary);
        let offered = if offered.is_empty() {
            let own = both.find(key).filter(|own| !own.is_complement());
            own.map(|own| own.values().iter().collect()).unwrap_or_default()
        } else {
            offered
        };
        let wanted = both.find(key).cloned();
        for value in offered {
            if !wanted.as_ref().is_none_or(|wanted| wanted.has(value, supply.vocabulary)) {
                continue;
            }
            let offering = instance_type.offerings.iter().find(|offering| {
                both.intersects(&offering.requirements, supply.vocabulary)
                    && offering
                        .requirements
                        .find(key)
                        .is_none_or(|own| own.has(value, supply.vocabulary))
            });
            let Some(offering) = offering else { continue };
            let domain = domain_of(&mut domains, value);
            domain.instance_types.push(index);
            domain.cheapest_micros = domain.cheapest_micros.min(offering.price_micros);
        }
    }
    // Where the domain is the node, nobody asks.
    for members in &supply.cluster.kinds {
        if let Some(value) = members.kind.label(key)
            && members.nodes.intersects(&demand.nodes)
        {
            let mut nodes = members.nodes.clone();
            nodes.and_with(&demand.nodes);
            domain_of(&mut domains, value).nodes.or_with(&nodes);
        }
    }
    for domain in &mut domains {
        domain.instance_types.sort_by_key(|index| {
            std::cmp::Reverse(supply.instance_types.all[*index as usize].free.first().copied())
        });
    }
    domains.sort_by_key(|domain| domain.value);
    domains
}

fn domain_of(domains: &mut Vec<Domain>, value: ValueId) -> &mut Domain {
    let position = domains.iter().position(|domain| domain.value == value);
    let position = position.unwrap_or_else(|| {
        domains.push(Domain {
            value,
            instance_types: Vec::new(),
            nodes: BitSet::new(),
            cheapest_micros: u64::MAX,
        });
        domains.len() - 1
    });
    &mut domains[position]
}
