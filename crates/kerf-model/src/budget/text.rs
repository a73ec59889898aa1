//! Reading budgets as they stand in a pool.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Budget, BudgetNodes, BudgetWindow, DisruptionReason, Percent, ReasonSet};
use crate::cron::{CronError, Schedule};
use crate::duration::{DurationError, GoDuration};

/// The fields of a budget as written.
#[derive(Clone, Copy, Debug, Default)]
pub struct BudgetText<'a> {
    /// A count such as `5` or a share such as `10%`.
    pub nodes: &'a str,
    /// Names of reasons; absent means all.
    pub reasons: Option<&'a [&'a str]>,
    /// A cron schedule; needs a duration.
    pub schedule: Option<&'a str>,
    /// How long each window lasts; needs a schedule.
    pub duration: Option<&'a str>,
}

/// Why a budget cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum BudgetError {
    /// `nodes` is neither a count nor a share.
    #[error("budget nodes {text:?} is neither a count such as 5 nor a share from 0% to 100%")]
    Nodes {
        /// The text as given.
        text: Box<str>,
    },
    /// A reason has no meaning.
    #[error(
        "budget reason {name:?} is unknown; expected Underutilized, Empty, Drifted or Unhealthy"
    )]
    Reason {
        /// The name as given.
        name: Box<str>,
    },
    /// The schedule is malformed.
    #[error("budget schedule: {0}")]
    Schedule(#[source] CronError),
    /// The duration is malformed.
    #[error("budget duration: {0}")]
    Duration(#[source] DurationError),
    /// There is a schedule but no duration.
    #[error("budget schedule {schedule:?} needs a duration, for example 8h")]
    ScheduleWithoutDuration {
        /// The schedule as given.
        schedule: Box<str>,
    },
    /// There is a duration but no schedule.
    #[error("budget duration {duration:?} needs a schedule, for example \"0 9 * * 1-5\"")]
    DurationWithoutSchedule {
        /// The duration as given.
        duration: Box<str>,
    },
}

pub(super) fn budget(text: BudgetText<'_>) -> Result<Budget, BudgetError> {
    let BudgetText { nodes, reasons, schedule, duration } = text;
    Ok(Budget {
        nodes: BudgetNodes::parse(nodes)?,
        reasons: reasons.map(reason_set).transpose()?,
        window: window(schedule, duration)?,
    })
}

impl BudgetNodes {
    /// Reads digits, or up to 100 followed by a percent sign.
    ///
    /// Counts above 2³²−1 are held at that: no pool has as many nodes, so nothing changes.
    pub fn parse(text: &str) -> Result<BudgetNodes, BudgetError> {
        let error = || BudgetError::Nodes { text: text.into() };
        let (digits, is_share) = match text.strip_suffix('%') {
            Some(digits) => (digits, true),
            None => (text, false),
        };
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(error());
        }
        if !is_share {
            return Ok(BudgetNodes::Count(digits.parse().unwrap_or(u32::MAX)));
        }
        let has_share_length = digits.len() <= 2 || digits == "100";
        let percent = digits.parse().ok().filter(|_| has_share_length).and_then(Percent::new);
        percent.map(BudgetNodes::Percent).ok_or_else(error)
    }
}

fn reason_set(names: &[&str]) -> Result<ReasonSet, BudgetError> {
    names
        .iter()
        .map(|name| {
            DisruptionReason::parse(name)
                .ok_or_else(|| BudgetError::Reason { name: (*name).into() })
        })
        .collect()
}

fn window(
    schedule: Option<&str>,
    duration: Option<&str>,
) -> Result<Option<BudgetWindow>, BudgetError> {
    match (schedule, duration) {
        (None, None) => Ok(None),
        (Some(schedule), Some(duration)) => Ok(Some(BudgetWindow {
            schedule: Schedule::parse(schedule).map_err(BudgetError::Schedule)?,
            duration: GoDuration::parse(duration).map_err(BudgetError::Duration)?,
        })),
        (Some(schedule), None) => {
            Err(BudgetError::ScheduleWithoutDuration { schedule: schedule.into() })
        }
        (None, Some(duration)) => {
            Err(BudgetError::DurationWithoutSchedule { duration: duration.into() })
        }
    }
}
