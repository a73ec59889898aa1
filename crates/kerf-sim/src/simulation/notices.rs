//! The queue of what the cloud announces: delivered at least once, in any order, and again until
//! it is dealt with.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kerf_engine::event::Event;
use kerf_engine::notice::{Notice, NoticeId, NoticeKind, NoticeOutcome, Settled};
use kerf_engine::time::{Span, Time};

use super::Simulation;
use crate::replica::ReplicaId;
use crate::rng::Delay;
use crate::sim_event::SimEvent;

/// Messages and their deliveries.
#[derive(Clone, Debug, Default)]
pub(super) struct Notices {
    /// The instances whose message is in the queue.
    messages: BTreeSet<Arc<str>>,
    /// Deliveries without an outcome: to whom, when, and about which instance.
    open: BTreeMap<NoticeId, (ReplicaId, Time, Arc<str>)>,
    last_id: u64,
}

/// From an announcement to its first delivery.
const DELIVERY: Delay = Delay::millis(200, 3_000);
/// A message that was delivered and not deleted is delivered again after so long.
const HIDDEN_FOR: Span = Span::from_seconds(20);
/// From the announcement to the end of the instance.
const TAKEN_AFTER: Span = Span::from_minutes(2);
/// How many percent of messages are delivered twice.
const DOUBLED_PERCENT: u8 = 20;
/// An engine has an outcome within so long, however late its watches.
const SETTLED_WITHIN: Span = Span::from_seconds(20);

impl Simulation {
    /// The cloud announces that it takes an instance, and takes it.
    pub(super) fn announce_end(&mut self, provider_id: &Arc<str>) {
        let Some(instance) = self.cloud.instances.get_mut(provider_id) else { return };
        instance.is_announced = true;
        let now = self.store.now;
        self.notices.messages.insert(provider_id.clone());
        let delay = self.rngs.faults.span(DELIVERY);
        self.queue.at(now + delay, SimEvent::Notice(provider_id.clone()));
        self.queue.at(now + TAKEN_AFTER, SimEvent::InstanceReclaimed(provider_id.clone()));
    }

    /// A message is delivered to one engine, now and then twice, unless it was deleted.
    pub(super) fn deliver_notice(&mut self, provider_id: &Arc<str>) {
        if !self.notices.messages.contains(provider_id) {
            return;
        }
        let now = self.store.now;
        self.queue.at(now + HIDDEN_FOR, SimEvent::Notice(provider_id.clone()));
        if self.replicas.is_empty() {
            return;
        }
        let index = self.rngs.faults.below(self.replicas.len());
        let times = 1 + u64::from(self.rngs.faults.chance(DOUBLED_PERCENT));
        let replica = &mut self.replicas[index];
        let instance: Arc<str> = provider_id.rsplit('/').next().unwrap_or_default().into();
        for _ in 0..times {
            self.notices.last_id += 1;
            let id = NoticeId(self.notices.last_id);
            self.notices.open.insert(id, (replica.id, now, provider_id.clone()));
            let (kind, instances) = (NoticeKind::SpotInterrupted, vec![instance.clone()]);
            replica.handle(Event::Noticed(Notice::new(id, kind, instances)), now);
        }
        replica.has_update = true;
    }

    /// An engine says what came of a notice. The message goes if that says so.
    pub(super) fn settle_notice(&mut self, settled: &Settled) {
        let now = self.store.now;
        let Some((_, _, provider_id)) = self.notices.open.remove(&settled.id) else {
            let what = format!("{:?} has more than one outcome", settled.id);
            return self.checker.misled_about_notice(now, what);
        };
        let of_instance = |id: &Option<Arc<str>>| id.as_ref() == Some(&provider_id);
        let mut claims = self.store.claims.values();
        let staying =
            claims.find(|it| of_instance(&it.status.provider_id) && !it.meta.is_deleting());
        if let (NoticeOutcome::ClaimsDeleted, Some(claim)) = (settled.outcome, staying) {
            let what = format!("{} stays, and {provider_id} is reported done", claim.meta.name);
            self.checker.misled_about_notice(now, what);
        }
        if settled.outcome.is_final() {
            self.notices.messages.remove(&provider_id);
        }
    }

    /// Looks for notices that an engine which knows the cluster has no outcome for.
    pub(super) fn judge_notices(&mut self) {
        let now = self.store.now;
        let knows = |id: &ReplicaId| {
            let mut replicas = self.replicas.iter();
            replicas.any(|it| it.id == *id && it.engine.world().is_complete())
        };
        let is_late = |at: Time| now.since(at) > SETTLED_WITHIN;
        let late = self.notices.open.iter().find(|(_, (id, at, _))| is_late(*at) && knows(id));
        if let Some((id, _)) = late {
            let what = format!("{id:?} has no outcome");
            self.checker.misled_about_notice(now, what);
        }
        // Who is gone answers no more.
        let lives = |id: &ReplicaId| self.replicas.iter().any(|it| it.id == *id);
        self.notices.open.retain(|_, (id, _, _)| lives(id));
    }
}
