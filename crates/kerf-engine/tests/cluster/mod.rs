//! A cluster and a cloud small enough to read, around a real engine.
//!
//! [`Cluster::settle`] lets the engine decide and carries everything out until there is silence;
//! [`Cluster::wait`] lets time pass, waking the engine when it asked for it. What was stored is
//! all that survives [`Cluster::crash`].

#![allow(
    dead_code,
    unused_imports,
    clippy::unwrap_used,
    reason = "every test file uses a part of it"
)]

pub(crate) mod executor;
pub(crate) mod fleet;
pub(crate) mod objects;
pub(crate) mod workload;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use kerf_engine::action::{Action, ActionId, ActionKind};
use kerf_engine::event::{Event, Failure, Instance, Key, Kind, Object, ResolvedNodeClass};
use kerf_engine::kubernetes_event::KubernetesEvent;
use kerf_engine::notice::{AnnouncedInstance, Settled};
use kerf_engine::observed::{Claim, Name, Node, Pod, Pool, Revision};
use kerf_engine::provider::{NodeClassKind, ProviderInfo};
use kerf_engine::sample::Sample;
use kerf_engine::time::{Span, Time};
use kerf_engine::{Engine, Settings};
use kerf_model::instance_type::InstanceType;
use kerf_scheduler::Effort;

pub(crate) use fleet::*;
pub(crate) use objects::*;
pub(crate) use workload::*;

/// When every test begins.
pub(crate) const START: Time = Time::from_seconds(1_735_689_600);

/// The cluster, its cloud and the engine.
pub(crate) struct Cluster {
    pub(crate) engine: Engine,
    pub(crate) now: Time,
    pub(crate) objects: BTreeMap<Key, Object>,
    /// Every action ever ordered.
    pub(crate) actions: Vec<(Time, Action)>,
    /// Solves whose answer the engine no longer waits for.
    pub(crate) withdrawn: Vec<ActionId>,
    pub(crate) kubernetes_events: Vec<KubernetesEvent>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) settled: Vec<Settled>,
    /// What the provider was told of its instances.
    pub(crate) announced: Vec<AnnouncedInstance>,
    /// The cloud's instances by the claim uid they were launched for.
    pub(crate) instances: BTreeMap<String, Instance>,
    /// How often an instance was really made, by claim uid.
    pub(crate) made: BTreeMap<String, u32>,
    /// What the provider finds for every node class.
    pub(crate) resolved: ResolvedNodeClass,
    /// The tags of instances.
    pub(crate) tags: BTreeMap<String, BTreeMap<String, String>>,
    /// What the cloud answers to every launch, if it refuses.
    pub(crate) launch_fails: Option<Failure>,
    /// Whether launched instances become nodes by themselves.
    pub(crate) boots: bool,
    /// Pods a budget never lets go.
    pub(crate) unevictable: BTreeSet<String>,
    /// Pods that never end.
    pub(crate) immortal: BTreeSet<String>,
    /// Which actions answer nothing at all: neither effect nor outcome.
    pub(crate) ignores: fn(&ActionKind) -> bool,
    /// Which actions fail without any effect.
    pub(crate) refuses: fn(&ActionKind) -> Option<Failure>,
    /// The work that goes into each solve at most, where it is less than what is asked for: as if
    /// its time were over then.
    pub(crate) effort: Effort,
    /// Whether watches are silent: only outcomes are heard.
    pub(crate) is_deaf: bool,
    /// Kinds whose watches are silent.
    pub(crate) silent: BTreeSet<Kind>,
    /// Whether silent watches say that they live.
    pub(crate) lies: bool,
    /// What silent watches have not told.
    pub(crate) untold: VecDeque<Event>,
    /// What each pool's nodes can be made of.
    pub(crate) instance_types: BTreeMap<Name, Arc<[InstanceType]>>,
    pub(crate) undelivered: VecDeque<Event>,
    pub(crate) booting: BTreeMap<String, Time>,
    pub(crate) revision: u64,
}

/// How often watches that live are heard from at least.
const HEARD_EVERY: Span = Span::from_seconds(40);

/// No test needs more rounds in one moment; a planner that never rests does.
const ROUNDS_MAX: usize = 200;

impl Cluster {
    /// An empty cluster with one usable node class, and an engine that has seen everything.
    pub(crate) fn new() -> Self {
        let mut cluster = Self::bare(settings());
        cluster.store(Object::NodeClass(node_class()));
        cluster.list_all();
        cluster
    }

    /// A cluster without Kerf's CRDs, and an engine in a role that needs none.
    pub(crate) fn without_crds(settings: Settings) -> Self {
        let mut cluster = Self::bare(settings);
        cluster.list_all();
        cluster
    }

