//! Which kinds are watched, each by a task of its own ([`Watch`]).

use std::fmt::Debug;

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::ConfigMap;
use kerf_engine::Settings;
use kerf_engine::event::Kind;
use kerf_engine::observed::{Name, NamespacedName};
use kerf_engine::zonal_shift::ShiftSettings;
use kerf_runtime::Tasks;
use kube::api::{Api, ApiResource, DynamicObject};
use kube::{Client, Resource};
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;

use crate::client::health::Health;
use crate::client::list_watch::{Need, Watch};
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
    let own_node = settings.drain.own_node.as_ref();
    let mut watches = Watches { client, updates, health, tasks };
    for kind in settings.kinds() {
        match kind {
            Kind::Pod => watches.where_field("spec.nodeName", own_node, WatchUpdate::Pod),
            Kind::Node => watches.where_field("metadata.name", own_node, WatchUpdate::Node),
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

    /// All objects, or where a value is given those whose field has it: a process that runs on every
    /// node must not know every node.
    fn where_field<K>(
        &mut self,
        field: &str,
        value: Option<&Name>,
        wrap: fn(Change<K>) -> WatchUpdate,
    ) where
        K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug + Send + 'static,
    {
        self.start(Watch {
            resource: K::plural(&()).into_owned(),
            api: Api::<K>::all(self.client.clone()),
            fields: value.map(|value| format!("{field}={value}")),
            need: Need::Required,
            wrap,
            updates: self.updates.clone(),
            health: self.health.clone(),
        });
    }

    fn node_class(&mut self, kind: ApiResource) {
        let api = Api::<DynamicObject>::all_with(self.client.clone(), &kind);
        let plural = kind.plural.clone();
        self.spawn(plural, api, move |change| WatchUpdate::NodeClass(kind.clone(), change));
    }

    /// The one ConfigMap with the state of zonal shifts.
    fn shift_state(&mut self, map: &NamespacedName) {
        let api = Api::<ConfigMap>::namespaced(self.client.clone(), &map.namespace);
        let fields = Some(format!("metadata.name={}", map.name));
        self.start(Watch {
            resource: ConfigMap::plural(&()).into_owned(),
            api,
            fields,
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
        let (fields, need) = (None, Need::Required);
        self.start(Watch { resource, api, fields, need, wrap, updates, health });
    }

    fn start<K, W>(&mut self, watch: Watch<K, W>)
    where
        K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
        W: Fn(Change<K>) -> WatchUpdate + Send + Sync + 'static,
    {
        self.tasks.spawn(format!("watch {}", watch.resource), watch.run());
    }
}
