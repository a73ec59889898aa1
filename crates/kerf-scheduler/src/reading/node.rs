//! Nodes that exist, with what is left on them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kerf_model::node::{BoundPod, Node};
use kerf_model::pod::PodVolume;
use kerf_model::requirements::Requirements;
use kerf_model::vocabulary::{KeyId, ValueId, Vocabulary};

use crate::packing::bin::Content;
use crate::packing::item::Item;
use crate::problem::{PlacementProblem, PoolWithTypes};
use crate::reading::class::{Class, Variant};
use crate::reading::daemon::{Daemon, DaemonLoad};
use crate::reading::group::Groups;
use crate::reading::instance_type::InstanceTypeReader;
use crate::reading::node_kind::{Asked, LabelIds, NodeKind, NodeKinds};
use crate::reading::occupancy::{HostGroups, Occupancy};
use crate::reading::shape_table::ShapeTable;
use crate::units::{self, Amounts, Named};

/// What was read of a node; serves every problem the node is in, as long as it does not change.
#[derive(Debug)]
pub(crate) struct ReadNode {
    pub(crate) kind: Arc<NodeKind>,
    pub(crate) host: Option<ValueId>,
    /// Which pool of the problem it belongs to.
    pub(crate) pool: Option<usize>,
    /// What it counts against the limits of its pool.
    pub(crate) capacity: Amounts,
    pub(crate) headroom: Headroom,
    /// The shapes of its pods by number, those that are going away left out.
    pub(crate) bound: Vec<u32>,
}

impl ReadNode {
    /// What a label of it is.
    pub(crate) fn label(&self, key: KeyId) -> Option<ValueId> {
        if key == KeyId::HOSTNAME { self.host } else { self.kind.label(key) }
    }

    /// Whether it is what pods ask for.
    pub(crate) fn meets(&self, asked: &Asked<'_>, vocabulary: &Vocabulary) -> bool {
        asked.is_met_by_kind(&self.kind, vocabulary) && asked.is_met_by_host(self.host, vocabulary)
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

/// What reading nodes needs.
pub(crate) struct NodeReader<'a, 'r> {
    pub(crate) pools: &'a [PoolWithTypes],
    pub(crate) daemons: &'a [Daemon<'a>],
    pub(crate) reader: InstanceTypeReader<'r>,
    pub(crate) kinds: &'a mut NodeKinds,
    pub(crate) shapes: &'a mut ShapeTable,
    pub(crate) pod_labels: &'a mut Vocabulary,
}

impl NodeReader<'_, '_> {
    /// Reads a node. Pods are counted for groups later, when those are known.
    pub(crate) fn read(&mut self, node: &Node) -> ReadNode {
        let (labels, host) = self.labels(node);
        let mut named = Named::default();
        let units = &mut *self.reader.units;
        let mut free = units.offered_noting(&node.allocatable, &mut named);
        let mut daemons_there = Amounts::new();
        let mut occupancy = Occupancy::default();
        let mut attached = Attached::of_limits(&node.volume_limits);
        for bound in &node.pods {
            let shape = &bound.pod.shape;
            let asked = units.asked_noting(&shape.requests, &mut named);
            units::subtract(&mut free, &asked, 1);
            if bound.is_daemon {
                units::add(&mut daemons_there, &asked, 1);
            }
            occupancy.note_ports(&shape.host_ports);
            attached.add(&shape.volumes);
        }
        let capacity = units.offered_noting(&node.capacity, &mut named);
        let taints = (self.reader.taints.intern(&node.taints), &node.taints[..]);
        let kind = self.kinds.of(labels, taints, named.in_order, self.reader.vocabulary);
        let expected = self.daemons_to_come(node, &kind, host);
        for (index, expected) in expected.iter().enumerate() {
            let there = daemons_there.get(index).copied().unwrap_or(0);
            let missing = (expected - there).max(0);
            if let Some(free) = free.get_mut(index) {
                *free -= missing;
            }
        }
        let staying = node.pods.iter().filter(|pod| !pod.is_leaving);
        let number = |pod: &BoundPod| self.shapes.number(&pod.pod.shape, self.pod_labels);
        let attached = Arc::new(attached);
        let pools = self.pools.iter();
        ReadNode {
            kind,
            host,
            pool: pools.into_iter().position(|it| node.pool.as_ref() == Some(&it.pool.name)),
            capacity,
            headroom: Headroom { free, occupancy, attached, contents: Vec::new() },
            bound: staying.map(number).collect(),
        }
    }

    /// The labels of a node in the order they are listed, and its host name.
    fn labels(&mut self, node: &Node) -> (LabelIds, Option<ValueId>) {
        let (mut labels, mut host) = (LabelIds::new(), None);
        let InstanceTypeReader { vocabulary, normalization, .. } = &mut self.reader;
        for (key, value) in &node.labels {
            let key_text = normalization.key(key);
            let key = vocabulary.key(key_text);
            let value = vocabulary.value(key, normalization.value(key_text, value));
            match key {
                KeyId::HOSTNAME => host = Some(value),
                _ => labels.push((key, value)),
            }
        }
        (labels, host)
    }

    /// What all daemons that belong on a node take together.
    fn daemons_to_come(&self, node: &Node, kind: &NodeKind, host: Option<ValueId>) -> Amounts {
        let vocabulary = &*self.reader.vocabulary;
        let mut load = DaemonLoad::default();
        for daemon in self.daemons {
            let meets = |wanted: &Requirements| {
                let asked = Asked::of(wanted);
                asked.is_met_by_kind(kind, vocabulary) && asked.is_met_by_host(host, vocabulary)
            };
            if daemon.tolerates(&node.taints) && daemon.any_alternative(meets) {
                load.add(daemon);
            }
        }
        load.requests
    }
}

impl Headroom {
    /// Of a node on which nothing stands.
    pub(crate) fn of_empty(free: Amounts) -> Self {
        Self { free, ..Self::default() }
    }

    /// The same on a node that takes no more pods.
    pub(crate) fn closed(&self) -> Self {
        Self { free: smallvec::smallvec![-1], ..self.clone() }
    }

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

    /// Lets a pod of a class stand there as if it always had; rules about neighbours apart.
    pub(crate) fn bind(&mut self, class: &Class) {
        units::subtract(&mut self.free, &class.requests, 1);
        self.occupancy.note_ports(&class.shape.host_ports);
        if !class.shape.volumes.is_empty() {
            Arc::make_mut(&mut self.attached).add(&class.shape.volumes);
        }
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
