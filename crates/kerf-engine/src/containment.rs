//! A panic stops what is done about one object, not the process: it would come again after every
//! start.
//!
//! Only what reads is contained. Planners get the world by reference and answer with a value, so
//! one that panics leaves nothing half done.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::{Deserialize, Serialize};

use crate::action::Subject;
use crate::event::Key;
use crate::kubernetes_event::KubernetesEvent;
use crate::sample::Sample;
use crate::time::{Span, Time};

/// How a panic of Kerf's own is counted.
const PANICS: &str = "kerf_panics_total";
/// How soon something that panicked is tried again, if its object has not changed before.
const AGAIN_AFTER: Span = Span::from_minutes(5);

/// Subjects whose planner panicked, and until when they are left alone.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Suspended(#[serde(with = "crate::entries")] BTreeMap<Subject, Time>);

impl Suspended {
    /// Leaves a subject alone for a while. Returns until when.
    pub(crate) fn add(&mut self, subject: Subject, now: Time) -> Time {
        let until = now + AGAIN_AFTER;
        self.0.insert(subject, until);
        until
    }

    /// Until when a subject is left alone, if it is or was.
    pub(crate) fn until(&self, subject: &Subject) -> Option<Time> {
        self.0.get(subject).copied()
    }

    /// Tries a subject again: its object changed, or time has passed.
    pub(crate) fn forget(&mut self, subject: &Subject) {
        self.0.remove(subject);
    }
}

/// What something that only reads returns, or what it said when it panicked.
///
/// # Errors
/// The message of the panic.
pub fn contained<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| message(&*panic))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "no message".to_owned())
}

/// What people are told at an object that is there and cannot be read.
pub(crate) fn unreadable(about: Key) -> KubernetesEvent {
    let text = "Kerf cannot read this object; nothing that belongs to it is ended until it can";
    KubernetesEvent::warning(about, "Unreadable", text)
}

/// What people are told at the object that was looked at.
pub(crate) fn announcement(about: Key, panic: &str) -> KubernetesEvent {
    let text = format!(
        "Kerf failed on this object and leaves it alone until it changes; nothing that belongs to \
         it is ended. This is a defect of Kerf, please report it: {panic}"
    );
    KubernetesEvent::warning(about, "InternalError", text)
}

/// One more panic, in this part of Kerf.
#[must_use]
pub fn counted(part: &'static str) -> Sample {
    Sample::one(PANICS, vec![("part", part.to_owned())])
}
