//! The legacy objects there are, and what stands for them in the engine's world.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kerf_api::legacy::{AWSNodeTemplate, Options, Provisioner};
use kerf_engine::World;
use kerf_engine::action::MetadataPatch;
use kerf_engine::event::{Event, Key, Object};
use kerf_engine::observed::{Name, NodeClass, NodeClassStatus, Pool, PoolStatus, Revision};
use kerf_model::labels::LabelRules;
use kerf_model::node_spec::NodeClassRef;
use kube::Resource;

use super::translation::{self, Legacy};
use crate::client::observe::meta::name_of;
use crate::client::observe::{Change, Guarded};

/// Shared by the observer, which reads legacy objects, and the executor, which writes about them.
#[derive(Clone, Debug)]
pub(crate) struct LegacyObjects(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    options: Options,
    rules: LabelRules,
    provisioners: Stored<Provisioner>,
    templates: Stored<AWSNodeTemplate>,
    /// What the engine knows in their place.
    pools: BTreeMap<Name, Served<Pool>>,
    classes: BTreeMap<NodeClassRef, Served<NodeClass>>,
    /// NodePools and EC2NodeClasses: their names are taken.
    real: BTreeSet<Key>,
    /// What was last said about the objects, so that it is said once.
    told: BTreeSet<String>,
}

/// All objects of a legacy kind.
#[derive(Debug)]
struct Stored<K> {
    objects: BTreeMap<Name, Guarded<K>>,
    /// A list that is under way.
    listing: Option<BTreeMap<Name, Guarded<K>>>,
    /// Whether all are known; a kind that is not served has none.
    is_known: bool,
}

/// An object that stands for a legacy one, with the annotations that the engine wrote on it.
#[derive(Clone, Debug)]
struct Served<T> {
    object: T,
    written: BTreeMap<String, String>,
}

impl<K> Default for Stored<K> {
    fn default() -> Self {
        Self { objects: BTreeMap::new(), listing: None, is_known: false }
    }
}

impl<K: Resource<DynamicType = ()>> Stored<K> {
    /// Takes a change in; whether all objects are known afterwards.
    fn take_in(&mut self, change: Change<Guarded<K>>) -> bool {
        match change {
            Change::Relisting => self.listing = Some(BTreeMap::new()),
            Change::Is(object) => {
                let name = name_of(object.meta());
                let objects = self.listing.as_mut().unwrap_or(&mut self.objects);
                objects.insert(name, *object);
            }
            Change::Was(object) => {
                let name = name_of(object.meta());
                self.listing.as_mut().unwrap_or(&mut self.objects).remove(&name);
            }
            Change::Listed(_) => {
                self.objects = self.listing.take().unwrap_or_default();
                self.is_known = true;
            }
            Change::Heard => {}
        }
        self.is_known && self.listing.is_none()
    }
}

