//! What is under way and what waits for another try: one deed per subject and lane at a time.

use std::collections::BTreeMap;
use std::mem::{Discriminant, discriminant};

use crate::action::{ActionId, Deed, Lane, Subject};
use crate::time::{Span, Time};

/// What is under way and what waits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gate {
    under_way: BTreeMap<(Subject, Lane), UnderWay>,
    by_id: BTreeMap<ActionId, (Subject, Lane)>,
    waiting: BTreeMap<(Subject, Lane), Wait>,
}

#[derive(Clone, Debug)]
struct UnderWay {
    id: ActionId,
    give_up_at: Time,
    kind: Discriminant<Deed>,
    patience: Patience,
    has_news: bool,
}

#[derive(Clone, Copy, Debug)]
struct Wait {
    /// What failed; another kind of deed need not wait for it. None where news is waited for.
    kind: Option<Discriminant<Deed>>,
    /// How often in a row it failed, or news did not come.
    tries: u32,
    until: Time,
}

/// How a deed ended, as far as the next one is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Everything about it is known.
    Known,
    /// The object changed, or had changed before: how it is now comes as news.
    NewsFollows,
    /// It failed and may be tried again later.
    Failed,
}

/// How long to wait between tries: doubling from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Patience {
    first: Span,
    last: Span,
}

/// An executor that has not answered for so long will not; the deed may be done again.
const ANSWER_WITHIN: Span = Span::from_minutes(2);
/// News that has not come so long after an answer was lost, or had come before the deed began.
/// Where none comes again and again, watches are silent, and asking often would not help.
const NEWS: Patience = Patience { first: Span::from_seconds(2), last: Span::from_minutes(1) };
/// Thinking may take longer than calling.
const THOUGHT_WITHIN: Span = Span::from_minutes(5);

impl Gate {
    /// Whether a deed may start now; if not, when to ask again. While something is under way its
    /// end is an event of its own, so the time given is when it is given up.
    pub(crate) fn opens(&self, deed: &Deed, now: Time) -> Result<(), Time> {
        let slot = (deed.subject(), deed.lane());
        if let Some(busy) = self.under_way.get(&slot)
            && now < busy.give_up_at
        {
            return Err(busy.give_up_at);
        }
        match self.waiting.get(&slot) {
            Some(wait) if now < wait.until && wait.holds(deed) => Err(wait.until),
            _ => Ok(()),
        }
    }

    /// Notes that a deed starts. Returns when it is given up if nobody answers.
    pub(crate) fn enter(&mut self, id: ActionId, deed: &Deed, now: Time) -> Time {
        let lane = deed.lane();
        let within = if lane == Lane::Think { THOUGHT_WITHIN } else { ANSWER_WITHIN };
        let slot = (deed.subject(), lane);
        let give_up_at = now + within;
        let busy = UnderWay {
            id,
            give_up_at,
            kind: discriminant(deed),
            patience: Patience::of(deed),
            has_news: false,
        };
        if let Some(given_up) = self.under_way.insert(slot.clone(), busy) {
            self.by_id.remove(&given_up.id);
        }
        self.by_id.insert(id, slot);
        give_up_at
    }

    /// Notes that a deed ended, unless it had been given up.
    pub(crate) fn leave(&mut self, id: ActionId, answer: Answer, now: Time) {
        let Some(slot) = self.by_id.remove(&id) else { return };
        let Some(busy) = self.under_way.remove(&slot) else { return };
        let wait = match answer {
            Answer::Known => None,
            Answer::NewsFollows if busy.has_news || slot.1 != Lane::Write => None,
            Answer::NewsFollows => Some(self.wait(&slot, None, NEWS, now)),
            // Who asks a question knows better when to ask again.
            Answer::Failed if slot.1 == Lane::Think => None,
            Answer::Failed => Some(self.wait(&slot, Some(busy.kind), busy.patience, now)),
        };
        match wait {
            Some(wait) => drop(self.waiting.insert(slot, wait)),
            None => drop(self.waiting.remove(&slot)),
        }
    }

    /// The wait after one more of the same in a row.
    fn wait(
        &self,
        slot: &(Subject, Lane),
        kind: Option<Discriminant<Deed>>,
        patience: Patience,
        now: Time,
    ) -> Wait {
        let former = self.waiting.get(slot).filter(|wait| wait.kind == kind);
        let tries = former.map_or(1, |wait| wait.tries.saturating_add(1));
        Wait { kind, tries, until: now + patience.after(tries) }
    }

    /// Notes that the object a subject stands for was seen anew: nobody has to wait for that.
    pub(crate) fn news(&mut self, subject: &Subject) {
        let slot = (subject.clone(), Lane::Write);
        if let Some(busy) = self.under_way.get_mut(&slot) {
            busy.has_news = true;
        }
        if self.waiting.get(&slot).is_some_and(|wait| wait.kind.is_none()) {
            self.waiting.remove(&slot);
        }
    }

    /// Forgets everything about a subject that is gone.
    pub(crate) fn forget(&mut self, subject: &Subject) {
        for lane in [Lane::Write, Lane::Cloud, Lane::Think] {
            let slot = (subject.clone(), lane);
            self.waiting.remove(&slot);
            if let Some(busy) = self.under_way.remove(&slot) {
                self.by_id.remove(&busy.id);
            }
        }
    }
}

impl Wait {
    fn holds(&self, deed: &Deed) -> bool {
        self.kind.is_none_or(|kind| kind == discriminant(deed))
    }
}

impl Patience {
    fn of(deed: &Deed) -> Self {
        let millis =
            |first, last| Self { first: Span::from_millis(first), last: Span::from_millis(last) };
        match deed {
            Deed::EvictPod { .. } | Deed::DeletePod { .. } => millis(100, 10_000),
            Deed::Launch(_) => millis(1_000, 60_000),
            Deed::Terminate { .. } => millis(1_000, 10_000),
            _ => millis(100, 60_000),
        }
    }

    fn after(self, tries: u32) -> Span {
        let factor = 1u64.checked_shl(tries.saturating_sub(1)).unwrap_or(u64::MAX);
        self.first.times(factor.max(1)).min(self.last)
    }
}
