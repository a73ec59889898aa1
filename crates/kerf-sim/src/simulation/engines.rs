//! What the engines hear, when they are woken, and what becomes of their orders.

use kerf_engine::Role;
use kerf_engine::action::Action;
use kerf_engine::event::Kind;
use kerf_engine::time::Span;

use super::Simulation;
use crate::replica::ReplicaId;
use crate::rng::Delay;
use crate::sim_event::SimEvent;

/// From a change to its arrival at a watcher.
const WATCH_DELAY: Delay = Delay::millis(5, 60);
/// How often a watch is heard from at least, as over the wire.
pub(super) const HEARD_EVERY: Span = Span::from_seconds(40);

impl Simulation {
    pub(super) fn arrange_deliveries(&mut self) {
        for replica in &mut self.replicas {
            for kind in Role::Controller.kinds().iter().copied() {
                if replica.needs_delivery(kind, &self.store) {
                    let delay = self.rngs.network.span(WATCH_DELAY);
                    let at = (self.store.now + delay).max(replica.deaf_until(kind));
                    self.queue.at(at, SimEvent::Deliver(replica.id, kind));
                }
            }
        }
    }

    pub(super) fn deliver(&mut self, id: ReplicaId, kind: Kind) {
        let now = self.store.now;
        let Some(replica) = self.replicas.iter_mut().find(|replica| replica.id == id) else {
            return;
        };
        let hears_at = replica.deaf_until(kind).max(self.server_away_until);
        if now < hears_at {
            self.queue.at(hears_at, SimEvent::Deliver(id, kind));
            return;
        }
        replica.deliver(kind, &self.store, now);
        let read = self.replicas.iter().filter_map(|replica| replica.place(kind)).min();
        self.store.journal.forget_before(kind, read.unwrap_or(0));
    }

    /// Watches that live are heard from, whether anything happens or not.
    pub(super) fn hear(&mut self, id: ReplicaId) {
        let now = self.store.now;
        let is_away = now < self.server_away_until;
        let Some(replica) = self.replicas.iter_mut().find(|replica| replica.id == id) else {
            return;
        };
        if !is_away {
            replica.hear(now);
        }
        self.queue.at(now + HEARD_EVERY, SimEvent::Heard(id));
    }

    /// Shows an engine everything anew.
    pub(super) fn relist(&mut self, id: ReplicaId) {
        let now = self.store.now;
        if let Some(replica) = self.replicas.iter_mut().find(|replica| replica.id == id) {
            replica.relist(&self.store, now);
        }
    }

    /// Lets an engine decide because it asked for it, unless it asked for a later time since.
    pub(super) fn wake(&mut self, id: ReplicaId) {
        let now = self.store.now;
        if let Some(replica) = self.replicas.iter_mut().find(|replica| replica.id == id)
            && replica.wake_at.is_some_and(|at| at <= now)
        {
            replica.wake_at = None;
            replica.has_update = true;
            self.wakes += 1;
        }
    }

    /// Takes every engine away, so that nobody minds the cluster.
    #[cfg(test)]
    pub(crate) fn silence_engines(&mut self) {
        self.replicas.clear();
    }

    /// Asks every engine that received something what to do.
    pub(super) fn decide(&mut self) {
        for index in 0..self.replicas.len() {
            let replica = &mut self.replicas[index];
            if !std::mem::take(&mut replica.has_update) {
                continue;
            }
            let now = self.store.now;
            let orders = replica.decide(now);
            let id = replica.id;
            if replica.engine.world().is_complete()
                && let Some(wake) = replica.engine.next_wake()
            {
                let wake = wake.max(now + Span::from_millis(1));
                if replica.wake_at.is_none_or(|known| wake < known || known <= now) {
                    replica.wake_at = Some(wake);
                    self.queue.at(wake, SimEvent::Wake(id));
                }
            }
            for kubernetes_event in &orders.kubernetes_events {
                self.trace.record(now, kubernetes_event);
            }
            for action in orders.actions {
                self.order(id, action);
            }
            for settled in &orders.settled {
                self.settle_notice(settled);
            }
        }
    }

    /// Takes down what an engine has decided on, and sends it on its way.
    pub(crate) fn order(&mut self, replica: ReplicaId, action: Action) {
        self.trace.order(self.store.now, &action);
        self.checker.note_nodes(self.store.take_changed_nodes());
        self.checker.decided(&action, &self.store, &self.cloud, &self.workloads);
        self.send(replica, action);
    }

    pub(super) fn send_instance_types(&mut self) {
        for replica in &mut self.replicas {
            replica.offer(&self.store, &self.cloud.instance_types, self.store.now);
        }
        if let Some(at) = self.cloud.next_refresh() {
            self.queue.at(at, SimEvent::Restocked);
        }
    }
}
