//! News in, events out.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use k8s_openapi::api::core::v1 as core;
use k8s_openapi::api::storage::v1 as storage;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kerf_api::Problem;
use kerf_engine::World;
use kerf_engine::event::{Event, Key, Kind, Object};
use kerf_engine::observed::{Name, Namespace, PodKey, Revision, VolumeAttachment};
use kerf_model::labels::LabelRules;
use kube::api::ApiResource;
use tracing::warn;

use super::daemon_sets::DaemonSets;
use super::interner::Interner;
use super::meta::{meta, name_of, revision};
use super::news::{Change, News};
use super::pod::{self, Reading};
use super::{claim, disruption_guard, node, node_class, pool};
use crate::pod::namespace_of;
use crate::storage::Storage;

/// What the edge keeps to make the engine's objects whole.
#[derive(Debug)]
pub struct Observer {
    rules: LabelRules,
    shapes: Interner,
    daemon_sets: DaemonSets,
    storage: Storage,
    /// Pods without a node whose volumes decide where they may stand.
    storage_pods: BTreeMap<PodKey, core::Pod>,
    volume_limits: HashMap<Name, BTreeMap<String, u32>>,
    listings: HashMap<Source, Listing>,
    awaited: BTreeSet<Source>,
    told: HashSet<Kind>,
    /// The newest version of anything that was told.
    newest: Revision,
}

/// A watch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Source {
    Kind(Kind),
    /// A kind of node class, by group and kind.
    NodeClass(String, String),
    CsiNode,
    VolumeClaim,
    Volume,
    StorageClass,
}

/// A list that is being told.
#[derive(Debug)]
struct Listing {
    /// The newest version known when it began: what is older and not told is gone.
    since: Revision,
    told: HashSet<Key>,
}

/// What a change to one object comes to.
type Read = Result<Vec<Object>, (String, Vec<Problem>)>;

impl Observer {
    /// An observer of a cluster with these rules for labels and these kinds of node classes.
    #[must_use]
    pub fn new(rules: LabelRules, node_classes: &[ApiResource]) -> Self {
        let kinds = [
            Kind::Pod,
            Kind::Node,
            Kind::Claim,
            Kind::Pool,
            Kind::DisruptionGuard,
            Kind::DaemonSet,
            Kind::Namespace,
            Kind::VolumeAttachment,
        ];
        let stored = [Source::CsiNode, Source::VolumeClaim, Source::Volume, Source::StorageClass];
        let classes = node_classes.iter().map(Source::of_class);
        let awaited = kinds.into_iter().map(Source::Kind).chain(stored).chain(classes).collect();
        Self {
            rules,
            shapes: Interner::default(),
            daemon_sets: DaemonSets::default(),
            storage: Storage::default(),
            storage_pods: BTreeMap::new(),
            volume_limits: HashMap::new(),
            listings: HashMap::new(),
            awaited,
            told: HashSet::new(),
            newest: Revision::default(),
        }
    }

