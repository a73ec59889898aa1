//! What happened to claims and nodes, change by change, as a watch without a proxy tells it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use futures_util::StreamExt;
use k8s_openapi::api::core::v1::Node;
use kerf_api::node_claim::NodeClaim;
use kube::api::Api;
use kube::runtime::watcher::{Config, Event, watcher};
use kube::{Client, Resource, ResourceExt};
use tokio::runtime::Runtime;

const POOL: &str = "karpenter.sh/nodepool";
const HOSTNAME: &str = "kubernetes.io/hostname";

/// What was seen so far; shared with those who watch.
#[derive(Clone, Default)]
pub(crate) struct Ledger(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// Claims ever made, by pool.
    made: BTreeMap<String, BTreeSet<String>>,
    /// Claims there are, by pool.
    present: BTreeMap<String, BTreeSet<String>>,
    /// The most there were at once.
    present_most: BTreeMap<String, usize>,
    /// Claims that are going, by pool.
    going: BTreeMap<String, BTreeSet<String>>,
    /// The most that were going at once.
    going_most: BTreeMap<String, usize>,
    /// Nodes ever made, by the claim they were made for.
    nodes: BTreeMap<String, BTreeSet<String>>,
}

impl Ledger {
    /// Watches from now on.
    pub(crate) fn start(runtime: &Runtime, client: &Client) -> Self {
        let this = Self::default();
        let claims = watcher(Api::<NodeClaim>::all(client.clone()), Config::default());
        let ledger = this.clone();
        runtime.spawn(claims.for_each(move |event| {
            match event {
                Ok(Event::Apply(claim) | Event::InitApply(claim)) => ledger.saw_claim(&claim),
                Ok(Event::Delete(claim)) => ledger.lost_claim(&claim),
                _ => {}
            }
            std::future::ready(())
        }));
        let nodes = watcher(Api::<Node>::all(client.clone()), Config::default());
        let ledger = this.clone();
        runtime.spawn(nodes.for_each(move |event| {
            if let Ok(Event::Apply(node) | Event::InitApply(node)) = event {
                ledger.saw_node(&node);
            }
            std::future::ready(())
        }));
        this
    }

    fn saw_claim(&self, claim: &NodeClaim) {
        let (pool, uid) = (pool_of(claim), claim.uid().unwrap());
        let mut state = self.0.lock().unwrap();
        state.made.entry(pool.clone()).or_default().insert(uid.clone());
        let present = state.present.entry(pool.clone()).or_default();
        present.insert(uid.clone());
        let count = present.len();
        let most = state.present_most.entry(pool.clone()).or_default();
        *most = count.max(*most);
        if claim.meta().deletion_timestamp.is_some() {
            let going = state.going.entry(pool.clone()).or_default();
            going.insert(uid);
            let count = going.len();
            let most = state.going_most.entry(pool).or_default();
            *most = count.max(*most);
        }
    }

    fn lost_claim(&self, claim: &NodeClaim) {
        let (pool, uid) = (pool_of(claim), claim.uid().unwrap());
        let mut state = self.0.lock().unwrap();
        state.going.entry(pool.clone()).or_default().remove(&uid);
        state.present.entry(pool).or_default().remove(&uid);
    }

    fn saw_node(&self, node: &Node) {
        let Some(claim) = node.labels().get(HOSTNAME) else { return };
        let mut state = self.0.lock().unwrap();
        state.nodes.entry(claim.clone()).or_default().insert(node.uid().unwrap());
    }

    /// How many claims a pool ever had.
    pub(crate) fn made(&self, pool: &str) -> usize {
        self.0.lock().unwrap().made.get(pool).map_or(0, BTreeSet::len)
    }

    /// How many claims a pool had at once, at most.
    pub(crate) fn present_most(&self, pool: &str) -> usize {
        self.0.lock().unwrap().present_most.get(pool).copied().unwrap_or_default()
    }

    /// How many claims of a pool were going at once, at most.
    pub(crate) fn going_most(&self, pool: &str) -> usize {
        self.0.lock().unwrap().going_most.get(pool).copied().unwrap_or_default()
    }

    /// Claims for which more than one node was made.
    pub(crate) fn launched_twice(&self) -> Vec<String> {
        let state = self.0.lock().unwrap();
        let twice = state.nodes.iter().filter(|(_, nodes)| nodes.len() > 1);
        twice.map(|(claim, _)| claim.clone()).collect()
    }
}

fn pool_of(claim: &NodeClaim) -> String {
    claim.labels().get(POOL).cloned().unwrap_or_default()
}
