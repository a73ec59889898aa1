//! What ARC lists as active: the truth against which lost events are made good.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::event::Origin;
use super::instant::UnixSeconds;
use super::scope::Matching;
use super::state::{EndedBy, Shift, ShiftState};
use super::zone::ZoneId;

/// How often in a row ARC must contradict what is recorded before it is believed: its answers
/// trail its events by seconds.
const CONTRADICTIONS_BELIEVED: u8 = 2;
/// How long the end of a shift is remembered, so that a late start does nothing.
pub const TOMBSTONE_SECONDS: i64 = 24 * 3600;

/// One reading of ARC.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing {
    /// What it lists.
    pub shifts: Vec<ListedShift>,
    /// The origins whose shifts would all be listed; of others nothing follows from absence.
    pub complete_for: BTreeSet<Origin>,
}

/// One shift as ARC lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedShift {
    /// The zone avoided.
    pub zone: ZoneId,
    /// On whose behalf.
    pub origin: Origin,
    /// When it began.
    pub start: UnixSeconds,
    /// When it ends by itself.
    pub expiry: Option<UnixSeconds>,
    /// Whether it takes effect now: another shift of the resource may take precedence.
    pub is_applied: bool,
}

/// The answers of ARC, as JSON; absent where the call is not permitted.
#[derive(Clone, Copy, Debug, Default)]
pub struct ArcReplies<'a> {
    /// `GetManagedResource` for the cluster.
    pub managed_resource: Option<&'a Value>,
    /// The items of every page of `ListZonalShifts`.
    pub zonal_shifts: Option<&'a [Value]>,
    /// The items of every page of `ListAutoshifts`.
    pub autoshifts: Option<&'a [Value]>,
}

impl Listing {
    /// Reads ARC's answers. With [`Matching::Cluster`] only the cluster's own zonal shifts count
    /// and its managed resource lists them all; an autoshift counts wherever it is listed.
    pub fn read(replies: ArcReplies<'_>, matching: &Matching) -> Listing {
        let mut listing = Listing::default();
        if let Some(resource) = replies.managed_resource {
            let items = |field: &str| resource.get(field).and_then(Value::as_array);
            listing.take(items("zonalShifts").into_iter().flatten(), None);
            listing.take(items("autoshifts").into_iter().flatten(), Some(Origin::Autoshift));
        }
        let by_resource = [Origin::Manual, Origin::Practice, Origin::Fis];
        match matching {
            Matching::Any => {
                if let Some(items) = replies.zonal_shifts {
                    listing.take(items, None);
                    listing.complete_for.extend(by_resource);
                }
            }
            Matching::Cluster { also } => {
                let is_wanted = |item: &&Value| {
                    let resource = item.get("resourceIdentifier").and_then(Value::as_str);
                    resource.is_some_and(|resource| also.contains(resource))
                };
                let items = replies.zonal_shifts;
                listing.take(items.into_iter().flatten().filter(is_wanted), None);
                if replies.managed_resource.is_some() && (also.is_empty() || items.is_some()) {
                    listing.complete_for.extend(by_resource);
                }
            }
        }
        if let Some(items) = replies.autoshifts {
            listing.take(items, Some(Origin::Autoshift));
            listing.complete_for.insert(Origin::Autoshift);
        }
        listing
    }

    fn take<'a>(&mut self, items: impl IntoIterator<Item = &'a Value>, origin: Option<Origin>) {
        self.shifts.extend(items.into_iter().filter_map(|item| ListedShift::read(item, origin)));
    }
}