    fn bare(settings: Settings) -> Self {
        Self {
            engine: Engine::new(settings),
            now: START,
            objects: BTreeMap::new(),
            actions: Vec::new(),
            withdrawn: Vec::new(),
            kubernetes_events: Vec::new(),
            samples: Vec::new(),
            settled: Vec::new(),
            announced: Vec::new(),
            instances: BTreeMap::new(),
            made: BTreeMap::new(),
            resolved: ResolvedNodeClass::default(),
            tags: BTreeMap::new(),
            launch_fails: None,
            boots: true,
            unevictable: BTreeSet::new(),
            immortal: BTreeSet::new(),
            ignores: |_| false,
            refuses: |_| None,
            effort: Effort::UNLIMITED,
            is_deaf: false,
            silent: BTreeSet::new(),
            lies: false,
            untold: VecDeque::new(),
            instance_types: BTreeMap::new(),
            undelivered: VecDeque::new(),
            booting: BTreeMap::new(),
            revision: 0,
        }
    }

    /// The process dies and another starts: only what is stored is known.
    pub(crate) fn crash(&mut self) {
        self.restart_with(settings());
    }

    /// The process starts anew, with other settings.
    pub(crate) fn restart_with(&mut self, settings: Settings) {
        self.undelivered.clear();
        self.untold.clear();
        self.engine = Engine::new(settings);
        for object in self.objects.values() {
            self.undelivered.push_back(Event::Seen(Box::new(object.clone())));
        }
        self.list_all();
        self.offer_all();
    }

    fn list_all(&mut self) {
        for kind in self.engine.world().settings.required_kinds() {
            self.undelivered.push_back(Event::Listed(kind));
        }
    }

    /// Stores an object under a new revision and tells the engine.
    pub(crate) fn store(&mut self, mut object: Object) -> Object {
        self.revision += 1;
        object.meta_mut().revision = Revision(self.revision);
        self.objects.insert(object.key(), object.clone());
        self.undelivered.push_back(Event::Seen(Box::new(object.clone())));
        object
    }

    /// Takes an object away and tells the engine.
    pub(crate) fn remove(&mut self, key: &Key) {
        if self.objects.remove(key).is_some() {
            self.revision += 1;
            let (key, revision) = (key.clone(), Revision(self.revision));
            self.undelivered.push_back(Event::Gone { key, revision });
        }
    }

    /// Delivers all events, lets the engine decide, and carries out its orders, until nothing happens
    /// any more at this moment.
    pub(crate) fn settle(&mut self) {
        self.hear();
        for _ in 0..ROUNDS_MAX {
            self.deliver();
            let actions = self.decide();
            if actions.is_empty() && self.undelivered.is_empty() {
                return;
            }
            for action in actions {
                self.carry_out(action);
            }
        }
        let last: Vec<_> = self.actions.iter().rev().take(6).collect();
        panic!("it never rests: {last:#?}");
    }

    /// Tells the engine everything it has not heard.
    pub(crate) fn deliver(&mut self) {
        while let Some(event) = self.undelivered.pop_front() {
            if told_by(&event).is_some_and(|kind| self.silent.contains(&kind)) {
                self.untold.push_back(event);
            } else if !self.is_deaf || matches!(event, Event::Finished { .. }) {
                self.engine.handle(event, self.now);
            }
        }
    }

    /// Watches that live are heard from.
    pub(crate) fn hear(&mut self) {
        for kind in self.engine.world().settings.required_kinds() {
            let is_listed = self.engine.world().silence(kind, self.now).is_some();
            let is_silent = self.silent.contains(&kind) && !self.lies;
            if is_listed && !self.is_deaf && !is_silent {
                self.undelivered.push_back(Event::Heard(kind));
            }
        }
    }

    /// Ends the silence of all watches: everything that happened meanwhile is told.
    pub(crate) fn speak(&mut self) {
        self.silent.clear();
        self.lies = false;
        let untold = std::mem::take(&mut self.untold);
        untold.into_iter().rev().for_each(|event| self.undelivered.push_front(event));
    }

    /// Asks for orders and notes them.
    pub(crate) fn decide(&mut self) -> Vec<Action> {
        let orders = self.engine.decide(self.now);
        self.withdrawn.extend(orders.withdrawn);
        self.kubernetes_events.extend(orders.kubernetes_events);
        self.samples.extend(orders.samples);
        self.settled.extend(orders.settled);
        self.announced.extend(orders.announced);
        self.actions.extend(orders.actions.iter().map(|action| (self.now, action.clone())));
        orders.actions
    }

