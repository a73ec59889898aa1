//! The engine: events in, orders out.
//!
//! [`Engine::handle`] takes an event in and notes which subjects it concerns; [`Engine::decide`] asks
//! the planner of each subject that is due and lets through what is not already under way.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::action::{Action, ActionId, ActionKind, Lane, Subject};
use crate::agenda::Agenda;
use crate::containment::{self, Suspended, contained};
use crate::decision::Decision;
use crate::dependents;
use crate::event::{Event, Failure, Key, Object, Outcome};
use crate::event_throttle::EventThrottle;
use crate::gate::{Answer, Gate};
use crate::kubernetes_event::KubernetesEvent;
use crate::memory::Update;
use crate::notice::{AnnouncedInstance, FoundNode, Notice, NoticeId, NoticeOutcome, Settled};
use crate::planner_runs::PlannerRuns;
use crate::planners;
use crate::reason::Reason;
use crate::sample::Sample;
use crate::settings::Settings;
use crate::time::{Span, Time};
use crate::world::World;
use crate::zonal_shift::{Change, ShiftReport};

/// The running product.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Engine {
    world: World,
    gate: Gate,
    agenda: Agenda,
    under_way: BTreeMap<ActionId, UnderWay>,
    #[serde(default)]
    suspended: Suspended,
    /// How it is decided.
    #[serde(skip)]
    planners: Planners,
    /// Not serialised: it decides on Kubernetes Events only, never on actions.
    #[serde(skip)]
    event_throttle: EventThrottle,
    orders: Orders,
    last_id: u64,
    /// Whether another process leads, as far as was said: what to look at is not kept then.
    #[serde(default)]
    stands_by: bool,
}

/// What decides, by its moment; tests put others in their place.
#[derive(Clone, Copy, Debug)]
struct Planners {
    plan: fn(&World, &Subject, Time) -> Decision,
    on_change: fn(&World, &Object, Time) -> Decision,
    on_delete: fn(&World, &Key, Time) -> Decision,
    conclude: fn(&World, &Action, &Outcome, Time) -> Decision,
}

impl Default for Planners {
    fn default() -> Self {
        Self {
            plan: planners::plan,
            on_change: planners::on_change,
            on_delete: planners::on_delete,
            conclude: planners::conclude,
        }
    }
}

/// An action that has not been answered.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct UnderWay {
    action: Action,
    /// Who asked for it and looks again when it ends, if that is not what it is about.
    asker: Option<Subject>,
}

/// What the engine wants.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Orders {
    /// What to do; each answers with an [`Event::Finished`].
    pub actions: Vec<Action>,
    /// Solves whose answer nobody waits for any more: they may stop.
    pub withdrawn: Vec<ActionId>,
    /// What to tell people.
    #[serde(skip)]
    pub kubernetes_events: Vec<KubernetesEvent>,
    /// What to count.
    #[serde(skip)]
    pub samples: Vec<Sample>,
    /// Notices that have their outcome.
    pub settled: Vec<Settled>,
    /// Nodes that notices turned out to be about, each once, for who brought the notice.
    #[serde(skip)]
    pub found: Vec<FoundNode>,
    /// What the provider must know of its instances before anything is launched in their place.
    #[serde(skip)]
    pub announced: Vec<AnnouncedInstance>,
    /// What is logged of NodePool mode of zonal shifts.
    #[serde(skip)]
    pub shift_reports: Vec<ShiftReport>,
}

/// Notices without an outcome at most. Queues are read ten messages at a time, and each has its
/// outcome within seconds; what comes beyond this has to come again.
const NOTICES_OPEN_MAX: usize = 1_000;

/// An answer that comes later than this says nothing that the objects do not: an action is given up
/// within minutes, and whatever it did shows by then.
const ANSWERS_COUNT_FOR: Span = Span::from_minutes(60);

