//! What was lost is made good: by what ARC lists, and by time.

use kerf_notices::zonal_shift::{Ageing, ArcReplies, Listing, Origin, ShiftState, UnixSeconds};
use tracing::{info, warn};

use super::{Desk, Tools};

/// How often ARC is read.
const READ_SECONDS: i64 = 300;
/// How often while a zone is avoided.
const READ_SECONDS_ACTIVE: i64 = 30;

/// The origins ARC knows of; when it lists all of them, age need not end a shift.
const ARC_ORIGINS: [Origin; 4] = [Origin::Autoshift, Origin::Fis, Origin::Manual, Origin::Practice];

/// Whether and when ARC is asked.
#[derive(Debug)]
pub(super) struct ArcSight {
    /// Absent when it is to be asked at once.
    read_at: Option<UnixSeconds>,
    /// Whether it lists everything. Until that is known, age ends nothing.
    can_ask: bool,
    looked_at: UnixSeconds,
}

impl ArcSight {
    pub(super) fn new(now: UnixSeconds) -> Self {
        Self { read_at: None, can_ask: true, looked_at: now }
    }

    /// Lets the next turn ask.
    pub(super) fn ask_at_once(&mut self) {
        self.read_at = None;
    }

    fn is_due(&self, state: &ShiftState, now: UnixSeconds) -> bool {
        let is_active = state.active().next().is_some();
        let pause = if is_active { READ_SECONDS_ACTIVE } else { READ_SECONDS };
        self.read_at.is_none_or(|read| now.since(read) >= pause)
    }
}

impl Desk {
    /// Corrects the state by what ARC lists and by time.
    pub(super) async fn correct(&mut self, now: UnixSeconds) {
        let mut state = self.store.state().clone();
        if self.arc.is_due(&state, now) {
            state = self.ask_arc(&state, now).await;
            self.arc.read_at = Some(now);
        }
        let ageing = self.ageing();
        state = state.aged(&ageing, now);
        self.warn_of_old(&ageing, now);
        let before = self.store.state().away();
        if !self.keep(&state).await {
            self.arc.ask_at_once();
        } else if state.away() != before {
            info!(?before, away = ?state.away(), "the zones to avoid were corrected");
        }
    }

    fn ageing(&self) -> Ageing {
        Ageing {
            can_ask_arc: self.arc.can_ask,
            max_age_seconds: self.tools.settings.max_age_seconds,
        }
    }

    async fn ask_arc(&mut self, state: &ShiftState, now: UnixSeconds) -> ShiftState {
        let Tools { account, settings, complaints, .. } = &self.tools;
        let answers = account.arc(self.surroundings.cluster_arn(), complaints).await;
        let replies = ArcReplies {
            managed_resource: answers.managed_resource.as_ref(),
            zonal_shifts: answers.zonal_shifts.as_deref(),
            autoshifts: answers.autoshifts.as_deref(),
        };
        let listing = Listing::read(replies, &settings.matching);
        if ARC_ORIGINS.iter().all(|origin| listing.complete_for.contains(origin)) {
            self.arc.can_ask = true;
        } else if answers.is_denied {
            self.arc.can_ask = false;
        }
        state.reconcile(&listing, now)
    }

    fn warn_of_old(&mut self, ageing: &Ageing, now: UnixSeconds) {
        let state = self.store.state();
        for (zone, origin, shift) in state.suspiciously_old(ageing, self.arc.looked_at, now) {
            warn!(
                %zone, %origin, since = %shift.since,
                "a zone is avoided for long, and ARC cannot be asked whether that still holds; \
                 if not: kerf zonal-shift end {zone}"
            );
        }
        self.arc.looked_at = now;
    }
}
