//! Everything a plan looks at in the cluster, kept by watches.

use std::collections::{BTreeMap, BTreeSet};

use kerf_notices::zonal_shift::{
    NodeClassKey, NodeView, PoolKey, ZoneName, ZoneTable, node_class_zones,
};
use kube::api::DynamicObject;
use serde_json::Value;

use crate::console::learn_from_node;
use crate::daemon::mirror::{Keeps, Mirror, Watch};
use crate::kinds::{self, Kinds};

/// Pools, node classes and nodes.
#[derive(Debug)]
pub(crate) struct Mirrors {
    pub(crate) kinds: Kinds,
    pools: Vec<Mirror>,
    node_classes: Vec<Mirror>,
    nodes: Mirror,
}

/// The cluster at one moment.
#[derive(Debug, Default)]
pub(crate) struct View {
    pub(crate) zones: ZoneTable,
    pub(crate) node_class_zones: BTreeMap<NodeClassKey, BTreeSet<ZoneName>>,
    pub(crate) pools: Vec<Value>,
    pub(crate) nodes: Vec<NodeView>,
}

impl Mirrors {
    /// Starts to watch these kinds.
    pub(crate) fn new(kinds: Kinds, watch: &Watch) -> Self {
        let all = |kinds: &[kube::api::ApiResource], keeps| {
            kinds.iter().map(|kind| Mirror::all(kind.clone(), keeps, watch)).collect()
        };
        Self {
            pools: all(&kinds.pools, Keeps::AllButStatus),
            node_classes: all(&kinds.node_classes, Keeps::Subnets),
            nodes: Mirror::all(kinds::nodes(), Keeps::NodeBasics, watch),
            kinds,
        }
    }

    /// Whether everything has been seen once, or cannot be.
    pub(crate) fn are_settled(&self) -> bool {
        let mut all = self.pools.iter().chain(&self.node_classes).chain([&self.nodes]);
        all.all(Mirror::is_settled)
    }

    /// The cluster now. The zones known so far are completed by what node classes and nodes tell.
    pub(crate) fn view(&self, mut zones: ZoneTable) -> View {
        let mut by_class = BTreeMap::<_, BTreeSet<_>>::new();
        for mirror in &self.node_classes {
            for class in mirror.objects() {
                let name = class.pointer("/metadata/name").and_then(Value::as_str);
                let key = NodeClassKey::new(&mirror.kind.group, name.unwrap_or_default());
                by_class.entry(key).or_default().extend(node_class_zones(&class, &mut zones));
            }
        }
        let nodes = self.nodes.objects();
        nodes.iter().for_each(|node| learn_from_node(node, &mut zones));
        View {
            nodes: nodes.iter().filter_map(|node| NodeView::read(node, &zones)).collect(),
            pools: self.pools.iter().flat_map(Mirror::objects).collect(),
            node_class_zones: by_class,
            zones,
        }
    }

    /// The identity of a pool.
    pub(crate) fn uid_of(&self, pool: &PoolKey) -> Option<String> {
        let object = self.pool_mirror(&pool.kind)?.get(&pool.name)?;
        object.pointer("/metadata/uid").and_then(Value::as_str).map(str::to_owned)
    }

    /// Takes over what a write gave back.
    pub(crate) fn learn(&self, object: DynamicObject) {
        let kind = object.types.as_ref().map(|types| types.kind.clone()).unwrap_or_default();
        match self.pool_mirror(&kind) {
            Some(mirror) => mirror.learn(object),
            None if kind == self.nodes.kind.kind => self.nodes.learn(object),
            None => {}
        }
    }

    fn pool_mirror(&self, kind: &str) -> Option<&Mirror> {
        self.pools.iter().find(|mirror| mirror.kind.kind == kind)
    }
}
