//! When what happened, as a watcher sees it.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::time::{Duration, Instant};

use futures_util::stream::{Stream, StreamExt, select};
use k8s_openapi::api::core::v1::{Node, Pod};
use kerf_api::node_claim::NodeClaim;
use kube::api::Api;
use kube::runtime::watcher::{self, Config, Event, watcher};
use kube::{Client, ResourceExt};
use tokio::time::timeout;

/// Nothing takes so long unless something is broken.
const ALL_RUN_AT_MOST: Duration = Duration::from_secs(600);

/// Watches of pods, claims and nodes, and the moments they told.
pub(crate) struct Timeline {
    started: Instant,
    seen: Pin<Box<dyn Stream<Item = Seen> + Send>>,
    moments: BTreeMap<&'static str, f64>,
}

enum Seen {
    Pod { name: String, bound: bool, ready: bool },
    Claim,
    Node { initialized: bool, name: String },
    Listed,
}

impl Timeline {
    /// Starts watching; returns once every watch has told that there is nothing.
    pub(crate) async fn watch(client: &Client) -> Self {
        let pods = watcher(Api::<Pod>::namespaced(client.clone(), "default"), Config::default());
        let claims = watcher(Api::<NodeClaim>::all(client.clone()), Config::default());
        let nodes = watcher(Api::<Node>::all(client.clone()), Config::default());
        let pods = pods.filter_map(async |event| told(event, pod));
        let claims = claims.filter_map(async |event| told(event, |_: NodeClaim| Seen::Claim));
        let nodes = nodes.filter_map(async |event| told(event, node));
        let mut seen: Pin<Box<dyn Stream<Item = Seen> + Send>> =
            Box::pin(select(select(pods.boxed(), claims.boxed()), nodes.boxed()));
        let mut listed = 0;
        while listed < 3 {
            listed += usize::from(matches!(seen.next().await, Some(Seen::Listed)));
        }
        Self { started: Instant::now(), seen, moments: BTreeMap::new() }
    }

    /// From here on time counts.
    pub(crate) fn begin(&mut self) {
        self.started = Instant::now();
    }

    /// The moments, in seconds since the beginning, once so many pods are ready.
    pub(crate) async fn until_all_run(mut self, count: usize) -> BTreeMap<&'static str, f64> {
        let (mut pods, mut bound, mut ready) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let mut nodes = BTreeSet::new();
        let all = async {
            while ready.len() < count {
                match self.seen.next().await.unwrap() {
                    Seen::Pod { name, bound: is_bound, ready: is_ready } => {
                        if pods.insert(name.clone()) {
                            self.moments.insert("last pod created", seconds(self.started));
                        }
                        if is_bound && bound.insert(name.clone()) {
                            let now = seconds(self.started);
                            self.moments.entry("first pod bound").or_insert(now);
                            self.moments.insert("last pod bound", now);
                        }
                        if is_ready {
                            ready.insert(name);
                        }
                    }
                    Seen::Claim => {
                        let now = seconds(self.started);
                        self.moments.entry("first claim").or_insert(now);
                    }
                    Seen::Node { initialized, name } => {
                        if initialized && nodes.insert(name) {
                            self.moments.insert("last node initialized", seconds(self.started));
                        }
                    }
                    Seen::Listed => {}
                }
            }
        };
        timeout(ALL_RUN_AT_MOST, all).await.expect("all pods run in time");
        self.moments.insert("all pods running", seconds(self.started));
        self.moments
    }
}

fn told<K>(event: Result<Event<K>, watcher::Error>, read: impl FnOnce(K) -> Seen) -> Option<Seen> {
    match event.ok()? {
        Event::Apply(object) | Event::InitApply(object) => Some(read(object)),
        Event::InitDone => Some(Seen::Listed),
        Event::Init | Event::Delete(_) => None,
    }
}

fn pod(pod: Pod) -> Seen {
    let conditions = pod.status.as_ref().and_then(|status| status.conditions.as_ref());
    let ready = conditions
        .into_iter()
        .flatten()
        .any(|condition| condition.type_ == "Ready" && condition.status == "True");
    let bound = pod.spec.as_ref().is_some_and(|spec| spec.node_name.is_some());
    Seen::Pod { name: pod.name_any(), bound, ready }
}

fn node(node: Node) -> Seen {
    let initialized = node.labels().contains_key("karpenter.sh/initialized");
    Seen::Node { initialized, name: node.name_any() }
}

fn seconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64()
}
