//! What goes wrong at one moment.

use std::sync::Arc;

use kerf_engine::Role;
use kerf_engine::event::Kind;
use kerf_engine::observed::{Name, Pool};
use kerf_engine::time::Span;

use super::Simulation;
use crate::rng::Delay;
use crate::scenario::{Fault, pool_hash};
use crate::sim_event::SimEvent;
use crate::store::Precondition;

/// From the death of an engine to the start of the next.
const RESTART: Delay = Delay::millis(500, 20_000);
/// How long watches are broken, or stall.
const DEAF: Delay = Delay::millis(1_000, 60_000);
/// How long the watch of one kind stalls, while the others go on: up to a quarter of an hour.
const DEAF_TO_A_KIND: Delay = Delay::millis(60_000, 900_000);
/// How long two engines run side by side.
const OVERLAP: Delay = Delay::millis(1_000, 30_000);
/// How long a node is not ready that flaps.
const NOT_READY_FOR: Delay = Delay::millis(5_000, 90_000);
/// The label that somebody who edits a pool gives to its nodes.
const EDITED: &str = "example.com/edited";
/// How long the API server is away.
const AWAY: Delay = Delay::millis(1_000, 90_000);

impl Simulation {
    /// Lets something go wrong now.
    pub(super) fn go_wrong(&mut self, fault: Fault) {
        let now = self.store.now;
        self.trace.fault(now, fault);
        match fault {
            Fault::Crash => self.crash(),
            Fault::LostWatch => {
                let silence = self.rngs.faults.span(DEAF);
                for replica in &mut self.replicas {
                    replica.deafen_all(now + silence);
                    self.queue.at(now + silence, SimEvent::Relist(replica.id));
                }
            }
            Fault::StalledWatch => {
                let silence = self.rngs.faults.span(DEAF);
                for replica in &mut self.replicas {
                    replica.deafen_all(now + silence);
                }
            }
            Fault::StalledKind => {
                let kinds = Role::Controller.kinds();
                let kind = kinds[self.rngs.faults.below(kinds.len())];
                let silence = self.rngs.faults.span(DEAF_TO_A_KIND);
                self.stall(kind, silence);
            }
            Fault::StalledPods => {
                let silence = self.rngs.faults.span(DEAF_TO_A_KIND);
                self.stall(Kind::Pod, silence);
            }
            Fault::SecondLeader => self.second_leader(),
            Fault::InstanceDies => {
                if let Some(victim) = self.some_instance() {
                    self.instance_dies(&victim);
                }
            }
            Fault::KubeletDies => {
                if let Some(victim) = self.some_instance() {
                    self.kubelet_dies(&victim);
                }
            }
            Fault::Interruption => {
                if let Some(victim) = self.some_instance() {
                    self.announce_end(&victim);
                }
            }
            Fault::NodeFlaps => {
                if let Some(name) = self.some_node() {
                    let silence = self.rngs.faults.span(NOT_READY_FOR);
                    self.node_flaps(&name, silence);
                }
            }
            Fault::PoolEdit => {
                let pick = self.rngs.faults.below(usize::MAX);
                self.edit_pool(pick);
            }
            Fault::PriceChange => {
                let pick = self.rngs.faults.below(usize::MAX);
                let percent = self.rngs.faults.between(50, 200);
                self.cloud.reprice(pick, percent, now);
                self.send_instance_types();
            }
            Fault::ServerAway => {
                self.server_away_until = now + self.rngs.faults.span(AWAY);
            }
            Fault::SoldOut => {
                let pick = self.rngs.faults.below(usize::MAX);
                self.cloud.sell_out(pick);
            }
        }
    }

    /// Another engine takes over. Usually the first one has lost the Lease by then and sends nothing
    /// more, but what it has sent is still under way; at worst it goes on for a while.
    fn second_leader(&mut self) {
        let [replica] = self.replicas.as_slice() else { return };
        let (id, now) = (replica.id, self.store.now);
        if self.rngs.faults.chance(50) {
            self.stop_replica(id);
        } else {
            let overlap = self.rngs.faults.span(OVERLAP);
            self.queue.at(now + overlap, SimEvent::Stop(id));
            self.checker.leaders_overlap_until(now + overlap);
        }
        self.start_replica();
    }

    /// A node that is ready, if there is one.
    fn some_node(&mut self) -> Option<Name> {
        let ready = self.store.nodes.values().filter(|node| node.is_ready);
        let names: Vec<Name> = ready.map(|node| node.meta.name.clone()).collect();
        let index = (!names.is_empty()).then(|| self.rngs.faults.below(names.len()))?;
        names.get(index).cloned()
    }

    /// Somebody edits a pool: nodes get another label from now on, and those there are have drifted.
    fn edit_pool(&mut self, pick: usize) {
        let names: Vec<Name> = self.store.pools.keys().cloned().collect();
        let Some(name) = names.get(pick % names.len().max(1)) else { return };
        let now = self.store.now.seconds().to_string();
        let _ = self.store.change(name, Precondition::Nothing, |pool: &mut Pool| {
            let spec = Arc::make_mut(&mut pool.spec);
            spec.template.labels.insert(EDITED.to_owned(), now);
            spec.hash = pool_hash(&spec.template);
            pool.meta.generation += 1;
        });
    }

    /// The watch of one kind is silent for a while, and then goes on where it was.
    fn stall(&mut self, kind: Kind, silence: Span) {
        let until = self.store.now + silence;
        self.checker.engine_is_deaf_until(until);
        self.replicas.iter_mut().for_each(|replica| replica.deafen(kind, until));
    }

    /// An instance that lives, if there is one.
    fn some_instance(&mut self) -> Option<Arc<str>> {
        let alive: Vec<_> = self
            .cloud
            .instances
            .values()
            .filter(|instance| !instance.instance.is_ending)
            .map(|instance| instance.instance.provider_id.clone())
            .collect();
        let index = (!alive.is_empty()).then(|| self.rngs.faults.below(alive.len()))?;
        alive.get(index).cloned()
    }

    /// The engine's process dies. Of what it had sent, some arrived and some did not.
    fn crash(&mut self) {
        let now = self.store.now;
        if self.replicas.is_empty() {
            // It is down already, and its next start is arranged.
            return;
        }
        let ids: Vec<_> = self.replicas.iter().map(|replica| replica.id).collect();
        for id in ids {
            self.stop_replica(id);
            for action in self.queue.take_sent(id) {
                if self.rngs.faults.chance(50) {
                    self.carry_out(&action);
                }
            }
        }
        let after = self.rngs.faults.span(RESTART);
        self.queue.at(now + after, SimEvent::Start);
    }

    /// Arranges what goes wrong by chance: each kind about so often, at random times.
    pub(super) fn arrange_faults(&mut self) {
        let plan = &self.scenario.faults;
        for (fault, gap) in &plan.every {
            let most = gap.millis().saturating_mul(2).max(1);
            let mut at = Span::from_millis(self.rngs.faults.between(1, most));
            while at < plan.until {
                self.queue.at(self.started_at + at, SimEvent::Fault(*fault));
                let wait = self.rngs.faults.between(1, most);
                at = Span::from_millis(at.millis() + wait);
            }
        }
    }
}
