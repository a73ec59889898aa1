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
mod stage;

use std::sync::Arc;

use kerf_engine::time::{Span, Time};

use crate::binder::Binder;
use crate::cloud::Cloud;
use crate::controllers::Workloads;
use crate::happening::{Happening, Queue};
use crate::invariants::Checker;
use crate::kubelet::Kubelets;
use crate::random::Dice;
use crate::replica::Replica;
use crate::scenario::{Scenario, ScenarioError};
use crate::store::Store;
use crate::story::Story;
use notices::Notices;

/// A simulation under way.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// The objects of the cluster.
    pub store: Store,
    /// The instances and what they cost.
    pub cloud: Cloud,
    /// What was decided and what happened.
    pub story: Story,
    pub(crate) scenario: Arc<Scenario>,
    pub(crate) binder: Binder,
    pub(crate) workloads: Workloads,
    kubelets: Kubelets,
    queue: Queue,
    replicas: Vec<Replica>,
    replicas_started: u32,
    is_journaled: bool,
    journals: Vec<String>,
    checker: Checker,
    notices: Notices,
    dice: SimulationDice,
    pass_at: Option<Time>,
    retry_at: Time,
    is_room_new: bool,
    server_away_until: Time,
    nodes_joined: u64,
    steps: u64,
    wakes: u64,
    started_at: Time,
    ends_at: Time,
}

/// Chance, one stream for each purpose.
#[derive(Clone, Debug)]
struct SimulationDice {
    network: Dice,
    calls: Dice,
    instances: Dice,
    faults: Dice,
}

/// When every simulation begins: Monday the 5th of January 2026, midnight in UTC.
const BEGINNING: Time = Time::from_seconds(1_767_571_200);
/// How often the state is judged as a whole.
const JUDGE_EVERY: Span = Span::from_seconds(10);
/// How often an engine may ask to be woken between two judgements: a hundred times a second. Each
/// of a thousand nodes being drained needs a look every second or so, and looks are shared.
const WAKES_MAX: u64 = 1_000;

impl Simulation {
    /// Sets the stage. `seed` decides everything the scenario leaves to chance.
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
        let dice = |purpose| Dice::new(seed, purpose);
        let mut simulation = Self {
            store: Store::default(),
            cloud: Cloud::new(&scenario.cloud)?,
            story: Story::default(),
            binder: Binder::default(),
            workloads: Workloads::new(dice("names")),
            kubelets: Kubelets::default(),
            queue: Queue::default(),
            replicas: Vec::new(),
            replicas_started: 0,
            is_journaled,
            journals: Vec::new(),
            checker: Checker::default(),
            notices: Notices::default(),
            dice: SimulationDice {
                network: dice("network"),
                calls: dice("calls"),
                instances: dice("machines"),
                faults: dice("faults"),
            },
            pass_at: None,
            retry_at: BEGINNING,
            is_room_new: false,
            server_away_until: BEGINNING,
            nodes_joined: 0,
            steps: 0,
            wakes: 0,
            started_at: BEGINNING,
            ends_at: BEGINNING + length,
            scenario,
        };
        simulation.store.now = BEGINNING;
        let scenario = simulation.scenario.clone();
        simulation.checker.prepare(&scenario);
        simulation.set_the_stage();
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

    /// How many things happened so far.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// What went against the rules so far.
    #[must_use]
    pub fn checker(&self) -> &Checker {
        &self.checker
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
        let Some((_, happening)) = self.queue.pop() else { return false };
        self.store.now = self.store.now.max(next);
        self.steps += 1;
        self.happen(happening);
        self.settle();
        // What happens at the same moment is heard together.
        if self.queue.next_at() != Some(self.store.now) {
            self.decide();
        }
        true
    }

    fn happen(&mut self, happening: Happening) {
        let now = self.store.now;
        match happening {
            Happening::Step(number) => self.play(number),
            Happening::Expect(number) => self.expect(number),
            Happening::Pass => self.pass(),
            Happening::PodStarts(key, uid) => self.pod_starts(&key, &uid),
            Happening::PodEnds(key, uid) => self.pod_ends(&key, &uid),
            Happening::PodGone(key, uid) => self.pod_gone(&key, &uid),
            Happening::PodSwept(key, uid) => self.pod_swept(&key, &uid),
            Happening::VolumeDetached(name) => {
                self.store.remove(kerf_engine::event::Key::VolumeAttachment(name));
            }
            Happening::NodeJoins(instance) => self.node_joins(&instance),
            Happening::NodeReady(name) => self.node_ready(&name),
            Happening::NodeStarted(name) => self.node_started(&name),
            Happening::NodeSilent(name) => self.node_silent(&name),
            Happening::NodeGivenUp(name) => self.node_given_up(&name),
            Happening::InstanceGone(instance) => self.instance_gone(&instance),
            Happening::InstanceReclaimed(instance) => self.instance_dies(&instance),
            Happening::Notice(instance) => self.deliver_notice(&instance),
            Happening::Restocked => {
                if self.cloud.refresh(now) {
                    self.send_instance_types();
                }
            }
            Happening::Deliver(replica, kind) => self.deliver(replica, kind),
            Happening::Relist(id) => self.relist(id),
            Happening::Wake(id) => self.wake(id),
            Happening::Arrive(replica, action) => self.arrive(replica, *action),
            Happening::Answer(replica, action, outcome) => self.answer(replica, action, *outcome),
            Happening::Start => self.start_replica(),
            Happening::Stop(id) => self.stop_replica(id),
            Happening::Fault(fault) => self.go_wrong(fault),
            Happening::Judge => {
                self.judge_notices();
                self.checker.judge(&self.store, &self.cloud, &self.scenario, &self.workloads);
                if std::mem::take(&mut self.wakes) > WAKES_MAX {
                    let what = format!("it asked to be woken over {WAKES_MAX} times");
                    self.checker.restless(now, what);
                }
                self.queue.at(now + JUDGE_EVERY, Happening::Judge);
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
                self.is_room_new |= self.binder.note(key, &self.store);
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
