//! Which kinds have been listed completely, and which objects went while nobody was watching.

use std::collections::{BTreeSet, HashMap, HashSet};

use kerf_engine::event::{Event, Key, Kind};
use kerf_engine::observed::Revision;
use kerf_engine::{Settings, World};
use kube::api::ApiResource;

use crate::client::zonal::ServedKinds;

/// The lists that are under way and those that are complete.
#[derive(Debug)]
pub(super) struct Listings {
    open: HashMap<Source, Listing>,
    awaited: BTreeSet<Source>,
    /// The kinds the engine reads.
    kinds: Vec<Kind>,
    listed: HashSet<Kind>,
    /// The newest version of anything that was received.
    newest: Revision,
}

/// A watch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Source {
    /// One of a kind the engine knows.
    Kind(Kind),
    /// A kind of node class, by group and kind.
    NodeClass(String, String),
    /// Which kinds of pools or node classes there are to watch.
    Served(Kind),
    /// A kind of pool, as JSON.
    PoolManifest(String),
    /// The subnets of a kind of node class, by group and kind.
    NodeClassSubnets(String, String),
    /// Which legacy kinds there are to watch.
    LegacyServed,
    /// A legacy kind, by its name.
    Legacy(String),
    CsiNode,
    VolumeClaim,
    Volume,
    StorageClass,
    Service,
    ReplicationController,
    ReplicaSet,
    StatefulSet,
}

/// The watches that say which pods have the same owner.
const PODS_BY_OWNER: [Source; 4] =
    [Source::Service, Source::ReplicationController, Source::ReplicaSet, Source::StatefulSet];

/// A list that is under way.
#[derive(Debug)]
struct Listing {
    /// The version it is of: what is not newer and not listed is gone. Until it is known, the newest
    /// one known when it began.
    at: Revision,
    listed: HashSet<Key>,
}

impl Source {
    /// The watch that a kind of which there is one waits for.
    fn of_kind(kind: Kind) -> Self {
        match kind {
            Kind::PoolManifest | Kind::NodeClassSubnets => Self::Served(kind),
            kind => Self::Kind(kind),
        }
    }

    /// The watch of a kind of node class.
    pub(super) fn of_class(kind: &ApiResource) -> Self {
        Self::NodeClass(kind.group.clone(), kind.kind.clone())
    }

    /// The kind of the objects of this watch, if the engine knows it.
    fn kind(&self) -> Option<Kind> {
        match self {
            Self::Kind(kind) => Some(*kind),
            Self::NodeClass(..) => Some(Kind::NodeClass),
            Self::PoolManifest(_) => Some(Kind::PoolManifest),
            Self::NodeClassSubnets(..) => Some(Kind::NodeClassSubnets),
            _ => None,
        }
    }

    /// Whether an object of its kind comes by this watch: those of node classes are several.
    fn covers(&self, key: &Key) -> bool {
        match (self, key) {
            (Self::NodeClass(group, kind), Key::NodeClass(key)) => {
                key.group == *group && key.kind == *kind
            }
            (Self::PoolManifest(kind), Key::PoolManifest(key)) => *key.kind == **kind,
            (Self::NodeClassSubnets(group, kind), Key::NodeClassSubnets(key)) => {
                key.group == *group && key.kind == *kind
            }
            _ => true,
        }
    }

    /// The kinds that are not complete without this watch.
    fn parts_of(&self) -> Kind {
        match self {
            Self::Kind(kind) | Self::Served(kind) => *kind,
            Self::NodeClass(..) => Kind::NodeClass,
            Self::PoolManifest(_) => Kind::PoolManifest,
            Self::NodeClassSubnets(..) => Kind::NodeClassSubnets,
            // Their node classes are of no use without pools.
            Self::LegacyServed | Self::Legacy(_) => Kind::Pool,
            Self::CsiNode => Kind::Node,
            Self::VolumeClaim
            | Self::Volume
            | Self::StorageClass
            | Self::Service
            | Self::ReplicationController
            | Self::ReplicaSet
            | Self::StatefulSet => Kind::Pod,
        }
    }
}

impl Listings {
    /// Nothing has been listed yet, and what the engine reads will be.
    pub(super) fn new(settings: &Settings) -> Self {
        let kinds: Vec<Kind> = settings.kinds().collect();
        let classes = settings.provider.node_classes.iter();
        let classes: Vec<Source> = classes
            .map(|class| Source::NodeClass(class.group.clone(), class.kind.clone()))
            .collect();
        let sources = |kind: &Kind| match kind {
            Kind::NodeClass => classes.clone(),
            kind => vec![Source::of_kind(*kind)],
        };
        let parts = [Source::CsiNode, Source::VolumeClaim, Source::Volume, Source::StorageClass];
        let parts = parts.into_iter().filter(|_| settings.role.places_pods());
        Self {
            open: HashMap::new(),
            awaited: kinds.iter().flat_map(sources).chain(parts).collect(),
            kinds,
            listed: HashSet::new(),
            newest: Revision::default(),
        }
    }

    /// Pods are complete only once it is known which of them have the same owner.
    pub(super) fn await_pods_by_owner(&mut self) {
        self.awaited.extend(PODS_BY_OWNER);
    }