impl Engine {
    /// An engine that knows nothing yet.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            world: World::new(settings),
            gate: Gate::default(),
            agenda: Agenda::default(),
            under_way: BTreeMap::new(),
            suspended: Suspended::default(),
            planners: Planners::default(),
            event_throttle: EventThrottle::default(),
            orders: Orders::default(),
            last_id: 0,
            stands_by: false,
        }
    }

    /// What is known.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    /// When to ask for orders again if nothing happens before.
    #[must_use]
    pub fn next_wake(&self) -> Option<Time> {
        self.agenda.next()
    }

    /// Takes an event in.
    pub fn handle(&mut self, event: Event, now: Time) {
        self.look_at_clock(now);
        match event {
            Event::Seen(object) => self.see(*object, now),
            Event::Gone { key, revision } => {
                let mut dependents = self.world.dependents(&key);
                dependents.extend(self.world.held_up_by(&key));
                let notice = contained(|| (self.planners.on_delete)(&self.world, &key, now));
                let notice = notice.unwrap_or_else(|panic| self.report(Some(key.clone()), &panic));
                if self.world.forget(&key, revision) {
                    self.note_update(&key);
                    if let Some(subject) = key.subject() {
                        self.gate.forget_waits(&subject);
                    }
                    self.take_in(notice, None, now);
                    self.look_at(dependents);
                }
            }
            Event::Unreadable { key, revision } => {
                if self.world.set_aside(&key, revision) {
                    self.look_at(self.world.dependents(&key));
                    self.agenda.now(Subject::Instances);
                    let mut report = Decision::default();
                    report.record(containment::unreadable(key));
                    self.take_in(report, None, now);
                }
            }
            Event::Listed(kind) => {
                let was_complete = self.world.is_complete();
                let was_stale = self.world.list(kind, now);
                match self.world.is_complete() {
                    true if !was_complete || was_stale => {
                        self.look_at(dependents::everything(&self.world));
                    }
                    // The planner of zonal shifts waits for kinds that the role does not.
                    true => self.agenda.now(Subject::ZonalShift),
                    false => {}
                }
            }
            // What waited for the kind may go on.
            Event::Heard(kind) => {
                if self.world.hear(kind, now) {
                    self.look_at(dependents::everything(&self.world));
                }
            }
            Event::Offered { pool, instance_types } => {
                let notice = planners::on_instance_types(&self.world, &pool, now);
                self.take_in(notice, None, now);
                let pool_subject = Subject::Pool(pool.clone());
                self.look_at(vec![pool_subject, Subject::Provisioning, Subject::ZonalShift]);
                self.world.offer(pool, instance_types, now);
            }
            Event::Shifted(zones) => {
                let zones = zones.into_iter().map(|zone| (zone.name.clone(), zone)).collect();
                if self.world.shifted != zones {
                    self.world.shifted = zones;
                    self.world.note_zones_changed();
                    // What waited for the end of a shift may go on.
                    self.look_at(dependents::everything(&self.world));
                }
            }
            Event::Noticed(notice) => self.hear(notice, now),
            Event::LeadsShifts(leads) => self.lead_shifts(leads, now),
            Event::AutoMode(is_auto_mode) => {
                self.world.zonal_shift.is_auto_mode = is_auto_mode;
                self.agenda.now(Subject::ZonalShift);
            }
            Event::Announced { id, body } => {
                if !self.world.zonal_shift.announce(id, body) {
                    self.give_back(vec![id]);
                }
                self.agenda.now(Subject::ZonalShift);
            }
            Event::Finished { action, outcome } => self.finish(action, &outcome, now),
            Event::ServerTime(time) => self.compare_clocks(time, now),
            Event::Tick => {}
        }
    }

    /// What to do now. Nothing until every kind of object has been seen once.
    pub fn decide(&mut self, now: Time) -> Orders {
        self.look_at_clock(now);
        let mut planner_runs = PlannerRuns::default();
        self.world.refresh_instance_types();
        if std::mem::take(&mut self.stands_by) {
            self.take_over(now);
        }
        self.forget_unanswered(now);
        while self.world.is_complete()
            && let Some(subject) = self.agenda.pop(now)
        {
            match self.suspended.until(&subject) {
                Some(until) if now < until => {
                    self.agenda.at(until, subject);
                    continue;
                }
                Some(_) => self.resume(&subject),
                None => {}
            }
            planner_runs.count(&self.world, &subject);
            if subject == Subject::Provisioning || self.world.has_many_changed_nodes() {
                self.world.refresh_node_entries();
            }
            let decision = contained(|| (self.planners.plan)(&self.world, &subject, now))
                .unwrap_or_else(|panic| self.suspend(&subject, &panic, now));
            if let Some(time) = decision.wake_at {
                self.agenda.at(time, subject.clone());
            }
            self.take_in(decision, Some(&subject), now);
        }
        self.orders.samples.extend(planner_runs.samples());
        planners::drain::sort_by_deadline(&self.world, &mut self.orders.actions);
        std::mem::take(&mut self.orders)
    }

    /// To be called in place of [`Engine::decide`] while another process leads. What happens is
    /// that one's to tell and to act on: nothing is kept of it but what the objects are, so that a
    /// standby stays as small as its world and repeats nothing once it leads.
    ///
    /// Only messages that somebody else has to receive come of it. A process that loses the lead
    /// ends, so a standby never ordered anything.
    pub fn stand_by(&mut self, now: Time) -> Vec<Settled> {
        self.look_at_clock(now);
        self.stands_by = true;
        self.agenda = Agenda::default();
        self.event_throttle = EventThrottle::default();
        self.world.memory.apply(Update::StandBy);
        self.world.refresh_instance_types();
        if self.world.has_many_changed_nodes() {
            self.world.refresh_node_entries();
        }
        std::mem::take(&mut self.orders).settled
    }

    /// Where the clock was set back, everything is looked at anew: alarms are far ahead now.
    fn look_at_clock(&mut self, now: Time) {
        if !self.world.memory.clock.note(now) {
            return;
        }
        self.world.memory.set_back(now);
        self.world.set_back(now);
        self.gate.set_back(now);
        self.agenda = Agenda::default();
        self.look_at(dependents::everything(&self.world));
    }

    /// Where this host's clock is not what it was taken for, everything is looked at anew.
    fn compare_clocks(&mut self, server: Time, now: Time) {
        if self.world.memory.clock.compare(server, now) {
            let believed = self.world.memory.clock.believed(now);
            self.world.set_back(believed);
            self.look_at(dependents::everything(&self.world));
        }
    }

    /// Looks at everything, as after the first listing.
    fn take_over(&mut self, now: Time) {
        let calls = planners::on_lead(&self.world, now);
        self.take_in(calls, None, now);
        self.look_at(dependents::everything(&self.world));
    }

    /// Applies NodeOverlays to what pools are offered, as happens before every decision, for those
    /// who read the world without asking for one.
    pub fn refresh_instance_types(&mut self) {
        self.world.refresh_instance_types();
    }

    fn see(&mut self, object: Object, now: Time) {
        let key = object.key();
        let mut dependents = self.world.dependents(&key);
        let notice = match contained(|| (self.planners.on_change)(&self.world, &object, now)) {
            Ok(notice) => notice,
            Err(panic) => {
                // What the object says now is not known, but that it is there.
                self.world.set_aside(&key, object.meta().revision);
                let report = self.report(Some(key), &panic);
                return self.take_in(report, None, now);
            }
        };
        if self.world.observe(object) {
            self.note_update(&key);
            self.take_in(notice, None, now);
            dependents.extend(self.world.dependents(&key));
            self.look_at(dependents);
        }
    }

    fn hear(&mut self, notice: Notice, now: Time) {
        if self.world.memory.notices.len() >= NOTICES_OPEN_MAX {
            let settled = Settled { id: notice.id, outcome: NoticeOutcome::NotInTime };
            return self.orders.settled.push(settled);
        }
        self.world.memory.apply(Update::Noticed { notice, at: now });
        self.agenda.now(Subject::Notices);
    }

    fn lead_shifts(&mut self, leads: bool, now: Time) {
        if leads {
            self.world.zonal_shift.lead(planners::unix_seconds(now));
        } else {
            let given_up = self.world.zonal_shift.follow();
            self.give_back(given_up);
        }
        self.agenda.now(Subject::ZonalShift);
    }

    /// Messages about zonal shifts that have to come again.
    fn give_back(&mut self, announced: Vec<NoticeId>) {
        let given_back = |id| Settled { id, outcome: NoticeOutcome::NotInTime };
        self.orders.settled.extend(announced.into_iter().map(given_back));
    }

    fn finish(&mut self, id: ActionId, outcome: &Outcome, now: Time) {
        // An action nobody waits for any more was given up; its effect shows in the objects.
        let Some(UnderWay { action, asker }) = self.under_way.remove(&id) else { return };
        self.gate.leave(id, answer_of(outcome), now);
        if let Outcome::Stored(object) = outcome {
            self.see((**object).clone(), now);
        }
        let conclusion = contained(|| (self.planners.conclude)(&self.world, &action, outcome, now));
        let key = action.kind.subject().key();
        let conclusion = conclusion.unwrap_or_else(|panic| self.report(key, &panic));
        self.take_in(conclusion, None, now);
        self.agenda.now(action.kind.subject());
        if let Some(asker) = asker {
            self.agenda.now(asker);
        }
    }

    /// The planner of a subject panicked: the subject is left alone for a while, or until its object
    /// changes, which counts as unreadable meanwhile.
    fn suspend(&mut self, subject: &Subject, panic: &str, now: Time) -> Decision {
        let until = self.suspended.add(subject.clone(), now);
        let key = subject.key();
        if let Some(key) = &key {
            self.world.set_aside_as_known(key);
        }
        let mut decision = self.report(key, panic);
        decision.wake(until);
        decision
    }

    /// A subject is tried again as if nothing had been.
    fn resume(&mut self, subject: &Subject) {
        self.suspended.forget(subject);
        if let Some(key) = subject.key() {
            self.world.readmit(&key);
        }
    }

    /// What is said and counted of a panic.
    fn report(&self, about: Option<Key>, panic: &str) -> Decision {
        let mut decision = Decision::default();
        decision.samples.push(containment::counted("engine"));
        let said = about.map(|key| containment::announcement(key, panic));
        decision.kubernetes_events.extend(said);
        decision
    }

    /// Forgets actions that will not be answered any more, and waits that nobody minds.
    fn forget_unanswered(&mut self, now: Time) {
        // Numbers follow time, so the first is the oldest.
        while let Some(oldest) = self.under_way.first_entry()
            && oldest.get().action.at + ANSWERS_COUNT_FOR <= now
        {
            let (id, _) = oldest.remove_entry();
            self.gate.forget_action(id);
        }
        self.gate.sweep(now);
    }

    fn take_in(&mut self, decision: Decision, asker: Option<&Subject>, now: Time) {
        for update in decision.updates {
            self.look_at(dependents::dependents_of_update(&self.world, &update));
            if let Update::ForgetClaim(claim) = &update {
                self.gate.forget(&Subject::Claim(claim.clone()));
            }
            self.world.memory.apply(update);
        }
        for (kind, reason) in decision.actions {
            self.order(kind, reason, asker, now);
        }
        let is_recorded = self.world.settings.kubernetes_events;
        let said = decision.kubernetes_events.into_iter().filter(|_| is_recorded);
        self.orders.kubernetes_events.extend(said.filter(|it| self.event_throttle.admits(it, now)));
        self.orders.samples.extend(decision.samples);
        self.orders.settled.extend(decision.settled);
        self.orders.found.extend(decision.found);
        self.orders.announced.extend(decision.announced);
        for change in decision.shift_changes {
            if change == Change::NodeChanged {
                self.agenda.now(Subject::ZonalShift);
            }
            self.world.zonal_shift.apply(change);
        }
        self.orders.shift_reports.extend(decision.shift_reports);
    }

    /// Lets an action through if it may start; if not, or if it is never answered, it is looked at
    /// again.
    fn order(&mut self, kind: ActionKind, reason: Reason, asker: Option<&Subject>, now: Time) {
        let subject = kind.subject();
        // A pod that has to leave looks after itself.
        let knows_itself =
            |asker: &&Subject| **asker == subject || matches!(subject, Subject::Pod(_));
        let asker = asker.filter(|asker| !knows_itself(asker)).cloned();
        let class = planners::class_of(&self.world, &kind);
        let again_at = match self.gate.opens(&kind, class, now) {
            Ok(()) => {
                self.last_id += 1;
                let id = ActionId(self.last_id);
                let (give_up_at, given_up) = self.gate.enter(id, &kind, class, now);
                if kind.lane() == Lane::Solve {
                    self.orders.withdrawn.extend(given_up);
                }
                if let ActionKind::DeleteClaim { name, uid } = &kind {
                    let (claim, uid) = (name.clone(), uid.clone());
                    let until = self.world.memory.clock.believed(give_up_at);
                    self.world.memory.apply(Update::DeletionOrdered { claim, uid, until });
                }
                let action = Action { id, at: now, class, reason, kind };
                self.orders.actions.push(action.clone());
                self.under_way.insert(id, UnderWay { action, asker: asker.clone() });
                give_up_at
            }
            Err(later) => later,
        };
        for subject in [Some(subject), asker].into_iter().flatten() {
            self.agenda.at(again_at, subject);
        }
    }

    fn note_update(&mut self, key: &Key) {
        if let Some(subject) = key.subject() {
            self.suspended.forget(&subject);
            self.gate.object_seen(&subject);
        }
    }

    fn look_at(&mut self, subjects: Vec<Subject>) {
        for subject in subjects {
            self.agenda.now(subject);
        }
    }
}

fn answer_of(outcome: &Outcome) -> Answer {
    match outcome {
        Outcome::Failed(Failure::Conflict) | Outcome::Done | Outcome::NotFound => {
            Answer::ObjectFollows
        }
        Outcome::Failed(Failure::Throttled { retry_after, .. }) => {
            Answer::Failed { retry_after: *retry_after }
        }
        Outcome::Failed(_) => Answer::Failed { retry_after: Span::default() },
        _ => Answer::Known,
    }
}

#[cfg(test)]
mod tests;
