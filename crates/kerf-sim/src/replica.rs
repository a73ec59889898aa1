//! One engine with its watches: what it has received, and what it waits for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kerf_engine::event::{Event, Kind};
use kerf_engine::time::Time;
use kerf_engine::{Engine, Orders, Role, Settings};
use kerf_journal::{Header, JournaledEngine, MemoryJournal};

use crate::store::Store;

/// The number of an engine; never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ReplicaId(pub(crate) u32);

/// One engine with its watches.
#[derive(Clone, Debug)]
pub(crate) struct Replica {
    pub(crate) id: ReplicaId,
    pub(crate) engine: JournaledEngine<MemoryJournal>,
    /// When it is woken next.
    pub(crate) wake_at: Option<Time>,
    /// Whether it has heard something it was not asked about yet.
    pub(crate) has_update: bool,
    pub(crate) busy: Busy,
    watches: [Watch; Kind::ALL.len()],
}

/// How long the engine itself was at work, on the clock of the host: for benches, nothing in a
/// simulation depends on it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Busy {
    /// In all.
    pub took: Duration,
    /// At one time: so long nothing else is taken in.
    pub longest: Duration,
}

#[derive(Clone, Copy, Debug, Default)]
struct Watch {
    /// Where in the journal to go on; none until the first listing.
    place: Option<usize>,
    is_due: bool,
    /// Until when it delivers nothing.
    deaf_until: Time,
}

/// Records of a journal between two states of its engine: a few in every run, so that a state is
/// known to be all there is to go on from.
const RECORDS_BETWEEN_STATES: u64 = 1_000;

impl Replica {
    pub(crate) fn new(id: ReplicaId, settings: Settings, is_journaled: bool) -> Self {
        let version = env!("CARGO_PKG_VERSION");
        let header = Header::new(version, settings.clone());
        let journal = is_journaled
            .then(|| MemoryJournal::new(&header).with_state_every(RECORDS_BETWEEN_STATES));
        Self {
            id,
            engine: JournaledEngine::new(Engine::new(settings), journal),
            wake_at: None,
            has_update: false,
            busy: Busy::default(),
            watches: Default::default(),
        }
    }

    /// Tells the engine something.
    pub(crate) fn handle(&mut self, event: Event, now: Time) {
        let engine = &mut self.engine;
        self.busy.counted_work(|| engine.handle(event, now));
    }

    /// Asks the engine what to do.
    pub(crate) fn decide(&mut self, now: Time) -> Orders {
        let engine = &mut self.engine;
        self.busy.counted_work(|| engine.decide(now))
    }

    /// Whether a delivery of a kind has to be arranged: something changed and none is on its way. Says
    /// so once.
    pub(crate) fn needs_delivery(&mut self, kind: Kind, store: &Store) -> bool {
        let watch = &mut self.watches[kind as usize];
        let behind = watch.place.is_none_or(|place| place < store.journal.end(kind));
        let needs = behind && !watch.is_due;
        watch.is_due |= needs;
        needs
    }

    /// Has the watch of a kind deliver nothing until then.
    pub(crate) fn deafen(&mut self, kind: Kind, until: Time) {
        let watch = &mut self.watches[kind as usize];
        watch.deaf_until = watch.deaf_until.max(until);
    }

    /// Has all watches deliver nothing until then.
    pub(crate) fn deafen_all(&mut self, until: Time) {
        Kind::ALL.into_iter().for_each(|kind| self.deafen(kind, until));
    }

    /// Until when the watch of a kind delivers nothing.
    pub(crate) fn deaf_until(&self, kind: Kind) -> Time {
        self.watches[kind as usize].deaf_until
    }

    /// Watches that live and have told everything say so.
    pub(crate) fn hear(&mut self, now: Time) {
        for kind in Role::Controller.kinds().iter().copied() {
            let watch = &self.watches[kind as usize];
            if watch.place.is_some() && watch.deaf_until <= now {
                self.handle(Event::Heard(kind), now);
            }
        }
        self.has_update = true;
    }

    /// Hands over what changed of a kind; everything there is, the first time.
    pub(crate) fn deliver(&mut self, kind: Kind, store: &Store, now: Time) {
        let watch = &mut self.watches[kind as usize];
        watch.is_due = false;
        let end = store.journal.end(kind);
        match watch.place.replace(end) {
            Some(place) => {
                for event in store.journal.since(kind, place) {
                    self.handle(event, now);
                }
            }
            None => {
                for event in store.list(kind) {
                    self.handle(event, now);
                }
                self.handle(Event::Listed(kind), now);
            }
        }
        self.has_update = true;
    }

    /// Lists everything again: what changed while nobody watched is only seen by its result.
    pub(crate) fn relist(&mut self, store: &Store, now: Time) {
        for kind in Role::Controller.kinds().iter().copied() {
            self.watches[kind as usize].place = Some(store.journal.end(kind));
            for key in store.gone_from(kind, self.engine.world()) {
                self.handle(Event::Gone { key, revision: store.revision() }, now);
            }
            for event in store.list(kind) {
                self.handle(event, now);
            }
            self.handle(Event::Listed(kind), now);
        }
        self.has_update = true;
    }

    /// Tells what every pool's nodes can be made of.
    pub(crate) fn offer(
        &mut self,
        store: &Store,
        instance_types: &Arc<[kerf_model::instance_type::InstanceType]>,
        now: Time,
    ) {
        for pool in store.pools.keys() {
            let event =
                Event::Offered { pool: pool.clone(), instance_types: instance_types.clone() };
            self.handle(event, now);
        }
        self.has_update = true;
    }

    /// The oldest change of a kind it has yet to see.
    pub(crate) fn place(&self, kind: Kind) -> Option<usize> {
        self.watches[kind as usize].place
    }
}

impl Busy {
    /// Has the engine work, and notes for how long. Callgrind counts the instructions between entry
    /// and return of functions of this name, so it must stay one.
    #[inline(never)]
    fn counted_work<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let done = work();
        let took = begun.elapsed();
        self.took += took;
        self.longest = self.longest.max(took);
        done
    }
}
