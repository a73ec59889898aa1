//! Watch updates in, events out.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use k8s_openapi::api::core::v1 as core;
use k8s_openapi::api::storage::v1 as storage;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kerf_api::FieldError;
use kerf_engine::event::{Event, Key, Kind, Object};
use kerf_engine::observed::{Name, Namespace, NamespacedName, PodKey, VolumeAttachment};
use kerf_engine::{Settings, World};
use kerf_model::labels::LabelRules;
use kerf_model::pod::SpreadConstraint;
use tracing::warn;

use super::daemon_sets::DaemonSets;
use super::listing::{Listings, Source};
use super::meta::{meta, name_of, revision};
use super::pod::{self, Interners, Reading};
use super::pods_by_owner::{self, PodsByOwner};
use super::watch_update::{Change, WatchUpdate};
use super::{claim, node, node_class, overlay, pod_disruption_budget, pool};
use crate::pod::{Origin, namespace_of};
use crate::storage::Storage;

/// What the edge keeps to make the engine's objects whole.
#[derive(Debug)]
pub struct Observer {
    rules: LabelRules,
    origin: Origin,
    interners: Interners,
    daemon_sets: DaemonSets,
    pub(super) storage: Storage,
    pub(super) pods_by_owner: PodsByOwner,
    /// Pods that are read again when what they depend on changes: volumes, or who selects them.
    /// Those with a node only until all of that is known.
    pub(super) dependent_pods: BTreeMap<PodKey, core::Pod>,
    pub(super) volume_limits: HashMap<Name, BTreeMap<String, u32>>,
    pub(super) listings: Listings,
    /// What could not be understood of the update at hand.
    unreadable: Vec<Unreadable>,
}

/// What a change to one object comes to.
pub(super) type Read = Result<Vec<Object>, Unreadable>;

/// An object that cannot be understood.
#[derive(Debug)]
pub(super) struct Unreadable {
    object: String,
    problems: Vec<FieldError>,
    /// Whether the object is part of the world nevertheless, marked so that its owner can be informed.
    is_marked: bool,
}

