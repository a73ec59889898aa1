//! Instances become nodes, nodes become ready, and both may die.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_engine::event::{Key, Object};
use kerf_engine::observed::{Name, Node, NodeProfile};
use kerf_engine::time::Span;
use kerf_model::labels::well_known::HOSTNAME;
use kerf_model::taint::{Taint, TaintEffect, unregistered};

use super::Simulation;
use crate::sim_event::SimEvent;
use crate::store::Precondition;

/// A kubelet that has not been heard of for so long is silent (the node controller's default).
pub(super) const SILENT_AFTER: Span = Span::from_seconds(40);
/// Pods on a silent node are given up after so long (the default toleration).
const GIVEN_UP_AFTER: Span = Span::from_minutes(5);
/// Pods whose node is gone are cleared away after so long (the pod collector's default).
const ORPHANS_SWEPT_AFTER: Span = Span::from_seconds(40);
/// What removes startup taints takes so long.
const STARTUP_TAKES: Span = Span::from_seconds(5);

const NOT_READY: &str = "node.kubernetes.io/not-ready";
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";

impl Simulation {
    pub(super) fn node_joins(&mut self, provider_id: &Arc<str>) {
        let Some(instance) = self.cloud.instances.get(provider_id) else { return };
        if instance.instance.is_ending || instance.is_dead || instance.has_dead_kubelet {
            return;
        }
        self.nodes_joined += 1;
        self.nodes_max = self.nodes_max.max(self.store.nodes.len() + 1);
        let name: Name = Arc::from(format!(
            "ip-10-0-{}-{}",
            self.nodes_joined / 250,
            self.nodes_joined % 250 + 4
        ));
        let mut labels = instance.instance.labels.clone();
        labels.insert(HOSTNAME.to_owned(), name.to_string());
        let (capacity, allocatable) =
            (instance.instance.capacity.clone(), instance.instance.allocatable.clone());
        let node = Node {
            meta: self.store.new_meta(name.clone()),
            labels,
            annotations: BTreeMap::new(),
            finalizers: Vec::new(),
            owner_claim: None,
            provider_id: Some(provider_id.clone()),
            taints: vec![unregistered(), Taint::new(NOT_READY, "", TaintEffect::NoSchedule)],
            capacity,
            allocatable,
            is_ready: false,
            volume_limits: BTreeMap::new(),
            profile: NodeProfile::default(),
        };
        self.store.put(Object::Node(node));
        let delay = self.rngs.instances.span(self.scenario.cloud.ready);
        self.queue.at(self.store.now + delay, SimEvent::NodeReady(name));
    }

    pub(super) fn node_ready(&mut self, name: &Name) {
        if !self.is_alive(name) {
            return;
        }
        let Some(node) = self.store.nodes.get(name) else { return };
        let mut node = Node::clone(node);
        node.is_ready = true;
        node.taints.retain(|taint| taint.key != NOT_READY);
        self.store.put(Object::Node(node));
    }

    /// Startup taints go some seconds after a ready node has them; whoever set them up sees to it.
    pub(super) fn node_started(&mut self, name: &Name) {
        let Some(node) = self.store.nodes.get(name) else { return };
        let startup = self.startup_taints(node);
        let mut node = Node::clone(node);
        node.taints.retain(|taint| !startup.contains(taint));
        self.store.put(Object::Node(node));
    }

    /// A node is not ready for a moment, and then it is again.
    pub(super) fn node_flaps(&mut self, name: &Name, silence: Span) {
        let Some(node) = self.store.nodes.get(name) else { return };
        let mut node = Node::clone(node);
        node.is_ready = false;
        node.taints.push(Taint::new(NOT_READY, "", TaintEffect::NoSchedule));
        self.store.put(Object::Node(node));
        self.queue.at(self.store.now + silence, SimEvent::NodeReady(name.clone()));
    }

    pub(super) fn node_silent(&mut self, name: &Name) {
        let Some(node) = self.store.nodes.get(name) else { return };
        let mut node = Node::clone(node);
        node.is_ready = false;
        for effect in [TaintEffect::NoSchedule, TaintEffect::NoExecute] {
            let taint = Taint::new(UNREACHABLE, "", effect);
            if !node.taints.contains(&taint) {
                node.taints.push(taint);
            }
        }
        self.store.put(Object::Node(node));
        self.queue.at(self.store.now + GIVEN_UP_AFTER, SimEvent::NodeGivenUp(name.clone()));
    }

    /// The pods are told to end, which nobody on the node hears.
    pub(super) fn node_given_up(&mut self, name: &Name) {
        let leaving: Vec<_> = self
            .store
            .pods_on(name)
            .filter(|pod| pod.owner != kerf_engine::observed::PodOwner::DaemonSet)
            .map(|pod| (pod.key.clone(), pod.termination_grace.unwrap_or_default()))
            .collect();
        for (key, grace) in leaving {
            self.store.delete_pod(&key, Precondition::Nothing, grace);
        }
    }

    pub(super) fn instance_gone(&mut self, provider_id: &Arc<str>) {
        self.cloud.remove(provider_id, self.store.now);
        self.fall_silent(provider_id);
    }

    /// Nobody hears of the nodes on an instance any more.
    fn fall_silent(&mut self, provider_id: &Arc<str>) {
        let now = self.store.now;
        let nodes: Vec<Name> = self
            .store
            .nodes
            .values()
            .filter(|node| node.provider_id.as_ref() == Some(provider_id))
            .map(|node| node.meta.name.clone())
            .collect();
        for name in nodes {
            self.queue.at(now + SILENT_AFTER, SimEvent::NodeSilent(name));
        }
    }

    /// Lets an instance die without a word.
    pub(super) fn instance_dies(&mut self, provider_id: &Arc<str>) {
        if let Some(instance) = self.cloud.instances.get_mut(provider_id) {
            instance.is_dead = true;
        }
        self.instance_gone(provider_id);
    }

    /// Lets the kubelet of an instance die, which itself goes on running.
    pub(super) fn kubelet_dies(&mut self, provider_id: &Arc<str>) {
        if let Some(instance) = self.cloud.instances.get_mut(provider_id) {
            instance.has_dead_kubelet = true;
        }
        self.fall_silent(provider_id);
    }

    /// What follows from a change of a node.
    pub(super) fn note_node(&mut self, key: &Key) {
        let Key::Node(name) = key else { return };
        let now = self.store.now;
        let Some(node) = self.store.nodes.get(name) else {
            let orphans: Vec<_> = self
                .store
                .pods_on(name)
                .map(|pod| SimEvent::PodSwept(pod.key.clone(), pod.meta.uid.clone()))
                .collect();
            for orphan in orphans {
                self.queue.at(now + ORPHANS_SWEPT_AFTER, orphan);
            }
            return;
        };
        let startup = self.startup_taints(node);
        if node.is_ready && node.taints.iter().any(|taint| startup.contains(taint)) {
            self.queue.at(now + STARTUP_TAKES, SimEvent::NodeStarted(name.clone()));
        }
    }

    fn startup_taints(&self, node: &Node) -> Vec<Taint> {
        let instance = node.provider_id.as_ref().and_then(|id| self.cloud.instances.get(id));
        let pool = instance.and_then(|instance| self.store.pools.get(&instance.pool));
        pool.map(|pool| pool.spec.template.spec.startup_taints.clone()).unwrap_or_default()
    }
}
