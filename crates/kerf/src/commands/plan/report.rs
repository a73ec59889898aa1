//! The answer with names in place of numbers.

use std::fmt;

use kerf_kube::SetAside;
use kerf_model::instance_type::Offering;
use kerf_model::labels::well_known::{CAPACITY_TYPE, ZONE};
use kerf_model::pod::Pod;
use kerf_model::price::Price;
use kerf_model::quantity::Quantity;
use kerf_model::resources::{CPU, MEMORY};
use kerf_scheduler::{NewNode, PlacementProblem, Solution};

/// A plan, ready to be shown.
pub(super) struct Report {
    pub(super) new_nodes: Vec<NewNodeReport>,
    pub(super) existing_nodes: Vec<ExistingNodeReport>,
    pub(super) unschedulable: Vec<Unschedulable>,
    pub(super) price: Price,
    pub(super) lower_bound: Price,
    /// How many pods there were to place.
    pub(super) pod_count: usize,
    /// The nodes there are, where the difference is asked for.
    pub(super) today: Option<Today>,
}

/// The nodes there are, and what they cost.
#[derive(Clone, Copy)]
pub(super) struct Today {
    pub(super) nodes: usize,
    /// Nodes of them without a known price: somebody else's.
    pub(super) unpriced: usize,
    pub(super) price: Price,
}

/// A node to launch.
pub(super) struct NewNodeReport {
    pub(super) node_pool: String,
    pub(super) instance_type: String,
    pub(super) zone: String,
    pub(super) capacity_type: String,
    pub(super) price: Price,
    /// Names of the types it may be, cheapest first.
    pub(super) options: Vec<String>,
    pub(super) cpu: Use,
    pub(super) memory: Use,
    /// GPUs and whatever else of their kind is asked for.
    pub(super) devices: Vec<DeviceUse>,
    pub(super) pods: Vec<String>,
}

/// How much is asked for of something that device plugins offer.
pub(super) struct DeviceUse {
    /// The resource: `nvidia.com/gpu`.
    pub(super) name: String,
    pub(super) amount: Use,
}

/// How much of a resource is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Use {
    pub(super) asked: Quantity,
    pub(super) of: Quantity,
}

/// Pods for a node that exists.
pub(super) struct ExistingNodeReport {
    pub(super) name: String,
    pub(super) pods: Vec<String>,
}

/// A pod without a place.
pub(super) struct Unschedulable {
    pub(super) pod: String,
    pub(super) reason: String,
}

impl Report {
    /// The solution of the problem in names.
    pub(super) fn new(
        problem: &PlacementProblem,
        solution: &Solution,
        set_aside: &[SetAside],
    ) -> Self {
        // In the order of the input, where replicas are counted up.
        let names = |pods: &[usize]| -> Vec<String> {
            let mut pods: Vec<&Pod> = pods.iter().map(|pod| &problem.pods[*pod]).collect();
            pods.sort_by_key(|pod| (pod.created_at, &pod.uid));
            pods.into_iter().map(full_name).collect()
        };
        let existing = solution.existing.iter().map(|placement| ExistingNodeReport {
            name: problem.nodes[placement.node].name.clone(),
            pods: names(&placement.pods),
        });
        let unplaced = solution.unplaced.iter().map(|unplaced| Unschedulable {
            pod: full_name(&problem.pods[unplaced.pod]),
            reason: unplaced.reason.clone(),
        });
        let aside = set_aside.iter().map(|aside| Unschedulable {
            pod: aside.pod.to_string(),
            reason: aside.reason.clone(),
        });
        Self {
            new_nodes: solution
                .new_nodes
                .iter()
                .filter_map(|node| new_node(problem, node, names(&node.pods)))
                .collect(),
            existing_nodes: existing.collect(),
            unschedulable: unplaced.chain(aside).collect(),
            price: solution.price,
            lower_bound: solution.lower_bound,
            pod_count: problem.pods.len() + set_aside.len(),
            today: None,
        }
    }
}

impl Today {
    /// Nodes by their prices.
    pub(super) fn of(prices: &[Price]) -> Self {
        let unpriced = prices.iter().filter(|price| **price == Price::ZERO).count();
        let sum = |sum: Price, price: &Price| sum.checked_add(*price).unwrap_or(sum);
        Self { nodes: prices.len(), unpriced, price: prices.iter().fold(Price::ZERO, sum) }
    }
}

impl Use {
    /// In thousandths of what there is, rounded to the nearest; all of it where there is nothing.
    pub(super) fn permille(self) -> u32 {
        let (asked, of) = (self.asked.nanos().max(0), self.of.nanos());
        if of <= 0 {
            return if asked > 0 { 1000 } else { 0 };
        }
        let permille = asked.saturating_mul(1000).saturating_add(of / 2) / of;
        u32::try_from(permille).unwrap_or(u32::MAX)
    }
}

impl fmt::Display for Use {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.asked, self.of)
    }
}

impl DeviceUse {
    /// Whether it is a GPU, whoever makes it.
    pub(super) fn is_gpu(&self) -> bool {
        self.short_name() == "gpu"
    }

    /// The name without who made it.
    pub(super) fn short_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }
}

/// A node as it will most likely be: its cheapest option. A node without options cannot be.
fn new_node(
    problem: &PlacementProblem,
    node: &NewNode,
    pods: Vec<String>,
) -> Option<NewNodeReport> {
    let pool = &problem.pools[node.pool];
    let first = node.options.first()?;
    let instance_type = &pool.instance_types[first.instance_type];
    let offering = &instance_type.offerings[first.offering];
    let allocatable = instance_type.allocatable_of(offering);
    let usage =
        |name: &str| Use { asked: node.requests.quantity(name), of: allocatable.quantity(name) };
    // Resources of nobody's domain are Kubernetes' own.
    let devices =
        node.requests.iter().filter(|(name, asked)| name.contains('/') && !asked.is_zero());
    let devices =
        devices.map(|(name, _)| DeviceUse { name: name.to_string(), amount: usage(name) });
    let option = |option: &kerf_scheduler::TypeOption| {
        pool.instance_types[option.instance_type].name.clone()
    };
    Some(NewNodeReport {
        node_pool: pool.pool.name.clone(),
        instance_type: instance_type.name.clone(),
        zone: label(offering, ZONE),
        capacity_type: label(offering, CAPACITY_TYPE),
        price: first.price,
        options: node.options.iter().map(option).collect(),
        cpu: usage(CPU),
        memory: usage(MEMORY),
        devices: devices.collect(),
        pods,
    })
}

pub(super) fn label(offering: &Offering, key: &str) -> String {
    let entry = offering.requirements.iter().find(|entry| entry.key == key);
    entry.and_then(|entry| entry.values.first()).cloned().unwrap_or_default()
}

pub(super) fn full_name(pod: &Pod) -> String {
    format!("{}/{}", pod.shape.namespace, pod.name)
}