impl Observer {
    /// An observer for an engine with these settings: its role says which kinds of objects it
    /// reads, its provider which kinds of node classes there are and what labels mean.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        Self {
            rules: settings.scheduler.label_rules.clone(),
            origin: Origin::Stored,
            interners: Interners::default(),
            daemon_sets: DaemonSets::default(),
            storage: Storage::default(),
            pods_by_owner: PodsByOwner::default(),
            dependent_pods: BTreeMap::new(),
            volume_limits: HashMap::new(),
            listings: Listings::new(settings),
            unreadable: Vec::new(),
        }
    }

    /// The same for pods that no API server has completed with its defaults.
    #[must_use]
    pub fn of_manifests(mut self) -> Self {
        self.origin = Origin::Manifest;
        self.storage.assume_what_is_missing();
        self
    }

    /// The storage objects that were observed.
    pub(crate) fn storage(&self) -> &Storage {
        &self.storage
    }

    /// The same in a cluster whose scheduler spreads pods that say nothing about it.
    #[must_use]
    pub fn with_default_spreads(mut self, spreads: Vec<SpreadConstraint>) -> Self {
        if !spreads.is_empty() {
            self.listings.await_pods_by_owner();
        }
        self.pods_by_owner = PodsByOwner::new(spreads);
        self
    }

    /// The events an update comes to. An object that cannot be understood is reported in the log,
    /// unless it becomes part of the world with the reason on it.
    pub fn observe(&mut self, update: WatchUpdate, world: &World) -> Vec<Event> {
        let events = self.events_of(update, world);
        for unreadable in self.unreadable.drain(..).filter(|it| !it.is_marked) {
            unreadable.report();
        }
        events
    }

    /// The same for whoever can tell the author of an object what is wrong with it.
    ///
    /// # Errors
    /// Every field that cannot be understood.
    pub fn try_observe(
        &mut self,
        update: WatchUpdate,
        world: &World,
    ) -> Result<Vec<Event>, Vec<FieldError>> {
        let events = self.events_of(update, world);
        let problems = self.unreadable.drain(..).flat_map(|it| it.problems);
        let problems: Vec<FieldError> = problems.collect();
        if problems.is_empty() { Ok(events) } else { Err(problems) }
    }

    fn events_of(&mut self, update: WatchUpdate, world: &World) -> Vec<Event> {
        match update {
            WatchUpdate::Pod(change) => self.pod(change, world),
            WatchUpdate::Node(change) => self.follow(
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
            WatchUpdate::Claim(change) => self.follow(
                Source::Kind(Kind::Claim),
                change,
                world,
                |claim| Key::Claim(name_of(&claim.metadata)),
                |_, claim| one(Object::Claim, "NodeClaim", &claim.metadata, claim::read(&claim)),
            ),
            WatchUpdate::Pool(change) => self.follow(
                Source::Kind(Kind::Pool),
                change,
                world,
                |pool| Key::Pool(name_of(&pool.metadata)),
                |this, pool| {
                    let (read, problems) = pool::read(&pool, &this.rules);
                    this.mark("NodePool", &pool.metadata, problems);
                    Ok(vec![Object::Pool(read)])
                },
            ),
            WatchUpdate::Overlay(change) => self.follow(
                Source::Kind(Kind::Overlay),
                change,
                world,
                |overlay| Key::Overlay(name_of(&overlay.metadata)),
                |this, overlay| {
                    // One that cannot be used says so in its status and stops nothing else.
                    Ok(vec![Object::Overlay(overlay::read(&overlay, &this.rules))])
                },
            ),
            WatchUpdate::NodeClass(kind, change) => self.follow(
                Source::of_class(&kind),
                change,
                world,
                |class| Key::NodeClass(node_class::key(class, &kind)),
                |_, class| Ok(vec![Object::NodeClass(node_class::read(&class, &kind))]),
            ),
            WatchUpdate::ZonalShift(update) => self.shift_update(update, world),
            WatchUpdate::PodDisruptionBudget(change) => self.follow(
                Source::Kind(Kind::PodDisruptionBudget),
                change,
                world,
                |pdb| Key::PodDisruptionBudget(namespaced(&pdb.metadata)),
                |_, pdb| Ok(vec![Object::PodDisruptionBudget(pod_disruption_budget::read(&pdb))]),
            ),
            WatchUpdate::DaemonSet(change) => self.daemon_set(change, world),
            WatchUpdate::Namespace(change) => self.follow(
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
            WatchUpdate::VolumeAttachment(change) => self.follow(
                Source::Kind(Kind::VolumeAttachment),
                change,
                world,
                |volume| Key::VolumeAttachment(name_of(&volume.metadata)),
                |this, volume| Ok(vec![this.attachment(&volume)]),
            ),
            WatchUpdate::CsiNode(change) => self.csi_node(change, world),
            WatchUpdate::VolumeClaim(change) => {
                self.stored(Source::VolumeClaim, change, world, |storage, change| match change {
                    Change::Is(claim) => storage.add_claim(*claim),
                    Change::Was(claim) => {
                        let claim = namespaced(&claim.metadata);
                        storage.remove_claim(&claim.namespace, &claim.name);
                    }
                    Change::Relisting => storage.clear_claims(),
                    Change::Listed => {}
                })
            }
            WatchUpdate::Volume(change) => {
                self.stored(Source::Volume, change, world, |storage, change| match change {
                    Change::Is(volume) => storage.add_volume(*volume),
                    Change::Was(volume) => storage.remove_volume(&name_of(&volume.metadata)),
                    Change::Relisting => storage.clear_volumes(),
                    Change::Listed => {}
                })
            }
            WatchUpdate::StorageClass(change) => {
                self.stored(Source::StorageClass, change, world, |storage, change| match change {
                    Change::Is(class) => storage.add_class(*class),
                    Change::Was(class) => storage.remove_class(&name_of(&class.metadata)),
                    Change::Relisting => storage.clear_classes(),
                    Change::Listed => {}
                })
            }
            WatchUpdate::Service(change) => {
                self.selecting(Source::Service, change, world, pods_by_owner::of_service)
            }
            WatchUpdate::ReplicationController(change) => {
                let source = Source::ReplicationController;
                self.selecting(source, change, world, pods_by_owner::of_controller)
            }
            WatchUpdate::ReplicaSet(change) => {
                self.selecting(Source::ReplicaSet, change, world, pods_by_owner::of_controller)
            }
            WatchUpdate::StatefulSet(change) => {
                self.selecting(Source::StatefulSet, change, world, pods_by_owner::of_controller)
            }
        }
    }

    /// Completes an object that was learnt by writing with what the API keeps elsewhere.
    pub fn complete(&mut self, object: &mut Object) {
        self.listings.note_revision(object.meta().revision);
        if let Object::Node(node) = object {
            let limits = self.volume_limits.get(&node.meta.name);
            node.volume_limits = limits.cloned().unwrap_or_default();
        }
    }

    fn pod(&mut self, change: Change<core::Pod>, world: &World) -> Vec<Event> {
        match &change {
            Change::Was(pod) => {
                let key = pod::key(pod);
                self.dependent_pods.remove(&key);
                self.daemon_sets.forget_pod(&key);
            }
            Change::Relisting => self.daemon_sets.forget_early_pods(),
            Change::Is(_) | Change::Listed => {}
        }
        self.follow(
            Source::Kind(Kind::Pod),
            change,
            world,
            |pod| Key::Pod(pod::key(pod)),
            |this, pod| Ok(this.read_pod(pod)),
        )
    }

    pub(super) fn read_pod(&mut self, pod: core::Pod) -> Vec<Object> {
        let reading = Reading {
            storage: &self.storage,
            pods_by_owner: &self.pods_by_owner,
            rules: &self.rules,
            origin: self.origin,
        };
        let (read, problems) = pod::read(&pod, &reading, &mut self.interners);
        self.mark("Pod", &pod.metadata, problems);
        let set = self.daemon_sets.note(&pod, &read).map(Object::DaemonSet);
        let depends = pod::has_volumes(&pod) || self.pods_by_owner.concern(&pod);
        // What a pod with a node depends on is read once, when all of it is known.
        let is_settled = read.node().is_some() && self.listings.know_what_pods_need();
        if depends && !is_settled && !read.has_ended() {
            self.dependent_pods.insert(read.key.clone(), pod);
        } else {
            self.dependent_pods.remove(&read.key);
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
            |set| Key::DaemonSet(namespaced(&set.metadata)),
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

    /// Notes what is wrong with an object that says so itself in the world.
    fn mark(&mut self, kind: &str, metadata: &ObjectMeta, problems: Vec<FieldError>) {
        if !problems.is_empty() {
            let object = format!("{kind} {}", name_of(metadata));
            self.unreadable.push(Unreadable { object, problems, is_marked: true });
        }
    }

    /// A change to a kind the engine knows.
    pub(super) fn follow<K: kube::Resource>(
        &mut self,
        source: Source,
        change: Change<K>,
        world: &World,
        key: impl Fn(&K) -> Key,
        read: impl FnOnce(&mut Self, K) -> Read,
    ) -> Vec<Event> {
        match change {
            Change::Relisting => {
                self.listings.begin(source);
                Vec::new()
            }
            Change::Listed => self.listings.end(&source, world),
            Change::Is(object) => {
                let revision = revision(object.meta().resource_version.as_deref());
                let key = key(&object);
                self.listings.note_revision(revision);
                self.listings.note(&source, || key.clone());
                match read(self, *object) {
                    Ok(objects) => objects.into_iter().map(seen).collect(),
                    Err(unreadable) => {
                        self.unreadable.push(unreadable);
                        vec![Event::Unreadable { key, revision }]
                    }
                }
            }
            Change::Was(object) => {
                let revision = revision(object.meta().resource_version.as_deref());
                self.listings.note_revision(revision);
                vec![Event::Gone { key: key(&object), revision }]
            }
        }
    }
}

impl Unreadable {
    /// Only the log can say so: the object is not part of the world.
    fn report(self) {
        for problem in self.problems {
            warn!(object = self.object, %problem, "set aside an object that cannot be read");
        }
    }
}

fn one<T>(
    object: impl FnOnce(T) -> Object,
    kind: &str,
    metadata: &ObjectMeta,
    read: Result<T, Vec<FieldError>>,
) -> Read {
    read.map(|read| vec![object(read)]).map_err(|problems| Unreadable {
        object: format!("{kind} {}", name_of(metadata)),
        problems,
        is_marked: false,
    })
}

pub(super) fn seen(object: Object) -> Event {
    Event::Seen(Box::new(object))
}

pub(crate) fn namespaced(metadata: &ObjectMeta) -> NamespacedName {
    NamespacedName { namespace: Arc::from(namespace_of(metadata)), name: name_of(metadata) }
}