    /// What a piece of news means for the engine.
    pub fn observe(&mut self, news: News, world: &World) -> Vec<Event> {
        match news {
            News::Pod(change) => self.pod(change, world),
            News::Node(change) => self.follow(
                Source::Kind(Kind::Node),
                change,
                world,
                |node| Key::Node(name_of(&node.metadata)),
                |this, node| {
                    let limits = this.volume_limits.get(&*name_of(&node.metadata));
                    let read = node::read(&node, limits.cloned().unwrap_or_default());
                    one(Object::Node, "Node", &node.metadata, read)
                },
            ),
            News::Claim(change) => self.follow(
                Source::Kind(Kind::Claim),
                change,
                world,
                |claim| Key::Claim(name_of(&claim.metadata)),
                |_, claim| one(Object::Claim, "NodeClaim", &claim.metadata, claim::read(&claim)),
            ),
            News::Pool(change) => self.follow(
                Source::Kind(Kind::Pool),
                change,
                world,
                |pool| Key::Pool(name_of(&pool.metadata)),
                |this, pool| Ok(vec![Object::Pool(pool::read(&pool, &this.rules))]),
            ),
            News::NodeClass(kind, change) => self.follow(
                Source::of_class(&kind),
                change,
                world,
                |class| Key::NodeClass(node_class::key(class, &kind)),
                |_, class| Ok(vec![Object::NodeClass(node_class::read(&class, &kind))]),
            ),
            News::DisruptionGuard(change) => self.follow(
                Source::Kind(Kind::DisruptionGuard),
                change,
                world,
                |guard| {
                    let (namespace, name) = namespaced(&guard.metadata);
                    Key::DisruptionGuard(namespace, name)
                },
                |_, guard| Ok(vec![Object::DisruptionGuard(disruption_guard::read(&guard))]),
            ),
            News::DaemonSet(change) => self.daemon_set(change, world),
            News::Namespace(change) => self.follow(
                Source::Kind(Kind::Namespace),
                change,
                world,
                |namespace| Key::Namespace(name_of(&namespace.metadata)),
                |_, namespace| {
                    let (meta, labels) = (meta(&namespace.metadata), namespace.metadata.labels);
                    let labels = labels.unwrap_or_default();
                    Ok(vec![Object::Namespace(Namespace { meta, labels })])
                },
            ),
            News::VolumeAttachment(change) => self.follow(
                Source::Kind(Kind::VolumeAttachment),
                change,
                world,
                |volume| Key::VolumeAttachment(name_of(&volume.metadata)),
                |this, volume| Ok(vec![this.attachment(&volume)]),
            ),
            News::CsiNode(change) => self.csi_node(change, world),
            News::VolumeClaim(change) => {
                self.stored(Source::VolumeClaim, change, world, |storage, change| match change {
                    Change::Is(claim) => storage.add_claim(*claim),
                    Change::Was(claim) => {
                        let (namespace, name) = namespaced(&claim.metadata);
                        storage.remove_claim(&namespace, &name);
                    }
                    Change::Relisting | Change::Listed => {}
                })
            }
            News::Volume(change) => {
                self.stored(Source::Volume, change, world, |storage, change| match change {
                    Change::Is(volume) => storage.add_volume(*volume),
                    Change::Was(volume) => storage.remove_volume(&name_of(&volume.metadata)),
                    Change::Relisting | Change::Listed => {}
                })
            }
            News::StorageClass(change) => {
                self.stored(Source::StorageClass, change, world, |storage, change| match change {
                    Change::Is(class) => storage.add_class(*class),
                    Change::Was(class) => storage.remove_class(&name_of(&class.metadata)),
                    Change::Relisting | Change::Listed => {}
                })
            }
        }
    }

    /// Notes a version that was learnt by writing.
    pub fn note_revision(&mut self, revision: Revision) {
        self.newest = self.newest.max(revision);
    }

    /// Completes an object that was learnt by writing with what the API keeps elsewhere.
    pub fn complete(&mut self, object: &mut Object) {
        if let Object::Node(node) = object {
            self.note_revision(node.meta.revision);
            let limits = self.volume_limits.get(&node.meta.name);
            node.volume_limits = limits.cloned().unwrap_or_default();
        }
    }

    fn pod(&mut self, change: Change<core::Pod>, world: &World) -> Vec<Event> {
        if let Change::Was(pod) = &change {
            self.storage_pods.remove(&pod::key(pod));
        }
        self.follow(
            Source::Kind(Kind::Pod),
            change,
            world,
            |pod| Key::Pod(pod::key(pod)),
            |this, pod| Ok(this.read_pod(pod)),
        )
    }

    fn read_pod(&mut self, pod: core::Pod) -> Vec<Object> {
        let reading = Reading { storage: &self.storage, rules: &self.rules };
        let read = pod::read(&pod, &reading, &mut self.shapes);
        let set = self.daemon_sets.note(&pod, &read).map(Object::DaemonSet);
        if pod::has_volumes(&pod) && read.node().is_none() && !read.has_ended() {
            self.storage_pods.insert(read.key.clone(), pod);
        } else {
            self.storage_pods.remove(&read.key);
        }
        std::iter::once(Object::Pod(read)).chain(set).collect()
    }

    fn daemon_set(
        &mut self,
        change: Change<k8s_openapi::api::apps::v1::DaemonSet>,
        world: &World,
    ) -> Vec<Event> {
        if let Change::Was(set) = &change {
            self.daemon_sets.forget(&namespaced(&set.metadata));
        }
        self.follow(
            Source::Kind(Kind::DaemonSet),
            change,
            world,
            |set| {
                let (namespace, name) = namespaced(&set.metadata);
                Key::DaemonSet(namespace, name)
            },
            |this, set| {
                let read = this.daemon_sets.read(&set);
                one(Object::DaemonSet, "DaemonSet", &set.metadata, read)
            },
        )
    }

