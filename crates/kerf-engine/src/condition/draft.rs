//! Changing the conditions of one object by the rules of the API.
//!
//! The root condition and those it depends on always exist. Whatever is set, the root follows, and
//! the list is kept in the order it is stored.

use std::borrow::Cow;

use thiserror::Error;

use super::{Condition, Conditions, READY, Status};
use crate::observed::Meta;
use crate::time::Time;

/// The conditions an object shall have, in the making. Nothing is copied until something changes.
#[derive(Clone, Debug)]
pub struct Draft<'a> {
    conditions: Cow<'a, [Condition]>,
    dependents: &'a [&'a str],
    created_at: Time,
    generation: i64,
    is_deleting: bool,
    now: Time,
}

/// A condition that others are computed from cannot be taken away.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the condition {0} decides readiness and cannot be cleared; set it instead")]
pub struct Dependent(pub String);

const AWAITING: &str = "AwaitingReconciliation";
const AWAITING_MESSAGE: &str = "object is awaiting reconciliation";

impl<'a> Draft<'a> {
    /// Starts from what is stored; what must exist and does not is made up as unknown since the
    /// object was created, so that time limits run from then.
    #[must_use]
    pub fn of(stored: &'a Conditions, dependents: &'a [&'a str], meta: &Meta, now: Time) -> Self {
        let mut draft = Self {
            conditions: Cow::Borrowed(&stored.0),
            dependents,
            created_at: meta.created_at,
            generation: meta.generation,
            is_deleting: meta.is_deleting(),
            now: Time::from_seconds(now.seconds()),
        };
        for kind in dependents.iter().chain([&READY]) {
            if draft.get(kind).is_none() {
                draft.set_unknown(kind, AWAITING, AWAITING_MESSAGE);
            }
        }
        draft
    }

    /// The condition of that kind.
    #[must_use]
    pub fn get(&self, kind: &str) -> Option<&Condition> {
        self.conditions.iter().find(|condition| condition.kind == kind)
    }

    /// Whether the condition of that kind is there and holds.
    #[must_use]
    pub fn is_true(&self, kind: &str) -> bool {
        self.get(kind).is_some_and(|condition| condition.status == Status::True)
    }

    /// It holds. Returns whether that changed anything, as all setters do.
    pub fn set_true(&mut self, kind: &str) -> bool {
        self.set(kind, Status::True, kind, "")
    }

    /// It holds, for a reason worth telling.
    pub fn set_true_because(&mut self, kind: &str, reason: &str, message: &str) -> bool {
        self.set(kind, Status::True, reason, message)
    }

    /// It does not hold.
    pub fn set_false(&mut self, kind: &str, reason: &str, message: &str) -> bool {
        self.set(kind, Status::False, reason, message)
    }

    /// Nobody knows whether it holds, and why.
    pub fn set_unknown(&mut self, kind: &str, reason: &str, message: &str) -> bool {
        self.set(kind, Status::Unknown, reason, message)
    }

    /// Nobody has looked at it yet.
    pub fn reset(&mut self, kind: &str) -> bool {
        self.set_unknown(kind, AWAITING, AWAITING_MESSAGE)
    }

    /// Takes a condition away.
    ///
    /// # Errors
    /// The root and what it depends on always exist.
    pub fn clear(&mut self, kind: &str) -> Result<(), Dependent> {
        if kind == READY || self.dependents.contains(&kind) {
            return Err(Dependent(kind.to_owned()));
        }
        if self.get(kind).is_some() {
            let conditions = self.conditions.to_mut();
            conditions.retain(|condition| condition.kind != kind);
            // The order Karpenter leaves behind; the next change restores the usual one.
            conditions.sort_by(|a, b| a.kind.cmp(&b.kind));
        }
        Ok(())
    }

    /// What to store.
    #[must_use]
    pub fn into_conditions(self) -> Conditions {
        Conditions(self.conditions.into_owned())
    }

    /// What to store, if anything was changed.
    #[must_use]
    pub fn into_changed(self) -> Option<Conditions> {
        match self.conditions {
            Cow::Borrowed(_) => None,
            Cow::Owned(conditions) => Some(Conditions(conditions)),
        }
    }

    fn set(&mut self, kind: &str, status: Status, reason: &str, message: &str) -> bool {
        let known = self.get(kind);
        let changed_at = self.changed_at(kind, known, status);
        let is_same = known.is_some_and(|known| {
            (known.status, known.changed_at) == (status, changed_at)
                && known.observed_generation == self.generation
                && known.reason == reason
                && known.message == message
        });
        if is_same {
            return false;
        }
        self.put(Condition {
            kind: kind.to_owned(),
            status,
            reason: reason.to_owned(),
            message: message.to_owned(),
            changed_at,
            observed_generation: self.generation,
        });
        if kind != READY {
            self.follow_with_root();
        }
        true
    }

    /// What must always exist is as old as the object when it is first written.
    fn changed_at(&self, kind: &str, known: Option<&Condition>, status: Status) -> Time {
        match known {
            Some(known) if known.status == status => known.changed_at,
            None if kind == READY || self.dependents.contains(&kind) => self.created_at,
            _ => self.now,
        }
    }

    fn put(&mut self, wanted: Condition) {
        let conditions = self.conditions.to_mut();
        conditions.retain(|condition| condition.kind != wanted.kind);
        if self.is_deleting {
            for condition in &mut *conditions {
                condition.observed_generation = self.generation;
            }
        }
        conditions.push(wanted);
        // Stable: what changed in the same second stays in the order it was set.
        conditions.sort_by_key(|condition| (condition.kind == READY, condition.changed_at));
    }

    fn follow_with_root(&mut self) {
        let mut lacking: Vec<&Condition> =
            self.conditions.iter().filter(|condition| self.is_lacking(condition)).collect();
        lacking.sort_by_key(|condition| std::cmp::Reverse(condition.changed_at));
        if lacking.is_empty() {
            self.set_true(READY);
            return;
        }
        let is_false = |condition: &&Condition| {
            condition.status == Status::False && condition.observed_generation == self.generation
        };
        let (status, reason) = if lacking.iter().any(is_false) {
            (Status::False, "UnhealthyDependents")
        } else {
            (Status::Unknown, "ReconcilingDependents")
        };
        let words =
            lacking.iter().map(|condition| format!("{}={}", condition.kind, condition.status));
        let message = words.collect::<Vec<_>>().join(", ");
        self.set(READY, status, reason, &message);
    }

    fn is_lacking(&self, condition: &Condition) -> bool {
        self.dependents.contains(&condition.kind.as_str())
            && (condition.status != Status::True
                || condition.observed_generation != self.generation)
    }
}