    /// Lets time pass, stopping where the engine wants to be asked or something happens by itself.
    pub(crate) fn wait(&mut self, span: Span) {
        let end = self.now + span;
        self.settle();
        while self.now < end {
            let soonest = self.now + Span::from_millis(1);
            let next = [self.engine.next_wake(), self.next_change()].into_iter().flatten().min();
            let heard = self.now + HEARD_EVERY;
            self.now = next.map_or(end, |next| next.max(soonest)).min(heard).min(end);
            self.pass_time();
            self.settle();
        }
    }

    pub(crate) fn seconds(&mut self, seconds: u64) {
        self.wait(Span::from_seconds(seconds));
    }

    pub(crate) fn claim(&self, name: &str) -> &Claim {
        self.find_claim(name).unwrap_or_else(|| panic!("no claim {name}"))
    }

    pub(crate) fn find_claim(&self, name: &str) -> Option<&Claim> {
        match self.objects.get(&Key::Claim(name.into()))? {
            Object::Claim(claim) => Some(claim),
            _ => None,
        }
    }

    pub(crate) fn pool(&self, name: &str) -> &Pool {
        match self.objects.get(&Key::Pool(name.into())) {
            Some(Object::Pool(pool)) => pool,
            _ => panic!("no pool {name}"),
        }
    }

    pub(crate) fn nodes(&self) -> Vec<&Node> {
        let nodes = self.objects.values().filter_map(|object| match object {
            Object::Node(node) => Some(node),
            _ => None,
        });
        nodes.collect()
    }

    pub(crate) fn pods(&self) -> Vec<&Pod> {
        let pods = self.objects.values().filter_map(|object| match object {
            Object::Pod(pod) => Some(pod),
            _ => None,
        });
        pods.collect()
    }

    /// The one node there is.
    pub(crate) fn node(&self) -> &Node {
        let nodes = self.nodes();
        assert_eq!(nodes.len(), 1, "not one node: {nodes:?}");
        nodes[0]
    }

    /// Changes a stored object by hand, as a user or a controller would.
    pub(crate) fn edit(&mut self, key: &Key, change: impl FnOnce(&mut Object)) {
        let mut object = self.objects.get(key).unwrap_or_else(|| panic!("no {key:?}")).clone();
        change(&mut object);
        self.store(object);
    }

    pub(crate) fn edit_node(&mut self, change: impl FnOnce(&mut Node)) {
        let key = Key::Node(self.node().meta.name.clone());
        self.edit(&key, |object| match object {
            Object::Node(node) => change(node),
            _ => unreachable!("a node's key names a node"),
        });
    }

    /// Asks for the deletion of an object, as `kubectl delete` does.
    pub(crate) fn delete(&mut self, key: &Key) {
        executor::delete(self, key);
    }

    /// The names of all actions so far, without repeats in a row.
    pub(crate) fn log(&self) -> Vec<&'static str> {
        let mut names: Vec<&'static str> =
            self.actions.iter().map(|(_, action)| action.kind.info().name).collect();
        names.dedup();
        names
    }

    /// How many actions there were so far that fit.
    pub(crate) fn count(&self, fits: impl Fn(&ActionKind) -> bool) -> usize {
        self.actions.iter().filter(|(_, action)| fits(&action.kind)).count()
    }

    pub(crate) fn has_said(&self, reason: &str) -> bool {
        self.kubernetes_events.iter().any(|event| event.reason == reason)
    }

    /// How often a counter was raised with a label of that value, or at all.
    pub(crate) fn counted(&self, wanted: &str, value: &str) -> u64 {
        let counts = self.samples.iter().filter_map(|sample| match sample {
            Sample::Count { metric, labels, by } if *metric == wanted => {
                let fits = value.is_empty() || labels.iter().any(|(_, label)| label == value);
                fits.then_some(*by)
            }
            _ => None,
        });
        counts.sum()
    }
}

/// The kind whose watch tells of an event.
fn told_by(event: &Event) -> Option<Kind> {
    match event {
        Event::Seen(object) => Some(object.key().kind()),
        Event::Gone { key, .. } | Event::Unreadable { key, .. } => Some(key.kind()),
        Event::Listed(kind) => Some(*kind),
        _ => None,
    }
}

/// The settings every test begins with.
pub(crate) fn settings() -> Settings {
    let kind = NodeClassKind::named(CLASS_GROUP, CLASS_KIND);
    let mut provider = ProviderInfo::with_node_classes([kind]);
    provider.spot_role_error = Some("NoSpotRole".to_owned());
    Settings { provider, ..Settings::default() }
}