    fn attachment(&self, attachment: &storage::VolumeAttachment) -> Object {
        let volume = attachment.spec.source.persistent_volume_name.as_deref();
        let claim = volume.and_then(|volume| self.storage.claim_of_volume(volume));
        // A volume nobody knows yet is waited for under its own name.
        let claim = claim.or_else(|| volume.map(|volume| format!("/{volume}")));
        Object::VolumeAttachment(VolumeAttachment {
            meta: meta(&attachment.metadata),
            node: Arc::from(attachment.spec.node_name.as_str()),
            volume_claim: claim.map(Arc::from),
        })
    }

    /// What volume drivers report belongs to the node of the same name.
    fn csi_node(&mut self, change: Change<storage::CSINode>, world: &World) -> Vec<Event> {
        let (name, limits) = match &change {
            Change::Relisting => return Vec::new(),
            Change::Listed => return self.list(Source::CsiNode),
            Change::Is(csi) => (name_of(&csi.metadata), node::limits(csi)),
            Change::Was(csi) => (name_of(&csi.metadata), BTreeMap::new()),
        };
        let node = world.nodes.get(&name).filter(|node| node.volume_limits != limits).cloned();
        if limits.is_empty() {
            self.volume_limits.remove(&name);
        } else {
            self.volume_limits.insert(name, limits.clone());
        }
        let node = node.map(|mut node| {
            node.volume_limits = limits;
            seen(Object::Node(node))
        });
        node.into_iter().collect()
    }

    /// A storage object changed: pods that wait are read again, once all storage is known.
    fn stored<K>(
        &mut self,
        source: Source,
        change: Change<K>,
        _world: &World,
        apply: impl FnOnce(&mut Storage, Change<K>),
    ) -> Vec<Event> {
        let listed = matches!(change, Change::Listed);
        apply(&mut self.storage, change);
        let mut events = Vec::new();
        if listed {
            events = self.list(source);
        }
        if self.knows_storage() {
            let pods: Vec<core::Pod> = self.storage_pods.values().cloned().collect();
            let objects = pods.into_iter().flat_map(|pod| self.read_pod(pod));
            let mut again: Vec<Event> = objects.map(seen).collect();
            again.append(&mut events);
            return again;
        }
        events
    }

    fn knows_storage(&self) -> bool {
        let needed = [Source::VolumeClaim, Source::Volume, Source::StorageClass];
        !needed.iter().any(|source| self.awaited.contains(source))
    }

    /// A change to a kind the engine knows.
    fn follow<K: kube::Resource>(
        &mut self,
        source: Source,
        change: Change<K>,
        world: &World,
        key: impl Fn(&K) -> Key,
        read: impl FnOnce(&mut Self, K) -> Read,
    ) -> Vec<Event> {
        match change {
            Change::Relisting => {
                let listing = Listing { since: self.newest, told: HashSet::new() };
                self.listings.insert(source, listing);
                Vec::new()
            }
            Change::Is(object) => {
                self.note_revision(revision(object.meta().resource_version.as_deref()));
                if let Some(listing) = self.listings.get_mut(&source) {
                    listing.told.insert(key(&object));
                }
                match read(self, *object) {
                    Ok(objects) => objects.into_iter().map(seen).collect(),
                    Err((object, problems)) => {
                        for problem in problems {
                            warn!(%object, %problem, "set aside an object that cannot be read");
                        }
                        Vec::new()
                    }
                }
            }
            Change::Was(object) => {
                let revision = revision(object.meta().resource_version.as_deref());
                self.note_revision(revision);
                vec![Event::Gone { key: key(&object), revision }]
            }
            Change::Listed => {
                let mut events = Vec::new();
                if let Some(listing) = self.listings.remove(&source) {
                    let gone = lost(world, &source, &listing);
                    events.extend(
                        gone.into_iter().map(|key| Event::Gone { key, revision: listing.since }),
                    );
                }
                events.extend(self.list(source));
                events
            }
        }
    }

