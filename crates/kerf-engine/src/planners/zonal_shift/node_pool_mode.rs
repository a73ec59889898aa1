//! NodePool mode: the state of shifts is kept true, and pools follow it.
//!
//! ```text
//!  describe zones and subnets ─► ask ARC ─► correct the state ─► take in messages ─► edit pools
//!                                              └── stored ──┐        └── stored ─► settled
//! ```
//!
//! A message is settled only when the state with its effect is stored. Pools are planned from the
//! stored state, so a crash at any point leaves nothing to undo.

use kerf_notices::zonal_shift::{
    Ageing, Received, Scope, ShiftState, UnixSeconds, Verdict, ZoneTable,
};

use super::pool_edits;
use crate::action::ActionKind;
use crate::decision::Decision;
use crate::event::Outcome;
use crate::notice::NoticeId;
use crate::reason::Reason;
use crate::time::Time;
use crate::world::World;
use crate::zonal_shift::{
    Change, NodePoolMode, ShiftCall, ShiftInput, ShiftReport, ShiftSettings, StepKey, StoreCause,
    StoredShifts,
};

/// Zones and subnets change seldom.
const NETWORK_SECONDS: i64 = 3600;
/// What gave no answer is asked again after so long.
const NETWORK_RETRY_SECONDS: i64 = 60;
/// A message about an unknown zone makes zones be read again, but not more often than this.
const NETWORK_MISS_SECONDS: i64 = 10;
/// How often ARC is read.
const ARC_SECONDS: i64 = 300;
/// How often while a zone is avoided.
const ARC_SECONDS_ACTIVE: i64 = 30;

/// Looks at everything anew.
pub(super) fn plan(world: &World, settings: &ShiftSettings, now: Time) -> Decision {
    let mut decision = Decision::default();
    let known = &world.zonal_shift;
    let Some(stored) = &known.stored else { return decision };
    let now = unix_seconds(now);
    ask(known, &stored.state, now, &mut decision);
    if known.network.asked_at.is_none() || known.arc.read_at.is_none() {
        return decision;
    }
    let (zones, class_zones) = known.zones();
    let round = Round { known, settings, stored, zones: &zones, now };
    if round.correct(&mut decision) {
        round.take_messages(&mut decision);
    }
    pool_edits::plan(known, settings, (&zones, &class_zones), now, &mut decision);
    decision
}

/// What to make of a finished call.
pub(super) fn conclude(world: &World, call: &ShiftCall, outcome: &Outcome, now: Time) -> Decision {
    let mut decision = Decision::default();
    let answer = match outcome {
        Outcome::ZonalShift(input) => Some(&**input),
        _ => None,
    };
    match call {
        ShiftCall::Store { cause, .. } => {
            store_concluded(&world.zonal_shift, cause, answer, &mut decision);
        }
        ShiftCall::Apply(step) => {
            let key = StepKey::of(step);
            remember(&mut decision, Change::Tried { step: key, has_failed: answer.is_none() });
            if answer.is_some() {
                pool_edits::applied(&world.zonal_shift, step, unix_seconds(now), &mut decision);
            }
        }
        ShiftCall::DescribeNetwork | ShiftCall::ListShifts { .. } => {}
    }
    decision
}

/// Asks AWS what is not known, or not any more.
fn ask(known: &NodePoolMode, state: &ShiftState, now: UnixSeconds, decision: &mut Decision) {
    let network = &known.network;
    let pause = if network.is_whole { NETWORK_SECONDS } else { NETWORK_RETRY_SECONDS };
    let due = network.asked_at.map_or(now, |asked| asked.plus(pause));
    if due <= now {
        call(decision, ShiftCall::DescribeNetwork, Reason::ShiftSourcesOutdated);
    } else {
        decision.wake(time(due));
    }
    if network.asked_at.is_none() {
        return;
    }
    let is_active = state.active().next().is_some();
    let pause = if is_active { ARC_SECONDS_ACTIVE } else { ARC_SECONDS };
    let due = known.arc.read_at.map_or(now, |read| read.plus(pause));
    if due <= now {
        let cluster_arn = network.cluster_arn.clone();
        call(decision, ShiftCall::ListShifts { cluster_arn }, Reason::ShiftSourcesOutdated);
    } else {
        decision.wake(time(due));
    }
}

fn store_concluded(
    known: &NodePoolMode,
    cause: &StoreCause,
    answer: Option<&ShiftInput>,
    decision: &mut Decision,
) {
    match (cause, answer) {
        (StoreCause::Correction, Some(ShiftInput::Stored(stored))) => {
            remember(decision, Change::ListingApplied);
            let away = |stored: &StoredShifts| stored.state.away().into_iter().collect();
            let before = known.stored.as_ref().map(away).unwrap_or_default();
            let away: Vec<_> = away(stored);
            if before != away {
                decision.shift_reports.push(ShiftReport::Corrected { before, away });
            }
        }
        (StoreCause::Messages(ids), Some(_)) => {
            let receipt = |id: &NoticeId| Some((*id, known.receipts.get(id)?.clone()));
            settle(ids.iter().filter_map(receipt).collect(), decision);
        }
        (StoreCause::Messages(ids), None) => remember(decision, Change::NotStored(ids.clone())),
        (StoreCause::Correction, _) => {}
    }
}

