//! How fresh what is known of each kind is: a watch that fell silent looks like a cluster in which
//! nothing happens.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::World;
use crate::observed::Kind;
use crate::time::{Span, Time};

/// A kind not heard of for so long is stale. A watch that lives is heard from every 40 s, see
/// `client/list_watch.rs` of `kerf-kube`; one round may be missed.
pub const STALE_AFTER: Span = Span::from_seconds(90);

/// When each kind was heard of.
pub(super) type Hearings = BTreeMap<Kind, Hearing>;

/// When a kind was heard of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hearing {
    /// Last.
    at: Time,
    /// First, since it was stale.
    since: Time,
}

impl World {
    /// Notes that everything that happened to a kind until now has been told. Returns whether the
    /// kind was stale before.
    pub(crate) fn hear(&mut self, kind: Kind, now: Time) -> bool {
        // A clock that was set ahead makes nothing old.
        let at = self.memory.clock.believed(now);
        let known = self.hearings.get(&kind).filter(|known| !is_stale(known, at));
        let since = known.map_or(at, |known| known.since);
        let was_stale = known.is_none();
        self.hearings.insert(kind, Hearing { at, since });
        was_stale
    }

    /// Whether nothing that happened to these kinds can have gone unheard for long. Who takes
    /// something away because of what is absent asks this first. Kinds that the role does not read
    /// do not count.
    #[must_use]
    pub fn is_fresh(&self, kinds: &[Kind], now: Time) -> bool {
        self.fresh_since(kinds, now).is_some()
    }

    /// Since when these kinds have all been fresh, if they are, by the time that can be believed.
    pub(crate) fn fresh_since(&self, kinds: &[Kind], now: Time) -> Option<Time> {
        let now = self.memory.clock.believed(now);
        let required = self.settings.required_kinds().filter(|kind| kinds.contains(kind));
        let mut latest = Time::default();
        for kind in required {
            let hearing = self.hearings.get(&kind).filter(|known| !is_stale(known, now))?;
            latest = latest.max(hearing.since);
        }
        Some(latest)
    }

    /// For how long a kind has not been heard of; none before it was listed.
    #[must_use]
    pub fn silence(&self, kind: Kind, now: Time) -> Option<Span> {
        let now = self.memory.clock.believed(now);
        self.hearings.get(&kind).map(|known| now.since(known.at))
    }

    /// When a kind was last heard of.
    pub(super) fn heard_at(&self, kind: Kind) -> Option<Time> {
        self.hearings.get(&kind).map(|known| known.at)
    }

    /// The kinds the role reads that were listed and are stale now.
    pub fn stale_kinds(&self, now: Time) -> impl Iterator<Item = Kind> {
        let now = self.memory.clock.believed(now);
        let required = self.settings.required_kinds();
        required.filter(move |kind| self.hearings.get(kind).is_some_and(|it| is_stale(it, now)))
    }

    /// The clock was set back: nothing was heard later than now.
    pub(crate) fn set_back(&mut self, now: Time) {
        for known in self.hearings.values_mut() {
            *known = Hearing { at: known.at.min(now), since: known.since.min(now) };
        }
    }
}

fn is_stale(hearing: &Hearing, now: Time) -> bool {
    now.since(hearing.at) > STALE_AFTER
}