    /// Notes that a watch has told everything once, and tells the engine which kinds are whole.
    fn list(&mut self, source: Source) -> Vec<Event> {
        self.awaited.remove(&source);
        let awaits = |this: &Self, kind: Kind| {
            let parts: &[Source] = match kind {
                Kind::Pod => &[Source::VolumeClaim, Source::Volume, Source::StorageClass],
                Kind::Node => &[Source::CsiNode],
                _ => &[],
            };
            let class = kind == Kind::NodeClass
                && this.awaited.iter().any(|it| matches!(it, Source::NodeClass(..)));
            class
                || this.awaited.contains(&Source::Kind(kind))
                || parts.iter().any(|part| this.awaited.contains(part))
        };
        let kinds = [
            Kind::Pod,
            Kind::Node,
            Kind::Claim,
            Kind::Pool,
            Kind::NodeClass,
            Kind::DisruptionGuard,
            Kind::DaemonSet,
            Kind::Namespace,
            Kind::VolumeAttachment,
        ];
        let whole: Vec<Kind> = kinds
            .into_iter()
            .filter(|kind| !self.told.contains(kind) && !awaits(self, *kind))
            .collect();
        self.told.extend(&whole);
        whole.into_iter().map(Event::Listed).collect()
    }
}

impl Source {
    fn of_class(kind: &ApiResource) -> Self {
        Self::NodeClass(kind.group.clone(), kind.kind.clone())
    }
}

/// The objects the engine knows that a whole list did not name. What was written after the list
/// began is newer than it.
fn lost(world: &World, source: &Source, listing: &Listing) -> Vec<Key> {
    let keys: Vec<(Key, Revision)> = match source {
        Source::Kind(Kind::Pod) => known(&world.pods, |it| (Key::Pod(it.key.clone()), &it.meta)),
        Source::Kind(Kind::Node) => {
            known(&world.nodes, |it| (Key::Node(it.meta.name.clone()), &it.meta))
        }
        Source::Kind(Kind::Claim) => {
            known(&world.claims, |it| (Key::Claim(it.meta.name.clone()), &it.meta))
        }
        Source::Kind(Kind::Pool) => {
            known(&world.pools, |it| (Key::Pool(it.meta.name.clone()), &it.meta))
        }
        Source::Kind(Kind::DisruptionGuard) => known(&world.guards, |it| {
            (Key::DisruptionGuard(it.namespace.clone(), it.meta.name.clone()), &it.meta)
        }),
        Source::Kind(Kind::DaemonSet) => known(&world.daemon_sets, |it| {
            (Key::DaemonSet(it.namespace.clone(), it.meta.name.clone()), &it.meta)
        }),
        Source::Kind(Kind::Namespace) => {
            known(&world.namespaces, |it| (Key::Namespace(it.meta.name.clone()), &it.meta))
        }
        Source::Kind(Kind::VolumeAttachment) => {
            known(&world.attachments, |it| (Key::VolumeAttachment(it.meta.name.clone()), &it.meta))
        }
        Source::NodeClass(group, kind) => {
            let of_kind = world
                .node_classes
                .iter()
                .filter(|(key, _)| key.group == *group && key.kind == *kind);
            of_kind.map(|(key, it)| (Key::NodeClass(key.clone()), it.meta.revision)).collect()
        }
        _ => Vec::new(),
    };
    let is_lost = |(key, revision): &(Key, Revision)| {
        *revision <= listing.since && !listing.told.contains(key)
    };
    keys.into_iter().filter(is_lost).map(|(key, _)| key).collect()
}

fn known<K, V>(
    objects: &BTreeMap<K, V>,
    name: impl Fn(&V) -> (Key, &kerf_engine::observed::Meta),
) -> Vec<(Key, Revision)> {
    let entry = |object| {
        let (key, meta) = name(object);
        (key, meta.revision)
    };
    objects.values().map(entry).collect()
}

fn one<T>(
    object: impl FnOnce(T) -> Object,
    kind: &str,
    metadata: &ObjectMeta,
    read: Result<T, Vec<Problem>>,
) -> Read {
    read.map(|read| vec![object(read)])
        .map_err(|problems| (format!("{kind} {}", name_of(metadata)), problems))
}

fn seen(object: Object) -> Event {
    Event::Seen(Box::new(object))
}

fn namespaced(metadata: &ObjectMeta) -> (Name, Name) {
    (Arc::from(namespace_of(metadata)), name_of(metadata))
}
