//! Whether the reboot that a node was closed for is over. What is needed to know that is on the node
//! itself: the process that closed it is gone by then.

use std::collections::BTreeMap;

use crate::zonal_shift::UnixSeconds;

/// The label with the id of the announcement.
pub const EVENT_ID: &str = "aws-node-termination-handler/event-id";
/// The label that says what to do afterwards.
pub const ACTION: &str = "aws-node-termination-handler/action";
/// The label that says when the node was closed, in seconds.
pub const ACTION_TIME: &str = "aws-node-termination-handler/action-time";
/// What to do afterwards.
pub const UNCORDON_AFTER_REBOOT: &str = "UncordonAfterReboot";

/// The id of the announcement whose reboot is over, if the node waits for one: it has been up for
/// less time than has passed since it was closed.
#[must_use]
pub fn is_over(
    labels: &BTreeMap<String, String>,
    uptime_seconds: u64,
    now: UnixSeconds,
) -> Option<&str> {
    let action = labels.get(ACTION)?;
    let event_id = labels.get(EVENT_ID)?;
    let closed_at = labels.get(ACTION_TIME)?.parse().ok().and_then(UnixSeconds::new)?;
    let since = u64::try_from(now.since(closed_at)).ok()?;
    (action == UNCORDON_AFTER_REBOOT && since >= uptime_seconds).then_some(event_id.as_str())
}

/// The whole seconds that `/proc/uptime` begins with.
#[must_use]
pub fn uptime_seconds(text: &str) -> Option<u64> {
    let first = text.split_ascii_whitespace().next()?;
    first.split('.').next()?.parse().ok()
}
