//! What Application Recovery Controller announces: a zone is to be avoided, or no longer.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::instant::UnixSeconds;
use super::zone::ZoneRef;

/// The `source` of every event about a zonal shift.
pub const SOURCE: &str = "aws.arc-zonal-shift";

/// One announcement, read from a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShiftEvent {
    /// EventBridge's id of the event; empty when the message had none.
    pub id: String,
    /// Which of the twelve announcements it is.
    pub kind: EventKind,
    /// When it happened, by AWS's clock.
    pub time: UnixSeconds,
    /// The region it is about; empty when the message had none.
    pub region: String,
    /// What was shifted: ARNs, seldom names; empty for notices to observers.
    pub resources: Vec<String>,
    /// The zone to be avoided.
    pub away_from: ZoneRef,
}

/// Who asked for the zone to be avoided. Each asks on its own: the zone is avoided while one does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// AWS, because the zone is impaired.
    Autoshift,
    /// The command line.
    Cli,
    /// A fault-injection experiment.
    Fis,
    /// Somebody, through ARC.
    Manual,
    /// AWS's weekly practice run.
    Practice,
}

/// What an event says about its zone and origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Transition {
    /// The zone is avoided from now on.
    Start,
    /// The shift goes on; when it expires may have changed.
    Keep,
    /// The shift is over.
    End,
}

/// The twelve announcements, named as their `detail-type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum EventKind {
    /// AWS moves traffic away.
    AutoshiftInProgress,
    /// AWS lets traffic back.
    AutoshiftCompleted,
    /// A practice run began.
    PracticeRunStarted,
    /// A practice run ended well.
    PracticeRunSucceeded,
    /// A practice run ended with an alarm.
    PracticeRunFailed,
    /// A practice run was cut short.
    PracticeRunInterrupted,
    /// An experiment moves traffic away.
    FisExperimentAutoshiftInProgress,
    /// An experiment came to its end.
    FisExperimentAutoshiftCompleted,
    /// An experiment was called off.
    FisExperimentAutoshiftCanceled,
    /// Somebody moves traffic away.
    ManualShiftStarted,
    /// Somebody changed a shift's expiry or comment.
    ManualShiftUpdated,
    /// Somebody lets traffic back.
    ManualShiftCanceled,
}

/// Every kind with its `detail-type` and what it says.
const KINDS: [(EventKind, &str, Origin, Transition); 12] = {
    use EventKind::*;
    use Origin::*;
    use Transition::*;
    [
        (AutoshiftInProgress, "Autoshift In Progress", Autoshift, Start),
        (AutoshiftCompleted, "Autoshift Completed", Autoshift, End),
        (PracticeRunStarted, "Practice Run Started", Practice, Start),
        (PracticeRunSucceeded, "Practice Run Succeeded", Practice, End),
        (PracticeRunFailed, "Practice Run Failed", Practice, End),
        (PracticeRunInterrupted, "Practice Run Interrupted", Practice, End),
        (FisExperimentAutoshiftInProgress, "FIS Experiment Autoshift In Progress", Fis, Start),
        (FisExperimentAutoshiftCompleted, "FIS Experiment Autoshift Completed", Fis, End),
        (FisExperimentAutoshiftCanceled, "FIS Experiment Autoshift Canceled", Fis, End),
        (ManualShiftStarted, "Manual Shift Started", Manual, Start),
        (ManualShiftUpdated, "Manual Shift Updated", Manual, Keep),
        (ManualShiftCanceled, "Manual Shift Canceled", Manual, End),
    ]
};

impl EventKind {
    /// All twelve kinds.
    pub fn all() -> impl Iterator<Item = EventKind> {
        KINDS.iter().map(|&(kind, ..)| kind)
    }

    /// The kind a `detail-type` names.
    pub fn of_detail_type(detail_type: &str) -> Option<EventKind> {
        KINDS.iter().find(|(_, text, ..)| *text == detail_type).map(|&(kind, ..)| kind)
    }

    /// The `detail-type` of the kind.
    pub fn detail_type(self) -> &'static str {
        self.row().1
    }

    /// On whose behalf the zone is avoided.
    pub fn origin(self) -> Origin {
        self.row().2
    }

    /// What becomes of the shift.
    pub fn transition(self) -> Transition {
        self.row().3
    }

    fn row(self) -> &'static (EventKind, &'static str, Origin, Transition) {
        KINDS.iter().find(|(kind, ..)| *kind == self).expect("the table lists every kind")
    }
}

impl Origin {
    /// The word for it in metrics and on the screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Origin::Autoshift => "autoshift",
            Origin::Cli => "cli",
            Origin::Fis => "fis",
            Origin::Manual => "manual",
            Origin::Practice => "practice",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.detail_type())
    }
}
