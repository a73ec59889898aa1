//! The kinds of objects the world holds: one line each in the table below, and one
//! [`ObservedKind`] beside the type. Everything that is done for every kind follows from these two.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use kerf_model::node_spec::NodeClassRef;
use serde::{Deserialize, Serialize};

use super::index::Index;
use super::{
    Claim, DaemonSet, Meta, Name, Namespace, NamespacedName, Node, NodeClass, NodeClassSubnets,
    Overlay, Pod, PodDisruptionBudget, PodKey, Pool, PoolManifest, PoolManifestKey, Revision,
    ShiftConfigMap, VolumeAttachment,
};
use crate::action::Subject;
use crate::world::World;

/// What a kind must say about itself to be held in the world and planned on.
pub trait ObservedKind: Sized {
    /// How objects of the kind are named.
    type Key: ObjectName;

    /// The name of this object.
    fn key(&self) -> Self::Key;

    /// What must be gone before a deleted object goes.
    fn finalizers(&self) -> &[String] {
        &[]
    }

    /// Enters the object where planners find it without a search.
    fn add_to(_object: &Arc<Self>, _index: &mut Index) {}

    /// Takes the object out where [`add_to`](Self::add_to) entered it.
    fn remove_from(&self, _index: &mut Index) {}

    /// The subject whose own object this is: a change to it answers whoever waits for one.
    fn subject(_key: &Self::Key) -> Option<Subject> {
        None
    }

    /// The subjects to plan again when the object changes. Asked of the state before the change
    /// and of the one after it.
    fn dependents(&self, _world: &World) -> Vec<Subject> {
        Vec::new()
    }
}

/// How objects of a kind are named.
pub trait ObjectName: Clone + Debug + Ord + Hash {
    /// The name, in its namespace if there is one.
    fn name(&self) -> &str;

    /// The namespace, for kinds that live in one.
    fn namespace(&self) -> Option<&str> {
        None
    }
}

impl ObjectName for Name {
    fn name(&self) -> &str {
        self
    }
}

impl ObjectName for NodeClassRef {
    fn name(&self) -> &str {
        &self.name
    }
}

impl ObjectName for NamespacedName {
    fn name(&self) -> &str {
        &self.name
    }

    fn namespace(&self) -> Option<&str> {
        Some(&self.namespace)
    }
}

/// Where the objects of a kind are kept; implemented by the table.
pub trait Collected: ObservedKind + Clone + Into<Object> {
    /// The kind.
    const KIND: Kind;

    /// What all objects have.
    fn meta(&self) -> &Meta;

    /// The same, for those who store objects.
    fn meta_mut(&mut self) -> &mut Meta;

    /// All objects of the kind.
    fn all(objects: &Objects) -> &BTreeMap<Self::Key, Arc<Self>>;

    #[doc(hidden)]
    fn all_mut(objects: &mut Objects) -> &mut BTreeMap<Self::Key, Arc<Self>>;
}

/// How the API server names a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource {
    /// The API group; empty for the core group.
    pub group: &'static str,
    /// The version of it.
    pub version: &'static str,
    /// The kind, as manifests name it.
    pub kind: &'static str,
    /// The plural, as paths and rights name it.
    pub plural: &'static str,
}

