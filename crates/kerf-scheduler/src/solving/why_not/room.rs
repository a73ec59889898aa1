//! Pods that are larger than what the nearest pool can give.

use std::collections::BTreeSet;

use kerf_model::instance_type::InstanceType;
use kerf_model::nearest::nearest;
use kerf_model::quantity::Quantity;
use kerf_model::resources::{EPHEMERAL_STORAGE, human, human_noun, human_pair};
use kerf_model::taint::{TaintEffect, untolerated};

use super::miss::Miss;
use super::stock::Exclusion;
use super::{Measured, phrase};
use crate::reading::instance_type::PoolInstanceType;
use crate::reading::placement::PlacementReader;

/// Resources of devices that people ask for, told apart from slips of the pen also where no pool
/// has them.
const DEVICES: [&str; 7] = [
    "nvidia.com/gpu",
    "amd.com/gpu",
    "habana.ai/gaudi",
    "aws.amazon.com/neuron",
    "aws.amazon.com/neuroncore",
    "vpc.amazonaws.com/efa",
    "vpc.amazonaws.com/pod-eni",
];

/// A resource of which no instance type has enough.
struct Shortage<'a> {
    resource: &'a str,
    index: usize,
    asked: Quantity,
    most: Quantity,
    /// The instance type that has the most.
    largest: &'a PoolInstanceType,
}

impl<'a> Measured<'a> {
    /// Resources that a pool does not have at all are further away than larger nodes.
    pub(super) fn room_weight(&self) -> u32 {
        match self.shortage(&self.sold_within(&[])) {
            Some(shortage) if shortage.most.is_zero() => 30,
            _ => 5,
        }
    }

    /// The resource that no instance type has enough of, and what to do about it.
    pub(super) fn room_text(&self, misses: &[Miss]) -> String {
        let sold = self.sold_within(misses);
        let Some(shortage) = self.shortage(&sold) else { return self.combined_text(&sold) };
        if shortage.most.is_zero() && !is_of_every_node(shortage.resource) {
            return self.device_text(&shortage);
        }
        let daemons = at(&shortage.largest.daemons.requests, shortage.index);
        let whole = at(&shortage.largest.free, shortage.index) + daemons;
        if daemons > 0 && at(&self.class.requests, shortage.index) <= whole {
            return self.daemon_text(&shortage, daemons, whole);
        }
        self.too_large_text(&shortage)
    }

