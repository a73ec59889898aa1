//! What is under way and what waits for another try: one action per subject and lane at a time, but
//! that no write waits for a less urgent one.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::action::{ActionClass, ActionId, ActionKind, Backoff, Lane, Subject};
use crate::time::{Span, Time};

/// What is under way and what waits.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Gate {
    #[serde(with = "crate::entries")]
    under_way: BTreeMap<(Subject, Lane), UnderWay>,
    by_id: BTreeMap<ActionId, (Subject, Lane)>,
    #[serde(with = "crate::entries")]
    waiting: BTreeMap<(Subject, Lane), Wait>,
    /// When waits that nobody minds were last looked for.
    #[serde(default)]
    swept_at: Time,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct UnderWay {
    id: ActionId,
    give_up_at: Time,
    kind: KindName,
    #[serde(default)]
    class: ActionClass,
    backoff: Backoff,
    has_update: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Wait {
    /// What failed; another kind of action need not wait for it. None where a watch event is waited for.
    kind: Option<KindName>,
    /// How often in a row it failed, or the watch event did not come.
    tries: u32,
    until: Time,
}

/// What kind of action something is, by its name.
type KindName = Cow<'static, str>;

/// How an action ended, as far as the next one is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Everything about it is known.
    Known,
    /// The object changed, or had changed before: how it is now comes by the watch.
    ObjectFollows,
    /// It failed and may be tried again later.
    Failed {
        /// But not before so long, if the other side said so.
        retry_after: Span,
    },
}

/// An executor that has not answered for so long will not; the action may be done again. Time in an
/// executor's queue counts: what could not be begun within [`BEGIN_WITHIN`] is answered unbegun, so
/// that a backlog makes nothing happen twice.
const ANSWER_WITHIN: Span = Span::from_minutes(2);
/// Executors do not begin an action later than this: it was decided on a world that is gone. The
/// other half of the time for an answer is the call's own.
pub const BEGIN_WITHIN: Span = Span::from_minutes(1);
/// A watch event that has not come so long after an answer was lost, or had come before the action began.
/// Where none comes again and again, watches are silent, and asking often would not help.
const OBJECT: Backoff = Backoff { first: Span::from_seconds(2), last: Span::from_minutes(1) };

/// The same for a pod that was asked to leave: there is nothing more to do about it, so it may be
/// waited for longer.
const POD: Backoff = Backoff { first: Span::from_seconds(30), last: Span::from_minutes(1) };

/// A server that asks for more patience is asked earlier all the same: its word may be wrong, and
/// nodes that have to go do not wait for ever.
const RETRY_AFTER_MAX: Span = Span::from_minutes(5);

/// Who has not tried again so long after it might have begins anew; the longest wait between two
/// tries is shorter.
const WAIT_KEPT_FOR: Span = Span::from_minutes(10);
/// How often waits are looked through for those that nobody minds.
const SWEEP_EVERY: Span = Span::from_minutes(1);

impl UnderWay {
    /// Whether an action of this class goes ahead of it. A write may be far back in an executor's
    /// queue, behind those about thousands of other objects, and what is more urgent must not be
    /// made to wait with it. Both are safe in any order: each names the revision or the identity it
    /// is meant for. Only pods are not passed: there is one thing to do about a pod, and it is asked
    /// to leave once.
    fn lets_pass(&self, (subject, lane): &(Subject, Lane), class: ActionClass) -> bool {
        let is_pod = matches!(subject, Subject::Pod(_));
        *lane == Lane::Write && !is_pod && class < self.class
    }
}

impl Gate {
    /// Whether an action may start now; if not, when to ask again. While something is under way its
    /// end is an event of its own, so the time given is when it is given up.
    pub(crate) fn opens(
        &self,
        kind: &ActionKind,
        class: ActionClass,
        now: Time,
    ) -> Result<(), Time> {
        let info = kind.info();
        let slot = (info.subject.clone(), info.lane());
        if let Some(busy) = self.under_way.get(&slot)
            && now < busy.give_up_at
            && !busy.lets_pass(&slot, class)
        {
            return Err(busy.give_up_at);
        }
        match self.waiting.get(&slot) {
            Some(wait) if now < wait.until && wait.holds(kind) => Err(wait.until),
            _ => Ok(()),
        }
    }

    /// Notes that an action starts. Returns when it is given up if nobody answers, and the action
    /// that was given up for it.
    pub(crate) fn enter(
        &mut self,
        id: ActionId,
        kind: &ActionKind,
        class: ActionClass,
        now: Time,
    ) -> (Time, Option<ActionId>) {
        let info = kind.info();
        let slot = (info.subject.clone(), info.lane());
        let give_up_at = match kind {
            ActionKind::Solve(request) => request.deadline,
            _ => now + ANSWER_WITHIN,
        };
        let (kind, backoff, has_update) = (name(kind), info.backoff, false);
        let busy = UnderWay { id, give_up_at, kind, class, backoff, has_update };
        let given_up = self.under_way.insert(slot.clone(), busy).map(|given_up| given_up.id);
        if let Some(given_up) = &given_up {
            self.by_id.remove(given_up);
        }
        self.by_id.insert(id, slot);
        (give_up_at, given_up)
    }

