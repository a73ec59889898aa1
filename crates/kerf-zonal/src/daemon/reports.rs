//! What the engine tells, as log lines, metrics and Kubernetes Events; and messages that are done
//! with are deleted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kerf_aws::CallError;
use kerf_engine::notice::NoticeId;
use kerf_engine::zonal_shift::{NodePoolMode, ShiftReport};
use kerf_notices::zonal_shift::{
    Disposal, Note, PoolEvent, Received, Step, Verdict, ZoneName, ZoneTable,
};
use tokio::task::JoinSet;
use tracing::{info, warn};

use crate::daemon::complaints::{Complaints, Kind};
use crate::daemon::event_recorder::EventRecorder;
use crate::daemon::inbox::{Arrived, Inbox};
use crate::daemon::metrics::Metrics;
use crate::daemon::reconcile_loop::Tools;

/// Writes log lines, counts, records Events and deletes messages.
pub(crate) struct Reports {
    inbox: Inbox,
    complaints: Complaints,
    metrics: Arc<Metrics>,
    recorder: EventRecorder,
    /// Messages to delete.
    settled: Vec<Arrived>,
    /// Events and deletions under way.
    calls: JoinSet<()>,
}

impl Reports {
    pub(crate) fn new(tools: &Tools) -> Self {
        Self {
            inbox: tools.inbox.clone(),
            complaints: tools.complaints.clone(),
            metrics: tools.metrics.clone(),
            recorder: EventRecorder::new(tools.client.clone(), tools.complaints.clone()),
            settled: Vec::new(),
            calls: JoinSet::new(),
        }
    }

    /// Tells of one thing. A message that is done with leaves `messages`.
    pub(crate) fn report(
        &mut self,
        report: ShiftReport,
        known: &NodePoolMode,
        messages: &mut BTreeMap<NoticeId, Arrived>,
    ) {
        match report {
            ShiftReport::Received { id, received } => {
                self.metrics.received(&received);
                log_received(&received, &known.zones().0);
                let message = messages.remove(&id);
                if received.disposal == Disposal::Delete {
                    self.settled.extend(message);
                }
            }
            ShiftReport::Corrected { before, away } => {
                let (before, away): (BTreeSet<_>, BTreeSet<_>) =
                    (before.into_iter().collect(), away.into_iter().collect());
                info!(?before, ?away, "the zones to avoid were corrected");
            }
            ShiftReport::LongLasting { zone, origin, since } => warn!(
                %zone, %origin, %since,
                "a zone is avoided for long, and ARC cannot be asked whether that still holds; \
                 if not: kerf zonal-shift end {zone}"
            ),
            ShiftReport::Noted(note) => {
                self.metrics.noted(&note);
                log_note(&note);
                self.record(note.event().into_iter().collect(), known);
            }
            ShiftReport::Applied { step, zones } => {
                self.metrics.carried_out(&step);
                log_step(&step);
                if let Step::Pool(edit) = &*step {
                    self.record(PoolEvent::of_edit(edit, &zones), known);
                }
            }
        }
    }

    fn record(&mut self, events: Vec<PoolEvent>, known: &NodePoolMode) {
        while self.calls.try_join_next().is_some() {}
        for event in events {
            let (recorder, uid) = (self.recorder.clone(), known.uid_of(&event.pool));
            self.calls.spawn(async move { recorder.record(&event, uid).await });
        }
    }

    /// Deletes messages that had their effect. What stays by mistake comes again and changes
    /// nothing.
    pub(crate) fn delete_settled(&mut self) {
        if self.settled.is_empty() {
            return;
        }
        let settled = std::mem::take(&mut self.settled);
        let (inbox, complaints) = (self.inbox.clone(), self.complaints.clone());
        self.calls.spawn(async move { delete(&inbox, &complaints, settled).await });
    }

    /// Waits for what is under way.
    pub(crate) async fn finish(mut self) {
        while self.calls.join_next().await.is_some() {}
    }
}

async fn delete(inbox: &Inbox, complaints: &Complaints, settled: Vec<Arrived>) {
    const WHAT: &str = "deleting messages";
    match inbox.delete(settled).await {
        Ok(None) => complaints.settle(WHAT),
        Ok(Some((count, why))) => {
            complaints.complain(WHAT, Kind::Failing, format!("{count} stayed: {why}"));
        }
        Err(error) => {
            let is_denied = matches!(error, CallError::Denied { .. });
            let kind = if is_denied { Kind::Denied } else { Kind::Failing };
            complaints.complain(WHAT, kind, error.to_string());
        }
    }
}

/// One line of the log for each message.
fn log_received(received: &Received, zones: &ZoneTable) {
    let result = received.verdict.label();
    let Some(event) = &received.event else {
        if let Verdict::Unusable(why) = &received.verdict {
            warn!(result, "a message was deleted: {why}");
        }
        return;
    };
    let zone_id = zones.resolve(&event.away_from);
    let zone = zone_id.and_then(|id| zones.name(id)).map(ToString::to_string).unwrap_or_default();
    let (id, kind, away_from) = (&event.id, event.kind.detail_type(), event.away_from.to_string());
    if received.disposal == Disposal::LeaveForRedelivery {
        warn!(id, kind, away_from, "an announcement names a zone this account does not have");
        return;
    }
    info!(id, kind, away_from, zone, result, "an announcement was received");
    if !received.foreign_resources.is_empty() {
        let resources = received.foreign_resources.join(", ");
        warn!(
            zone,
            resources,
            "the zone is avoided though the shift names only other resources; \
             --zonal-shift-match=cluster ignores such shifts"
        );
    }
}

fn log_note(note: &Note) {
    match note {
        Note::Skipped { pool, zones, reason } => {
            warn!(%pool, ?zones, reason = reason.label(), "a pool is not kept out of a zone");
        }
        Note::ZoneNotUsed(zone) => {
            info!(%zone, "a zone is avoided that this cluster does not use");
        }
        Note::ZoneUnnamed(zone) => {
            warn!(%zone, "a zone is avoided whose name is not known; nothing can be done");
        }
        Note::MemoryDamaged(pool) => {
            warn!(%pool, "its annotations were damaged; zones are given back without them");
        }
    }
}

fn log_step(step: &Step) {
    match step {
        Step::Pool(edit) => {
            let names = |zones: &BTreeSet<ZoneName>| {
                zones.iter().map(ZoneName::as_str).collect::<Vec<_>>().join(",")
            };
            let (before, now) = (names(&edit.away_before), names(&edit.away));
            info!(pool = %edit.pool, action = edit.action.label(), before, now, "a pool was changed");
        }
        Step::Copy(edit) => info!(action = edit.action().label(), "a stand-in was changed"),
        Step::Node(edit) => {
            info!(node = edit.node, action = edit.action.label(), "a node was changed");
        }
    }
}
