//! Watch updates in, events out.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use k8s_openapi::api::core::v1 as core;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kerf_api::FieldError;
use kerf_engine::event::{Event, Key, Kind, Object};
use kerf_engine::observed::{Name, Namespace, NamespacedName};
use kerf_engine::{Settings, World};
use kerf_model::labels::LabelRules;
use kerf_model::pod::SpreadConstraint;
use kube::Resource;
use tracing::warn;

use super::daemon_sets::DaemonSets;
use super::dependent_pods::DependentPods;
use super::listing::{Listings, Source};
use super::meta::{meta, name_of, revision};
use super::pod::{self, Interners, Reading};
use super::pods_by_owner::{self, PodsByOwner};
use super::watch_update::{Change, Guarded, WatchUpdate};
use super::{claim, node, node_class, overlay, pod_disruption_budget, pool};
use crate::client::legacy::LegacyObjects;
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
    pub(super) dependent_pods: DependentPods,
    /// The names of attachments, by the volume each is of.
    pub(super) attachments: HashMap<Name, BTreeSet<Name>>,
    pub(super) volume_limits: HashMap<Name, BTreeMap<String, u32>>,
    pub(super) listings: Listings,
    /// What stands for legacy objects, where they are served.
    pub(super) legacy: Option<LegacyObjects>,
    /// What could not be understood of the update at hand.
    unreadable: Vec<Unreadable>,
    /// How often reading an object panicked, and nobody has counted it yet.
    panics: u64,
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
            dependent_pods: DependentPods::default(),
            attachments: HashMap::new(),
            volume_limits: HashMap::new(),
            listings: Listings::new(settings),
            legacy: None,
            unreadable: Vec::new(),
            panics: 0,
        }
    }

    /// How often reading an object panicked since this was last asked.
    pub fn take_panics(&mut self) -> u64 {
        std::mem::take(&mut self.panics)
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
        let may_take_names = matches!(update, WatchUpdate::Pool(_) | WatchUpdate::NodeClass(..));
        let events = self.events_of_kind(update, world);
        match &self.legacy {
            Some(legacy) if may_take_names => legacy.beside(events, world),
            _ => events,
        }
    }

    fn events_of_kind(&mut self, update: WatchUpdate, world: &World) -> Vec<Event> {
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
                |claim| Key::Claim(name_of(claim.meta())),
                |_, claim| {
                    let claim = decoded("NodeClaim", claim)?;
                    one(Object::Claim, "NodeClaim", &claim.metadata, claim::read(&claim))
                },
            ),
            WatchUpdate::Pool(change) => self.follow(
                Source::Kind(Kind::Pool),
                change,
                world,
                |pool| Key::Pool(name_of(pool.meta())),
                |this, pool| {
                    let pool = decoded("NodePool", pool)?;
                    let (read, problems) = pool::read(&pool, &this.rules);
                    this.mark("NodePool", &pool.metadata, problems);
                    Ok(vec![Object::Pool(read)])
                },
            ),
            WatchUpdate::Overlay(change) => self.follow(
                Source::Kind(Kind::Overlay),
                change,
                world,
                |overlay| Key::Overlay(name_of(overlay.meta())),
                |this, overlay| {
                    let overlay = decoded("NodeOverlay", overlay)?;
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
            WatchUpdate::Legacy(update) => self.legacy_update(update, world),
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
            WatchUpdate::VolumeAttachment(change) => self.volume_attachment(change, world),
            WatchUpdate::CsiNode(change) => self.csi_node(change, world),
            WatchUpdate::VolumeClaim(change) => self.volume_claim(change, world),
            WatchUpdate::Volume(change) => self.volume(change, world),
            WatchUpdate::StorageClass(change) => self.storage_class(change, world),
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
            Change::Listed(_) => {
                let listed = self.listings.named(&Source::Kind(Kind::Pod));
                if let Some(listed) = listed {
                    self.dependent_pods.retain(|key| listed.contains(&Key::Pod(key.clone())));
                }
            }
            Change::Is(_) | Change::Heard => {}
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
            Change::Listed(at) => {
                let mut events = self.listings.end(&source, at, world);
                events.extend(Listings::heard(&source));
                events
            }
            Change::Heard => Listings::heard(&source).into_iter().collect(),
            Change::Is(object) => {
                let revision = revision(object.meta().resource_version.as_deref());
                let key = key(&object);
                self.listings.note_revision(revision);
                self.listings.note(&source, || key.clone());
                let metadata = object.meta().clone();
                match self.contain(&key, &metadata, |this| read(this, *object)) {
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

impl Observer {
    /// Reads pods again that were read before.
    pub(super) fn reread(&mut self, pods: Vec<core::Pod>) -> Vec<Event> {
        let mut events = Vec::new();
        for pod in pods {
            let (key, metadata) = (Key::Pod(pod::key(&pod)), pod.metadata.clone());
            match self.contain(&key, &metadata, |this| Ok(this.read_pod(pod))) {
                Ok(objects) => events.extend(objects.into_iter().map(seen)),
                Err(unreadable) => {
                    self.unreadable.push(unreadable);
                    let revision = revision(metadata.resource_version.as_deref());
                    events.push(Event::Unreadable { key, revision });
                }
            }
        }
        events
    }

    /// Reads an object. A panic stops the one object and not the process, which would meet it again
    /// after every start.
    pub(super) fn contain(
        &mut self,
        key: &Key,
        metadata: &ObjectMeta,
        read: impl FnOnce(&mut Self) -> Read,
    ) -> Read {
        kerf_engine::contained(|| read(self)).unwrap_or_else(|panic| {
            self.panics += 1;
            let kind = key.kind().resource().kind;
            let message = format!("Kerf failed on it, which is a defect of Kerf: {panic}");
            let problem = FieldError { field: String::new(), message };
            Err(Unreadable {
                object: format!("{kind} {}", name_of(metadata)),
                problems: vec![problem],
                is_marked: false,
            })
        })
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

/// An object that is of the kind it says.
fn decoded<K>(kind: &str, object: Guarded<K>) -> Result<K, Unreadable> {
    object.0.map_err(|invalid| Unreadable {
        object: format!("{kind} {}", name_of(&invalid.metadata)),
        problems: vec![FieldError { field: String::new(), message: invalid.error }],
        is_marked: false,
    })
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

#[cfg(test)]
mod tests;
