//! What watches deliver for zonal shifts alone: pools as JSON, subnets of node classes, the state.

use k8s_openapi::api::core::v1::ConfigMap;
use kerf_engine::World;
use kerf_engine::event::{Event, Key, Kind, Object};
use kube::api::{ApiResource, DynamicObject};

use super::listing::Source;
use super::observer::{Observer, namespaced};
use super::watch_update::Change;
use super::{node_class, pool_manifest};
use crate::client::zonal::{ServedKinds, config_map};

/// A watch update that only NodePool mode of zonal shifts looks at.
#[derive(Clone, Debug)]
pub enum ShiftUpdate {
    /// The kinds of pools and node classes that are served.
    Served(ServedKinds),
    /// One of them cannot be listed, and is not waited for.
    Unlistable(ApiResource),
    /// A kind of pool.
    PoolManifest(ApiResource, Change<DynamicObject>),
    /// A kind of node class.
    NodeClassSubnets(ApiResource, Change<DynamicObject>),
    /// The ConfigMap with the state.
    ConfigMap(Change<ConfigMap>),
}

impl Observer {
    pub(super) fn shift_update(&mut self, update: ShiftUpdate, world: &World) -> Vec<Event> {
        match update {
            ShiftUpdate::Served(kinds) => {
                let mut events = kinds.events(world);
                events.extend(self.listings.serve(&kinds));
                events
            }
            ShiftUpdate::Unlistable(kind) => {
                let legacy = self.legacy.as_ref();
                let mut events =
                    legacy.map(|it| it.pass_over(&kind.kind, world)).unwrap_or_default();
                events.extend(self.listings.pass_over(&kind));
                events
            }
            ShiftUpdate::PoolManifest(kind, change) => self.follow(
                Source::PoolManifest(kind.kind.clone()),
                change,
                world,
                |pool| Key::PoolManifest(pool_manifest::key(pool, &kind)),
                |_, pool| Ok(vec![Object::PoolManifest(pool_manifest::read(pool, &kind))]),
            ),
            ShiftUpdate::NodeClassSubnets(kind, change) => self.follow(
                Source::NodeClassSubnets(kind.group.clone(), kind.kind.clone()),
                change,
                world,
                |class| Key::NodeClassSubnets(node_class::key(class, &kind)),
                |_, class| {
                    Ok(vec![Object::NodeClassSubnets(pool_manifest::subnets(&class, &kind))])
                },
            ),
            ShiftUpdate::ConfigMap(change) => self.follow(
                Source::Kind(Kind::ShiftConfigMap),
                change,
                world,
                |map| Key::ShiftConfigMap(namespaced(&map.metadata)),
                |_, map| Ok(vec![Object::ShiftConfigMap(config_map(&map))]),
            ),
        }
    }
}
