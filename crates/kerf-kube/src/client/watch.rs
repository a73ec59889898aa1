//! Watches: everything that happens to the objects Kerf cares for, as [`WatchUpdate`].
//!
//! A watch that breaks starts again with growing pauses and tells all objects anew. Objects are
//! pruned before they are passed on; the channel is bounded, so a burst waits at the server.

use std::fmt::Debug;
use std::pin::pin;

use futures_util::StreamExt;
use k8s_openapi::NamespaceResourceScope;
use kerf_engine::Role;
use kerf_engine::event::Kind;
use kerf_runtime::Tasks;
use kube::api::{Api, ApiResource, DynamicObject};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Config, Event, watcher};
use kube::{Client, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;
use tracing::{info, warn};

use crate::client::health::Health;
use crate::client::observe::{Change, WatchUpdate};

/// Watch events that may wait for the engine. One is a few kilobytes at most, so this is a few megabytes.
pub(crate) const UPDATES_WAITING_MAX: usize = 256;

/// What to watch, and where.
pub(crate) struct Watched<'a> {
    pub(crate) client: &'a Client,
    pub(crate) role: Role,
    pub(crate) node_classes: Vec<ApiResource>,
    pub(crate) pods_by_owner: PodsByOwner,
}

/// Starts a task for each watch. What the role does not read is not watched: it may have no right
/// to, or not exist.
pub(crate) fn start(
    watched: Watched<'_>,
    updates: &mpsc::Sender<WatchUpdate>,
    health: &Health,
    tasks: &mut Tasks,
) {
    let Watched { client, role, node_classes, pods_by_owner } = watched;
    let mut watches = Watches { client, updates, health, tasks };
    for kind in role.kinds() {
        match kind {
            Kind::Pod => watches.namespaced(WatchUpdate::Pod),
            Kind::Node => watches.cluster(WatchUpdate::Node),
            Kind::Claim => watches.cluster(WatchUpdate::Claim),
            Kind::Pool => watches.cluster(WatchUpdate::Pool),
            Kind::NodeClass => {
                node_classes.iter().cloned().for_each(|class| watches.node_class(class));
            }
            Kind::PodDisruptionBudget => watches.namespaced(WatchUpdate::PodDisruptionBudget),
            Kind::DaemonSet => watches.namespaced(WatchUpdate::DaemonSet),
            Kind::Namespace => watches.cluster(WatchUpdate::Namespace),
            Kind::VolumeAttachment => watches.cluster(WatchUpdate::VolumeAttachment),
        }
    }
    if role.places_pods() {
        watches.cluster(WatchUpdate::CsiNode);
        watches.namespaced(WatchUpdate::VolumeClaim);
        watches.cluster(WatchUpdate::Volume);
        watches.cluster(WatchUpdate::StorageClass);
    }
    if pods_by_owner == PodsByOwner::Watched {
        watches.namespaced(WatchUpdate::Service);
        watches.namespaced(WatchUpdate::ReplicationController);
        watches.namespaced(WatchUpdate::ReplicaSet);
        watches.namespaced(WatchUpdate::StatefulSet);
    }
}

/// Whether it matters who selects which pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PodsByOwner {
    /// Pods are spread by it.
    Watched,
    /// Nobody asks.
    Ignored,
}

struct Watches<'a> {
    client: &'a Client,
    updates: &'a mpsc::Sender<WatchUpdate>,
    health: &'a Health,
    tasks: &'a mut Tasks,
}

impl Watches<'_> {
    fn namespaced<K>(&mut self, wrap: fn(Change<K>) -> WatchUpdate)
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        K: Clone + DeserializeOwned + Debug + Send + 'static,
    {
        self.spawn(K::plural(&()).into_owned(), Api::<K>::all(self.client.clone()), wrap);
    }

    fn cluster<K>(&mut self, wrap: fn(Change<K>) -> WatchUpdate)
    where
        K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug + Send + 'static,
    {
        self.spawn(K::plural(&()).into_owned(), Api::<K>::all(self.client.clone()), wrap);
    }

    fn node_class(&mut self, kind: ApiResource) {
        let api = Api::<DynamicObject>::all_with(self.client.clone(), &kind);
        let plural = kind.plural.clone();
        self.spawn(plural, api, move |change| WatchUpdate::NodeClass(kind.clone(), change));
    }

    fn spawn<K>(
        &mut self,
        plural: String,
        api: Api<K>,
        wrap: impl Fn(Change<K>) -> WatchUpdate + Send + Sync + 'static,
    ) where
        K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
    {
        let (updates, health) = (self.updates.clone(), self.health.clone());
        self.tasks.spawn(format!("watch {plural}"), async move {
            // Streaming spares the server a whole list in memory; older servers do not know it.
            let mut config = Config::default().streaming_lists();
            while !follow(&plural, &api, &config, &wrap, &updates, &health).await {
                info!(resource = plural, "the server has no streaming lists; listing in pages");
                config = Config::default().page_size(PAGE_SIZE);
            }
        });
    }
}

/// Objects in one page of a list: half a megabyte of pods.
const PAGE_SIZE: u32 = 100;

/// Follows a watch until nobody listens any more: true. False if the way of listing is refused.
async fn follow<K>(
    plural: &str,
    api: &Api<K>,
    config: &Config,
    wrap: &(impl Fn(Change<K>) -> WatchUpdate + Send + Sync + 'static),
    updates: &mpsc::Sender<WatchUpdate>,
    health: &Health,
) -> bool
where
    K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
{
    let mut stream = pin!(watcher(api.clone(), config.clone()).default_backoff());
    while let Some(event) = stream.next().await {
        let change = match event {
            Ok(event) => {
                health.watch_works(plural);
                change(event)
            }
            Err(error) if is_refusal(&error, config) => return false,
            Err(error) => {
                warn!(resource = plural, %error, "a watch failed and starts again");
                health.watch_fails(plural, &error.to_string());
                continue;
            }
        };
        if updates.send(wrap(change)).await.is_err() {
            return true;
        }
    }
    true
}

fn change<K: Resource>(event: Event<K>) -> Change<K> {
    match event {
        Event::Init => Change::Relisting,
        Event::Apply(object) | Event::InitApply(object) => Change::Is(pruned(object)),
        Event::Delete(object) => Change::Was(pruned(object)),
        Event::InitDone => Change::Listed,
    }
}

fn pruned<K: Resource>(mut object: K) -> Box<K> {
    object.managed_fields_mut().clear();
    Box::new(object)
}

/// Servers that do not know streaming lists call the request invalid.
fn is_refusal(error: &watcher::Error, config: &Config) -> bool {
    let streaming =
        matches!(config.initial_list_strategy, watcher::InitialListStrategy::StreamingList);
    let code = match error {
        watcher::Error::WatchStartFailed(kube::Error::Api(status))
        | watcher::Error::InitialListFailed(kube::Error::Api(status)) => status.code,
        watcher::Error::WatchError(status) => status.code,
        _ => 0,
    };
    streaming && matches!(code, 400 | 422)
}
