//! The whole: a cluster, a cloud, one engine or two, and the order of time.
//!
//! ```text
//!            ┌────────────── Queue: what happens next ──────────────┐
//!            ▼                                                      │
//!  Store ── touched ──► binder, controllers, kubelets, cloud ───────┤
//!    ▲  └── journal ──► watches ──► Engine ── actions ──► calls ────┘
//!    └───────────────────────────────────────────────────────┘
//! ```
//!
//! Everything follows from the scenario and the seed; two runs of the same are the same.

mod call;
mod engines;
mod fault;
mod node_life;
mod notices;
mod passes;
mod pod_life;
mod script;
mod setup;
mod solver;

use std::sync::Arc;

use kerf_engine::time::{Span, Time};

use crate::binder::Binder;
use crate::cloud::Cloud;
use crate::controllers::Workloads;
use crate::hours::Hours;
use crate::invariants::Checker;
use crate::kubelet::Kubelets;
use crate::replica::{Busy, Replica};
use crate::rng::Rng;
use crate::scenario::{Scenario, ScenarioError};
use crate::sim_event::{Queue, SimEvent};
use crate::store::Store;
use crate::trace::Trace;
use notices::Notices;
use solver::Solver;

/// A simulation under way.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// The objects of the cluster.
    pub store: Store,
    /// The instances and what they cost.
    pub cloud: Cloud,
    /// What was decided and what happened.
    pub trace: Trace,
    pub(crate) scenario: Arc<Scenario>,
    pub(crate) binder: Binder,
    pub(crate) workloads: Workloads,
    kubelets: Kubelets,
    queue: Queue,
    solver: Solver,
    replicas: Vec<Replica>,
    replicas_started: u32,
    is_journaled: bool,
    journals: Vec<String>,
    checker: Checker,
    pub(crate) hours: Option<Hours>,
    notices: Notices,
    rngs: SimulationRngs,
    pass_at: Option<Time>,
    retry_at: Time,
    is_capacity_freed: bool,
    server_away_until: Time,
    nodes_joined: u64,
    nodes_max: usize,
    steps: u64,
    wakes: u64,
    started_at: Time,
    ends_at: Time,
}

/// Chance, one stream for each purpose.
#[derive(Clone, Debug)]
struct SimulationRngs {
    network: Rng,
    calls: Rng,
    instances: Rng,
    faults: Rng,
}

/// When every simulation begins: Monday the 5th of January 2026, midnight in UTC.
const BEGINNING: Time = Time::from_seconds(1_767_571_200);
/// How often the state is judged as a whole.
const JUDGE_EVERY: Span = Span::from_seconds(10);
/// How often an engine may ask to be woken between two judgements: a hundred times a second. Each
/// of a thousand nodes being drained needs a look every second or so, and looks are shared.
const WAKES_MAX: u64 = 1_000;

impl Simulation {
    /// Sets the cluster up. `seed` decides everything the scenario leaves to chance.
    ///
    /// # Errors
    /// The scenario's cloud sells nothing, or its region is not known.
    pub fn new(scenario: Arc<Scenario>, seed: u64) -> Result<Self, ScenarioError> {
        let length = scenario.length;
        Self::lasting(scenario, seed, length)
    }