impl LegacyObjects {
    /// None are known yet.
    pub(crate) fn new(options: Options, rules: LabelRules) -> Self {
        Self(Arc::new(Mutex::new(State {
            options,
            rules,
            provisioners: Stored::default(),
            templates: Stored::default(),
            pools: BTreeMap::new(),
            classes: BTreeMap::new(),
            real: BTreeSet::new(),
            told: BTreeSet::new(),
        })))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Which of the kinds are served: those that are not have no objects.
    pub(crate) fn serve(&self, provisioners: bool, templates: bool, world: &World) -> Vec<Event> {
        let mut state = self.lock();
        if !provisioners {
            state.provisioners = Stored { is_known: true, ..Stored::default() };
        }
        if !templates {
            state.templates = Stored { is_known: true, ..Stored::default() };
        }
        state.translate(world, &BTreeMap::new())
    }

    /// Nobody may list these: what was known of them holds.
    pub(crate) fn pass_over(&self, kind: &str, world: &World) -> Vec<Event> {
        let mut state = self.lock();
        if kind == Provisioner::kind(&()) {
            state.provisioners.is_known = true;
        }
        if kind == AWSNodeTemplate::kind(&()) {
            state.templates.is_known = true;
        }
        state.translate(world, &BTreeMap::new())
    }

    /// A change to Provisioners, as what stands for them.
    pub(crate) fn provisioner(
        &self,
        change: Change<Guarded<Provisioner>>,
        world: &World,
    ) -> Vec<Event> {
        let mut state = self.lock();
        match state.provisioners.take_in(change) {
            true => state.translate(world, &BTreeMap::new()),
            false => Vec::new(),
        }
    }

    /// A change to AWSNodeTemplates, as what stands for them.
    pub(crate) fn template(
        &self,
        change: Change<Guarded<AWSNodeTemplate>>,
        world: &World,
    ) -> Vec<Event> {
        let mut state = self.lock();
        match state.templates.take_in(change) {
            true => state.translate(world, &BTreeMap::new()),
            false => Vec::new(),
        }
    }

    /// What a change to NodePools or EC2NodeClasses comes to beside what stands for legacy objects:
    /// one of the same name takes its place, and gives it back.
    pub(crate) fn beside(&self, events: Vec<Event>, world: &World) -> Vec<Event> {
        let mut state = self.lock();
        let (mut kept, mut gone) = (Vec::new(), BTreeMap::new());
        for event in events {
            match &event {
                Event::Seen(object) => state.take_name(&object.key()),
                Event::Unreadable { key, .. } => state.take_name(key),
                // A list does not name what stands for something else.
                Event::Gone { key, .. } if state.serves(key) => continue,
                Event::Gone { key, revision } => {
                    state.real.remove(key);
                    gone.insert(key.clone(), *revision);
                }
                _ => {}
            }
            kept.push(event);
        }
        if !gone.is_empty() {
            kept.extend(state.translate(world, &gone));
        }
        kept
    }

    /// Whether an owner with this uid is a Provisioner.
    pub(crate) fn is_provisioner(&self, uid: &str) -> bool {
        let state = self.lock();
        state.pools.values().any(|served| *served.object.meta.uid == *uid)
    }

    /// The pool of that name, if it stands for a Provisioner.
    pub(crate) fn pool(&self, name: &str) -> Option<Pool> {
        self.lock().pools.get(name).map(|served| served.object.clone())
    }

    /// The node class, if it stands for an AWSNodeTemplate or an inline provider.
    pub(crate) fn class(&self, key: &NodeClassRef) -> Option<NodeClass> {
        self.lock().classes.get(key).map(|served| served.object.clone())
    }

    /// Whether there is an AWSNodeTemplate of that name.
    pub(crate) fn has_template(&self, name: &str) -> bool {
        self.lock().templates.objects.contains_key(name)
    }

    /// Notes what the engine wrote on a pool; none if it stands for nothing.
    pub(crate) fn annotate_pool(
        &self,
        name: &str,
        annotations: &BTreeMap<String, String>,
    ) -> Option<Pool> {
        let mut state = self.lock();
        let served = state.pools.get_mut(name)?;
        served.written.extend(annotations.clone());
        served.object.annotations.extend(annotations.clone());
        Some(served.object.clone())
    }

    /// Notes what the engine says about a pool.
    pub(crate) fn set_pool_status(&self, uid: &str, status: &PoolStatus) -> Option<Pool> {
        let mut state = self.lock();
        let mut pools = state.pools.values_mut();
        let served = pools.find(|served| *served.object.meta.uid == *uid)?;
        served.object.status = status.clone();
        Some(served.object.clone())
    }

    /// Notes what the engine wrote on a class; none if it stands for nothing.
    pub(crate) fn patch_class(
        &self,
        key: &NodeClassRef,
        patch: &MetadataPatch,
    ) -> Option<NodeClass> {
        let mut state = self.lock();
        let served = state.classes.get_mut(key)?;
        for removed in &patch.annotations_removed {
            served.written.remove(removed);
            served.object.annotations.remove(removed);
        }
        served.written.extend(patch.annotations.clone());
        served.object.annotations.extend(patch.annotations.clone());
        if let Some(finalizers) = &patch.finalizers {
            served.object.finalizers.clone_from(finalizers);
        }
        Some(served.object.clone())
    }

    /// Notes what the engine says about a class.
    pub(crate) fn set_class_status(
        &self,
        key: &NodeClassRef,
        status: &NodeClassStatus,
    ) -> Option<NodeClass> {
        let mut state = self.lock();
        let served = state.classes.get_mut(key)?;
        served.object.status = status.clone();
        Some(served.object.clone())
    }
}

impl State {
    fn serves(&self, key: &Key) -> bool {
        match key {
            Key::Pool(name) => self.pools.contains_key(name),
            Key::NodeClass(class) => self.classes.contains_key(class),
            _ => false,
        }
    }

