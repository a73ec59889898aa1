//! Simulation events, in the order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use kerf_engine::action::{Action, ActionId};
use kerf_engine::event::{Kind, Outcome};
use kerf_engine::observed::{Name, PodKey};
use kerf_engine::time::Time;

use crate::replica::ReplicaId;
use crate::scenario::Fault;

/// Something that is going to happen in the simulation.
#[derive(Clone, Debug)]
pub(crate) enum SimEvent {
    /// A step of the timeline, by its number.
    Step(usize),
    /// An expectation is looked at, by its number.
    Expect(usize),
    /// The scheduler looks at pods that wait.
    Pass,
    /// A pod's containers run.
    PodStarts(PodKey, Arc<str>),
    /// A pod ends by itself.
    PodEnds(PodKey, Arc<str>),
    /// A pod that was asked to end has ended.
    PodGone(PodKey, Arc<str>),
    /// What is left of a pod is cleared away, whatever the node says.
    PodSwept(PodKey, Arc<str>),
    /// A volume is detached.
    VolumeDetached(Name),
    /// An instance's kubelet registers its node.
    NodeJoins(Arc<str>),
    /// A node becomes ready.
    NodeReady(Name),
    /// A node's startup taints are taken away.
    NodeStarted(Name),
    /// A node whose instance died has not been heard of for a while.
    NodeSilent(Name),
    /// The pods of a silent node are given up.
    NodeGivenUp(Name),
    /// An instance is gone.
    InstanceGone(Arc<str>),
    /// The cloud takes an instance, as it has announced.
    InstanceReclaimed(Arc<str>),
    /// What is announced about an instance is delivered.
    Notice(Arc<str>),
    /// What the hour costs is looked at.
    LookAtCost,
    /// Something that was sold out may be back.
    Restocked,
    /// Changes of a kind reach an engine.
    Deliver(ReplicaId, Kind),
    /// The watches of an engine that live are heard from.
    Heard(ReplicaId),
    /// An engine lists everything again.
    Relist(ReplicaId),
    /// An engine asked to be woken.
    Wake(ReplicaId),
    /// An engine's action reaches the server or the cloud.
    Arrive(ReplicaId, Box<Action>),
    /// An engine hears what came of an action.
    Answer(ReplicaId, ActionId, Box<Outcome>),
    /// A new engine starts.
    Start,
    /// An engine stops.
    Stop(ReplicaId),
    /// Something goes wrong.
    Fault(Fault),
    /// The state is judged as a whole.
    Judge,
}

/// What is going to happen, by time; of equal times in the order it was decided.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    heap: BinaryHeap<Reverse<Entry>>,
    count: u64,
}

#[derive(Clone, Debug)]
struct Entry {
    at: Time,
    number: u64,
    sim_event: SimEvent,
}

impl Queue {
    pub(crate) fn at(&mut self, at: Time, sim_event: SimEvent) {
        self.count += 1;
        self.heap.push(Reverse(Entry { at, number: self.count, sim_event }));
    }

    pub(crate) fn next_at(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse(entry)| entry.at)
    }

    pub(crate) fn pop(&mut self) -> Option<(Time, SimEvent)> {
        self.heap.pop().map(|Reverse(entry)| (entry.at, entry.sim_event))
    }

    /// Takes out what an engine has sent and nobody has received yet.
    pub(crate) fn take_sent(&mut self, replica: ReplicaId) -> Vec<Action> {
        let mut sent = Vec::new();
        let mut kept = Vec::new();
        for Reverse(entry) in std::mem::take(&mut self.heap).into_sorted_vec().into_iter().rev() {
            match entry.sim_event {
                SimEvent::Arrive(sender, action) if sender == replica => sent.push(*action),
                sim_event => kept.push(Reverse(Entry { sim_event, ..entry })),
            }
        }
        self.heap = kept.into();
        sent
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.number) == (other.at, other.number)
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}
