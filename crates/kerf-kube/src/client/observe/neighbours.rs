//! Objects that are no part of the world themselves, but change what pods and nodes in it need.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::storage::v1 as storage;
use kerf_engine::World;
use kerf_engine::event::{Event, Object};
use kerf_engine::observed::PodKey;

use super::listing::Source;
use super::meta::name_of;
use super::node;
use super::observer::{Observer, namespaced, seen};
use super::watch_update::Change;
use crate::default_spread::ControllerSelector;

impl Observer {
    /// What volume drivers report belongs to the node of the same name.
    pub(super) fn csi_node(
        &mut self,
        change: Change<storage::CSINode>,
        world: &World,
    ) -> Vec<Event> {
        let (name, limits) = match &change {
            Change::Relisting | Change::Heard => return Vec::new(),
            Change::Listed(at) => return self.listings.end(&Source::CsiNode, *at, world),
            Change::Is(csi) => (name_of(&csi.metadata), node::limits(csi)),
            Change::Was(csi) => (name_of(&csi.metadata), BTreeMap::new()),
        };
        let node = world.nodes.get(&name).filter(|node| node.volume_limits != limits).cloned();
        if limits.is_empty() {
            self.volume_limits.remove(&name);
        } else {
            self.volume_limits.insert(name, limits.clone());
        }
        let node = node.map(|node| {
            let mut node = Arc::unwrap_or_clone(node);
            node.volume_limits = limits;
            seen(Object::Node(node))
        });
        node.into_iter().collect()
    }

    /// A Service or controller changed: pods that wait near it are read again.
    pub(super) fn selecting<K: kube::Resource>(
        &mut self,
        source: Source,
        change: Change<K>,
        world: &World,
        selector: impl FnOnce(K) -> Option<ControllerSelector>,
    ) -> Vec<Event> {
        let (key, selector) = match change {
            Change::Relisting => {
                self.listings.begin(source.clone());
                self.pods_by_owner.clear(&source);
                return Vec::new();
            }
            Change::Heard => return Vec::new(),
            Change::Listed(at) => {
                let whole = self.listings.end(&source, at, world);
                let mut events = self.read_again(|_| true);
                events.extend(whole);
                return events;
            }
            Change::Is(object) => (namespaced(object.meta()), selector(*object)),
            Change::Was(object) => (namespaced(object.meta()), None),
        };
        let namespace = key.namespace.clone();
        if self.pods_by_owner.note(source, key, selector) {
            return self.read_again(|pod| pod.namespace == namespace);
        }
        Vec::new()
    }

    /// Reads pods that depend on other objects again, once all of those are known.
    pub(super) fn read_again(&mut self, which: impl Fn(&PodKey) -> bool) -> Vec<Event> {
        if !self.listings.know_what_pods_need() {
            return Vec::new();
        }
        let pods = self.dependent_pods.named(which);
        self.reread(pods)
    }
}
