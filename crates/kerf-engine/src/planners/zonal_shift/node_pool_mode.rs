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
    Ageing, Disposal, Received, Scope, ShiftState, Step, UnixSeconds, Verdict, ZoneTable,
};

use super::observation::{view, zones};
use super::pool_edits;
use crate::action::{Action, ActionKind};
use crate::decision::Decision;
use crate::event::{Kind, Outcome};
use crate::notice::{NoticeId, NoticeOutcome, Settled};
use crate::observed::{Object, ShiftConfigMap, ShiftText};
use crate::reason::Reason;
use crate::sample::Sample;
use crate::time::Time;
use crate::world::World;
use crate::zonal_shift::{
    Change, NodePoolMode, ShiftReport, ShiftSettings, ShiftStateWrite, StoreCause,
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

/// Looks at everything anew. Nothing is done by a process that does not lead, before the stored
/// state was read, or where only a newer Kerf can read it.
pub(super) fn plan(world: &World, settings: &ShiftSettings, now: Time) -> Decision {
    let mut decision = Decision::default();
    let known = &world.zonal_shift;
    let is_ready = world.has_listed(&[Kind::ShiftConfigMap]) && known.stored.newer.is_none();
    if !known.is_leading() || !is_ready {
        return decision;
    }
    let now = unix_seconds(now);
    ask(known, now, &mut decision);
    if known.network.asked_at.is_none() || known.arc.read_at.is_none() {
        return decision;
    }
    let nodes: Vec<_> = world.nodes.values().map(|node| view(node)).collect();
    let (zones, class_zones) = zones(world, &nodes);
    let round = Round { known, settings, zones: &zones, now };
    if round.correct(&mut decision) {
        round.take_messages(&mut decision);
    }
    pool_edits::plan(world, settings, (&zones, &class_zones), &nodes, now, &mut decision);
    decision
}

/// What to make of a finished action.
pub(super) fn conclude(world: &World, action: &Action, outcome: &Outcome, now: Time) -> Decision {
    let mut decision = Decision::default();
    let at = unix_seconds(now);
    match (&action.kind, outcome) {
        (ActionKind::DescribeShiftNetwork, Outcome::ShiftNetwork(network)) => {
            remember(&mut decision, Change::Network((**network).clone(), at));
        }
        (ActionKind::ListZonalShifts { .. }, Outcome::ShiftsListed(reading)) => {
            remember(&mut decision, Change::Arc((**reading).clone(), at));
        }
        (ActionKind::WriteShiftState(write), outcome) => {
            write_concluded(&world.zonal_shift, &write.cause, outcome, &mut decision);
        }
        (ActionKind::EditPool(edit), outcome) => {
            let step = Step::Pool((**edit).clone());
            pool_edits::concluded(step, outcome, at, world, &mut decision);
        }
        (ActionKind::EditPoolCopy(copy), outcome) => {
            let step = Step::Copy(copy.edit.clone());
            pool_edits::concluded(step, outcome, at, world, &mut decision);
        }
        (ActionKind::PatchNode { name, .. }, outcome) => {
            if let Reason::ZonalShiftNode(action) = &action.reason {
                pool_edits::node_concluded(name, *action, outcome, &mut decision);
            }
        }
        _ => {}
    }
    decision
}

/// Asks AWS what is not known, or not any more.
fn ask(known: &NodePoolMode, now: UnixSeconds, decision: &mut Decision) {
    let network = &known.network;
    let pause = if network.is_whole { NETWORK_SECONDS } else { NETWORK_RETRY_SECONDS };
    let due = network.asked_at.map_or(now, |asked| asked.plus(pause));
    if due <= now {
        decision.act(ActionKind::DescribeShiftNetwork, Reason::ShiftSourcesOutdated);
    } else {
        decision.wake(time(due));
    }
    if network.asked_at.is_none() {
        return;
    }
    let is_active = known.state().active().next().is_some();
    let pause = if is_active { ARC_SECONDS_ACTIVE } else { ARC_SECONDS };
    let due = known.arc.read_at.map_or(now, |read| read.plus(pause));
    if due <= now {
        let cluster_arn = network.cluster_arn.clone();
        decision.act(ActionKind::ListZonalShifts { cluster_arn }, Reason::ShiftSourcesOutdated);
    } else {
        decision.wake(time(due));
    }
}

fn write_concluded(
    known: &NodePoolMode,
    cause: &StoreCause,
    outcome: &Outcome,
    decision: &mut Decision,
) {
    let stored = match outcome {
        Outcome::Stored(object) => match &**object {
            Object::ShiftConfigMap(ShiftConfigMap { state: ShiftText::Read(state), .. }) => {
                Some(state)
            }
            _ => None,
        },
        _ => None,
    };
    match (cause, stored) {
        (StoreCause::Correction { before }, Some(state)) => {
            remember(decision, Change::ListingApplied);
            let (before, away) = (before.clone(), state.away().into_iter().collect());
            if before != away {
                decision.shift_reports.push(ShiftReport::Corrected { before, away });
            }
        }
        (StoreCause::Messages(ids), Some(_)) => {
            let receipt = |id: &NoticeId| Some((*id, known.receipts.get(id)?.clone()));
            settle(ids.iter().filter_map(receipt).collect(), &known.stored.zones, decision);
        }
        (StoreCause::Messages(ids), None) => remember(decision, Change::NotStored(ids.clone())),
        (StoreCause::Correction { .. }, None) => {}
    }
}

/// Everything one look needs.
struct Round<'a> {
    known: &'a NodePoolMode,
    settings: &'a ShiftSettings,
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
            Some(listing) => self.known.stored.state.reconcile(listing, self.now),
            None => self.known.stored.state.clone(),
        };
        let state = state.aged(&ageing, self.now);
        if let Some(at) = state.next_change(&ageing) {
            decision.wake(time(at));
        }
        self.warn_of_old(&ageing, decision);
        if !self.holds(&state) {
            let before = self.known.state().away().into_iter().collect();
            self.store(state, StoreCause::Correction { before }, decision);
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
            self.known.stored.state.suspiciously_old(ageing, previously, self.now)
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
        let mut state = self.known.stored.state.clone();
        let mut receipts = Vec::new();
        for (id, body) in &self.known.announced {
            let received = state.receive(body.as_bytes(), &self.scope(), self.zones, self.now);
            if matches!(received.verdict, Verdict::UnknownZone(_)) && self.may_ask_after_a_miss() {
                let action = ActionKind::DescribeShiftNetwork;
                return decision.act(action, Reason::ShiftSourcesOutdated);
            }
            state.clone_from(&received.state);
            // The watch may show the stored state before the write is answered: what was made
            // of the message first is what counts.
            let first = self.known.receipts.get(id).cloned();
            receipts.push((*id, first.unwrap_or(received)));
        }
        if receipts.is_empty() {
            return;
        }
        if self.holds(&state) {
            return settle(receipts, self.zones, decision);
        }
        let ids = receipts.iter().map(|(id, _)| *id).collect();
        remember(decision, Change::Understood(receipts));
        self.store(state, StoreCause::Messages(ids), decision);
    }

    /// Whether exactly this is stored.
    fn holds(&self, state: &ShiftState) -> bool {
        let stored = &self.known.stored;
        let is_whole = stored.revision.is_some() && stored.damaged.is_none();
        is_whole && *state == stored.state && *self.zones == stored.zones
    }

    fn store(&self, state: ShiftState, cause: StoreCause, decision: &mut Decision) {
        let stored = &self.known.stored;
        let write = ShiftStateWrite {
            name: self.settings.config_map(),
            revision: stored.revision,
            state,
            zones: self.zones.clone(),
            damaged: stored.damaged.clone(),
            cause,
        };
        decision.act(ActionKind::WriteShiftState(Box::new(write)), Reason::ShiftStateChanged);
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
fn settle(receipts: Vec<(NoticeId, Received)>, zones: &ZoneTable, decision: &mut Decision) {
    remember(decision, Change::Settled(receipts.iter().map(|(id, _)| *id).collect()));
    if receipts.iter().any(|(_, received)| received.verdict == Verdict::Refreshed) {
        remember(decision, Change::AskArc);
    }
    for (id, received) in receipts {
        let outcome = match received.disposal {
            Disposal::Delete => NoticeOutcome::ShiftStored,
            Disposal::LeaveForRedelivery => NoticeOutcome::NotInTime,
        };
        decision.settled.push(Settled { id, outcome });
        let labels = vec![
            ("detail_type", received.detail_type().to_owned()),
            ("result", received.verdict.label().to_owned()),
        ];
        decision.samples.push(Sample::one("kerf_zonal_shift_events_total", labels));
        let (received, zones) = (Box::new(received), zones.clone());
        decision.shift_reports.push(ShiftReport::Received { received, zones });
    }
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