/// Makes the enums over all kinds and the collection of all objects from one line for each kind.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident, $key:ty, $field:ident, $resource:expr;)+) => {
        /// An object as it is stored.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[expect(clippy::large_enum_variant, reason = "objects travel in a box")]
        pub enum Object {
            $($(#[$doc])* $kind($kind),)+
        }

        /// The name of an object, with its kind.
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Key {
            $($(#[$doc])* $kind($key),)+
        }

        /// A kind of object.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Kind {
            $($(#[$doc])* $kind,)+
        }

        /// Objects by kind and name, with the [`Index`] planners ask. A copy shares the objects.
        #[derive(Clone, Debug, Default)]
        pub struct Objects {
            $($(#[$doc])* pub $field: BTreeMap<$key, Arc<$kind>>,)+
            pub(super) index: Index,
        }

        impl Kind {
            /// Every kind there is.
            pub const ALL: [Kind; [$(stringify!($kind)),+].len()] = [$(Kind::$kind),+];

            /// How the API server names the kind.
            #[must_use]
            pub const fn resource(self) -> Resource {
                match self {
                    $(Kind::$kind => $resource,)+
                }
            }
        }

        impl Key {
            /// The kind of the object.
            #[must_use]
            pub fn kind(&self) -> Kind {
                match self {
                    $(Key::$kind(_) => Kind::$kind,)+
                }
            }

            /// The object's name, in its namespace if it has one.
            #[must_use]
            pub fn name(&self) -> &str {
                match self {
                    $(Key::$kind(key) => key.name(),)+
                }
            }

            /// The object's namespace, if it has one.
            #[must_use]
            pub fn namespace(&self) -> Option<&str> {
                match self {
                    $(Key::$kind(key) => key.namespace(),)+
                }
            }

            /// The subject whose own object this is.
            pub(crate) fn subject(&self) -> Option<Subject> {
                match self {
                    $(Key::$kind(key) => $kind::subject(key),)+
                }
            }
        }

        impl Object {
            /// The object's name and kind.
            #[must_use]
            pub fn key(&self) -> Key {
                match self {
                    $(Object::$kind(object) => Key::$kind(object.key()),)+
                }
            }

            /// What all objects have.
            #[must_use]
            pub fn meta(&self) -> &Meta {
                match self {
                    $(Object::$kind(object) => &object.meta,)+
                }
            }

            /// The same, for those who store objects.
            pub fn meta_mut(&mut self) -> &mut Meta {
                match self {
                    $(Object::$kind(object) => &mut object.meta,)+
                }
            }

            /// What must be gone before a deleted object goes.
            #[must_use]
            pub fn finalizers(&self) -> &[String] {
                match self {
                    $(Object::$kind(object) => object.finalizers(),)+
                }
            }
        }

        impl Objects {
            /// Takes an object in, in place of one of the same name.
            pub fn insert(&mut self, object: Object) {
                match object {
                    $(Object::$kind(object) => self.put(object),)+
                }
            }

            /// Takes an object out. Returns whether there was one.
            pub fn remove(&mut self, key: &Key) -> bool {
                match key {
                    $(Key::$kind(key) => self.take::<$kind>(key),)+
                }
            }

            /// A copy of an object.
            #[must_use]
            pub fn get(&self, key: &Key) -> Option<Object> {
                match key {
                    $(Key::$kind(key) => self.$field.get(key).map(|it| (**it).clone().into()),)+
                }
            }

            /// What all objects have, of one of them.
            #[must_use]
            pub fn meta(&self, key: &Key) -> Option<&Meta> {
                match key {
                    $(Key::$kind(key) => self.$field.get(key).map(|object| &object.meta),)+
                }
            }

            /// The names of all objects of a kind, with the revision of each.
            #[must_use]
            pub fn keys(&self, kind: Kind) -> Vec<(Key, Revision)> {
                match kind {
                    $(Kind::$kind => {
                        let objects = self.$field.iter();
                        objects.map(|(key, it)| (Key::$kind(key.clone()), it.meta.revision)).collect()
                    })+
                }
            }

            /// Copies of all objects of a kind, in the order of their names.
            #[must_use]
            pub fn list(&self, kind: Kind) -> Vec<Object> {
                match kind {
                    $(Kind::$kind => {
                        self.$field.values().map(|object| (**object).clone().into()).collect()
                    })+
                }
            }
        }

        impl World {
            /// The subjects to plan again when the object of that name, as it is now, changes.
            pub(crate) fn dependents(&self, key: &Key) -> Vec<Subject> {
                match key {
                    $(Key::$kind(key) => {
                        self.$field.get(key).map_or_else(Vec::new, |it| it.dependents(self))
                    })+
                }
            }
        }

        $(
            impl From<$kind> for Object {
                fn from(object: $kind) -> Self {
                    Object::$kind(object)
                }
            }

            impl Collected for $kind {
                const KIND: Kind = Kind::$kind;

                fn meta(&self) -> &Meta {
                    &self.meta
                }

                fn meta_mut(&mut self) -> &mut Meta {
                    &mut self.meta
                }

                fn all(objects: &Objects) -> &BTreeMap<Self::Key, Arc<Self>> {
                    &objects.$field
                }

                fn all_mut(objects: &mut Objects) -> &mut BTreeMap<Self::Key, Arc<Self>> {
                    &mut objects.$field
                }
            }
        )+
    };
}

// In the order in which they are listed to a new watcher of the simulator: owners first.
kinds! {
    /// Namespaces.
    Namespace, Name, namespaces, Resource::new("", "v1", "Namespace", "namespaces");
    /// Node classes, of every kind the provider has; their names say which.
    NodeClass, NodeClassRef, node_classes, Resource::new("", "v1", "NodeClass", "nodeclasses");
    /// NodePools.
    Pool, Name, pools, Resource::new("karpenter.sh", "v1", "NodePool", "nodepools");
    /// NodeOverlays.
    Overlay, Name, overlays,
        Resource::new("karpenter.sh", "v1alpha1", "NodeOverlay", "nodeoverlays");
    /// DaemonSets.
    DaemonSet, NamespacedName, daemon_sets, Resource::new("apps", "v1", "DaemonSet", "daemonsets");
    /// NodeClaims.
    Claim, Name, claims, Resource::new("karpenter.sh", "v1", "NodeClaim", "nodeclaims");
    /// Nodes.
    Node, Name, nodes, Resource::new("", "v1", "Node", "nodes");
    /// VolumeAttachments.
    VolumeAttachment, Name, attachments,
        Resource::new("storage.k8s.io", "v1", "VolumeAttachment", "volumeattachments");
    /// PodDisruptionBudgets.
    PodDisruptionBudget, NamespacedName, pdbs,
        Resource::new("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets");
    /// Pods.
    Pod, PodKey, pods, Resource::new("", "v1", "Pod", "pods");
    /// NodePools and Provisioners as JSON, of every kind and version that is served.
    PoolManifest, PoolManifestKey, pool_manifests,
        Resource::new("karpenter.sh", "v1", "NodePool", "nodepools");
    /// The subnets of node classes, of every kind that tells some.
    NodeClassSubnets, NodeClassRef, node_class_subnets,
        Resource::new("", "v1", "NodeClass", "nodeclasses");
    /// The ConfigMap that holds the state of zonal shifts.
    ShiftConfigMap, NamespacedName, shift_config_maps,
        Resource::new("", "v1", "ConfigMap", "configmaps");
}

impl Resource {
    const fn new(
        group: &'static str,
        version: &'static str,
        kind: &'static str,
        plural: &'static str,
    ) -> Self {
        Self { group, version, kind, plural }
    }
}

impl Objects {
    fn put<K: Collected>(&mut self, object: K) {
        let object = Arc::new(object);
        let former = K::all_mut(self).insert(object.key(), object.clone());
        if let Some(former) = former {
            former.remove_from(&mut self.index);
        }
        K::add_to(&object, &mut self.index);
    }

    fn take<K: Collected>(&mut self, key: &K::Key) -> bool {
        let Some(object) = K::all_mut(self).remove(key) else { return false };
        object.remove_from(&mut self.index);
        true
    }
}
