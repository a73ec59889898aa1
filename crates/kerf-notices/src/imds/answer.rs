//! The answers of the metadata service, by path.

use serde::Deserialize;
use thiserror::Error;

use crate::zonal_shift::UnixSeconds;

/// Where a spot interruption is announced.
pub const SPOT: &str = "/latest/meta-data/spot/instance-action";
/// Where a rebalance recommendation is.
pub const REBALANCE: &str = "/latest/meta-data/events/recommendations/rebalance";
/// Where maintenance is.
pub const SCHEDULED: &str = "/latest/meta-data/events/maintenance/scheduled";
/// Where an Auto Scaling group says what becomes of the instance.
pub const TARGET_STATE: &str = "/latest/meta-data/autoscaling/target-lifecycle-state";
/// Where the instance is described.
pub const IDENTITY: &str = "/latest/dynamic/instance-identity/document";

/// Maintenance events read from one answer. EC2 plans a few per instance.
const EVENTS_MAX: usize = 100;
/// Codes of maintenance after which the instance comes back under the same id.
const REBOOTING: [&str; 4] =
    ["instance-stop", "system-reboot", "instance-reboot", "instance-retirement"];

/// An answer that nobody can read. Asking again may help.
#[derive(Debug, Error)]
#[error("the answer cannot be read: {0}")]
pub struct Unreadable(#[from] serde_json::Error);

/// A spot interruption.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpotAction {
    /// `terminate`, `stop` or `hibernate`.
    pub action: String,
    /// When.
    pub at: Option<UnixSeconds>,
}

/// Maintenance of the instance or its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduledEvent {
    /// Its id.
    pub id: String,
    /// What will be done, in one word.
    pub code: String,
    /// Why.
    pub description: String,
    /// How far it is, in one word.
    pub state: String,
    /// The earliest it begins.
    pub not_before: Option<UnixSeconds>,
    /// The latest it ends.
    pub not_after: Option<UnixSeconds>,
}

/// What the instance is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct IdentityDocument {
    /// The account it runs in.
    pub account_id: String,
    /// Its zone.
    pub availability_zone: String,
    /// Its id.
    pub instance_id: String,
    /// Its type.
    pub instance_type: String,
    /// Its address inside the network.
    pub private_ip: String,
    /// Its region.
    pub region: String,
}

/// Reads the answer of [`SPOT`].
///
/// # Errors
/// It is no such answer.
pub fn spot_action(body: &str) -> Result<SpotAction, Unreadable> {
    #[derive(Deserialize)]
    struct Body {
        #[serde(default)]
        action: String,
        #[serde(default)]
        time: String,
    }
    let Body { action, time } = serde_json::from_str(body)?;
    Ok(SpotAction { action, at: UnixSeconds::parse(&time) })
}

/// Reads the answer of [`REBALANCE`]: when the recommendation was made.
///
/// # Errors
/// It is no such answer.
pub fn rebalance(body: &str) -> Result<Option<UnixSeconds>, Unreadable> {
    #[derive(Deserialize)]
    struct Body {
        #[serde(default, rename = "noticeTime")]
        notice_time: String,
    }
    let Body { notice_time } = serde_json::from_str(body)?;
    Ok(UnixSeconds::parse(&notice_time))
}

/// Reads the answer of [`SCHEDULED`]. Events without an id are left out: nobody could tell them
/// apart.
///
/// # Errors
/// It is no such answer.
pub fn scheduled_events(body: &str) -> Result<Vec<ScheduledEvent>, Unreadable> {
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "PascalCase")]
    struct Body {
        not_before: String,
        code: String,
        description: String,
        event_id: String,
        not_after: String,
        state: String,
    }
    let bodies: Vec<Body> = serde_json::from_str(body)?;
    let event = |body: Body| ScheduledEvent {
        id: body.event_id,
        code: body.code,
        description: body.description,
        state: body.state,
        not_before: gmt(&body.not_before),
        not_after: gmt(&body.not_after),
    };
    let named = bodies.into_iter().filter(|body| !body.event_id.is_empty());
    Ok(named.take(EVENTS_MAX).map(event).collect())
}

/// Reads the answer of [`TARGET_STATE`]: whether the Auto Scaling group is about to end the
/// instance.
#[must_use]
pub fn is_terminated(body: &str) -> bool {
    body.trim() == "Terminated"
}

/// Reads the answer of [`IDENTITY`].
///
/// # Errors
/// It is no such answer.
pub fn identity(body: &str) -> Result<IdentityDocument, Unreadable> {
    Ok(serde_json::from_str(body)?)
}

impl ScheduledEvent {
    /// Whether it was called off, or is done.
    #[must_use]
    pub fn is_over(&self) -> bool {
        ["canceled", "completed"].iter().any(|over| self.state.eq_ignore_ascii_case(over))
    }

    /// Whether the instance comes back afterwards.
    #[must_use]
    pub fn reboots(&self) -> bool {
        REBOOTING.contains(&self.code.as_str())
    }
}

/// Reads a time as in `2 Jan 2006 15:04:05 GMT`.
fn gmt(text: &str) -> Option<UnixSeconds> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let [day, month, year, clock, "GMT" | "UTC"] = words[..] else { return None };
    let month = 1 + MONTHS.iter().position(|name| *name == month)?;
    UnixSeconds::parse(&format!("{year}-{month:02}-{day:0>2}T{clock}Z"))
}