/// Everything one look needs.
struct Round<'a> {
    known: &'a NodePoolMode,
    settings: &'a ShiftSettings,
    stored: &'a StoredShifts,
    zones: &'a ZoneTable,
    now: UnixSeconds,
}

impl Round<'_> {
    /// Corrects the state by what ARC lists and by time. True if what is stored needs none.
    fn correct(&self, decision: &mut Decision) -> bool {
        let arc = &self.known.arc;
        let ageing =
            Ageing { can_ask_arc: !arc.is_denied, max_age_seconds: self.settings.max_age_seconds };
        let listed = arc.unapplied.as_ref();
        let state = match listed {
            Some(listing) => self.stored.state.reconcile(listing, self.now),
            None => self.stored.state.clone(),
        };
        let state = state.aged(&ageing, self.now);
        if let Some(at) = state.next_change(&ageing) {
            decision.wake(time(at));
        }
        self.warn_of_old(&ageing, decision);
        if !self.holds(&state) {
            self.store(state, StoreCause::Correction, decision);
            return false;
        }
        if listed.is_some() {
            remember(decision, Change::ListingApplied);
        }
        true
    }

    fn warn_of_old(&self, ageing: &Ageing, decision: &mut Decision) {
        let previously = self.known.arc.looked_at.unwrap_or(self.now);
        for (zone, origin, shift) in
            self.stored.state.suspiciously_old(ageing, previously, self.now)
        {
            let (zone, since) = (zone.clone(), shift.since);
            decision.shift_reports.push(ShiftReport::LongLasting { zone, origin, since });
        }
        if self.known.arc.looked_at != Some(self.now) {
            remember(decision, Change::LookedForOld(self.now));
        }
    }

    /// Takes in the messages at hand, in their order. If their effect cannot be stored they stay
    /// at hand.
    fn take_messages(&self, decision: &mut Decision) {
        let mut state = self.stored.state.clone();
        let mut receipts = Vec::new();
        for (id, body) in &self.known.announced {
            let received = state.receive(body.as_bytes(), &self.scope(), self.zones, self.now);
            if matches!(received.verdict, Verdict::UnknownZone(_)) && self.may_ask_after_a_miss() {
                return call(decision, ShiftCall::DescribeNetwork, Reason::ShiftSourcesOutdated);
            }
            state.clone_from(&received.state);
            // The watch may tell of the stored state before the write is answered: what was made
            // of the message first is what counts.
            let first = self.known.receipts.get(id).cloned();
            receipts.push((*id, first.unwrap_or(received)));
        }
        if receipts.is_empty() {
            return;
        }
        if self.holds(&state) {
            return settle(receipts, decision);
        }
        let ids = receipts.iter().map(|(id, _)| *id).collect();
        remember(decision, Change::Understood(receipts));
        self.store(state, StoreCause::Messages(ids), decision);
    }

    /// Whether exactly this is stored.
    fn holds(&self, state: &ShiftState) -> bool {
        let StoredShifts { version, damaged, .. } = self.stored;
        let is_whole = version.is_some() && damaged.is_none();
        is_whole && *state == self.stored.state && *self.zones == self.stored.zones
    }

    fn store(&self, state: ShiftState, cause: StoreCause, decision: &mut Decision) {
        let StoredShifts { version, damaged, .. } = self.stored.clone();
        let shifts = Box::new(StoredShifts { version, state, zones: self.zones.clone(), damaged });
        call(decision, ShiftCall::Store { shifts, cause }, Reason::ShiftStateChanged);
    }

    fn may_ask_after_a_miss(&self) -> bool {
        let asked_at = self.known.network.asked_at;
        asked_at.is_none_or(|asked| self.now.since(asked) >= NETWORK_MISS_SECONDS)
    }

    fn scope(&self) -> Scope {
        Scope {
            region: self.settings.region.clone(),
            cluster_name: self.settings.cluster_name.clone(),
            cluster_arn: self.known.network.cluster_arn.clone(),
            matching: self.settings.matching.clone(),
        }
    }
}

/// The messages had their effect, or can have none.
fn settle(receipts: Vec<(NoticeId, Received)>, decision: &mut Decision) {
    remember(decision, Change::Settled(receipts.iter().map(|(id, _)| *id).collect()));
    if receipts.iter().any(|(_, received)| received.verdict == Verdict::Refreshed) {
        remember(decision, Change::AskArc);
    }
    for (id, received) in receipts {
        let received = Box::new(received);
        decision.shift_reports.push(ShiftReport::Received { id, received });
    }
}

pub(super) fn call(decision: &mut Decision, call: ShiftCall, reason: Reason) {
    decision.act(ActionKind::ZonalShift(Box::new(call)), reason);
}

pub(super) fn remember(decision: &mut Decision, change: Change) {
    decision.shift_changes.push(change);
}

/// The engine's time in the whole seconds that AWS counts in.
pub(crate) fn unix_seconds(now: Time) -> UnixSeconds {
    UnixSeconds::at(now.seconds())
}

pub(super) fn time(at: UnixSeconds) -> Time {
    Time::from_seconds(at.seconds())
}
