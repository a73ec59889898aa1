//! When what happened, as a watcher sees it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::time::{Duration, Instant};

use futures_util::stream::{Stream, StreamExt, select};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::Api;
use kube::runtime::watcher::{self, Config, Event, watcher};
use kube::{Client, ResourceExt};
use tokio::runtime::Runtime;
use tokio::time::timeout;

use crate::copies::claims;

/// The taint of a node that is given up.
const DISRUPTED: &str = "karpenter.sh/disrupted";

/// What was seen so far.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// Pods that run.
    pub(crate) running: BTreeSet<String>,
    /// The instances of nodes, by name.
    pub(crate) nodes: BTreeMap<String, String>,
    /// When nodes were first seen to take no more pods, or to be gone, by name.
    pub(crate) closed: BTreeMap<String, Instant>,
    /// Claims that are being deleted, or went.
    pub(crate) deleting: BTreeSet<String>,
}

enum Told {
    Pod(Box<Pod>),
    Node(Node),
    NodeGone(Node),
    ClaimLeaving(String),
}

/// Watches of pods, nodes and claims.
pub(crate) struct Seen(RefCell<Watching>);

struct Watching {
    told: Pin<Box<dyn Stream<Item = Told>>>,
    counts: Counts,
}

impl Seen {
    /// Starts watching.
    pub(crate) async fn watch(client: &Client) -> Self {
        let pods = watcher(Api::<Pod>::namespaced(client.clone(), "default"), Config::default());
        let nodes = watcher(Api::<Node>::all(client.clone()), Config::default());
        let pods = pods.filter_map(async |event| match event.ok()? {
            Event::Apply(pod) | Event::InitApply(pod) => Some(Told::Pod(Box::new(pod))),
            _ => None,
        });
        let nodes =
            nodes.filter_map(async |event: Result<Event<Node>, watcher::Error>| {
                match event.ok()? {
                    Event::Apply(node) | Event::InitApply(node) => Some(Told::Node(node)),
                    Event::Delete(node) => Some(Told::NodeGone(node)),
                    _ => None,
                }
            });
        let claims = watcher(claims(client), Config::default());
        let claims = claims.filter_map(async |event| match event.ok()? {
            Event::Apply(claim) | Event::InitApply(claim) => {
                let is_leaving = claim.metadata.deletion_timestamp.is_some();
                is_leaving.then(|| Told::ClaimLeaving(claim.name_any()))
            }
            Event::Delete(claim) => Some(Told::ClaimLeaving(claim.name_any())),
            _ => None,
        });
        let objects = select(nodes.boxed_local(), claims.boxed_local());
        let told = Box::pin(select(pods.boxed_local(), objects.boxed_local()));
        Self(RefCell::new(Watching { told, counts: Counts::default() }))
    }

    /// The moment something was seen to be so.
    pub(crate) fn until(
        &self,
        runtime: &Runtime,
        at_most: Duration,
        is_so: impl Fn(&Counts) -> bool,
    ) -> Instant {
        let Watching { told, counts } = &mut *self.0.borrow_mut();
        runtime.block_on(async {
            let watch = async {
                while !is_so(counts) {
                    counts.take_in(told.next().await.unwrap());
                }
            };
            let in_time = timeout(at_most, watch).await;
            assert!(in_time.is_ok(), "not in time: {} nodes", counts.nodes.len());
            Instant::now()
        })
    }

    /// How long it took from these moments, by instance, until the node was closed.
    pub(crate) fn closed_after(&self, since: &BTreeMap<&str, Instant>) -> Vec<f64> {
        let counts = &self.0.borrow().counts;
        let after = |(node, at): (&String, &Instant)| {
            let since = since.get(counts.nodes[node].as_str())?;
            Some(at.saturating_duration_since(*since).as_secs_f64())
        };
        counts.closed.iter().filter_map(after).collect()
    }

    /// The instances of all nodes that joined.
    pub(crate) fn instances(&self) -> Vec<String> {
        self.0.borrow().counts.nodes.values().cloned().collect()
    }
}

impl Counts {
    fn take_in(&mut self, told: Told) {
        match told {
            Told::Pod(pod) => {
                let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
                if phase == Some("Running") {
                    self.running.insert(pod.name_any());
                }
            }
            Told::Node(node) => {
                let spec = node.spec.as_ref();
                let id = spec.and_then(|spec| spec.provider_id.as_deref()).unwrap_or_default();
                let id = id.rsplit('/').next().unwrap_or_default().to_owned();
                let mut taints = spec.iter().flat_map(|spec| spec.taints.iter().flatten());
                if taints.any(|taint| taint.key == DISRUPTED) {
                    self.closed.entry(node.name_any()).or_insert_with(Instant::now);
                }
                self.nodes.entry(node.name_any()).or_insert(id);
            }
            Told::NodeGone(node) => {
                self.closed.entry(node.name_any()).or_insert_with(Instant::now);
            }
            Told::ClaimLeaving(claim) => drop(self.deleting.insert(claim)),
        }
    }
}
