//! Watches: everything that happens to the objects Kerf cares for, as [`WatchUpdate`].
//!
//! A watch that breaks starts again with growing pauses and tells all objects anew. Objects are
//! pruned before they are passed on; the channel is bounded, so a burst waits at the server.

use std::fmt::Debug;
use std::pin::pin;
use std::time::Duration;

use futures_util::StreamExt;
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::ConfigMap;
use kerf_engine::Settings;
use kerf_engine::event::Kind;
use kerf_engine::observed::NamespacedName;
use kerf_engine::zonal_shift::ShiftSettings;
use kerf_runtime::Tasks;
use kube::api::{Api, ApiResource, DynamicObject};
use kube::core::Status;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Config, Event, watcher};
use kube::{Client, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tracing::info;

use crate::client::health::Health;
use crate::client::observe::{Change, ShiftUpdate, WatchUpdate};
use crate::client::provider::api_resource;

/// Watch events that may wait for the engine. One is a few kilobytes at most, so this is a few megabytes.
pub(crate) const UPDATES_WAITING_MAX: usize = 256;

/// What to watch, and where.
pub(crate) struct Watched<'a> {
    pub(crate) client: &'a Client,
    pub(crate) settings: &'a Settings,
    pub(crate) pods_by_owner: PodsByOwner,
}

