//! Messages: understood, stored, and only then deleted.

use kerf_notices::zonal_shift::{Disposal, Received, UnixSeconds, Verdict, ZoneTable};
use tracing::{info, warn};

use super::{Desk, Tools};
use crate::daemon::complaints::Kind;
use crate::daemon::inbox::Arrived;

impl Desk {
    /// Takes in the messages at hand. If their effect cannot be stored they stay at hand, and no
    /// more are received meanwhile.
    pub(super) async fn take_in(&mut self, now: UnixSeconds) {
        if self.pending.is_empty() {
            return;
        }
        let messages = std::mem::take(&mut self.pending);
        let mut state = self.store.state().clone();
        let mut all = Vec::with_capacity(messages.len());
        for message in &messages {
            let body = message.body().as_bytes();
            let mut received = state.receive(body, &self.scope(), &self.zones, now);
            let is_miss = matches!(received.verdict, Verdict::UnknownZone(_));
            if is_miss && self.surroundings.may_ask_after_a_miss(now) {
                let Tools { account, settings, complaints, .. } = &self.tools;
                let name = &settings.cluster_name;
                self.surroundings.refresh(account, name, complaints, now).await;
                self.learn_zones();
                received = state.receive(body, &self.scope(), &self.zones, now);
            }
            state = received.state.clone();
            all.push(received);
        }
        if !self.keep(&state).await {
            self.pending = messages;
            return;
        }
        for received in &all {
            self.tools.metrics.received(received);
            tell(received, &self.zones);
            if received.verdict == Verdict::Refreshed {
                // Only ARC knows the new expiry.
                self.arc.ask_at_once();
            }
        }
        self.dispose(messages, &all).await;
    }

    /// Deletes what has had its effect. What stays by mistake comes again and changes nothing.
    async fn dispose(&self, messages: Vec<Arrived>, received: &[Received]) {
        const WHAT: &str = "deleting messages";
        let Tools { inbox, complaints, .. } = &self.tools;
        let settled = messages.into_iter().zip(received);
        let settled = settled.filter(|(_, received)| received.disposal == Disposal::Delete);
        let settled: Vec<_> = settled.map(|(message, _)| message).collect();
        if settled.is_empty() {
            return;
        }
        match inbox.delete(settled).await {
            Ok(None) => complaints.settle(WHAT),
            Ok(Some((count, why))) => {
                complaints.complain(WHAT, Kind::Failing, format!("{count} stayed: {why}"));
            }
            Err(error) => {
                let is_denied = matches!(error, kerf_aws::CallError::Denied { .. });
                let kind = if is_denied { Kind::Denied } else { Kind::Failing };
                complaints.complain(WHAT, kind, error.to_string());
            }
        }
    }
}

/// One line of the log for each message.
fn tell(received: &Received, zones: &ZoneTable) {
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
