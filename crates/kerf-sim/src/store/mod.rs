//! The API server: objects with revisions, finalizers, preconditions and watches.
//!
//! Every write gives the object a new revision and is noted in the [`Journal`] for watches, and in
//! the list of [touched](Store::take_touched) objects for the controllers of the cluster itself.

mod journal;
mod write;

pub(crate) use journal::Journal;
pub(crate) use write::Precondition;

use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::Arc;

use kerf_engine::event::{Event, Key, Kind, Object};
use kerf_engine::observed::{Claim, Meta, Name, Node, Objects, Revision};
use kerf_engine::time::Time;

/// All objects.
#[derive(Clone, Debug, Default)]
pub struct Store {
    objects: Objects,
    pub(crate) now: Time,
    pub(crate) journal: Journal,
    revision: u64,
    uids: u64,
    touched: Vec<Key>,
}

impl Store {
    /// The identity, revision and times of a new object.
    pub(crate) fn new_meta(&mut self, name: Name) -> Meta {
        self.uids += 1;
        Meta {
            name,
            uid: Arc::from(format!("uid-{:06}", self.uids)),
            revision: Revision(self.revision),
            generation: 1,
            // The API server keeps whole seconds.
            created_at: Time::from_seconds(self.now.seconds()),
            deleting_since: None,
        }
    }

    /// Stores an object as it is, under a new revision.
    pub(crate) fn put(&mut self, mut object: Object) {
        self.revision += 1;
        let revision = Revision(self.revision);
        object.meta_mut().revision = revision;
        self.touched.push(object.key());
        self.journal.seen(object.clone());
        self.objects.insert(object);
    }

    /// Takes an object out for good.
    pub(crate) fn remove(&mut self, key: Key) {
        if self.objects.remove(&key) {
            self.revision += 1;
            self.touched.push(key.clone());
            self.journal.gone(key, Revision(self.revision));
        }
    }

    /// The node of a claim: the one on the same instance.
    #[must_use]
    pub fn node_of(&self, claim: &Claim) -> Option<&Node> {
        let id = claim.status.provider_id.as_ref()?;
        match &claim.status.node_name {
            Some(name) => self.nodes.get(name).map(Arc::as_ref),
            None => self.nodes_on_instance(id).next(),
        }
    }

    /// The revision of the newest write.
    #[must_use]
    pub fn revision(&self) -> Revision {
        Revision(self.revision)
    }

    /// The objects written since this was last asked, in the order of the writes.
    pub(crate) fn take_touched(&mut self) -> Vec<Key> {
        std::mem::take(&mut self.touched)
    }

    /// The nodes of which something changed since this was last asked: they, their pods or their
    /// claims.
    pub(crate) fn take_changed_nodes(&mut self) -> BTreeSet<Name> {
        self.objects.take_changed_nodes()
    }

    /// Every object of a kind, as a new watcher lists them.
    pub(crate) fn list(&self, kind: Kind) -> Vec<Event> {
        let objects = self.objects.list(kind).into_iter();
        objects.map(|object| Event::Seen(Box::new(object))).collect()
    }

    /// The names of a watcher's objects of a kind that are gone.
    pub(crate) fn gone_from(&self, kind: Kind, world: &kerf_engine::World) -> Vec<Key> {
        let known = world.keys(kind).into_iter().map(|(key, _)| key);
        known.filter(|key| self.objects.meta(key).is_none()).collect()
    }
}

/// Objects are asked for as if they were the store's own fields: `store.pods`.
impl Deref for Store {
    type Target = Objects;

    fn deref(&self) -> &Objects {
        &self.objects
    }
}
