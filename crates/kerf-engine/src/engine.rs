//! The engine: events in, orders out.
//!
//! [`Engine::handle`] takes news in and notes which subjects it concerns; [`Engine::decide`] asks
//! the planner of each subject that is due and lets through what is not already under way.

use std::collections::BTreeMap;

use crate::action::{Action, ActionId, Deed, Subject};
use crate::agenda::Agenda;
use crate::announcement::Announcement;
use crate::decision::Decision;
use crate::event::{Event, Failure, Key, Object, Outcome};
use crate::gate::{Answer, Gate};
use crate::herald::Herald;
use crate::interest;
use crate::looks::Looks;
use crate::measure::Measure;
use crate::memory::Memo;
use crate::notice::{Notice, NoticeOutcome, Settled};
use crate::planners;
use crate::settings::Settings;
use crate::time::Time;
use crate::world::World;

/// The running product.
#[derive(Clone, Debug)]
pub struct Engine {
    world: World,
    gate: Gate,
    agenda: Agenda,
    under_way: BTreeMap<ActionId, UnderWay>,
    herald: Herald,
    orders: Orders,
    last_id: u64,
}

/// An action that has not been answered.
#[derive(Clone, Debug)]
struct UnderWay {
    action: Action,
    /// Who asked for it and looks again when it ends, if that is not what it is about.
    asker: Option<Subject>,
}

/// What the engine wants.
#[derive(Clone, Debug, Default)]
pub struct Orders {
    /// What to do; each answers with an [`Event::Finished`].
    pub actions: Vec<Action>,
    /// What to tell people.
    pub announcements: Vec<Announcement>,
    /// What to count.
    pub measures: Vec<Measure>,
    /// Notices that have their outcome.
    pub settled: Vec<Settled>,
}

/// Notices without an outcome at most. Queues are read ten messages at a time, and each has its
/// outcome within seconds; what comes beyond this has to come again.
const NOTICES_OPEN_MAX: usize = 1_000;

impl Engine {
    /// An engine that knows nothing yet.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            world: World::new(settings),
            gate: Gate::default(),
            agenda: Agenda::default(),
            under_way: BTreeMap::new(),
            herald: Herald::default(),
            orders: Orders::default(),
            last_id: 0,
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

    /// Takes news in.
    pub fn handle(&mut self, event: Event, now: Time) {
        match event {
            Event::Seen(object) => self.see(*object, now),
            Event::Gone { key, revision } => {
                let concerned = interest::concerned(&self.world, &key);
                let notice = planners::notice_gone(&self.world, &key, now);
                if self.world.forget(&key, revision) {
                    self.note_news(&key);
                    self.take_in(notice, None, now);
                    self.look_at(concerned);
                }
            }
            Event::Listed(kind) => {
                let was_complete = self.world.is_complete();
                self.world.list(kind);
                if !was_complete && self.world.is_complete() {
                    self.look_at(interest::everything(&self.world));
                }
            }
            Event::Offered { pool, instance_types } => {
                let notice = planners::notice_offered(&self.world, &pool, now);
                self.take_in(notice, None, now);
                let pool_subject = Subject::Pool(pool.clone());
                self.look_at(vec![pool_subject, Subject::Provisioning, Subject::ZonalShift]);
                self.world.offers.insert(pool, instance_types);
            }
            Event::Shifted(zones) => {
                let zones = zones.into_iter().map(|zone| (zone.name.clone(), zone)).collect();
                if self.world.shifted != zones {
                    self.world.shifted = zones;
                    // What waited for the end of a shift may go on.
                    self.look_at(interest::everything(&self.world));
                }
            }
            Event::Noticed(notice) => self.hear(notice, now),
            Event::Finished { action, outcome } => self.finish(action, &outcome, now),
            Event::Tick => {}
        }
    }

    /// What to do now. Nothing until every kind of object has been seen once.
    pub fn decide(&mut self, now: Time) -> Orders {
        let mut looks = Looks::default();
        while self.world.is_complete()
            && let Some(subject) = self.agenda.pop(now)
        {
            looks.count(&subject);
            let decision = planners::plan(&self.world, &subject, now);
            if let Some(time) = decision.wake_at {
                self.agenda.at(time, subject.clone());
            }
            self.take_in(decision, Some(&subject), now);
        }
        self.orders.measures.extend(looks.measures());
        std::mem::take(&mut self.orders)
    }

    fn see(&mut self, object: Object, now: Time) {
        let key = object.key();
        let mut concerned = interest::concerned(&self.world, &key);
        let notice = planners::notice(&self.world, &object, now);
        if self.world.observe(object) {
            self.note_news(&key);
            self.take_in(notice, None, now);
            concerned.extend(interest::concerned(&self.world, &key));
            self.look_at(concerned);
        }
    }

    fn hear(&mut self, notice: Notice, now: Time) {
        if self.world.memory.notices.len() >= NOTICES_OPEN_MAX {
            let settled = Settled { id: notice.id, outcome: NoticeOutcome::NotInTime };
            return self.orders.settled.push(settled);
        }
        self.world.memory.apply(Memo::Noticed { notice, at: now });
        self.agenda.now(Subject::Notices);
    }

    fn finish(&mut self, id: ActionId, outcome: &Outcome, now: Time) {
        // An action nobody waits for any more was given up; its effect shows in the objects.
        let Some(UnderWay { action, asker }) = self.under_way.remove(&id) else { return };
        self.gate.leave(id, answer_of(outcome), now);
        if let Outcome::Stored(object) = outcome {
            self.see((**object).clone(), now);
        }
        let conclusion = planners::conclude(&self.world, &action, outcome, now);
        self.take_in(conclusion, None, now);
        self.agenda.now(action.deed.subject());
        if let Some(asker) = asker {
            self.agenda.now(asker);
        }
    }

    fn take_in(&mut self, decision: Decision, asker: Option<&Subject>, now: Time) {
        for memo in decision.memos {
            self.look_at(interest::concerned_by_memo(&self.world, &memo));
            if let Memo::ForgetClaim(claim) = &memo {
                self.gate.forget(&Subject::Claim(claim.clone()));
            }
            self.world.memory.apply(memo);
        }
        for (deed, reason) in decision.deeds {
            self.order(deed, reason, asker, now);
        }
        let said = decision.announcements.into_iter();
        self.orders.announcements.extend(said.filter(|it| self.herald.admits(it, now)));
        self.orders.measures.extend(decision.measures);
        self.orders.settled.extend(decision.settled);
    }

    /// Lets a deed through if it may start; if not, or if it is never answered, it is looked at
    /// again.
    fn order(&mut self, deed: Deed, reason: String, asker: Option<&Subject>, now: Time) {
        let subject = deed.subject();
        // A pod that has to leave looks after itself.
        let knows_itself =
            |asker: &&Subject| **asker == subject || matches!(subject, Subject::Pod(_));
        let asker = asker.filter(|asker| !knows_itself(asker)).cloned();
        let again_at = match self.gate.opens(&deed, now) {
            Ok(()) => {
                self.last_id += 1;
                let id = ActionId(self.last_id);
                let give_up_at = self.gate.enter(id, &deed, now);
                let action = Action { id, at: now, reason, deed };
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

    fn note_news(&mut self, key: &Key) {
        if let Some(subject) = interest::subject_of(key) {
            self.gate.news(&subject);
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
            Answer::NewsFollows
        }
        Outcome::Failed(_) => Answer::Failed,
        _ => Answer::Known,
    }
}
