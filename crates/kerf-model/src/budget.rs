//! Disruption budgets: how many of a pool's nodes may be disturbed at once, why and when.

mod allowed;
mod reason;
mod text;

use serde::{Deserialize, Serialize};

use crate::cron::Schedule;
use crate::duration::GoDuration;

pub use allowed::Allowed;
pub use reason::{DisruptionReason, ReasonSet};
pub use text::{BudgetError, BudgetText};

const NANOS_PER_SECOND: i128 = 1_000_000_000;

/// One budget of a pool.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Budget {
    /// How many nodes may be disturbed while the budget counts.
    pub nodes: BudgetNodes,
    /// The reasons it counts for: `None` is all of them, an empty set is none of them.
    pub reasons: Option<ReasonSet>,
    /// When it counts; `None` is always.
    pub window: Option<BudgetWindow>,
}

/// A number of nodes, absolute or as a share of the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BudgetNodes {
    /// So many nodes.
    Count(u32),
    /// A share of the pool's nodes.
    Percent(Percent),
}

/// A share from 0 to 100 percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Percent(u8);

/// A recurring stretch of time.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BudgetWindow {
    /// When it opens.
    pub schedule: Schedule,
    /// How long it stays open.
    pub duration: GoDuration,
}

/// All budgets of one pool, with what could not be understood of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetList {
    budgets: Vec<Budget>,
    unreadable: Vec<BudgetError>,
}

impl BudgetList {
    /// Reads the budgets of a pool. Those that make no sense are kept as errors.
    pub fn parse<'a>(texts: impl IntoIterator<Item = BudgetText<'a>>) -> BudgetList {
        let mut list = BudgetList::default();
        for text in texts {
            match Budget::parse(text) {
                Ok(budget) => list.budgets.push(budget),
                Err(error) => list.unreadable.push(error),
            }
        }
        list
    }

    /// How many of a pool's nodes may be disturbed for a reason at a time (Unix seconds): the
    /// smallest answer of its budgets.
    ///
    /// A budget that cannot be read might have said anything, so it allows nothing for any reason.
    pub fn allowed(&self, nodes_total: u32, reason: DisruptionReason, now: i64) -> Allowed {
        if !self.unreadable.is_empty() {
            return Allowed::AtMost(0);
        }
        let answers = self.budgets.iter().map(|budget| budget.allowed(nodes_total, reason, now));
        answers.min().unwrap_or(Allowed::Unlimited)
    }

    /// The budgets that could be read.
    pub fn budgets(&self) -> &[Budget] {
        &self.budgets
    }

    /// Why the others could not.
    pub fn unreadable(&self) -> &[BudgetError] {
        &self.unreadable
    }
}

impl FromIterator<Budget> for BudgetList {
    fn from_iter<I: IntoIterator<Item = Budget>>(budgets: I) -> BudgetList {
        BudgetList { budgets: budgets.into_iter().collect(), unreadable: Vec::new() }
    }
}

impl Budget {
    /// Reads a budget as it stands in a pool.
    pub fn parse(text: BudgetText<'_>) -> Result<Budget, BudgetError> {
        text::budget(text)
    }

    /// How many of a pool's nodes this budget lets be disturbed for a reason at a time (Unix
    /// seconds).
    pub fn allowed(&self, nodes_total: u32, reason: DisruptionReason, now: i64) -> Allowed {
        let concerns_reason = self.reasons.is_none_or(|reasons| reasons.contains(reason));
        let is_open = self.window.as_ref().is_none_or(|window| window.is_open(now));
        if concerns_reason && is_open {
            Allowed::AtMost(self.nodes.of(nodes_total))
        } else {
            Allowed::Unlimited
        }
    }
}

impl BudgetNodes {
    /// The number of nodes out of so many, a share rounded up.
    pub fn of(self, nodes_total: u32) -> u32 {
        match self {
            BudgetNodes::Count(count) => count,
            BudgetNodes::Percent(percent) => percent.ceil_of(nodes_total),
        }
    }
}

impl Percent {
    /// A share, if it is at most 100.
    pub const fn new(percent: u8) -> Option<Percent> {
        if percent <= 100 { Some(Percent(percent)) } else { None }
    }

    /// The share as a number from 0 to 100.
    pub const fn get(self) -> u8 {
        self.0
    }

    fn ceil_of(self, total: u32) -> u32 {
        let share = (u64::from(total) * u64::from(self.0)).div_ceil(100);
        u32::try_from(share).expect("at most 100 percent of a u32 is a u32")
    }
}

impl TryFrom<u8> for Percent {
    type Error = BudgetError;

    fn try_from(percent: u8) -> Result<Percent, BudgetError> {
        Percent::new(percent)
            .ok_or_else(|| BudgetError::Nodes { text: format!("{percent}%").into() })
    }
}

impl From<Percent> for u8 {
    fn from(percent: Percent) -> u8 {
        percent.get()
    }
}

impl BudgetWindow {
    /// Whether the window is open: it opened after `now − duration` and not later than `now`.
    ///
    /// A schedule without any hit (the 30th of February) counts as open: nobody can have meant
    /// such a budget to lift a limit, and it has always been read this way.
    pub fn is_open(&self, now: i64) -> bool {
        let from_nanos = i128::from(now) * NANOS_PER_SECOND - i128::from(self.duration.nanos());
        // A start before or after all time has no hit either.
        let from = i64::try_from(from_nanos.div_euclid(NANOS_PER_SECOND)).ok();
        from.and_then(|from| self.schedule.next_after(from)).is_none_or(|hit| hit <= now)
    }
}
