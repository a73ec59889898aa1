//! What pods ask of a node, and which machines and nodes could answer; worked out once for all pods
//! that ask the same.

use kerf_model::bitset::BitSet;
use kerf_model::requirements::Requirements;
use kerf_model::taint::TaintSet;
use kerf_model::vocabulary::{KeyId, KeySet, ValueId, Vocabulary};
use rustc_hash::FxHashMap;

use crate::machine::Machines;
use crate::node::NodeState;

/// The place of a demand in [`Demands`].
pub(crate) type DemandId = usize;

/// A demand and its answers.
#[derive(Debug)]
pub(crate) struct Demand {
    pub(crate) requirements: Requirements,
    /// Machines that accept it.
    pub(crate) machines: BitSet,
    /// The same with their cheapest prices.
    pub(crate) priced: Vec<(u32, u64)>,
    /// Nodes that accept it.
    pub(crate) nodes: BitSet,
    /// By key: each domain, with the machines in it, largest first, and the nodes in it.
    domains: FxHashMap<KeyId, Vec<Domain>>,
}

/// A domain that pods of a demand could stand in.
#[derive(Clone, Debug)]
pub(crate) struct Domain {
    pub(crate) value: ValueId,
    pub(crate) machines: Vec<u32>,
    pub(crate) nodes: Vec<u32>,
    pub(crate) cheapest_micros: u64,
}

/// All demands met so far.
#[derive(Debug, Default)]
pub(crate) struct Demands {
    demands: Vec<Demand>,
    known: FxHashMap<(Requirements, TaintSet), DemandId>,
}

/// What demands are matched against.
pub(crate) struct Supply<'a> {
    pub(crate) machines: &'a Machines,
    pub(crate) nodes: &'a [NodeState],
    pub(crate) well_known: &'a KeySet,
    pub(crate) vocabulary: &'a Vocabulary,
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
        let id = self.known.get(&(requirements.clone(), tolerated.clone()))?;
        Some(&self.demands[*id])
    }

    /// The demand for a node with these requirements and at most these taints.
    pub(crate) fn find(
        &mut self,
        requirements: &Requirements,
        tolerated: &TaintSet,
        supply: &Supply<'_>,
    ) -> DemandId {
        if let Some(known) = self.known.get(&(requirements.clone(), tolerated.clone())) {
            return *known;
        }
        let priced = supply.machines.accepting(
            requirements,
            tolerated,
            supply.well_known,
            supply.vocabulary,
        );
        let mut machines = BitSet::new();
        for (index, _) in &priced {
            machines.insert(*index);
        }
        let none = KeySet::new();
        let mut nodes = BitSet::new();
        for (index, node) in supply.nodes.iter().enumerate() {
            if node.taints.is_subset(tolerated)
                && node.labels.compatible(requirements, &none, supply.vocabulary)
            {
                nodes.insert(u32::try_from(index).expect("fewer than 2³² nodes"));
            }
        }
        let requirements = requirements.clone();
        self.known.insert((requirements.clone(), tolerated.clone()), self.demands.len());
        self.demands.push(Demand {
            requirements,
            machines,
            priced,
            nodes,
            domains: FxHashMap::default(),
        });
        self.demands.len() - 1
    }

    /// The domains of a key that pods of a demand could stand in, in order of value.
    pub(crate) fn domains(&mut self, id: DemandId, key: KeyId, supply: &Supply<'_>) -> &[Domain] {
        if !self.demands[id].domains.contains_key(&key) {
            let domains = domains_of(&self.demands[id], key, supply);
            self.demands[id].domains.insert(key, domains);
        }
        &self.demands[id].domains[&key]
    }
}

fn domains_of(demand: &Demand, key: KeyId, supply: &Supply<'_>) -> Vec<Domain> {
    let mut domains: Vec<Domain> = Vec::new();
    for index in demand.machines.iter() {
        let machine = &supply.machines.all[index as usize];
        let template = &supply.machines.templates[machine.template];
        let mut both = template.requirements.clone();
        both.narrow(&demand.requirements, supply.vocabulary);
        let offered = machine.domains(key, supply.vocabulary);
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
            let offer = machine.offers.iter().find(|offer| {
                both.intersects(&offer.requirements, supply.vocabulary)
                    && offer
                        .requirements
                        .find(key)
                        .is_none_or(|own| own.has(value, supply.vocabulary))
            });
            let Some(offer) = offer else { continue };
            let domain = domain_of(&mut domains, value);
            domain.machines.push(index);
            domain.cheapest_micros = domain.cheapest_micros.min(offer.price_micros);
        }
    }
    for index in demand.nodes.iter() {
        let own = supply.nodes[index as usize].labels.find(key);
        if let Some(value) = own.and_then(|own| own.single_value()) {
            domain_of(&mut domains, value).nodes.push(index);
        }
    }
    for domain in &mut domains {
        domain.machines.sort_by_key(|index| {
            std::cmp::Reverse(supply.machines.all[*index as usize].free.first().copied())
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
            machines: Vec::new(),
            nodes: Vec::new(),
            cheapest_micros: u64::MAX,
        });
        domains.len() - 1
    });
    &mut domains[position]
}
