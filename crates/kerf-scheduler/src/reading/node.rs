//! Nodes that exist, with what is left on them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::sync::Arc;

use kerf_model::node::Node;
use kerf_model::pod::{PodShape, PodVolume};
use kerf_model::requirements::Requirements;
use kerf_model::taint::TaintSet;
use kerf_model::vocabulary::{KeySet, Vocabulary};

use crate::packing::bin::Content;
use crate::packing::item::Item;
use crate::problem::{PlacementProblem, PoolWithTypes};
use crate::reading::class::{Class, Variant};
use crate::reading::daemon::{Daemon, DaemonLoad};
use crate::reading::group::Groups;
use crate::reading::instance_type::InstanceTypeReader;
use crate::reading::occupancy::{HostGroups, Occupancy};
use crate::units::{self, Amounts};

/// A node of a problem.
#[derive(Debug)]
pub(crate) struct NodeState {
    /// Which node of the problem.
    pub(crate) node: usize,
    read: Arc<ReadNode>,
    /// What is left there with the counts of this problem's groups, where there are any.
    counted: Option<Box<Headroom>>,
}

/// What was read of a node; serves every problem the node is in, as long as it does not change.
#[derive(Debug)]
pub(crate) struct ReadNode {
    pub(crate) labels: Requirements,
    pub(crate) taints: TaintSet,
    /// Which pool of the problem it belongs to.
    pub(crate) pool: Option<usize>,
    /// What it counts against the limits of its pool.
    pub(crate) capacity: Amounts,
    headroom: Headroom,
    /// The shapes of its pods by number, those that are going away left out.
    pub(crate) bound: Vec<u32>,
}

impl Deref for NodeState {
    type Target = ReadNode;

    fn deref(&self) -> &ReadNode {
        &self.read
    }
}

impl NodeState {
    pub(crate) fn new(node: usize, read: Arc<ReadNode>) -> Self {
        Self { node, read, counted: None }
    }

    /// What is left on it.
    pub(crate) fn headroom(&self) -> &Headroom {
        self.counted.as_deref().unwrap_or(&self.read.headroom)
    }

    /// The pods on it, to be counted.
    pub(crate) fn occupancy_mut(&mut self) -> &mut Occupancy {
        let read = &self.read;
        let counted = self.counted.get_or_insert_with(|| Box::new(read.headroom.clone()));
        &mut counted.occupancy
    }
}

/// What is left on a node, while pods are put there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Headroom {
    /// What is left for pods, daemons still to come taken off.
    pub(crate) free: Amounts,
    pub(crate) occupancy: Occupancy,
    /// Shared until a pod brings a volume.
    attached: Arc<Attached>,
    /// What was put there.
    pub(crate) contents: Vec<Content>,
}

/// The volumes of a node.
#[derive(Clone, Debug, Default)]
struct Attached {
    /// How many volumes each driver can still attach.
    left: BTreeMap<String, i64>,
    /// The claims whose volumes are attached.
    claims: BTreeSet<String>,
}

impl Attached {
    fn of_limits(limits: &BTreeMap<String, u32>) -> Self {
        let left = limits.iter().map(|(driver, limit)| (driver.clone(), i64::from(*limit)));
        Self { left: left.collect(), claims: BTreeSet::new() }
    }

    fn add(&mut self, volumes: &[PodVolume]) {
        for volume in volumes {
            if self.claims.insert(volume.claim.clone()) {
                let driver = volume.driver.as_ref();
                if let Some(left) = driver.and_then(|driver| self.left.get_mut(driver)) {
                    *left -= 1;
                }
            }
        }
    }
}

/// The nodes of a problem in the order they are filled: those that are up first, then by name.
pub(crate) fn filling_order(problem: &PlacementProblem) -> Vec<usize> {
    let mut order: Vec<usize> = (0..problem.nodes.len()).collect();
    let key = |index: &usize| {
        let node = &problem.nodes[*index];
        (!node.initialized, node.name.as_str())
    };
    // Mostly they come in that order already.
    if !order.is_sorted_by_key(key) {
        order.sort_by(|left, right| key(left).cmp(&key(right)));
    }
    order
}

