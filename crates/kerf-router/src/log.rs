//! One line of the log for each message and each missing permission.

use std::time::Duration;

use kerf_notices::routing::{Outcome, Report};
use tracing::{error, info};

/// Logs what became of a batch.
pub(crate) fn report(report: &Report, took: Duration) {
    report.outcomes.iter().for_each(|outcome| message(outcome, took));
    report.denied.iter().for_each(|denied| error!("{denied}"));
    report.credentials.iter().for_each(|why| error!("{why}"));
}

fn message(outcome: &Outcome, took: Duration) {
    let event_id = outcome.event_id.as_ref().map(ToString::to_string).unwrap_or_default();
    let kind = outcome.kind.map_or("unknown", |kind| kind.word());
    let instances = joined(&outcome.instances);
    let (clusters, queues) = (joined(&outcome.clusters), joined(&outcome.queues));
    let (verdict, word) = (&outcome.verdict, outcome.verdict.word());
    let milliseconds = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    if verdict.is_failure() {
        error!(
            event_id,
            kind,
            instances,
            clusters,
            queues,
            outcome = word,
            milliseconds,
            "{verdict}"
        );
    } else {
        info!(
            event_id,
            kind,
            instances,
            clusters,
            queues,
            outcome = word,
            milliseconds,
            "{verdict}"
        );
    }
}

fn joined(items: impl IntoIterator<Item = impl ToString>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    items.join(",")
}