    /// Notes that an action ended, unless it had been given up.
    pub(crate) fn leave(&mut self, id: ActionId, answer: Answer, now: Time) {
        let Some(slot) = self.by_id.remove(&id) else { return };
        let Some(busy) = self.under_way.remove(&slot) else { return };
        let wait = match answer {
            Answer::Known => None,
            Answer::ObjectFollows if slot.1 != Lane::Write => None,
            // What was seen of a pod meanwhile may be anything: it is asked to leave once.
            Answer::ObjectFollows if matches!(slot.0, Subject::Pod(_)) => {
                Some(self.wait(&slot, None, POD, now))
            }
            Answer::ObjectFollows if busy.has_update => None,
            Answer::ObjectFollows => Some(self.wait(&slot, None, OBJECT, now)),
            // Who asks for a solve or a list knows better when to ask again.
            Answer::Failed { .. } if slot.1 == Lane::Solve => None,
            Answer::Failed { retry_after } => {
                let mut wait = self.wait(&slot, Some(busy.kind), busy.backoff, now);
                wait.until = wait.until.max(now + retry_after.min(RETRY_AFTER_MAX));
                Some(wait)
            }
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
        kind: Option<KindName>,
        backoff: Backoff,
        now: Time,
    ) -> Wait {
        let former = self.waiting.get(slot).filter(|wait| wait.kind == kind);
        let tries = former.map_or(1, |wait| wait.tries.saturating_add(1));
        Wait { kind, tries, until: now + backoff.after(tries) }
    }

    /// Notes that the object a subject stands for was seen anew: nobody has to wait for that.
    pub(crate) fn object_seen(&mut self, subject: &Subject) {
        let slot = (subject.clone(), Lane::Write);
        if let Some(busy) = self.under_way.get_mut(&slot) {
            busy.has_update = true;
        }
        if self.waiting.get(&slot).is_some_and(|wait| wait.kind.is_none()) {
            self.waiting.remove(&slot);
        }
    }

    /// Forgets the waits about an object that is gone. What is under way about it is answered.
    pub(crate) fn forget_waits(&mut self, subject: &Subject) {
        for lane in Lane::ALL {
            self.waiting.remove(&(subject.clone(), lane));
        }
    }

    /// Forgets an action that was never answered.
    pub(crate) fn forget_action(&mut self, id: ActionId) {
        if let Some(slot) = self.by_id.remove(&id) {
            self.under_way.remove(&slot);
        }
    }

    /// Forgets waits that were over long ago: what they were about may be gone.
    pub(crate) fn sweep(&mut self, now: Time) {
        if now < self.swept_at + SWEEP_EVERY {
            return;
        }
        self.swept_at = now;
        self.waiting.retain(|_, wait| now < wait.until + WAIT_KEPT_FOR);
    }

    /// The clock was set back: nobody waits for a time that is far ahead now.
    pub(crate) fn set_back(&mut self, now: Time) {
        self.waiting.clear();
        self.swept_at = self.swept_at.min(now);
        let busy = self.under_way.values_mut();
        busy.for_each(|busy| busy.give_up_at = busy.give_up_at.min(now + ANSWER_WITHIN));
    }

    /// Forgets everything about a subject that is gone.
    pub(crate) fn forget(&mut self, subject: &Subject) {
        for lane in Lane::ALL {
            let slot = (subject.clone(), lane);
            self.waiting.remove(&slot);
            if let Some(busy) = self.under_way.remove(&slot) {
                self.by_id.remove(&busy.id);
            }
        }
    }
}

impl Wait {
    fn holds(&self, kind: &ActionKind) -> bool {
        self.kind.as_ref().is_none_or(|known| *known == name(kind))
    }
}

fn name(kind: &ActionKind) -> KindName {
    Cow::Borrowed(kind.info().name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observed::PodKey;

    #[test]
    fn a_pod_that_was_asked_to_leave_is_not_asked_again_whatever_was_seen_of_it_meanwhile() {
        let pod = PodKey { namespace: "default".into(), name: "web".into() };
        let evict = ActionKind::EvictPod { pod: pod.clone(), uid: "uid".into() };
        let (mut gate, now) = (Gate::default(), Time::from_seconds(100));
        gate.enter(ActionId(1), &evict, ActionClass::Normal, now);
        // It became ready, say.
        gate.object_seen(&Subject::Pod(pod.clone()));
        gate.leave(ActionId(1), Answer::ObjectFollows, now);
        assert_eq!(gate.opens(&evict, ActionClass::Normal, now), Err(now + Span::from_seconds(30)));
        gate.object_seen(&Subject::Pod(pod));
        assert_eq!(gate.opens(&evict, ActionClass::Normal, now), Ok(()), "how it is now is known");
    }
}