    /// Pools are complete only once it is known which of them stand for legacy objects.
    pub(super) fn await_legacy(&mut self) {
        self.awaited.insert(Source::LegacyServed);
    }

    /// Which legacy kinds there are is known: those are listed before pools are complete.
    pub(super) fn serve_legacy(&mut self, kinds: impl Iterator<Item = String>) -> Vec<Event> {
        self.awaited.retain(|it| !matches!(it, Source::LegacyServed | Source::Legacy(_)));
        self.awaited.extend(kinds.map(Source::Legacy));
        self.whole()
    }

    /// Which kinds of pools and node classes there are is known: those are listed from now on, anew.
    pub(super) fn serve(&mut self, served: &ServedKinds) -> Vec<Event> {
        let is_served = |source: &Source| {
            matches!(
                source,
                Source::Served(_) | Source::PoolManifest(_) | Source::NodeClassSubnets(..)
            )
        };
        self.awaited.retain(|source| !is_served(source));
        self.open.retain(|source, _| !is_served(source));
        let pools = served.pools.iter().map(|kind| Source::PoolManifest(kind.kind.clone()));
        let subnets =
            |kind: &ApiResource| Source::NodeClassSubnets(kind.group.clone(), kind.kind.clone());
        self.awaited.extend(pools.chain(served.node_classes.iter().map(subnets)));
        self.whole()
    }

    /// A kind of pool or node class cannot be listed: nobody waits for it.
    pub(super) fn pass_over(&mut self, kind: &ApiResource) -> Vec<Event> {
        self.awaited.remove(&Source::PoolManifest(kind.kind.clone()));
        let subnets = Source::NodeClassSubnets(kind.group.clone(), kind.kind.clone());
        self.awaited.remove(&subnets);
        self.awaited.remove(&Source::Legacy(kind.kind.clone()));
        self.whole()
    }

    /// Notes a version that exists.
    pub(super) fn note_revision(&mut self, revision: Revision) {
        self.newest = self.newest.max(revision);
    }

    /// All objects of a watch are about to be listed anew.
    pub(super) fn begin(&mut self, source: Source) {
        let listing = Listing { at: self.newest, listed: HashSet::new() };
        self.open.insert(source, listing);
    }

    /// An object was listed.
    pub(super) fn note(&mut self, source: &Source, key: impl FnOnce() -> Key) {
        if let Some(listing) = self.open.get_mut(source) {
            listing.listed.insert(key());
        }
    }

    /// The objects that a list under way has named so far.
    pub(super) fn named(&self, source: &Source) -> Option<&HashSet<Key>> {
        self.open.get(source).map(|listing| &listing.listed)
    }

    /// What a watch that has told everything says of its kind, if the engine knows that.
    pub(super) fn heard(source: &Source) -> Option<Event> {
        match source {
            Source::Kind(kind) => Some(Event::Heard(*kind)),
            Source::NodeClass(..) => Some(Event::Heard(Kind::NodeClass)),
            _ => None,
        }
    }

    /// All objects of a watch have been listed, as they were at that version: those that are gone,
    /// and which kinds are complete now.
    pub(super) fn end(
        &mut self,
        source: &Source,
        at: Option<Revision>,
        world: &World,
    ) -> Vec<Event> {
        let mut events = Vec::new();
        if let Some(mut listing) = self.open.remove(source) {
            // The list may have been made before anybody heard that it begins: what was written
            // between the two is known and not in it.
            listing.at = at.unwrap_or(listing.at);
            let gone = |key| Event::Gone { key, revision: listing.at };
            events.extend(lost(world, source, &listing).into_iter().map(gone));
        }
        self.awaited.remove(source);
        events.extend(self.whole());
        events
    }

    /// The kinds that are whole and were not before.
    fn whole(&mut self) -> Vec<Event> {
        let awaited = |kind: Kind| self.awaited.iter().any(|source| source.parts_of() == kind);
        let whole = self.kinds.iter().copied().filter(|kind| !awaited(*kind)).collect::<Vec<_>>();
        let new = whole.into_iter().filter(|kind| self.listed.insert(*kind));
        new.map(Event::Listed).collect()
    }

    /// Whether everything pods depend on has been listed, and nothing of it is being listed anew.
    pub(super) fn know_what_pods_need(&self) -> bool {
        let matters =
            |source: &Source| source.parts_of() == Kind::Pod && *source != Source::Kind(Kind::Pod);
        !self.awaited.iter().chain(self.open.keys()).any(matters)
    }
}

/// The objects the engine knows that a whole list did not name.
fn lost(world: &World, source: &Source, listing: &Listing) -> Vec<Key> {
    let Some(kind) = source.kind() else { return Vec::new() };
    let is_lost = |(key, revision): &(Key, Revision)| {
        *revision <= listing.at && source.covers(key) && !listing.listed.contains(key)
    };
    let unreadable = world.unreadable(kind).map(|(key, revision)| (key.clone(), revision));
    let known = world.keys(kind).into_iter().chain(unreadable);
    known.filter(is_lost).map(|(key, _)| key).collect()
}
