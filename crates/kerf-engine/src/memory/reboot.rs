//! What is remembered of the reboots of a claim's node.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::time::{Span, Time};

/// What is remembered of the reboots of a claim's node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RebootMemory {
    /// The identity of the claim: another one under the same name was never rebooted.
    pub uid: Arc<str>,
    /// The one that was decided on and is not stored yet.
    pub wanted: Option<WantedReboot>,
    /// When reboots were stored, the oldest first; bounded.
    pub stored_at: VecDeque<Time>,
    /// What the provider was asked for, and what it said.
    pub call: Option<RebootCall>,
}

/// A reboot that was decided on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WantedReboot {
    /// When that was.
    pub at: Time,
    /// The condition of the node that is the reason.
    pub condition: String,
    /// The reason of that condition.
    pub reason: String,
    /// How long pods have to leave, where a policy says so.
    pub drain_within: Option<Span>,
}

/// What the provider was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RebootCall {
    /// When it was first asked.
    pub first_at: Time,
    /// What it said last.
    pub answer: RebootAnswer,
}

/// What a provider says of a reboot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RebootAnswer {
    /// Nothing yet, or that it may work later.
    Open,
    /// It has begun.
    Accepted,
    /// It will never work.
    Refused {
        /// Why.
        message: String,
    },
}

/// A change to what is remembered of the reboots of a claim's node.
#[derive(Clone, Debug)]
pub enum RebootUpdate {
    /// One was decided on.
    Wanted(WantedReboot),
    /// It is off: it could not be stored in time.
    Dropped,
    /// It is stored.
    Stored(Time),
    /// The provider is asked; the first time counts.
    Asked(Time),
    /// The provider has answered.
    Answered(RebootAnswer),
    /// It is over.
    Over,
}

/// So many reboots within a day are enough.
const REBOOTS_MAX: usize = 2;
const COUNTED_FOR: Span = Span::from_minutes(24 * 60);

impl RebootMemory {
    pub(super) fn of(uid: Arc<str>) -> Self {
        Self { uid, wanted: None, stored_at: VecDeque::new(), call: None }
    }

    pub(super) fn apply(&mut self, update: RebootUpdate) {
        match update {
            RebootUpdate::Wanted(wanted) => self.wanted = Some(wanted),
            RebootUpdate::Dropped => self.wanted = None,
            RebootUpdate::Stored(at) => {
                self.wanted = None;
                self.call = None;
                self.stored_at.push_back(at);
                while self.stored_at.len() > REBOOTS_MAX {
                    self.stored_at.pop_front();
                }
            }
            RebootUpdate::Asked(at) => {
                let answer = RebootAnswer::Open;
                self.call.get_or_insert(RebootCall { first_at: at, answer });
            }
            RebootUpdate::Answered(answer) => {
                if let Some(call) = &mut self.call {
                    call.answer = answer;
                }
            }
            RebootUpdate::Over => self.call = None,
        }
    }

    /// Whether another reboot would not help: there were so many within a day.
    pub(crate) fn is_exhausted(&self, now: Time) -> bool {
        let lately = self.stored_at.iter().filter(|at| now < **at + COUNTED_FOR);
        lately.count() >= REBOOTS_MAX
    }

    pub(super) fn times_mut(&mut self) -> impl Iterator<Item = &mut Time> {
        let wanted = self.wanted.iter_mut().map(|wanted| &mut wanted.at);
        let asked = self.call.iter_mut().map(|call| &mut call.first_at);
        wanted.chain(asked).chain(&mut self.stored_at)
    }
}