    /// The same for another length of time; the timeline is played again and again.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub fn lasting(
        scenario: Arc<Scenario>,
        seed: u64,
        length: Span,
    ) -> Result<Self, ScenarioError> {
        Self::start(scenario, seed, length, false)
    }

    /// The same with a journal of each engine, see [`Simulation::journals`]. It takes more memory
    /// the longer it runs.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub fn journaled(
        scenario: Arc<Scenario>,
        seed: u64,
        length: Span,
    ) -> Result<Self, ScenarioError> {
        Self::start(scenario, seed, length, true)
    }

    fn start(
        scenario: Arc<Scenario>,
        seed: u64,
        length: Span,
        is_journaled: bool,
    ) -> Result<Self, ScenarioError> {
        let rng = |purpose| Rng::new(seed, purpose);
        let mut simulation = Self {
            store: Store::default(),
            cloud: Cloud::new(&scenario.cloud)?,
            trace: Trace::default(),
            binder: Binder::default(),
            workloads: Workloads::new(rng("names")),
            kubelets: Kubelets::default(),
            queue: Queue::default(),
            solver: Solver::default(),
            replicas: Vec::new(),
            replicas_started: 0,
            is_journaled,
            journals: Vec::new(),
            checker: Checker::default(),
            hours: None,
            notices: Notices::default(),
            rngs: SimulationRngs {
                network: rng("network"),
                calls: rng("calls"),
                instances: rng("machines"),
                faults: rng("faults"),
            },
            pass_at: None,
            retry_at: BEGINNING,
            is_capacity_freed: false,
            server_away_until: BEGINNING,
            nodes_joined: 0,
            nodes_max: 0,
            steps: 0,
            wakes: 0,
            started_at: BEGINNING,
            ends_at: BEGINNING + length,
            scenario,
        };
        simulation.store.now = BEGINNING;
        let scenario = simulation.scenario.clone();
        simulation.checker.prepare(&scenario);
        simulation.set_up();
        simulation.write_the_script();
        simulation.settle();
        Ok(simulation)
    }

    /// The time it is.
    #[must_use]
    pub fn now(&self) -> Time {
        self.store.now
    }

    /// How long it has been running.
    #[must_use]
    pub fn elapsed(&self) -> Span {
        self.store.now.since(self.started_at)
    }

    /// When it is over.
    #[must_use]
    pub fn ends_at(&self) -> Time {
        self.ends_at
    }

    /// The most nodes there were at once so far.
    #[must_use]
    pub fn nodes_max(&self) -> usize {
        self.nodes_max
    }

    /// How many things happened so far.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// How long the engine that runs was at work since it was last asked; of several, the first.
    pub fn take_busy(&mut self) -> Busy {
        self.replicas
            .first_mut()
            .map(|replica| std::mem::take(&mut replica.busy))
            .unwrap_or_default()
    }

    /// What went against the rules so far.
    #[must_use]
    pub fn checker(&self) -> &Checker {
        &self.checker
    }

    pub(crate) fn happens_at(&mut self, at: Time, sim_event: SimEvent) {
        self.queue.at(at, sim_event);
    }

    /// Plays to the end.
    pub fn run(&mut self) {
        while self.step() {}
    }

    /// Plays until a time.
    pub fn run_until(&mut self, time: Time) {
        while self.queue.next_at().is_some_and(|next| next <= time) && self.step() {}
        if time <= self.ends_at {
            self.store.now = self.store.now.max(time);
        }
    }

    /// Lets the next thing happen. Returns whether there was one.
    pub fn step(&mut self) -> bool {
        let Some(next) = self.queue.next_at().filter(|next| *next <= self.ends_at) else {
            self.store.now = self.ends_at;
            return false;
        };
        let Some((_, sim_event)) = self.queue.pop() else { return false };
        self.store.now = self.store.now.max(next);
        self.steps += 1;
        self.apply(sim_event);
        self.settle();
        // What happens at the same moment is heard together.
        if self.queue.next_at() != Some(self.store.now) {
            self.decide();
        }
        true
    }

    fn apply(&mut self, sim_event: SimEvent) {
        let now = self.store.now;
        match sim_event {
            SimEvent::Step(number) => self.play(number),
            SimEvent::Expect(number) => self.expect(number),
            SimEvent::Pass => self.pass(),
            SimEvent::PodStarts(key, uid) => self.pod_starts(&key, &uid),
            SimEvent::PodEnds(key, uid) => self.pod_ends(&key, &uid),
            SimEvent::PodGone(key, uid) => self.pod_gone(&key, &uid),
            SimEvent::PodSwept(key, uid) => self.pod_swept(&key, &uid),
            SimEvent::VolumeDetached(name) => {
                self.store.remove(kerf_engine::event::Key::VolumeAttachment(name));
            }
            SimEvent::NodeJoins(instance) => self.node_joins(&instance),
            SimEvent::NodeReady(name) => self.node_ready(&name),
            SimEvent::NodeStarted(name) => self.node_started(&name),
            SimEvent::NodeSilent(name) => self.node_silent(&name),
            SimEvent::NodeGivenUp(name) => self.node_given_up(&name),
            SimEvent::InstanceGone(instance) => self.instance_gone(&instance),
            SimEvent::InstanceReclaimed(instance) => self.instance_dies(&instance),
            SimEvent::Notice(instance) => self.deliver_notice(&instance),
            SimEvent::LookAtCost => self.look_at_cost(),
            SimEvent::Restocked => {
                if self.cloud.refresh(now) {
                    self.send_instance_types();
                }
            }
            SimEvent::Deliver(replica, kind) => self.deliver(replica, kind),
            SimEvent::Heard(id) => self.hear(id),
            SimEvent::Relist(id) => self.relist(id),
            SimEvent::Wake(id) => self.wake(id),
            SimEvent::Arrive(replica, action) => self.arrive(replica, *action),
            SimEvent::Answer(replica, action, outcome) => self.answer(replica, action, *outcome),
            SimEvent::Start => self.start_replica(),
            SimEvent::Stop(id) => self.stop_replica(id),
            SimEvent::Fault(fault) => self.go_wrong(fault),
            SimEvent::Judge => {
                self.judge_notices();
                self.checker.note_nodes(self.store.take_changed_nodes());
                self.checker.judge(&self.store, &self.cloud, &self.scenario, &self.workloads);
                if std::mem::take(&mut self.wakes) > WAKES_MAX {
                    let what = format!("it asked to be woken over {WAKES_MAX} times");
                    self.checker.restless(now, what);
                }
                self.queue.at(now + JUDGE_EVERY, SimEvent::Judge);
            }
        }
    }

    /// Lets the cluster's own parts take in what was written, until nothing is left to do.
    pub(crate) fn settle(&mut self) {
        loop {
            let touched = self.store.take_touched();
            if touched.is_empty() {
                break;
            }
            for key in &touched {
                self.is_capacity_freed |= self.binder.note(key, &self.store);
                self.workloads.note(key, &self.store);
                self.checker.note(key, &self.store);
                self.kubelets.note(key, &self.store, &self.workloads, &mut self.queue);
                self.note_node(key);
            }
            self.workloads.sync(&mut self.store, &mut self.binder);
        }
        self.arrange_pass();
        self.arrange_deliveries();
    }
}
