//! Which subjects must be looked at, and when.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::action::Subject;
use crate::time::Time;

/// Subjects that are due now, and those that will be.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Agenda {
    due: BTreeSet<Subject>,
    later: BTreeSet<(Time, Subject)>,
    #[serde(with = "crate::entries")]
    alarm: BTreeMap<Subject, Time>,
}

impl Agenda {
    /// Looks at a subject as soon as possible.
    pub(crate) fn now(&mut self, subject: Subject) {
        self.due.insert(subject);
    }

    /// Looks at a subject at that time, unless it is due earlier anyway.
    pub(crate) fn at(&mut self, time: Time, subject: Subject) {
        match self.alarm.get(&subject) {
            Some(known) if *known <= time => return,
            Some(known) => {
                let known = *known;
                self.later.remove(&(known, subject.clone()));
            }
            None => {}
        }
        self.alarm.insert(subject.clone(), time);
        self.later.insert((time, subject));
    }

    /// The next subject that is due, with its alarm taken off.
    pub(crate) fn pop(&mut self, now: Time) -> Option<Subject> {
        while let Some((time, _)) = self.later.first()
            && *time <= now
        {
            let (_, subject) = self.later.pop_first().expect("it was just seen");
            self.alarm.remove(&subject);
            self.due.insert(subject);
        }
        let subject = self.due.pop_first()?;
        if let Some(time) = self.alarm.remove(&subject) {
            self.later.remove(&(time, subject.clone()));
        }
        Some(subject)
    }

    /// When the next subject is due, if nothing happens before.
    pub(crate) fn next(&self) -> Option<Time> {
        if !self.due.is_empty() {
            return Some(Time::default());
        }
        self.later.first().map(|(time, _)| *time)
    }
}