    /// The instance types it could use but for their size.
    fn sold_within(&self, misses: &[Miss]) -> Vec<&'a PoolInstanceType> {
        let mut wanted = self.variant.node.clone();
        for miss in misses {
            if let Miss::Label(key) = miss {
                wanted.remove(*key);
            }
        }
        self.sold(&wanted)
    }

    /// The first resource that is short; one that is not there at all before others.
    fn shortage(&self, sold: &[&'a PoolInstanceType]) -> Option<Shortage<'a>> {
        let units = &self.solver.base.units;
        let asked = self.class.requests.iter().enumerate();
        let short = asked.filter_map(|(index, asked)| {
            let largest = sold.iter().max_by_key(|it| at(&it.free, index))?;
            let most = at(&largest.free, index).max(0);
            (*asked > most).then(|| Shortage {
                resource: units.name_at(index),
                index,
                asked: units.quantity(index, *asked),
                most: units.quantity(index, most),
                largest,
            })
        });
        short.min_by_key(|shortage| !shortage.most.is_zero())
    }

    fn too_large_text(&self, shortage: &Shortage<'_>) -> String {
        let Shortage { resource, asked, most, largest, .. } = shortage;
        let (noun, name) = (human_noun(resource), self.pool_name());
        let (asked, has) = human_pair(resource, *asked, *most);
        let node = self.type_name(largest);
        let is_there = format!(
            "the pod needs {asked}{noun} and the largest node it could use of NodePool {name}, \
             {node}, leaves {has} to pods"
        );
        if *resource == EPHEMERAL_STORAGE {
            let class = &self.solver.base.problem.pools[self.template.pool].pool.template.spec;
            let class = &class.node_class;
            return format!(
                "{is_there}; enlarge the root volume in {} {} (spec.blockDeviceMappings)",
                class.kind, class.name
            );
        }
        match self.exclusion(|it| self.would_hold(it)) {
            Some(Exclusion { instance_type, ruled_out }) => {
                format!("{is_there}; {instance_type} would hold it, which {ruled_out}")
            }
            None => format!("{is_there}; ask for at most {has}"),
        }
    }

    /// A resource that no instance type of the pool has.
    fn device_text(&self, shortage: &Shortage<'_>) -> String {
        let Shortage { resource, asked, .. } = shortage;
        let known = self.known_resources();
        let name = self.pool_name();
        if !known.contains(resource) {
            let known = known.iter().copied().chain(DEVICES);
            if let Some(meant) = nearest(resource, known).filter(|near| near != resource) {
                return format!(
                    "the pod asks for the resource {resource}, which no node has; write {meant}"
                );
            }
            if !DEVICES.contains(resource) {
                return format!(
                    "no instance type has the resource {resource}; if a device plugin adds it, \
                     declare it with a NodeOverlay (spec.capacity)"
                );
            }
        }
        let most = self.most_of_any(resource);
        if !most.is_zero() && most < *asked {
            let (asked, most) = human_pair(resource, *asked, most);
            return format!(
                "the pod needs {asked} and no instance type has more than {most}; ask for less"
            );
        }
        let asked = human(resource, *asked);
        match self.exclusion(|it| self.would_hold(it)) {
            Some(Exclusion { instance_type, ruled_out }) => {
                format!("the pod needs {asked}; {instance_type} has it, which {ruled_out}")
            }
            None => format!(
                "the pod needs {asked} and no instance type of NodePool {name} has any; allow types \
                 that do"
            ),
        }
    }

    /// Daemon sets take what the pod would need.
    fn daemon_text(&self, shortage: &Shortage<'_>, daemons: i64, whole: i64) -> String {
        let Shortage { resource, index, asked, largest, .. } = shortage;
        let units = &self.solver.base.units;
        let said = |amount: i64| human(resource, units.quantity(*index, amount));
        let (noun, node) = (human_noun(resource), self.type_name(largest));
        let most = match self.heaviest_daemon(*index, largest) {
            Some((name, amount)) => {
                let (all, own) = (said(daemons), said(amount));
                if all == own {
                    format!("DaemonSet {name} takes {own} of it")
                } else {
                    format!("DaemonSets take {all} of it, {name} {own}")
                }
            }
            None => format!("DaemonSets take {} of it", said(daemons)),
        };
        let asked = human(resource, *asked);
        let change = match self.exclusion(|it| self.would_hold(it)) {
            Some(Exclusion { instance_type, ruled_out }) => {
                format!("{instance_type} would hold it, which {ruled_out}")
            }
            None => "let the DaemonSet ask for less, or keep it off these nodes".to_owned(),
        };
        format!(
            "the pod needs {asked}{noun}, the largest node it could use of NodePool {}, {node}, has \
             {}, and {most}; {change}",
            self.pool_name(),
            said(whole)
        )
    }

    /// Of the daemon sets that run on an instance type the one that takes most.
    fn heaviest_daemon(&self, index: usize, on: &PoolInstanceType) -> Option<(String, i64)> {
        let base = self.solver.base;
        let problem = base.problem;
        let taints = &problem.pools[self.template.pool].pool.template.spec.taints;
        let hard = || taints.iter().filter(|taint| taint.effect != TaintEffect::PreferNoSchedule);
        let (mut vocabulary, mut units) = (base.vocabulary.clone(), base.units.clone());
        let mut heaviest: Option<(String, i64)> = None;
        for (place, shape) in problem.daemons.iter().enumerate() {
            let normalization = problem.settings.label_rules.normalization();
            let mut reader = PlacementReader { normalization, vocabulary: &mut vocabulary };
            let alternatives = reader.alternatives(shape);
            let runs = alternatives.is_none_or(|alternatives| {
                alternatives.iter().any(|wanted| on.requirements.intersects(wanted, &vocabulary))
            });
            let amount = at(&units.asked(&shape.requests), index);
            let is_more = heaviest.as_ref().is_none_or(|(_, most)| amount > *most);
            if runs && is_more && untolerated(hard(), &shape.tolerations).next().is_none() {
                let name = problem.daemon_names.get(place)?;
                heaviest = Some((name.to_string(), amount));
            }
        }
        heaviest.filter(|(_, amount)| *amount > 0)
    }

    /// Each resource would fit, and no node has all of them.
    fn combined_text(&self, sold: &[&'a PoolInstanceType]) -> String {
        let units = &self.solver.base.units;
        let asked: Vec<(usize, i64)> = self.class.requests.iter().copied().enumerate().collect();
        let asked: Vec<(usize, i64)> = asked.into_iter().filter(|(_, asked)| *asked > 0).collect();
        let has =
            |it: &&PoolInstanceType, (index, asked): (usize, i64)| at(&it.free, index) >= asked;
        let pairs = asked
            .iter()
            .enumerate()
            .flat_map(|(place, one)| asked[place + 1..].iter().map(move |other| [*one, *other]));
        let pair = pairs
            .into_iter()
            .find(|pair| !sold.iter().any(|it| pair.iter().all(|wanted| has(it, *wanted))));
        let together = pair.map_or(asked.clone(), Vec::from);
        let said = together.iter().map(|(index, amount)| {
            let resource = units.name_at(*index);
            human(resource, units.quantity(*index, *amount)) + &human_noun(resource)
        });
        let said: Vec<String> = said.collect();
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        let name = self.pool_name();
        let said = phrase::listed(&said, "and");
        match self.exclusion(|it| self.would_hold(it)) {
            Some(Exclusion { instance_type, ruled_out }) => format!(
                "the pod needs {said} together; {instance_type} has them, which {ruled_out}"
            ),
            None => format!(
                "the pod needs {said} together, which no instance type of NodePool {name} has; ask \
                 for less of one"
            ),
        }
    }

    /// Whether an instance type has what the pod asks for, whatever the pool thinks of it.
    fn would_hold(&self, instance_type: &InstanceType) -> bool {
        let wanted = self.variant.node.iter();
        let base = self.solver.base;
        let known = wanted.filter(|it| base.well_known.contains(it.key()));
        let daemons = self.types().first().map(|it| base.units.to_list(&it.daemons.requests));
        let mut requests = self.class.shape.requests.clone();
        requests.add(&daemons.unwrap_or_default());
        known.into_iter().all(|wanted| {
            let text = base.vocabulary.key_text(wanted.key());
            let is_told = instance_type.requirements.iter().any(|entry| entry.key == text);
            !is_told || self.type_admits(instance_type, wanted)
        }) && requests.fits(&instance_type.allocatable())
    }

    /// The most of a resource that any instance type of any pool has.
    fn most_of_any(&self, resource: &str) -> Quantity {
        let pools = self.solver.base.problem.pools.iter();
        let types = pools.flat_map(|pool| pool.instance_types.iter());
        types.map(|it| it.capacity.quantity(resource)).max().unwrap_or_default()
    }

    /// The resources that instance types of any pool have.
    fn known_resources(&self) -> BTreeSet<&'a str> {
        let pools = self.solver.base.problem.pools.iter();
        let types = pools.flat_map(|pool| pool.instance_types.iter());
        types
            .flat_map(|it| it.capacity.iter().filter(|(_, q)| !q.is_zero()))
            .map(|(n, _)| n)
            .collect()
    }

    fn type_name(&self, of: &PoolInstanceType) -> &'a str {
        let pool = &self.solver.base.problem.pools[self.template.pool];
        &pool.instance_types[of.type_index].name
    }
}

fn at(amounts: &crate::units::Amounts, index: usize) -> i64 {
    amounts.get(index).copied().unwrap_or(0)
}

/// Whether every node has some of a resource, so that having none means that it is all taken.
fn is_of_every_node(resource: &str) -> bool {
    use kerf_model::resources::{CPU, MEMORY, PODS};
    matches!(resource, CPU | MEMORY | PODS | EPHEMERAL_STORAGE)
}