impl ListedShift {
    /// Reads one item of an answer; nothing when it is over or makes no sense.
    pub fn read(item: &Value, origin: Option<Origin>) -> Option<ListedShift> {
        let text = |field: &str| item.get(field).and_then(Value::as_str);
        if text("status").is_some_and(|status| status != "ACTIVE") {
            return None;
        }
        let origin = origin.unwrap_or(match text("shiftType") {
            Some("PRACTICE_RUN") => Origin::Practice,
            Some("FIS_EXPERIMENT") => Origin::Fis,
            Some("ZONAL_AUTOSHIFT") => Origin::Autoshift,
            _ => Origin::Manual,
        });
        Some(ListedShift {
            zone: ZoneId::new(text("awayFrom").filter(|zone| !zone.is_empty())?),
            origin,
            start: epoch(item.get("startTime")?)?,
            expiry: item.get("expiryTime").and_then(epoch),
            is_applied: text("appliedStatus").is_none_or(|status| status == "APPLIED"),
        })
    }

    /// Whether it goes on at that moment.
    pub fn is_active_at(&self, now: UnixSeconds) -> bool {
        self.expiry.is_none_or(|expiry| expiry > now)
    }
}

impl ShiftState {
    /// Corrects the state by what ARC lists: shifts it does not know are started, those ARC has
    /// not listed twice in a row are ended, and expiries are taken over.
    pub fn reconcile(&self, listing: &Listing, now: UnixSeconds) -> ShiftState {
        let mut state = self.clone();
        let listed: Vec<_> = listing.shifts.iter().filter(|l| l.is_active_at(now)).collect();
        let mut seen = BTreeSet::new();
        for shift in &listed {
            // Several resources may be shifted at once: the longest lasting speaks for all.
            if !seen.insert((&shift.zone, shift.origin)) {
                continue;
            }
            let same = listed.iter().filter(|l| l.zone == shift.zone && l.origin == shift.origin);
            let lasting =
                same.max_by_key(|l| (l.is_applied, l.expiry.is_none(), l.expiry, l.start));
            state.take_in(lasting.expect("the shift itself is among them"), now);
        }
        for (zone, origins) in &mut state.zones {
            for (&origin, shift) in origins {
                if listing.complete_for.contains(&origin) && !seen.contains(&(zone, origin)) {
                    shift.is_not_listed(now);
                }
            }
        }
        state
    }

    fn take_in(&mut self, listed: &ListedShift, now: UnixSeconds) {
        let origin = listed.origin;
        let mut shift = match self.get(&listed.zone, origin) {
            Some(known) => known.clone(),
            None if listed.is_applied => Shift::begun(listed.start, ""),
            None => return,
        };
        shift.is_listed(listed, now);
        if origin == Origin::Manual && shift.is_active() {
            shift.expiry = listed.expiry;
        }
        self.put(&listed.zone, origin, shift);
    }
}

impl Shift {
    fn is_listed(&mut self, listed: &ListedShift, now: UnixSeconds) {
        let Some(ended) = &mut self.ended else {
            self.contradictions = 0;
            return;
        };
        if !listed.is_applied {
            return;
        }
        let is_new = listed.start > self.last_event_time;
        let was_extended = ended.by == EndedBy::Expiry;
        if !is_new && ended.by == EndedBy::Cli {
            // Somebody said it is over; that is remembered for as long as ARC says otherwise.
            ended.noted_at = now;
            return;
        }
        self.contradictions = self.contradictions.saturating_add(1);
        if is_new || was_extended || self.contradictions >= CONTRADICTIONS_BELIEVED {
            let last_event_time = self.last_event_time.max(listed.start);
            let event_id = std::mem::take(&mut self.event_id);
            *self = Shift { last_event_time, ..Shift::begun(listed.start, &event_id) };
        }
    }

    fn is_not_listed(&mut self, now: UnixSeconds) {
        if !self.is_active() {
            self.contradictions = 0;
            return;
        }
        self.contradictions = self.contradictions.saturating_add(1);
        if self.contradictions >= CONTRADICTIONS_BELIEVED {
            self.end(EndedBy::Listing, now);
        }
    }
}

/// Seconds since the epoch, which ARC may print with a fraction.
fn epoch(value: &Value) -> Option<UnixSeconds> {
    let whole = value.as_i64().or_else(|| value.as_f64().map(|seconds| seconds as i64));
    UnixSeconds::new(whole?)
}