    /// A NodePool or EC2NodeClass has this name.
    fn take_name(&mut self, key: &Key) {
        match key {
            Key::Pool(name) => drop(self.pools.remove(name)),
            Key::NodeClass(class) => drop(self.classes.remove(class)),
            _ => return,
        }
        self.real.insert(key.clone());
    }

    /// What has changed about what stands for the legacy objects, as the engine hears of it. `gone`
    /// are objects of other kinds that have just given up their names.
    fn translate(&mut self, world: &World, gone: &BTreeMap<Key, Revision>) -> Vec<Event> {
        if !self.provisioners.is_known || !self.templates.is_known {
            return Vec::new();
        }
        let Legacy { pools, classes, problems } = translation::of(
            self.provisioners.objects.values(),
            self.templates.objects.values(),
            &self.options,
            &self.rules,
        );
        self.tell(problems);
        // An object that is gone is remembered with its version, and what stands in for it is older.
        let since = |key: &Key| gone.get(key).copied().or(world.gone_at(key)).unwrap_or_default();
        let mut events = Vec::new();
        let mut served = BTreeMap::new();
        for mut pool in pools {
            let key = Key::Pool(pool.meta.name.clone());
            if self.real.contains(&key) {
                continue;
            }
            let known = self.pools.get(&pool.meta.name);
            let same = known.filter(|known| known.object.meta.uid == pool.meta.uid);
            pool.meta.revision = since(&key).max(revision_of(known.map(|it| &it.object.meta)));
            let written = same.map(|known| known.written.clone()).unwrap_or_default();
            pool.annotations.extend(written.clone());
            if let Some(known) = same {
                pool.status = known.object.status.clone();
            }
            if known.is_none_or(|known| known.object != pool) {
                events.push(Event::Seen(Box::new(Object::Pool(pool.clone()))));
            }
            served.insert(pool.meta.name.clone(), Served { object: pool, written });
        }
        let before = std::mem::replace(&mut self.pools, served);
        let left = before.into_iter().filter(|(name, _)| !self.pools.contains_key(name));
        events.extend(left.map(|(name, it)| lost(Key::Pool(name), &it.object.meta)));

        let mut served = BTreeMap::new();
        for mut class in classes {
            let key = Key::NodeClass(class.key.clone());
            if self.real.contains(&key) {
                continue;
            }
            let known = self.classes.get(&class.key);
            let same = known.filter(|known| known.object.meta.uid == class.meta.uid);
            class.meta.revision = since(&key).max(revision_of(known.map(|it| &it.object.meta)));
            let written = same.map(|known| known.written.clone()).unwrap_or_default();
            class.annotations.extend(written.clone());
            if let Some(Served { object, .. }) = same {
                // Kubelet settings come from Provisioners: no stored generation counts them.
                let changed = i64::from(object.spec != class.spec);
                class.meta.generation = object.meta.generation + changed;
                class.finalizers.clone_from(&object.finalizers);
                class.status = object.status.clone();
            }
            if known.is_none_or(|known| known.object != class) {
                events.push(Event::Seen(Box::new(Object::NodeClass(class.clone()))));
            }
            served.insert(class.key.clone(), Served { object: class, written });
        }
        let before = std::mem::replace(&mut self.classes, served);
        let left = before.into_iter().filter(|(key, _)| !self.classes.contains_key(key));
        events.extend(left.map(|(key, it)| lost(Key::NodeClass(key), &it.object.meta)));
        events
    }

    fn tell(&mut self, problems: Vec<String>) {
        for problem in problems.iter().filter(|problem| !self.told.contains(*problem)) {
            tracing::warn!("{problem}");
        }
        self.told = problems.into_iter().collect();
    }
}

fn revision_of(meta: Option<&kerf_engine::observed::Meta>) -> Revision {
    meta.map(|meta| meta.revision).unwrap_or_default()
}

fn lost(key: Key, meta: &kerf_engine::observed::Meta) -> Event {
    Event::Gone { key, revision: meta.revision }
}

#[cfg(test)]
mod tests;
