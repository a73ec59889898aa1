//! Whether anything still happens, as a watcher sees it.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::time::{Duration, Instant};

use futures_util::stream::{Stream, StreamExt, select};
use k8s_openapi::api::core::v1::{Node, Pod};
use kerf_api::node_claim::NodeClaim;
use kube::api::Api;
use kube::runtime::watcher::{self, Config, Event, watcher};
use kube::{Client, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use tokio::time::{timeout, timeout_at};

/// For so long nothing must happen. Karpenter looks every ten seconds, and what it finds waits for
/// another fifteen.
const QUIET: Duration = Duration::from_secs(45);
/// Nothing takes so long unless something is broken.
const STEADY_AT_MOST: Duration = Duration::from_secs(1_800);

/// What the cluster has come to.
pub(crate) struct Steady {
    /// When the last thing happened, since the change.
    pub(crate) seconds: f64,
    /// How many pods were made anew since the change.
    pub(crate) evictions: usize,
}

/// Pods, claims and nodes as watches tell of them.
pub(crate) struct Watch {
    seen: Pin<Box<dyn Stream<Item = Seen> + Send>>,
    /// Of each pod whether it is ready.
    pods: BTreeMap<String, bool>,
    /// Claims and nodes, with their kinds: whether each is being deleted.
    machines: BTreeMap<(&'static str, String), bool>,
    /// Pods that were there at the change.
    known: BTreeSet<String>,
    came: BTreeSet<String>,
    started: Instant,
    changed: Instant,
}

enum Seen {
    Pod { name: String, is_ready: bool, end: End },
    Machine { kind: &'static str, name: String, end: End },
}

/// How near the end of an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Far,
    /// It is being deleted.
    Near,
    /// It is gone.
    Here,
}

impl Watch {
    pub(crate) async fn begin(client: &Client) -> Self {
        let pods = Api::<Pod>::namespaced(client.clone(), "default");
        let claims = Api::<NodeClaim>::all(client.clone());
        let nodes = Api::<Node>::all(client.clone());
        let seen = select(
            events(pods, pod),
            select(events(claims, machine("claim")), events(nodes, machine("node"))),
        );
        let now = Instant::now();
        Self {
            seen: Box::pin(seen),
            pods: BTreeMap::new(),
            machines: BTreeMap::new(),
            known: BTreeSet::new(),
            came: BTreeSet::new(),
            started: now,
            changed: now,
        }
    }

    /// Waits until so many pods are ready.
    pub(crate) async fn until_running(&mut self, count: usize) {
        let all = async {
            while self.ready() < count {
                let seen = self.seen.next().await.unwrap();
                self.note(seen);
            }
        };
        timeout(STEADY_AT_MOST, all).await.expect("all pods run in time");
    }

    /// From here on time and evictions count.
    pub(crate) fn restart(&mut self) {
        self.known = self.pods.keys().cloned().collect();
        self.came.clear();
        (self.started, self.changed) = (Instant::now(), Instant::now());
    }

    /// Waits until there are so many pods, all ready, and nothing has happened for a while.
    pub(crate) async fn until_steady(mut self, count: usize) -> Steady {
        let latest = self.started + STEADY_AT_MOST;
        loop {
            let is_whole = self.ready() == count && self.pods.len() == count;
            let until = if is_whole { self.changed + QUIET } else { latest };
            match timeout_at(until.into(), self.seen.next()).await {
                Ok(seen) => self.note(seen.unwrap()),
                Err(_) if is_whole => break,
                Err(_) => panic!("{} of {count} pods run, of {}", self.ready(), self.pods.len()),
            }
        }
        Steady { seconds: (self.changed - self.started).as_secs_f64(), evictions: self.came.len() }
    }

    fn ready(&self) -> usize {
        self.pods.values().filter(|is_ready| **is_ready).count()
    }

    fn note(&mut self, seen: Seen) {
        let has_changed = match seen {
            Seen::Pod { name, end: End::Near | End::Here, .. } => self.pods.remove(&name).is_some(),
            Seen::Pod { name, is_ready, end: End::Far } => {
                if !self.known.contains(&name) {
                    self.came.insert(name.clone());
                }
                self.pods.insert(name, is_ready) != Some(is_ready)
            }
            Seen::Machine { kind, name, end: End::Here } => {
                self.machines.remove(&(kind, name)).is_some()
            }
            Seen::Machine { kind, name, end } => {
                let is_going = end == End::Near;
                self.machines.insert((kind, name), is_going) != Some(is_going)
            }
        };
        if has_changed {
            self.changed = Instant::now();
        }
    }
}

fn events<K>(
    api: Api<K>,
    read: impl Fn(K, End) -> Seen + Send + 'static,
) -> impl Stream<Item = Seen> + Send
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + std::fmt::Debug + Send + 'static,
{
    let told = watcher(api, Config::default()).map(move |event: watcher::Result<Event<K>>| {
        Some(match event.ok()? {
            Event::Apply(object) | Event::InitApply(object) => {
                let is_going = object.meta().deletion_timestamp.is_some();
                read(object, if is_going { End::Near } else { End::Far })
            }
            Event::Delete(object) => read(object, End::Here),
            Event::Init | Event::InitDone => return None,
        })
    });
    told.filter_map(async |seen| seen).boxed()
}

fn pod(pod: Pod, end: End) -> Seen {
    let conditions = pod.status.as_ref().and_then(|status| status.conditions.as_ref());
    let is_ready = conditions
        .into_iter()
        .flatten()
        .any(|condition| condition.type_ == "Ready" && condition.status == "True");
    Seen::Pod { name: pod.name_any(), is_ready, end }
}

fn machine<K: ResourceExt>(kind: &'static str) -> impl Fn(K, End) -> Seen {
    move |object, end| Seen::Machine { kind, name: object.name_any(), end }
}