/// Starts a task for each watch. What nobody reads is not watched: there may be no right to, or it
/// may not exist.
pub(crate) fn start(
    watched: Watched<'_>,
    updates: &mpsc::Sender<WatchUpdate>,
    health: &Health,
    tasks: &mut Tasks,
) {
    let Watched { client, settings, pods_by_owner } = watched;
    let mut watches = Watches { client, updates, health, tasks };
    for kind in settings.kinds() {
        match kind {
            Kind::Pod => watches.namespaced(WatchUpdate::Pod),
            Kind::Node => watches.cluster(WatchUpdate::Node),
            Kind::Claim => watches.cluster(WatchUpdate::Claim),
            Kind::Pool => watches.cluster(WatchUpdate::Pool),
            Kind::NodeClass => {
                let classes = settings.provider.node_classes.iter().map(api_resource);
                classes.for_each(|class| watches.node_class(class));
            }
            Kind::Overlay => watches.cluster(WatchUpdate::Overlay),
            Kind::PodDisruptionBudget => watches.namespaced(WatchUpdate::PodDisruptionBudget),
            Kind::DaemonSet => watches.namespaced(WatchUpdate::DaemonSet),
            Kind::Namespace => watches.cluster(WatchUpdate::Namespace),
            Kind::VolumeAttachment => watches.cluster(WatchUpdate::VolumeAttachment),
            Kind::ShiftConfigMap => {
                let map = settings.zonal_shift.as_ref().map(ShiftSettings::config_map);
                map.into_iter().for_each(|map| watches.shift_state(&map));
            }
            // Which kinds of these are served is found out meanwhile.
            Kind::PoolManifest | Kind::NodeClassSubnets => {}
        }
    }
    if settings.role.places_pods() {
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

    /// The one ConfigMap with the state of zonal shifts.
    fn shift_state(&mut self, map: &NamespacedName) {
        let api = Api::<ConfigMap>::namespaced(self.client.clone(), &map.namespace);
        let config = Config::default().fields(&format!("metadata.name={}", map.name));
        self.start(Watch {
            resource: ConfigMap::plural(&()).into_owned(),
            api,
            config,
            need: Need::Optional,
            wrap: |change| WatchUpdate::ZonalShift(ShiftUpdate::ConfigMap(change)),
            updates: self.updates.clone(),
            health: self.health.clone(),
        });
    }

    fn spawn<K>(
        &mut self,
        resource: String,
        api: Api<K>,
        wrap: impl Fn(Change<K>) -> WatchUpdate + Send + Sync + 'static,
    ) where
        K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
    {
        let (updates, health) = (self.updates.clone(), self.health.clone());
        let (config, need) = (Config::default(), Need::Required);
        self.start(Watch { resource, api, config, need, wrap, updates, health });
    }

    fn start<K, W>(&mut self, watch: Watch<K, W>)
    where
        K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
        W: Fn(Change<K>) -> WatchUpdate + Send + Sync + 'static,
    {
        self.tasks.spawn(format!("watch {}", watch.resource), watch.run());
    }
}

/// A watch of one kind of object.
pub(crate) struct Watch<K, W> {
    /// What is watched, by its plural.
    pub(crate) resource: String,
    pub(crate) api: Api<K>,
    /// Which objects; how they are listed is decided here.
    pub(crate) config: Config,
    pub(crate) need: Need,
    pub(crate) wrap: W,
    pub(crate) updates: mpsc::Sender<WatchUpdate>,
    pub(crate) health: Health,
}

/// What follows from a watch that does not work.
pub(crate) enum Need {
    /// The process is not ready.
    Required,
    /// What depends on it waits; the rest goes on.
    Optional,
    /// Nobody waits for this kind, and what was known of it holds.
    WhereListable(ApiResource),
}

/// A server that asks for more patience is asked earlier all the same: nothing is known meanwhile.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(60);

/// Objects in one page of a list: half a megabyte of pods.
const PAGE_SIZE: u32 = 100;

impl<K, W> Watch<K, W>
where
    K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
    W: Fn(Change<K>) -> WatchUpdate + Send + Sync + 'static,
{
    /// Follows the watch until nobody listens any more.
    pub(crate) async fn run(self) {
        // Streaming spares the server a whole list in memory; older servers do not know it.
        let mut config = self.config.clone().streaming_lists();
        while !self.follow(&config).await {
            let resource = &self.resource;
            info!(resource, "the server has no streaming lists; listing in pages");
            config = self.config.clone().page_size(PAGE_SIZE);
        }
    }

    /// Follows until nobody listens: true. False if the way of listing is refused.
    async fn follow(&self, config: &Config) -> bool {
        let mut stream = pin!(watcher(self.api.clone(), config.clone()).default_backoff());
        let mut works = false;
        while let Some(event) = stream.next().await {
            let has_worked = std::mem::replace(&mut works, event.is_ok());
            let update = match event {
                Ok(event) => {
                    // Events come by the thousand; only a change is worth saying.
                    if !has_worked {
                        self.health.watch_works(&self.resource);
                    }
                    Some((self.wrap)(change(event)))
                }
                Err(error) if is_refusal(&error, config) => return false,
                Err(error) => {
                    let update = self.fail(&error);
                    sleep(retry_after(&error)).await;
                    update
                }
            };
            if let Some(update) = update
                && self.updates.send(update).await.is_err()
            {
                return true;
            }
        }
        true
    }

    fn fail(&self, error: &watcher::Error) -> Option<WatchUpdate> {
        let resource = &self.resource;
        let (kind, why) = match code(error) {
            401 | 403 => ("denied", format!("{error}; grant it: deploy/ has the roles")),
            _ => ("failing", error.to_string()),
        };
        match &self.need {
            Need::Required => self.health.watch_fails(resource, kind, &why),
            Need::Optional => self.health.optional_watch_fails(resource, kind, &why),
            Need::WhereListable(served) => {
                self.health.optional_watch_fails(resource, kind, &why);
                let update = ShiftUpdate::Unlistable(served.clone());
                return Some(WatchUpdate::ZonalShift(update));
            }
        }
        None
    }
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
    streaming && matches!(code(error), 400 | 422)
}

/// The server's answer; 0 where there was none.
fn code(error: &watcher::Error) -> u16 {
    status(error).map_or(0, |status| status.code)
}

/// How long the server wants to be left alone. A watch that is tried again has pauses of its own
/// beside that.
fn retry_after(error: &watcher::Error) -> Duration {
    let details = status(error).and_then(|status| status.details.as_ref());
    let seconds = details.map_or(0, |details| details.retry_after_seconds);
    Duration::from_secs(seconds.into()).min(RETRY_AFTER_MAX)
}

fn status(error: &watcher::Error) -> Option<&Status> {
    match error {
        watcher::Error::WatchStartFailed(kube::Error::Api(status))
        | watcher::Error::InitialListFailed(kube::Error::Api(status))
        | watcher::Error::WatchError(status) => Some(status),
        _ => None,
    }
}
