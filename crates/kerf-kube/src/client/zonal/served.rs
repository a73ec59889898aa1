//! The kinds of pools and node classes that are served, watched as long as they are.

use kerf_engine::event::{Event, Key, Kind};
use kerf_engine::{World, observed};
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::client::health::Health;
use crate::client::list_watch::{Need, Watch};
use crate::client::observe::{Change, ShiftUpdate, WatchUpdate};

/// The kinds that are served, each in the version to use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServedKinds {
    /// NodePools, and what came before them.
    pub pools: Vec<ApiResource>,
    /// Node classes whose status has subnets.
    pub node_classes: Vec<ApiResource>,
    /// Whether the cluster runs in EKS Auto Mode.
    pub is_auto_mode: bool,
}

impl ServedKinds {
    /// What follows for the engine: which mode the cluster runs in, and that objects of kinds no
    /// longer served are gone.
    pub(crate) fn events(&self, world: &World) -> Vec<Event> {
        let manifests = world.keys(Kind::PoolManifest);
        let subnets = world.keys(Kind::NodeClassSubnets);
        let gone = manifests.into_iter().chain(subnets).filter(|(key, _)| !self.covers(key));
        let gone = gone.map(|(key, revision)| Event::Gone { key, revision });
        std::iter::once(Event::AutoMode(self.is_auto_mode)).chain(gone).collect()
    }

    fn covers(&self, key: &Key) -> bool {
        match key {
            Key::PoolManifest(observed::PoolManifestKey { kind, .. }) => {
                self.pools.iter().any(|served| *served.kind == **kind)
            }
            Key::NodeClassSubnets(class) => {
                let is_it = |it: &ApiResource| it.group == class.group && it.kind == class.kind;
                self.node_classes.iter().any(is_it)
            }
            _ => true,
        }
    }
}

/// Watches what is served. Where that changes, all of it is watched anew.
pub(crate) async fn watch_served(
    client: Client,
    mut served: watch::Receiver<Option<ServedKinds>>,
    updates: mpsc::Sender<WatchUpdate>,
    health: Health,
) {
    let mut watches = JoinSet::new();
    loop {
        let kinds = served.borrow_and_update().clone();
        if let Some(kinds) = kinds {
            watches = JoinSet::new();
            if updates.send(served_update(kinds.clone())).await.is_err() {
                return;
            }
            let pools =
                kinds.pools.into_iter().map(|kind| (kind, ShiftUpdate::PoolManifest as Wrap));
            let classes = kinds
                .node_classes
                .into_iter()
                .map(|kind| (kind, ShiftUpdate::NodeClassSubnets as Wrap));
            for (kind, wrap) in pools.chain(classes) {
                watches.spawn(watch_kind(&client, kind, wrap, &updates, &health).run());
            }
        }
        tokio::select! {
            changed = served.changed() => if changed.is_err() {
                // Who knew is gone; the process ends.
                return std::future::pending().await;
            },
            // None ends by itself: whatever ended one ends this task, and so the process.
            Some(ended) = watches.join_next() => return ended.unwrap_or_else(|error| {
                if let Ok(panic) = error.try_into_panic() {
                    std::panic::resume_unwind(panic);
                }
            }),
        }
    }
}

type Wrap = fn(ApiResource, Change<DynamicObject>) -> ShiftUpdate;

fn served_update(kinds: ServedKinds) -> WatchUpdate {
    WatchUpdate::ZonalShift(ShiftUpdate::Served(kinds))
}

fn watch_kind(
    client: &Client,
    kind: ApiResource,
    wrap: Wrap,
    updates: &mpsc::Sender<WatchUpdate>,
    health: &Health,
) -> Watch<DynamicObject, impl Fn(Change<DynamicObject>) -> WatchUpdate + Send + Sync + 'static> {
    Watch {
        resource: kind.plural.clone(),
        api: Api::<DynamicObject>::all_with(client.clone(), &kind),
        fields: None,
        need: Need::WhereListable(kind.clone()),
        wrap: move |change| WatchUpdate::ZonalShift(wrap(kind.clone(), change)),
        updates: updates.clone(),
        health: health.clone(),
    }
}