/// Reads a node. Occupancy is filled in later, when the groups are known.
pub(crate) fn read_node(
    node: &Node,
    pools: &[PoolWithTypes],
    daemons: &[Daemon<'_>],
    reader: &mut InstanceTypeReader<'_>,
    mut number: impl FnMut(&Arc<PodShape>) -> u32,
) -> ReadNode {
    let labels = node.labels.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    let labels = Requirements::from_labels(labels, reader.normalization, reader.vocabulary);
    let mut free = reader.units.offered(&node.allocatable);
    let mut daemons_there = Amounts::new();
    let mut occupancy = Occupancy::default();
    let mut attached = Attached::of_limits(&node.volume_limits);
    for bound in &node.pods {
        let shape = &bound.pod.shape;
        let asked = reader.units.asked(&shape.requests);
        units::subtract(&mut free, &asked, 1);
        if bound.is_daemon {
            units::add(&mut daemons_there, &asked, 1);
        }
        occupancy.note_ports(&shape.host_ports);
        attached.add(&shape.volumes);
    }
    let expected = daemons_to_come(node, &labels, daemons, reader.vocabulary);
    for (index, expected) in expected.iter().enumerate() {
        let there = daemons_there.get(index).copied().unwrap_or(0);
        let missing = (expected - there).max(0);
        if let Some(free) = free.get_mut(index) {
            *free -= missing;
        }
    }
    let staying = node.pods.iter().filter(|pod| !pod.is_leaving);
    ReadNode {
        pool: pools.iter().position(|pool| node.pool.as_ref() == Some(&pool.pool.name)),
        bound: staying.map(|pod| number(&pod.pod.shape)).collect(),
        labels,
        taints: reader.taints.intern(&node.taints),
        capacity: reader.units.offered(&node.capacity),
        headroom: Headroom { free, occupancy, attached: Arc::new(attached), contents: Vec::new() },
    }
}

/// What all daemons that belong on a node take together.
fn daemons_to_come(
    node: &Node,
    labels: &Requirements,
    daemons: &[Daemon<'_>],
    vocabulary: &Vocabulary,
) -> Amounts {
    let none = KeySet::new();
    let mut load = DaemonLoad::default();
    for daemon in daemons {
        if daemon.tolerates(&node.taints)
            && daemon.any_alternative(|wanted| labels.compatible(wanted, &none, vocabulary))
        {
            load.add(daemon);
        }
    }
    load.requests
}

impl Headroom {
    /// Of a node that is gone: overdrawn, so that nothing fits.
    pub(crate) fn none() -> Self {
        Self { free: smallvec::smallvec![-1], ..Self::default() }
    }

    /// How many pods of a class still fit, whatever their demand says of the node.
    pub(crate) fn times(
        &self,
        class: &Class,
        variant: &Variant,
        groups: &Groups,
        hosts: &HostGroups,
        started: &[bool],
    ) -> i64 {
        if !units::fits(&class.requests, &self.free) {
            return 0;
        }
        let headroom = units::times_fitting(&class.requests, &self.free);
        let headroom =
            headroom.min(self.occupancy.headroom(class, variant, groups, hosts, started));
        headroom.min(self.volume_headroom(class))
    }

    /// Replicas that share claims attach them once, so it is all or nothing.
    fn volume_headroom(&self, class: &Class) -> i64 {
        let mut wanted: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for volume in &class.shape.volumes {
            if let Some(driver) = &volume.driver
                && !self.attached.claims.contains(&volume.claim)
            {
                wanted.entry(driver).or_default().insert(&volume.claim);
            }
        }
        let fits = wanted.iter().all(|(driver, claims)| {
            self.attached.left.get(*driver).is_none_or(|left| claims.len() as i64 <= *left)
        });
        if fits { i64::MAX } else { 0 }
    }

    /// Puts pods of a class there.
    pub(crate) fn add(&mut self, item: &Item, class: &Class, hosts: &HostGroups, count: i64) {
        units::subtract(&mut self.free, &class.requests, count);
        self.occupancy.add(class, &class.variants[item.variant], hosts, count);
        if !class.shape.volumes.is_empty() {
            Arc::make_mut(&mut self.attached).add(&class.shape.volumes);
        }
        self.contents.push(Content { item: item.clone(), count });
    }
}
